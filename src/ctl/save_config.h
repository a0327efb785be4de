/* SPDX-License-Identifier: MIT
 * `lfproxyctl save config`: writes what operators have changed by commands into
 * the files of the configuration.
 *
 * The files are edited here and not by lfproxy, which has no right to write
 * them: `show drift json` says what has changed, and where it stands.
 */
#ifndef CTL_SAVE_CONFIG_H
#define CTL_SAVE_CONFIG_H

#include <stdbool.h>

#include "ctl/client.h"

/* Saves, or with dry_run only says what would be.  where: the admin socket.
 * Prints a line for each change.  If lfproxy does not accept the files that
 * were written, they become again what they were. */
enum ctl_exit ctl_save_config(const char *where, bool dry_run);

#endif
