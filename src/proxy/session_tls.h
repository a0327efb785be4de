/* SPDX-License-Identifier: MIT
 * The facts about TLS with the client for the access log, `show closed`, `show
 * sess` and PROXY headers.
 *
 * The functions run on the session's owner unless their comment names another
 * thread.
 */
#ifndef PROXY_SESSION_TLS_H
#define PROXY_SESSION_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "net/proxy_protocol.h"
#include "tls/facts.h"

struct inspection;
struct session;
struct side;

/* Returns why the handshake on that side has failed; static. */
const char *session_tls_failure(const struct side *side);

/* All strings are static, and NULL if unknown. */
struct session_tls {
	const char *version; /* `TLSv1.3`; NULL: the handshake is not done */
	const char *cipher;  /* `TLS_AES_128_GCM_SHA256` */
	const char *group;   /* `X25519` */
	const char *verify;  /* the client's certificate: `ok`, or why not */
	const char *failure; /* why the handshake failed */
	uint16_t listen;     /* the number of the listen; 0: plain TCP */
	bool resumed;
};

#define SESSION_TLS_ALPN_SIZE    32
#define SESSION_TLS_SERIAL_SIZE  48
#define SESSION_TLS_SUBJECT_SIZE 256

enum session_tls_text {
	SESSION_TLS_ALPN,
	/* Facts of the client's certificate. */
	SESSION_TLS_SERIAL,
	SESSION_TLS_SUBJECT,
	SESSION_TLS_ISSUER,
	SESSION_TLS_SANS,
	SESSION_TLS_TEXTS
};

/* Texts that the peers have chosen, cut to fit; empty: none. */
struct session_tls_texts {
	char alpn[SESSION_TLS_ALPN_SIZE];
	/* Facts of the client's certificate. */
	char serial[SESSION_TLS_SERIAL_SIZE]; /* hexadecimal digits */
	char subject[SESSION_TLS_SUBJECT_SIZE];
	char issuer[SESSION_TLS_SUBJECT_SIZE];
	char sans[TLS_SANS_SIZE]; /* as in struct tls_facts */
};

/* Reads the facts.  has_failed: the session ends because the handshake has
 * failed. */
void session_tls_read(
    const struct session *s, bool has_failed, struct session_tls *ret_tls);

/* Reads the texts from the TLS connection with the client; all are empty if
 * there is none. */
void session_tls_read_texts(
    const struct session *s, struct session_tls_texts *ret_texts);

/* Puts pointers to the texts into ret_all, by enum session_tls_text. */
void session_tls_list_texts(const struct session_tls_texts *texts,
    const char *ret_all[SESSION_TLS_TEXTS]);

#define SESSION_TLS_SHOWN_SIZE 256

/* The facts that the control thread sees of a running session. */
struct session_tls_shown {
	struct session_tls tls; /* version NULL: nothing more is known */
	/* The texts of enum session_tls_text, each with its NUL; each is cut to
	 * the room that the texts before it leave. */
	char texts[SESSION_TLS_SHOWN_SIZE];
};

/* Returns a text, or NULL if there is none. */
const char *session_tls_shown_text(
    const struct session_tls_shown *shown, enum session_tls_text which);

/* Publishes the facts in the session's inspection [P21], when the handshake
 * with the client is done. */
void session_tls_publish(const struct session *s);

/* Reads the facts of a session that may end meanwhile.  inspection may be NULL.
 * Runs on the control thread. */
void session_tls_read_shown(
    const struct inspection *inspection, struct session_tls_shown *ret_shown);

/* The memory that a PROXY header's values about TLS point to. */
struct session_tls_header {
	struct tls_facts facts;
	struct proxy_tls tls;
	char sig_alg[PROXY_SHORT_MAX], key_alg[PROXY_SHORT_MAX];
};

/* Puts into header what is known of TLS with the client, if there is any.  The
 * values are in room, which has to outlive the use of header. */
void session_tls_put_header(const struct session *s,
    struct session_tls_header *room, struct proxy_header *header);

#endif
