/* SPDX-License-Identifier: MIT
 * The program of an upgrade: where it is, and how it is started.
 */
#ifndef CONTROL_UPGRADE_PROGRAM_H
#define CONTROL_UPGRADE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* Before control_new: argv is that of this process, and stays.  The other
 * process gets the same arguments. */
void upgrade_set_arguments(char *const *argv);

/* Returns whether there is another file now at the path that this process was
 * started from, as after an upgrade of its package.  Looks at the disk. */
bool upgrade_is_due(void);

/* Writes the path that this process was started from, also if the file there
 * has been replaced since. */
bool upgrade_own_path(char *out, size_t size, struct err *err) MUST_CHECK;

/* Starts the program at that path.  The new process has the channel as
 * descriptor INHERITED_FIRST, and no other one besides the standard ones.  It
 * leads a process group of its own until it takes over (takeover.c), so that
 * what a program that fails has started can be ended: the listening sockets
 * would stay open with the channel.  *ret_child: whether it is this process's
 * child; otherwise it is the service manager's, as this one is.  Returns 0 or
 * an errno value. */
int upgrade_spawn(
    const char *path, int channel, pid_t *ret_pid, bool *ret_child) MUST_CHECK;

/* Returns whether the other process has closed its end of the channel, whatever
 * it has said before, or has become a zombie: threads that have still to end
 * keep the channel open then, and a service manager takes it for dead.  Without
 * /proc, the channel alone counts. */
bool upgrade_has_ended(pid_t pid, int channel);

#endif
