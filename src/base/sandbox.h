/* SPDX-License-Identifier: MIT
 * Hints: the setting of the systemd unit to change when its sandbox refuses to
 * write a file.
 */
#ifndef BASE_SANDBOX_H
#define BASE_SANDBOX_H

#include <stddef.h>

#define SANDBOX_HINT_SIZE 320

/* Writes a hint for the errno of opening, making or binding the file at path:
 * "; ..." with the setting to change.  Writes "" when this process does not run
 * under systemd (INVOCATION_ID is not set), or when no sandbox causes the
 * error. setting: the unit's own setting for such files, LogsDirectory or
 * RuntimeDirectory.  Returns out. */
const char *sandbox_hint(int error, const char *path, const char *setting,
    char out[SANDBOX_HINT_SIZE]);

#endif
