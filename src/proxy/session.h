/* SPDX-License-Identifier: MIT
 * A session: one client connection and its way to a server.
 *
 *                    choose, connect
 *       ACCEPTED  ------------------> CONNECTING --connected--> RELAYING
 *                                      |  ^  |                   |    |
 *                       all tried, wait|  |  |failed: another    |    |
 *                                      v  |  |server, connect    |    |
 *                                    PAUSING +-->(CONNECTING)    |    |
 *                                                     client FIN |    | server
 *                                                                v    v FIN
 *                                                      CLIENT_EOF    SERVER_EOF
 *                                                                |    |
 *       any state: reset, time-out, killed                       v    v
 *           |                                                   (closed)
 *           +--> (closed), or FLUSHING first, when one side broke off and the
 *                other has still to get what came before that
 *
 * Everything here belongs to the owner of the handler's claim.  One function
 * sets the state (session_set_state), one closes (session_close) and it takes a
 * reason.
 */
#ifndef PROXY_SESSION_H
#define PROXY_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "lf/event_handler.h"
#include "model/model.h"
#include "net/addr.h"
#include "proxy/close_reasons.h"
#include "proxy/proxy.h"

enum session_state {
	/* The slot is free. */
	SESSION_FREE,
	/* Nothing has been done but to accept.  It is on its way to the shard
	 * it was placed on, if that is another than the acceptor's. */
	SESSION_ACCEPTED,
	/* A connect to a server is under way.  The client's bytes stay unread,
	 * so that nothing is lost if another server has to be tried.  Bounded
	 * by timeout_connect. */
	SESSION_CONNECTING,
	/* Every server was tried: a pause before the same one is tried again.
	 */
	SESSION_PAUSING,
	/* Both directions are open.  Bounded by timeout_client and
	 * timeout_server without a byte. */
	SESSION_RELAYING,
	/* The client has sent its FIN and the server was told; the server may
	 * go on sending.  Bounded by timeout_server_fin on the server's side.
	 */
	SESSION_CLIENT_EOF,
	/* The other way round. */
	SESSION_SERVER_EOF,
	/* One side has broken off.  The other still gets the bytes that came
	 * before, then the same end: a reset for a reset. */
	SESSION_FLUSHING,
};

/* More servers than this are not remembered as tried; the configuration allows
 * no more retries than that. */
#define SESSION_TRIES_MAX 11

/* One of the two connections; the index is enum handle_side. */
struct side {
	int fd;             /* -1: none */
	bool readable : 1;  /* a read may find something */
	bool writable : 1;  /* a write may find room */
	bool read_on : 1;   /* read until nothing is left, or the end */
	bool error : 1;     /* the kernel has reported an error */
	bool eof : 1;       /* the end was read: a FIN or an error */
	bool shut : 1;      /* we have sent our FIN */
	bool broken : 1;    /* the connection is gone: no use in writing */
	bool reset : 1;     /* and it went without a FIN */
	uint64_t active_ms; /* when a byte last went in or came out */
	uint64_t received;  /* bytes read from it */
	uint64_t counted;   /* of these, in the counters */
};

struct spill;

struct session {
	struct event_handler handler;
	uint32_t index;    /* in the slab, fixed */
	uint8_t state;     /* enum session_state */
	uint8_t reason;    /* enum close_reason, once FLUSHING */
	uint8_t tries;     /* connects so far */
	uint8_t tried_n;   /* of tried */
	bool redispatched; /* the last connect went to another server */
	struct side side[2];
	struct spill *spill[2]; /* what waits to be written to that side */
	struct frontend *frontend;
	struct server *server; /* counted in its gauge; NULL: none */
	struct endpoint client;
	/* Times, clock_now_ms: 0 when not reached. */
	uint64_t accepted_ms, connecting_ms, connected_ms, counted_ms;
	uint64_t accepted_wall_us;
	struct server *tried[SESSION_TRIES_MAX];
};

/* For the slab: fixes the slot. */
bool session_construct(void *object, uint32_t index, void *arg);

/* An acceptor's thread: a session for an accepted connection, which is taken
 * over; starts the connect if the session was placed on the acceptor's own
 * shard, at, else leaves that to a thread of its shard.  The session may have
 * ended when this returns. */
void session_start(struct session *session, const struct shard *at,
    struct frontend *frontend, int fd, const struct endpoint *client,
    struct pool_thread *self);

void session_set_state(struct session *session, enum session_state state,
    struct pool_thread *self);

/* The deadline that follows from state and activity; the reaper posts
 * NOTE_TIMEOUT when it has passed.  Activity alone does not call this: the
 * session finds out at the old deadline that it was busy, and sets a new one.
 */
void session_set_deadline(struct session *session, struct pool_thread *self);

/* The end, always TURN_RETIRED: logs, counts, closes what is open, and gives
 * the slot back.  The session must not be touched afterwards. */
enum turn session_close(struct session *session, enum close_reason reason,
    struct pool_thread *self);

/* Adds the bytes so far to the counters. */
void session_count_bytes(struct session *session, struct pool_thread *self);

static inline uint64_t
turn_now_ms(const struct pool_thread *self)
{
	return self->now_ns / 1000000u;
}

static inline struct proxy *
proxy_of(const struct pool_thread *self)
{
	return proxy_thread_of(self)->proxy;
}

#endif
