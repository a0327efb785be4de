/* SPDX-License-Identifier: MIT
 * The other process of an upgrade: how it is started or reached, and whether it
 * has ended.  All functions run on the control thread; none waits for the other
 * process.
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

/* The other process of an upgrade. */
struct upgrade_process {
	pid_t pid;     /* 0: not begun, or ended */
	int channel;   /* -1: closed */
	bool started;  /* by this process, which may end it */
	bool is_child; /* this process is told how it ends */
};

/* Starts the program at that path, or, path NULL, at the path that this process
 * was started from; `@NAME`: connects to a process of root's or this user's
 * that waits at that abstract address.  The caller closes process->channel,
 * which is non-blocking, also after a failure; it is -1 before.
 *
 * A new process leads a process group of its own until it takes over
 * (takeover.c), so that what a program that fails has started can be ended: the
 * listening sockets would stay open with the channel.  It is the service
 * manager's child, as this one is, if there is a manager.  Returns false with
 * err set. */
bool upgrade_reach(struct upgrade_process *process, const char *path,
    struct err *err) MUST_CHECK;

/* Returns whether the other process has closed its end of the channel, whatever
 * it has said before, or has become a zombie: threads that have still to end
 * keep the channel open then, and a service manager takes it for dead.  Without
 * /proc, the channel alone counts. */
bool upgrade_has_ended(pid_t pid, int channel);

#endif
