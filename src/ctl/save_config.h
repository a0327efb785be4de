/* SPDX-License-Identifier: MIT
 * `lfproxyctl save config`: writes what operators have changed by commands into
 * the files of the configuration.
 *
 * lfproxy itself has no right to write the files, so they are edited here:
 * `show drift json` says what has changed, and where it is in the files.
 */
#ifndef CTL_SAVE_CONFIG_H
#define CTL_SAVE_CONFIG_H

#include <stdbool.h>

#include "ctl/client.h"

/* Saves the changes, or with dry_run only says what would be saved.  where: the
 * admin socket.  Prints a line for each change.  If lfproxy does not accept the
 * files that were written, they are written as they were before; otherwise it
 * loads them. */
enum ctl_exit ctl_save_config(const char *where, bool dry_run);

#endif
