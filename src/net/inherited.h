/* SPDX-License-Identifier: MIT
 * Listening sockets that this process was given: by the process that it takes
 * over from, or by a service manager (sd_listen_fds(3)).  A listen at the
 * address of one gets that socket instead of a new one, with the connections in
 * its backlog; every path of its file finds a unix socket.  `fd:NAME` is the
 * address of each one that has that name.  Of several that were asked for with
 * port 0 the first one is taken: an order that both processes have in common.
 *
 * Control thread only, and never blocking.
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
/* How the names of sockets begin that lfproxy has stored (notify_store). */
#define INHERITED_STORED "listen-"

/* Adds a listening stream socket, whose ownership it takes, also on failure.
 * asked: the address that was asked for, whose port may be 0; NULL: the one
 * that it has.  Returns false with err set if it is something else. */
bool inherited_add(
    int fd, const struct addr *asked, struct err *err) MUST_CHECK;

/* Before any other descriptor is opened: adds the sockets that LISTEN_FDS
 * counts, with their names in LISTEN_FDNAMES, if LISTEN_PID is this process,
 * and takes all three out of the environment.  Returns false with err set if
 * one is not a listening stream socket. */
bool inherited_from_manager(struct err *err) MUST_CHECK;

/* Returns a socket for the address, which is the caller's from now on, or -1.
 * both_families: an IPv6 wildcard has to take IPv4 as well.  *ret_foreign: a
 * socket unit has made the socket, whose settings hold where the configuration
 * gives none; otherwise lfproxy has made it. */
int inherited_take(
    const struct addr *addr, bool both_families, bool *ret_foreign);

/* Returns whether there is a socket for the address. */
bool inherited_has(const struct addr *addr, bool both_families);

/* Returns the address of the i-th socket that was not taken, from 0, or NULL
 * after the last one.  Valid until the next is added or taken. */
const struct addr *inherited_at(size_t i);

/* Says which names there are, for the error that no socket of the name is left.
 */
void inherited_explain_names(const struct addr *descriptor, struct err *err);

/* Says whether files of unix sockets belong to another process as well, so that
 * this one does not remove them; at first they do not.  With false, removes the
 * files that inherited_close has left. */
void inherited_share_files(bool share);
/* Returns what inherited_share_files has said. */
bool inherited_files_are_shared(void);

/* Gives the files of unix sockets that were taken while they are shared the
 * modes and owners that they had: another process goes on with them. */
void inherited_put_back_files(void);

/* Closes the sockets that were not taken, and returns their number.  Files that
 * are shared go with inherited_share_files(false), unless they are a service
 * manager's; others stay. */
size_t inherited_close(void);

#endif
