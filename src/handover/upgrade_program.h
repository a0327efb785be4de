/* SPDX-License-Identifier: MIT
 * The successor of an upgrade: starts or reaches it, and tells whether it
 * has ended.  All functions run on the control thread.  None waits for the
 * successor.
 */
#ifndef HANDOVER_UPGRADE_PROGRAM_H
#define HANDOVER_UPGRADE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* Sets the arguments that the successor gets: argv of this process, which
 * has to stay valid.  Called before control_new. */
void upgrade_set_arguments(char *const *argv);

/* Returns whether the file at the path that this process was started from is
 * another one now, as after an upgrade of its package.  Looks at the disk. */
bool upgrade_is_due(void);

/* The successor of an upgrade. */
struct upgrade_process {
	pid_t pid;     /* 0: not begun, or ended */
	int channel;   /* -1: closed */
	bool started;  /* by this process, which may end it */
	bool is_child; /* this process is told how the other one ends */
};

/* Starts the program at path, or, if path is NULL, at the path that this
 * process was started from.  If path is `@NAME`, connects instead to a process
 * of root's or this user's that waits at that abstract address.
 * process->channel is -1 before the call and non-blocking after it.  The caller
 * closes it, also after a failure.
 *
 * Until it takes over (takeover.c), a new process leads a process group of its
 * own, so that this process can end what a failed program has started: such
 * processes would keep the listening sockets open with the channel.  With a
 * service manager, the new process is the manager's child, as this one is.
 * Returns false with err set. */
bool upgrade_reach(struct upgrade_process *process, const char *path,
    struct err *err) MUST_CHECK;

/* Returns whether the successor has closed its end of the channel, whatever
 * it has said before, or has become a zombie.  The latter matters because
 * threads that have still to end keep the channel open, and a service manager
 * takes the process for dead.  Without /proc, only the channel counts. */
bool upgrade_has_ended(pid_t pid, int channel);

#endif
