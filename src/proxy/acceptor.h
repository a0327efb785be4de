/* SPDX-License-Identifier: MIT
 * An acceptor: the event handler of one listening socket.
 */
#ifndef PROXY_ACCEPTOR_H
#define PROXY_ACCEPTOR_H

#include "model/model.h"
#include "proxy/proxy.h"

struct acceptor;

/* The functions below run on the control thread. */

/* Makes an acceptor that accepts nothing before acceptor_start.  Takes
 * ownership of fd, also on failure.  number: which of the frontend's addresses
 * fd listens on, counted from 1.  Returns 0 or -errno. */
int acceptor_new(struct proxy *proxy, struct frontend *frontend,
    unsigned number, int fd, struct acceptor **ret_acceptor) MUST_CHECK;

/* Makes the shard watch the socket.  Threads accept only from acceptor_start
 * on: until then the caller owns the acceptor, and clients wait in the backlog.
 * acceptor_start or acceptor_abandon follows.  Returns 0, or -errno with
 * nothing changed. */
int acceptor_register(struct acceptor *a, struct shard *shard) MUST_CHECK;

/* Makes the shard's threads accept from now on.  To be called once. */
void acceptor_start(struct acceptor *a);

/* Gives a closed acceptor another socket, to be opened again: an event handler
 * keeps its slot forever, so acceptors are reused.  Takes ownership of fd.  No
 * thread may still be in the grace section in which the acceptor was closed. */
void acceptor_renew(
    struct acceptor *a, struct frontend *frontend, unsigned number, int fd);

/* Closes the socket of an acceptor that was never started.  It can be renewed
 * at once. */
void acceptor_abandon(struct acceptor *a);

/* Returns whether a thread runs, or is about to run, a turn of the acceptor. */
bool acceptor_busy(const struct acceptor *a);

/* Replaces the frontend by its successor after a reload. */
void acceptor_follow(struct acceptor *a, struct frontend *frontend);

/* Sets the frontend of the sessions that the acceptor accepts from the next
 * turn on. */
void acceptor_set_frontend(
    struct acceptor *a, struct frontend *frontend, unsigned number);

/* Makes another shard's threads accept.  Returns at once.  May be called again
 * while a move is under way. */
void acceptor_move(struct acceptor *a, struct shard *shard);

/* Returns the listening socket, which the acceptor keeps.  To be called before
 * acceptor_stop. */
int acceptor_fd(const struct acceptor *a);

/* Returns the present shard; the acceptor may move before the caller uses it.
 */
const struct shard *acceptor_shard(const struct acceptor *a);

/* Stops accepting until acceptor_unhold, which takes the address that this
 * function returns.  refuse: new connections to a TCP socket are refused;
 * without it, and on a unix socket, they wait in the backlog.  Returns false
 * when the socket no longer has an address. */
bool acceptor_hold(
    struct acceptor *a, bool refuse, struct addr *ret_addr) MUST_CHECK;
/* Listens again.  Returns 0, or -errno when another process has taken the
 * address. */
int acceptor_unhold(
    struct acceptor *a, const struct addr *addr, unsigned backlog) MUST_CHECK;

/* Refuses connections from now on, so that the address can be bound again
 * before the socket is closed.  To be called before acceptor_stop. */
void acceptor_shut(struct acceptor *a);

/* Starts to close the listening socket.  Returns at once.  To be called once.
 */
void acceptor_stop(struct acceptor *a);
/* Returns whether acceptor_stop is complete and the socket closed. */
bool acceptor_closed(const struct acceptor *a);

/* Frees the acceptor and closes its descriptors.  To be called after the pools
 * have ended.  Accepts NULL. */
void acceptor_free(struct acceptor *a);

#endif
