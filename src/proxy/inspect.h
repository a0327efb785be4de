/* SPDX-License-Identifier: MIT
 * The inspection: what is read from a client before a server is chosen.
 *
 *   ACCEPTED --> INSPECTING: the PROXY header, then the TLS hello; whichever
 *                of them this session's steps have
 *            --> the frontend's backend for that, connect
 *
 * One deadline bounds all of it, timeout_hello.  A hello is only looked at: its
 * bytes stay unread, for the server and for further tries; where it comes over
 * a unix socket in pieces they are kept as what a server does not take is.
 * While one is incomplete the socket's SO_RCVLOWAT says how many bytes are
 * worth a wake-up, so a client that sends a byte at a time costs nothing in
 * between.
 *
 * What was learnt is in an object of its own, which only sessions with steps
 * have, until they end.  Without any, nothing here is called.
 */
#ifndef PROXY_INSPECT_H
#define PROXY_INSPECT_H

#include "net/proxy_protocol.h"
#include "net/tls_hello.h"
#include "proxy/session.h"
#include "proxy/session_step.h"

/* What a session has to begin with. */
#define INSPECT_HELLO 1u
#define INSPECT_PROXY 2u

/* The owner's, but for what is marked as in session.h. */
struct inspection {
	uint32_t index; /* in the slab, fixed */
	uint8_t steps;  /* INSPECT_ bits of what is still to come */
	bool ended;     /* the client will send no more */
	bool spoke;     /* there were bytes */
	/* What SO_RCVLOWAT was set to, 0: it was not. */
	uint16_t low_water;
	/* The length of the name that the PROXY header has, as long as a hello
	 * may name another one. */
	uint8_t authority_len;
	/* [P21] Released once these are written: a header has named them. */
	bool proxied;
	uint64_t header_ms; /* when the PROXY header was complete, 0: never */
	struct endpoint source, destination;
	/* [P21] The name that the client asks for, written once: first its
	 * words, then its length, released; 0: none, or none so far. */
	uint8_t name_len;
	uint64_t name[(TLS_NAME_MAX + 1 + 7) / 8];
};

/* For the slab: fixes the index. */
bool inspect_construct(void *object, uint32_t index, void *arg);

/* An acceptor's thread, with the session: it has these steps before it.  False
 * when memory is short. */
bool inspect_begin(
    struct session *session, unsigned steps, struct pool_thread *self);

/* The owner of a session with an inspection, in ACCEPTED or INSPECTING: reads
 * on and acts on the deadline; then finds the backend and returns STEP_CHOOSE,
 * or STEP_CLOSE where there is none.  pending: the claim's bits. */
struct verdict inspect_step(
    struct session *session, uint32_t pending, struct pool_thread *self);

/* The owner, at the session's end; without one nothing happens. */
void inspect_end(struct session *session, struct pool_thread *self);

/* The owner: the client has sent something, whether it was read or not. */
static inline bool
inspect_spoke(const struct session *session)
{
	return session->inspection && session->inspection->spoke;
}

/* The owner: the name that the client asks for, "" when there is none. */
static inline const char *
inspect_name(const struct session *session)
{
	const struct inspection *p = session->inspection;

	return p && p->name_len > 0 ? (const char *)p->name : "";
}

/* The owner: the client, which is what a PROXY header says, or who has
 * connected. */
static inline const struct endpoint *
session_client(const struct session *session)
{
	const struct inspection *p = session->inspection;

	return p && p->proxied ? &p->source : &session->client;
}

/* The owner: the proxy that has named another client; NULL: none. */
static inline const struct endpoint *
session_peer(const struct session *session)
{
	return session_client(session) == &session->client ? NULL
	                                                   : &session->client;
}

/* The owner: the address that the client has connected to, likewise; of family
 * 0 when the kernel does not know it any more. */
void session_destination(
    const struct session *session, struct endpoint *ret_destination);

/* The control thread, of a session that may have ended meanwhile: the client
 * becomes the one that a PROXY header has named, and the peer what the client
 * was; of family 0 if none has.  inspection may be NULL. */
void inspect_read_client(const struct inspection *inspection,
    struct endpoint *client, struct endpoint *ret_peer);

/* The control thread, of a session that may have ended meanwhile: see
 * session_facts.h.  inspection may be NULL. */
void inspect_read_name(
    const struct inspection *inspection, char ret_name[TLS_NAME_MAX + 1]);

#endif
