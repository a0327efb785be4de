/* SPDX-License-Identifier: MIT
 * Sessions as the control thread reads them, and ends them, while they run.
 *
 * The owner writes the fields marked [P21] in session.h with atomic stores,
 * which cost it nothing.  The control thread reads them without waiting, and
 * then checks that the slot still has the same session, as the reader of a
 * seqlock does, with the claim's generation as the sequence number.  Each fact
 * was true at some moment during the read.
 */
#ifndef PROXY_SESSION_FACTS_H
#define PROXY_SESSION_FACTS_H

#include "net/tls_hello.h"
#include "proxy/server_tls.h"
#include "proxy/session.h"
#include "proxy/session_tls.h"

struct session_facts {
	/* Constant during the session, also in another process; not used for
	 * another session within an hour; never 0. */
	uint64_t id;
	uint32_t index;      /* its slot in this process */
	uint32_t generation; /* its claim's */
	enum session_state state;
	/* Valid until the caller returns to the control loop. */
	const struct frontend *frontend;
	const struct backend *backend; /* NULL: not known so far */
	const struct server *server;   /* NULL: none so far */
	struct endpoint client;
	struct endpoint peer; /* the proxy that named the client, or family 0 */
	char sni[TLS_NAME_MAX + 1];   /* "": none, or not known so far */
	struct session_tls_shown tls; /* with the client */
	bool asked_tls; /* the client has asked for TLS, see starttls.h */
	struct server_tls server_tls;
	uint64_t accepted_ms, accepted_wall_us;
	uint64_t deadline_ms; /* clock_now_ms */
	unsigned tries;       /* connects so far */
	unsigned server_port; /* see server_address_at */
	int fd[2];            /* by enum handle_side; -1: none */
	uint64_t received[2];
	bool waits[2]; /* for bandwidth, before that side is read */
};

/* Returns a session's id, made of its number and the time when it was accepted.
 * A process gives the sessions that it accepts a number for each slot.  After
 * an upgrade the predecessor numbers its own sessions from behind these
 * (proxy_number_from), and a session that it adopts keeps its number. */
uint64_t session_id(uint32_t number, uint64_t accepted_wall_us);

/* Reads the session of that slot; index is less than slab_made of the sessions.
 * Returns false when the slot is free.  Runs on the control thread. */
bool session_facts_read(const struct proxy *proxy, uint32_t index,
    struct session_facts *ret_facts) MUST_CHECK;

/* Reads the session with that id; searches all slots if the process has adopted
 * sessions.  Returns false when the session has ended.  Runs on the control
 * thread. */
bool session_facts_find(const struct proxy *proxy, uint64_t id,
    struct session_facts *ret_facts) MUST_CHECK;

/* Reads the session of that slot, if it has that id.  Returns false when the
 * session with that id has ended.  Runs on the control thread. */
bool session_facts_again(const struct proxy *proxy, uint32_t index, uint64_t id,
    struct session_facts *ret_facts) MUST_CHECK;

/* Ends the session by a note.  Returns false when it has already ended.  Runs
 * on the control thread. */
bool session_facts_kill(struct proxy *proxy, const struct session_facts *facts);

/* Leaves NOTE_DRAIN or NOTE_LEVEL with the session.  Returns false when it has
 * ended or has another server by now.  Runs on the control thread. */
bool session_facts_tell(
    struct proxy *proxy, const struct session_facts *facts, uint32_t note);

/* The facts that decide whether a session moves to another shard. */
struct session_load {
	uint32_t generation;       /* its claim's */
	uint32_t busy;             /* see event_handler.busy */
	const struct shard *shard; /* the shard that has its descriptors */
	uint64_t accepted_ms;
};

/* Reads the load of the session of that slot.  Returns false when the slot is
 * free.  The values may be those of the slot's next session; a note with this
 * generation is refused then.  Runs on the control thread. */
bool session_load_read(const struct proxy *proxy, uint32_t index,
    struct session_load *ret_load) MUST_CHECK;

/* Returns the turn time of all sessions that the slot has had, as
 * event_handler.busy; also for a free slot.  Runs on the control thread. */
uint32_t session_load_busy(const struct proxy *proxy, uint32_t index);

/* Leaves NOTE_SHIFT with the session of that slot.  Returns false when its
 * generation has ended.  Runs on the control thread. */
bool session_load_shift(
    struct proxy *proxy, uint32_t index, uint32_t generation);

/* Returns the name of the state in enum session_state, "CONNECTING" for
 * example. */
const char *session_state_name(enum session_state state);

#endif
