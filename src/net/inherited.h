/* SPDX-License-Identifier: MIT
 * Listening sockets that this process was given by the process that it takes
 * over from, or by a service manager (sd_listen_fds(3)).  A listen at the
 * address of such a socket gets that socket, with the connections in its
 * backlog, instead of a new one.  A unix socket is found by every path of its
 * file.  `fd:NAME` is the address of each socket that has that name.  If
 * several sockets were asked for with port 0, they are taken in their order,
 * which both processes have in common.
 *
 * All functions run on the control thread and never block.
 */
#ifndef NET_INHERITED_H
#define NET_INHERITED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "net/addr.h"

/* The first descriptor that a service manager passes. */
#define INHERITED_FIRST 3
/* How the names of sockets begin that lfproxy has stored with the service
 * manager (notify_store). */
#define INHERITED_STORED "listen-"

/* Adds a listening stream socket.  Takes ownership of fd, also on failure.
 * asked: the address that was asked for, whose port may be 0; NULL: the
 * socket's own address.  Returns false with err set if fd is something else. */
bool inherited_add(
    int fd, const struct addr *asked, struct err *err) MUST_CHECK;

/* Adds the sockets that LISTEN_FDS counts, with their names in LISTEN_FDNAMES,
 * if LISTEN_PID is this process, and removes the three variables from the
 * environment.  To be called before any other descriptor is opened.  Returns
 * false with err set if a descriptor is not a listening stream socket. */
bool inherited_from_manager(struct err *err) MUST_CHECK;

/* Returns a socket for the address, which is the caller's from now on, or -1.
 * both_families: an IPv6 wildcard has to take IPv4 as well.  *ret_foreign:
 * whether a socket unit has made the socket, so that its settings hold where
 * the configuration gives none; otherwise lfproxy has made it. */
int inherited_take(
    const struct addr *addr, bool both_families, bool *ret_foreign);

/* Returns whether there is a socket for the address. */
bool inherited_has(const struct addr *addr, bool both_families);

/* Returns the address of the i-th socket that was not taken, counted from 0;
 * NULL after the last one.  Valid until another socket is added or taken. */
const struct addr *inherited_at(size_t i);

/* Sets err to an error that tells which names there are, when no socket of the
 * name is left. */
void inherited_explain_names(const struct addr *descriptor, struct err *err);

/* Sets whether files of unix sockets belong to another process as well, so that
 * this process does not remove them; at first they do not.  With false, removes
 * the files that inherited_close has left. */
void inherited_share_files(bool share);
/* Returns what inherited_share_files has set. */
bool inherited_files_are_shared(void);

/* Gives back the modes and owners of the files of unix sockets that were taken
 * while they are shared, because another process goes on with them. */
void inherited_put_back_files(void);

/* Closes the sockets that were not taken, and returns their number.  Their
 * files, if they are shared and not a service manager's, are removed by
 * inherited_share_files(false); other files stay. */
size_t inherited_close(void);

#endif
