/* SPDX-License-Identifier: MIT
 * An acceptor: the event handler of one listening socket.
 */
#ifndef PROXY_ACCEPTOR_H
#define PROXY_ACCEPTOR_H

#include "model/model.h"
#include "proxy/proxy.h"

struct acceptor;

/* What keeps a connection in the backlog. */
enum accept_block {
	ACCEPT_BLOCK_NONE,
	ACCEPT_BLOCK_RATE,          /* the process's connections per second */
	ACCEPT_BLOCK_FRONTEND_RATE, /* the frontend's */
	ACCEPT_BLOCK_FRONTEND,      /* the frontend's maxconn */
	ACCEPT_BLOCK_SESSIONS,      /* all sessions that may be are in use */
};

/* Any thread: what would keep the next one there; nothing is taken. */
enum accept_block acceptor_block(
    const struct proxy *proxy, const struct frontend *frontend);

/* Control thread.  Takes fd over, also on failure; nothing is accepted before
 * acceptor_open.  number: which of the frontend's addresses it is, from 1.
 * 0 or -errno. */
int acceptor_new(struct proxy *proxy, struct frontend *frontend,
    unsigned number, int fd, struct acceptor **ret_acceptor);

/* Control thread, once: the shard's threads accept from now on.
 * 0 or -errno. */
int acceptor_open(struct acceptor *acceptor, struct shard *shard);

/* Control thread: a closed one gets another socket, which it takes over, to be
 * opened anew.  An event handler keeps its slot for ever, so acceptors are used
 * again.  No thread may be left in the grace section in which it was closed. */
void acceptor_renew(struct acceptor *acceptor, struct frontend *frontend,
    unsigned number, int fd);

/* Control thread: closes the socket of one that was never opened. */
void acceptor_abandon(struct acceptor *acceptor);

/* Some thread has, or is to have, a turn with it. */
bool acceptor_busy(const struct acceptor *acceptor);

/* Control thread: it is of the frontend that has taken the place of its own. */
void acceptor_follow(struct acceptor *acceptor, struct frontend *frontend);

/* Control thread: whose sessions it makes from the next turn on. */
void acceptor_set_frontend(
    struct acceptor *acceptor, struct frontend *frontend, unsigned number);

/* Control thread: another shard's threads will accept; returns at once.  May be
 * called again, also while it is under way. */
void acceptor_move(struct acceptor *acceptor, struct shard *shard);

/* Control thread, before acceptor_stop: the listening socket, borrowed. */
int acceptor_fd(const struct acceptor *acceptor);

/* Where it is now; may be old by the time it is looked at. */
const struct shard *acceptor_shard(const struct acceptor *acceptor);

/* Control thread: nobody can connect until acceptor_unhold, which is given the
 * address that this one returns; on a unix socket they wait in its backlog.
 * False: the socket has no address any more. */
bool acceptor_hold(struct acceptor *acceptor, struct addr *ret_addr);
/* 0 or -errno: the address is somebody else's by now. */
int acceptor_unhold(
    struct acceptor *acceptor, const struct addr *addr, unsigned backlog);

/* Control thread, once: the listening socket will be closed; returns at once.
 */
void acceptor_stop(struct acceptor *acceptor);

/* Control thread, before acceptor_stop: nobody can connect any more, and the
 * address may be bound anew, while the socket's closing is still under way. */
void acceptor_shut(struct acceptor *acceptor);

/* Any thread: those that had to pause, because descriptors, memory or sessions
 * had run out, go on accepting.  Cheap when there are none. */
void acceptors_resume(struct proxy *proxy);

/* Any thread: it was stopped and the socket is closed. */
bool acceptor_closed(const struct acceptor *acceptor);

/* After the pools have ended; NULL is fine. */
void acceptor_free(struct acceptor *acceptor);

#endif
