/* SPDX-License-Identifier: MIT
 * The parent process that lfproxy keeps in a container.
 *
 * A container ends with its first process, so an upgrade, after which another
 * process serves, would end it.  The first process therefore only waits:
 *
 *   - passes signals on to the main process: SIGTERM, SIGINT, SIGHUP, SIGUSR1
 *     and SIGUSR2;
 *   - reaps its children, and those of check scripts that have lost theirs;
 *   - is the service manager (base/notify.h) of its child, and so learns which
 *     process is the main one after an upgrade.  Messages for a manager outside
 *     of the container are passed on;
 *   - gives up root with the main process;
 *   - ends when the main process does, with its exit status, or 128 and the
 *     number of the signal that has ended it.
 */
#ifndef LFPROXY_PARENT_H
#define LFPROXY_PARENT_H

/* If the end of this process ends a container, makes a child, in which the
 * function returns; this process waits in it and then exits.  Elsewhere the
 * function only returns.  Called before any thread starts. */
void parent_stay(void);

#endif
