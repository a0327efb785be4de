/* SPDX-License-Identifier: MIT
 * The record of an inspection: which parts are still to come, and what the
 * client's first bytes have told.
 */
#ifndef PROXY_INSPECTION_H
#define PROXY_INSPECTION_H

#include "net/proxy_protocol.h"
#include "net/tls_hello.h"
#include "proxy/session.h"
#include "proxy/session_tls.h"

/* The parts of an inspection, a set of bits. */
#define INSPECT_HELLO    1u
#define INSPECT_PROXY    2u
#define INSPECT_STARTTLS 4u /* a request for TLS, before the hello */

/* All fields belong to the session's owner; [P21] as in session.h. */
struct inspection {
	uint32_t index;  /* in the slab, fixed */
	uint8_t steps;   /* INSPECT_ bits of the parts still to come */
	bool ended;      /* the client will send no more */
	bool spoke;      /* the client has sent bytes */
	bool tls;        /* the client has sent a TLS hello */
	bool asked_tls;  /* [P21] its SSLRequest was answered with S */
	bool asked_gss;  /* its GSSENCRequest was answered with N */
	uint16_t listen; /* the number of the listen that the client is at */
	/* SO_RCVLOWAT of the client's socket, 0: never set. */
	uint16_t low_water;
	/* The length of the name in the PROXY header, while a hello may still
	 * name another one. */
	uint8_t authority_len;
	/* [P21] A header has named source and destination; stored with release
	 * once these are written. */
	bool proxied;
	uint64_t header_ms; /* when the PROXY header was complete, 0: never */
	struct endpoint source, destination;
	/* [P21] The name that the client asks for, written once: first name,
	 * then name_len, stored with release; 0: no name, or none so far. */
	uint8_t name_len;
	uint64_t name[(TLS_NAME_MAX + 1 + 7) / 8];
	/* [P21] TLS with the client, see session_tls_publish: tls_cipher is
	 * stored last, with release; NULL: the handshake is not done. */
	const char *tls_cipher, *tls_version, *tls_group, *tls_verify;
	uint64_t protocols; /* the client's, for rules: rules_protocols */
	uint8_t versions;   /* likewise: struct rule_facts */
	bool tls_resumed;
	uint32_t lingered_bytes; /* see linger.h */
	uint64_t tls_texts[SESSION_TLS_SHOWN_SIZE / 8];
};

/* Fixes the index of an inspection, for the slab. */
bool inspect_construct(void *object, uint32_t index, void *arg);

/* Begins an inspection of these parts (INSPECT_ bits) for a client of the
 * listen with that number.  Returns false when memory is short.  Runs on the
 * session's owner. */
bool inspect_begin(struct session *s, unsigned listen, unsigned steps,
    struct proxy *proxy) MUST_CHECK;

/* Notes the name that the client asks for, unless it is not a valid host name.
 * Runs on the session's owner. */
void inspect_note_name(struct inspection *inspection, const char *name);

/* Writes the name word by word, as the control thread reads it.  Readers see
 * the name once the caller has set name_len.  Runs on the session's owner. */
void inspection_put_name(struct inspection *p, const char *name, size_t len);

/* Frees the inspection, if there is one.  Runs on the session's owner, at the
 * session's end. */
void inspect_end(struct session *s, struct proxy *proxy);

/* Returns the name that the client asks for, "" when there is none.  Runs on
 * the session's owner. */
static inline const char *
inspect_name(const struct session *s)
{
	const struct inspection *p = s->inspection;

	return p && p->name_len > 0 ? (const char *)p->name : "";
}

/* Returns the address of the client: from the PROXY header if there was one,
 * else from the connection.  Runs on the session's owner. */
static inline const struct endpoint *
session_client(const struct session *s)
{
	const struct inspection *p = s->inspection;

	return p && p->proxied ? &p->source : &s->client;
}

/* Returns the address that the client has connected to, from the PROXY header
 * if there was one; family 0 when it is unknown.  Runs on the session's owner.
 */
void session_destination(
    const struct session *s, struct endpoint *ret_destination);

/* Reads the client of a session that may end meanwhile: if a PROXY header has
 * named it, moves *client to *ret_peer and sets *client to the named address;
 * else sets the family of *ret_peer to 0.  inspection may be NULL.  Runs on the
 * control thread. */
void inspect_read_client(const struct inspection *inspection,
    struct endpoint *client, struct endpoint *ret_peer);

/* Reads the name of a session that may end meanwhile, "" when there is none.
 * inspection may be NULL.  Runs on the control thread. */
void inspect_read_name(
    const struct inspection *inspection, char ret_name[TLS_NAME_MAX + 1]);

#endif
