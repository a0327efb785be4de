/* SPDX-License-Identifier: MIT
 * A session: one client connection and its way to a server.
 *
 *   ACCEPTED -> (HELD) -> (INSPECTING) -> (HANDSHAKE)
 *                                              |
 *                                              v
 *                          (QUEUED) ------> CONNECTING ---> RELAYING
 *                                             |  ^          |   |   |
 *                                             v  |          |   v   v
 *                                           PAUSING         |  CLIENT_EOF,
 *                                                           |  SERVER_EOF
 *                                                           v   |   |
 *   any state -> FREE, closed                             FLUSHING
 *   HANDSHAKE -> LINGERING, failed
 *
 * SESSION_EDGES_TABLE has every edge and the reason for it.
 *
 * All fields belong to the owner of the handler's claim.  Only
 * session_set_state changes the state, except that a session from another
 * process begins in a later state (session_adopt.h).  The steps that decide
 * about the next state are listed in session_step.h, their dispatcher is in
 * session_turn.c, and the timeouts are in session_deadline.h.
 */
#ifndef PROXY_SESSION_H
#define PROXY_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lf/event_handler.h"
#include "model/model.h"
#include "net/addr.h"
#include "proxy/close_reasons.h"
#include "proxy/gate.h"
#include "proxy/newcomers.h"
#include "proxy/proxy.h"
#include "proxy/side.h"

struct inspection;

/* X(state)
 *
 * FREE        The slot is free.
 * ACCEPTED    The connection is accepted, nothing else was done.  The session
 *             is on its way to its shard, if that is not the acceptor's.
 * HELD        Waits for hold_ms before anything is read: a client in a tarpit,
 *             which is reset after that, or a client that is delayed, which
 *             then goes on as from ACCEPTED.  See held.h.
 * INSPECTING  Waits for the client's first bytes, which name the client or
 *             decide about the backend, see inspect.h.  Bounded by
 *             timeout_hello, from accepting on, and by newcomers.h.
 * HANDSHAKE   The TLS handshake with the client is under way.  Bounded by
 *             timeout_handshake, from accepting on, or from the PROXY header,
 *             and by newcomers.h.
 * LINGERING   The TLS handshake with the client has failed.  The client reads
 *             the alert; its bytes are discarded.  Bounded by LINGER_MS.
 * QUEUED      Waits in the backend's queue for a server.  The client's bytes
 *             stay unread.  Bounded by timeout_queue.
 * CONNECTING  A connect to s->server is under way, or the PROXY header, the
 *             request for TLS or the TLS handshake that follows.  The client's
 *             bytes stay unread, so that nothing is lost if another server has
 *             to be tried.  Bounded by timeout_connect.
 * PAUSING     Without a server: all servers were tried, and none is tried again
 *             before the pause is over or a server joins the lineup.
 *             With a server: its backlog is full.  Each of these pauses is
 *             longer than the one before, and timeout_connect bounds all of
 *             them.
 * RELAYING    Bytes flow in both directions.  Bounded by timeout_client and
 *             timeout_server without a byte of that side, or by timeout_tunnel
 *             in their place.  max_age bounds this state and the next two.
 * CLIENT_EOF  The client has sent its FIN, which was passed on to the server;
 *             the server may go on sending.  Bounded by timeout_server_fin on
 *             the server's side.
 * SERVER_EOF  The server has sent its FIN: CLIENT_EOF with client and server
 *             exchanged.
 * FLUSHING    A side has reset its connection.  The other side still gets the
 *             bytes that came before, then a reset. */
#define SESSION_STATES_TABLE(X)                                                \
	X(FREE)                                                                \
	X(ACCEPTED)                                                            \
	X(HELD)                                                                \
	X(INSPECTING)                                                          \
	X(HANDSHAKE)                                                           \
	X(LINGERING)                                                           \
	X(QUEUED)                                                              \
	X(CONNECTING)                                                          \
	X(PAUSING)                                                             \
	X(RELAYING)                                                            \
	X(CLIENT_EOF)                                                          \
	X(SERVER_EOF)                                                          \
	X(FLUSHING)

#define X(state) SESSION_##state,
enum session_state { SESSION_STATES_TABLE(X) };
#undef X
#define SESSION_STATES (SESSION_FLUSHING + 1)

/* X(from, to, why): the state changes that session_set_state accepts. */
#define SESSION_EDGES_TABLE(X)                                                 \
	X(FREE, ACCEPTED, "a connection was accepted")                         \
	X(ACCEPTED, HELD, "the gate holds the client")                         \
	X(ACCEPTED, INSPECTING, "the first bytes are needed")                  \
	X(ACCEPTED, HANDSHAKE, "the client speaks TLS with lfproxy")           \
	X(ACCEPTED, QUEUED, "no server has room")                              \
	X(ACCEPTED, CONNECTING, "a server was chosen")                         \
	X(ACCEPTED, FREE, "closed")                                            \
	X(HELD, INSPECTING, "the delay is over, the first bytes are needed")   \
	X(HELD, HANDSHAKE, "the delay is over, TLS follows")                   \
	X(HELD, QUEUED, "the delay is over, no server has room")               \
	X(HELD, CONNECTING, "the delay is over, a server was chosen")          \
	X(HELD, FREE, "closed")                                                \
	X(INSPECTING, HELD, "the gate holds the client that a header names")   \
	X(INSPECTING, HANDSHAKE, "a header or a request is read, TLS follows") \
	X(INSPECTING, QUEUED, "no server has room")                            \
	X(INSPECTING, CONNECTING, "a server was chosen")                       \
	X(INSPECTING, FREE, "closed")                                          \
	X(HANDSHAKE, QUEUED, "no server has room")                             \
	X(HANDSHAKE, CONNECTING, "a server was chosen")                        \
	X(HANDSHAKE, LINGERING, "it has failed, the client gets an alert")     \
	X(HANDSHAKE, FREE, "closed")                                           \
	X(LINGERING, FREE, "closed")                                           \
	X(QUEUED, CONNECTING, "a server was granted")                          \
	X(QUEUED, QUEUED, "the server that was granted has gone down")         \
	X(QUEUED, PAUSING, "it has gone down, all others were tried before")   \
	X(QUEUED, FREE, "closed")                                              \
	X(CONNECTING, RELAYING, "the server has accepted")                     \
	X(CONNECTING, CONNECTING, "failed; another server was chosen")         \
	X(CONNECTING, QUEUED, "failed; no other server has room")              \
	X(CONNECTING, PAUSING, "failed; all were tried, or a full backlog")    \
	X(CONNECTING, FREE, "closed")                                          \
	X(PAUSING, CONNECTING, "the pause is over, or a server has joined")    \
	X(PAUSING, QUEUED, "the pause is over, no server has room")            \
	X(PAUSING, FREE, "closed")                                             \
	X(RELAYING, CLIENT_EOF, "the client's FIN was passed on")              \
	X(RELAYING, SERVER_EOF, "the server's FIN was passed on")              \
	X(RELAYING, FLUSHING, "one side has reset the connection")             \
	X(RELAYING, CONNECTING, "the server ended unused; another was chosen") \
	X(RELAYING, QUEUED, "the server ended unused; no other has room")      \
	X(RELAYING, PAUSING, "the server ended unused; a backup will follow")  \
	X(RELAYING, FREE, "closed")                                            \
	X(CLIENT_EOF, FLUSHING, "one side was reset, or half_close is off")    \
	X(CLIENT_EOF, FREE, "closed")                                          \
	X(SERVER_EOF, FLUSHING, "one side was reset, or half_close is off")    \
	X(SERVER_EOF, FREE, "closed")                                          \
	X(FLUSHING, FLUSHING, "not everything was acknowledged so far")        \
	X(FLUSHING, FREE, "closed")

/* The most servers that are remembered as tried.  The configuration allows no
 * more retries than that. */
#define SESSION_TRIES_MAX 11

/* The pauses while a backlog is full take 2^waits milliseconds, waits up to
 * this. */
#define SESSION_WAITS_MAX 6

/* Pending data of a side, by side.piped; NULL: there are none. */
union pending_data {
	struct pending *buffer;
	struct splice_pipe *pipe;
};

/* [P21] marks the fields that the control thread reads, see session_facts.h.
 * The owner writes them with atomic stores, frontend, server, inspection and
 * pacing with release. */
struct session {
	struct event_handler handler;
	/* The number of the lineup that server was chosen from; while the
	 * session pauses without a server, the lineup that it last chose from.
	 */
	uint64_t lineup;
	uint32_t index; /* in the slab, fixed */
	uint8_t state;  /* enum session_state; [P21] */
	/* enum close_cause: why the session will close, once a side is broken,
	 * the session is LINGERING, or the gate has refused the client; else
	 * CAUSE_DONE. */
	uint8_t cause;
	uint8_t gate;          /* enum gate_action */
	uint8_t closer;        /* enum closer: whose end came first */
	uint8_t tries;         /* connects so far; [P21] */
	uint8_t tried_n;       /* entries of tried */
	bool redispatched : 1; /* more than one server was tried */
	bool queued : 1;       /* waiter is in the queue, or was granted */
	bool pausing : 1;      /* waiter pauses there, or was called */
	bool retrying : 1;     /* counted among the backend's retries */
	bool asked : 1;        /* the last bytes read were the client's */
	bool spoke : 1;        /* see session_deadline.h */
	bool declared : 1;     /* this turn, or the next, was declared long */
	bool handshaking : 1;  /* counted among the frontend's handshakes */
	bool holding : 1;      /* counted among the held clients */
	bool was_reset : 1;    /* by its last server, against which it counts */
	uint8_t waits : 4;     /* pauses in a row for a full backlog */
	uint8_t ejected_n : 4; /* entries ejected because of this session */
	uint16_t limits;       /* bit n: it counts in the frontend's limit n */
	uint32_t hold_ms;      /* how long it is HELD, or was; 0: not at all */
	uint16_t source_port;  /* taken from server->ports; 0: none */
	uint16_t header_sent;  /* bytes, see upstream_send_header */
	uint16_t route;        /* [P21] its backend, in frontend->backends */
	uint16_t wanted_route; /* likewise, before any fallback */
	/* [P21] The port of the last connect, if the server maps ports; else 0.
	 */
	uint16_t server_port;
	/* [P21] The index of its record in the pacer, see pacing.h, plus 1; 0:
	 * it has none. */
	uint32_t pacing;
	uint32_t counted_ms; /* when its bytes were counted, the low 32 bits */
	uint64_t server_tls; /* [P21] see server_tls.h */
	struct side side[2]; /* by enum handle_side */
	union pending_data pending[2]; /* for that side */
	struct frontend *frontend;     /* [P21] of the model it began under */
	struct server *server;         /* [P21] it has a slot there; or NULL */
	struct inspection *inspection; /* [P21] or NULL, see inspection.h */
	struct waiter waiter;
	struct newcomer newcomer;
	struct endpoint client; /* [P21] the peer; see session_client */
	/* Times, clock_now_ms; 0: not reached.  accepted_ms and
	 * accepted_wall_us: [P21]. */
	uint64_t accepted_ms, connecting_ms, connected_ms;
	uint64_t state_ms; /* when the state was last set */
	/* When the last connect began, clock_now_ns.  For a session from
	 * another process, until its first turn here: when it left that
	 * process; 0: not known. */
	uint64_t connecting_ns;
	uint64_t accepted_wall_us;
	uint32_t number; /* [P21] see session_id */
	/* The serials of the servers tried so far.  A reload may free such a
	 * server; a server that it keeps gets another serial, and may be tried
	 * once more. */
	uint32_t tried[SESSION_TRIES_MAX];
};

/* Notes that the owner has read n bytes from that side. */
static inline void
session_received(
    struct session *s, enum handle_side from, uint64_t n, uint64_t now_ms)
{
	struct side *side = &s->side[from];

	atomic_bump_own(&side->received, n);
	side->active_ms = now_ms;
	s->asked = from == HANDLE_CLIENT;
}

/* Initializes a session's slot once, for slab_options.construct. */
bool session_construct(void *object, uint32_t index, void *arg);

/* An accepted connection. */
struct accepted {
	int fd;
	struct endpoint client;
	struct gate_answer answer; /* GATE_ADMIT, GATE_TARPIT or GATE_DELAY */
};

/* Starts a session for an accepted connection.  Takes ownership of its fd.  The
 * caller has counted the connection in the frontend's sessions.  at: the
 * acceptor's shard.  The first turn runs here if the session was placed on that
 * shard, else on a thread of its own shard.  The session may have ended when
 * this returns.  Runs on an acceptor's thread, in the acceptor's turn. */
void session_start(struct session *s, const struct shard *at,
    const struct frontend_listen *listen, const struct accepted *accepted,
    struct pool_thread *self);

/* Initializes a session for an accepted connection, places it on a shard and
 * counts it.  Takes ownership of fd.  The caller owns the claim from here on.
 * Runs on an acceptor's thread. */
void session_open(struct session *s, struct frontend *frontend, int fd,
    const struct endpoint *client, struct pool_thread *self);

/* The functions below run on the session's owner. */

/* Initializes the fields of a session that begins without a backend, except its
 * state, accepted_wall_us and number. */
void session_clear(struct session *s, struct frontend *frontend, int fd,
    const struct endpoint *client, uint64_t now_ms);

/* Counts and logs the end, closes the descriptors and gives the slot back.  The
 * reason follows from the cause and the session's phase.  The caller must not
 * touch the session afterwards, and returns TURN_RETIRED from its turn. */
void session_close(
    struct session *s, enum close_cause cause, struct pool_thread *self);

/* Frees a session that another process goes on with, which has copies of its
 * descriptors.  Logs and counts nothing; nothing reaches the peers. */
void session_forget(struct session *s, struct pool_thread *self);

/* Enters the state, and sets its deadline.  Aborts when SESSION_EDGES_TABLE
 * does not have the change. */
void session_set_state(
    struct session *s, enum session_state state, struct pool_thread *self);

/* Registers the side's descriptor with the handle set of the session's shard.
 * Returns 0 or -errno. */
int session_watch(struct session *s, enum handle_side side) MUST_CHECK;

/* Sets the backend to that of the route, or to its fallback while that backend
 * has no usable server. */
void session_use_backend(
    struct session *s, unsigned route, struct pool_thread *self);

/* Goes over to the backend of another route, where attempts are counted from 0
 * again.  The session has no server and is in no queue. */
void session_change_backend(
    struct session *s, unsigned route, struct pool_thread *self);

/* Sets the server, which the caller has chosen in this turn from the lineup
 * with that number.  Gives the session the slot that the caller took at the
 * server.  Pins the server's model until session_leave_server. */
void session_use_server(
    struct session *s, struct server *server, uint64_t lineup);

/* Gives the slot at the server back, and clears the server. */
void session_leave_server(struct session *s);

/* Does what session_leave_server does, except that the slot stays in use,
 * because another process goes on with the session (backend_pass). */
void session_pass_server(struct session *s);

/* Leaves the queue, if the session is in it.  Returns true when the session was
 * granted a server meanwhile, which is then s->server. */
bool session_leave_queue(struct session *s);

/* Ends the pause in the queue, if there is one. */
void session_end_pause(struct session *s);

/* Ends the handshake with the client that the frontend counts for this session,
 * if there is one. */
void session_end_handshake(struct session *s, struct pool_thread *self);

/* Gives back the room of a client that the gate holds, if it has any. */
void session_end_hold(struct session *s, struct pool_thread *self);

/* Ends the retry that the backend counts for this session, if there is one. */
void session_end_retry(struct session *s);

/* Notes the answer of the gate. */
static inline void
session_note_gate(struct session *s, const struct gate_answer *answer)
{
	s->gate = (uint8_t)answer->action;
	s->limits = answer->limits;
	s->hold_ms = answer->hold_ms;
	s->holding = answer->hold_ms > 0;
	s->cause = (uint8_t)(gate_refuses(answer->action) ? answer->cause
	                                                  : CAUSE_DONE);
}

/* Returns the backend; NULL while it is not known, from ACCEPTED to HANDSHAKE.
 */
static inline struct backend *
session_backend(const struct session *s)
{
	return s->frontend->backends[s->route];
}

/* Returns whether the session waits for a server or for its connect; a session
 * in ACCEPTED counts as well. */
static inline bool
session_is_connecting(const struct session *s)
{
	return s->state == SESSION_ACCEPTED || s->state == SESSION_QUEUED ||
	       s->state == SESSION_CONNECTING || s->state == SESSION_PAUSING;
}

/* Returns whether the session is a newcomer (newcomers.h). */
static inline bool
session_awaits_client(const struct session *s)
{
	return s->state == SESSION_INSPECTING || s->state == SESSION_HANDSHAKE;
}

/* Returns whether both sides are connected and neither was reset. */
static inline bool
session_is_relaying(const struct session *s)
{
	return s->state == SESSION_RELAYING || s->state == SESSION_CLIENT_EOF ||
	       s->state == SESSION_SERVER_EOF;
}

/* Returns whether the client has reset the connection.  On a unix socket an
 * error does not mean a reset. */
static inline bool
session_client_reset(const struct session *s)
{
	const struct side *client = &s->side[HANDLE_CLIENT];

	return client->error && client->tcp;
}

/* Returns the side whose reset, or else whose end, ends the session. */
static inline enum handle_side
session_side_gone(const struct session *s)
{
	const struct side *client = &s->side[HANDLE_CLIENT];
	const struct side *server = &s->side[HANDLE_SERVER];

	return side_is_broken(client) ||
	               (!side_is_broken(server) && side_is_shut(server))
	           ? HANDLE_CLIENT
	           : HANDLE_SERVER;
}

/* Returns whether bytes are pending that the side could not take so far. */
static inline bool
session_has_pending(const struct session *s, enum handle_side to)
{
	return s->pending[to].buffer != NULL;
}

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
