/* SPDX-License-Identifier: MIT
 * Child processes that run the operator's commands, separated from lfproxy.
 *
 * A child gets nothing of lfproxy's but its output, its arguments and its
 * environment.  It is started with
 *
 *   - standard input from /dev/null, standard output and error to `out`, and no
 *     other descriptor;
 *   - a process group of its own, whose number is its process id;
 *   - default signal dispositions, no signal blocked;
 *   - umask 022, the working directory /, a soft limit of 1024 descriptors, no
 *     priority above the normal one, no ambient capabilities;
 *   - no_new_privs: neither setuid programs nor file capabilities give it, or
 *     the processes that it starts, more rights than it has;
 *   - PR_SET_PDEATHSIG: the kernel kills it when lfproxy ends.
 *
 * child_kill also kills the processes that the child has started and that are
 * in its group.  The kernel does not kill these when lfproxy is killed; systemd
 * does (KillMode).
 */
#ifndef CHECK_CHILD_H
#define CHECK_CHILD_H

#include <sys/types.h>

#include "base/err.h"

/* Runs argv[0], a path, with these arguments and this environment, and with out
 * as its output.  Does not copy this process, and blocks only until the program
 * has been loaded.  Returns 0, or an errno of vfork(2) or execve(2).  Runs only
 * on the control thread: the child ends with the thread that has started it. */
int child_start(char *const *argv, char *const *environment, int out,
    pid_t *ret_pid) MUST_CHECK;

/* Kills the child's process group: the child and the processes that it has
 * started.  May be called right after the child was waited for: another group
 * can have its number only after all process ids have been used in between. */
void child_kill(pid_t pid);

#endif
