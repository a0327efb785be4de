/* SPDX-License-Identifier: MIT
 * Child processes that run the operator's commands, separated from lfproxy.
 *
 * A child has nothing of lfproxy's but what it is given: its output, arguments
 * and environment.  It is started with
 *
 *   - standard input from /dev/null, standard output and error to `out`, and no
 *     other descriptor;
 *   - a process group of its own, whose number is its process id;
 *   - default signal dispositions, no signal blocked;
 *   - umask 022, the working directory /, a soft limit of 1024 descriptors, no
 *     priority above the normal one, no ambient capabilities;
 *   - no_new_privs: neither setuid programs nor file capabilities give it, or
 *     what it starts, more rights than it has;
 *   - the order to the kernel to kill it when lfproxy ends (PR_SET_PDEATHSIG).
 *
 * What the child starts is killed with its group, by child_kill, but not by the
 * kernel when lfproxy is killed; that is for systemd's KillMode.
 */
#ifndef CHECK_CHILD_H
#define CHECK_CHILD_H

#include <sys/types.h>

#include "base/err.h"

/* Runs argv[0], a path, with those arguments and that environment.  Does not
 * copy this process, and blocks only until the program has been loaded.  Runs
 * on the control thread only: the child ends with the thread that has started
 * it.  Returns 0, or an errno of vfork(2) or execve(2). */
int child_start(char *const *argv, char *const *environment, int out,
    pid_t *ret_pid) MUST_CHECK;

/* Kills the child's process group: the child and what it started.  May be
 * called right after the child was waited for: its number can be another
 * group's only after all process ids have been used in between. */
void child_kill(pid_t pid);

#endif
