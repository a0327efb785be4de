/* SPDX-License-Identifier: MIT
 * Messages to the service manager: systemd's notification protocol, as
 * sd_notify(3) describes it, without libsystemd.
 *
 * A message is a datagram of lines NAME=VALUE to the socket that the
 * environment names in NOTIFY_SOCKET: a path, or an abstract name after '@'.
 * Without that variable all functions do nothing.
 *
 * All functions run on the control thread and never block.  When the manager
 * does not take a message at once, notify_retry sends the newest state later,
 * so READY and STOPPING are never lost to a full queue.
 */
#ifndef BASE_NOTIFY_H
#define BASE_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment,
 * so that no child process finds them.  Called before any thread starts.
 * Returns false with err set when the name cannot be used; the caller may go on
 * without notifications. */
bool notify_open(struct err *err) MUST_CHECK;
/* Returns whether there is a manager. */
bool notify_is_open(void);
/* Connects the socket, so that messages arrive after a chroot(2). */
void notify_connect(void);
/* Returns whether another process with this root directory could open the
 * socket as well; true without a manager. */
bool notify_can_be_reached(void);
/* Closes the socket; after that all functions do nothing. */
void notify_close(void);

/* Sends READY=1 and STATUS=: the start, or a reload, has been completed.  A
 * line feed ends the status. */
void notify_ready(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Sends RELOADING=1.  notify_ready must follow, also when the reload is
 * refused. */
void notify_reloading(void);

/* Sends STOPPING=1 and STATUS=, and asks the manager to wait for most_ms at
 * least. */
void notify_stopping(uint64_t most_ms, const char *status);

/* Writes NOTIFY_SOCKET=... and, if the manager watches, WATCHDOG_USEC=..., else
 * "", for the environment of a process that takes over.  Returns false without
 * a manager. */
bool notify_variables(
    char *socket, size_t socket_size, char *watchdog, size_t watchdog_size);
/* Sends MAINPID= and BARRIER=1: the process pid is the service's main process
 * from now on.  The manager believes this only while that process lives.
 * Returns a descriptor that the caller closes, whose other end the manager
 * closes when it has read the message (POLLHUP); -ENOENT without a manager,
 * -EAGAIN when the function is to be called again later, or another error. */
int notify_successor(pid_t pid) MUST_CHECK;

/* Returns how often, in milliseconds, the manager has to hear notify_alive:
 * half the time after which it takes the process for dead (WATCHDOG_USEC in the
 * environment).  0: it does not watch. */
uint64_t notify_alive_ms(void);
/* Sends WATCHDOG=1. */
void notify_alive(void);

/* Sends FDSTORE=1: the manager keeps a copy of the descriptor under that name,
 * as far as the unit allows (FileDescriptorStoreMax=), and passes it to the
 * next process of the service.  name: letters, digits, '.' and '-'. */
void notify_store(int fd, const char *name);
/* Sends FDSTOREREMOVE=1: the manager closes its copy. */
void notify_forget(const char *name);

/* Sends STATUS= with the text of the last notify_ready and figures behind it.
 * The message may be lost. */
void notify_figures(const char *figures);

/* Sends STATUS=, which `systemctl status` shows.  The message may be lost. */
void notify_status(const char *status);

/* Sends the state that could not be sent before, if any.  Called now and then.
 */
void notify_retry(void);

#endif
