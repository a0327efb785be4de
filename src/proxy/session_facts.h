/* SPDX-License-Identifier: MIT
 * Sessions as the control thread may see them, and end them, while they run.
 *
 * Nobody is asked and nobody waits.  The owner writes what is marked [P21] in
 * session.h with atomic stores, which cost it nothing; the control thread reads
 * that and then looks whether the session is still the one it began with, as
 * the reader of a seqlock does, with the claim's generation in the place of the
 * sequence number.  Each fact is true of some moment of the look.
 */
#ifndef PROXY_SESSION_FACTS_H
#define PROXY_SESSION_FACTS_H

#include "net/tls_hello.h"
#include "proxy/session.h"

struct session_facts {
	/* The same for as long as the session lasts, and no other session's
	 * for an hour; never 0. */
	uint64_t id;
	uint32_t generation; /* of its claim */
	enum session_state state;
	/* Alive until the caller gives the control loop back. */
	const struct frontend *frontend;
	const struct backend *backend; /* NULL: not known so far */
	const struct server *server;   /* NULL: none so far */
	struct endpoint client;
	struct endpoint peer; /* who has named the client; family 0: nobody */
	char sni[TLS_NAME_MAX + 1]; /* "": none, or not known so far */
	uint64_t accepted_ms, accepted_wall_us;
	uint64_t deadline_ms; /* clock_now_ms */
	unsigned tries;       /* connects so far */
	int fd[2];            /* by enum handle_side; -1: none */
	uint64_t received[2];
};

/* A session's id, of its index in the slab and when it was accepted. */
uint64_t session_id(uint32_t index, uint64_t accepted_wall_us);

/* Control thread, index < slab_made of the sessions.  False: there is none. */
bool session_facts_read(
    const struct proxy *proxy, uint32_t index, struct session_facts *ret_facts);

/* The same by its id. */
bool session_facts_find(
    const struct proxy *proxy, uint64_t id, struct session_facts *ret_facts);

/* Control thread: tells it to end.  False: it has ended by itself. */
bool session_facts_kill(struct proxy *proxy, const struct session_facts *facts);

/* Control thread: NOTE_DRAIN or NOTE_LEVEL.  False: it has ended, or has gone
 * on to another server. */
bool session_facts_tell(
    struct proxy *proxy, const struct session_facts *facts, uint32_t note);

/* "CONNECTING" and so on. */
const char *session_state_name(enum session_state state);

#endif
