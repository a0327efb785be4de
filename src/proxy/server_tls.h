/* SPDX-License-Identifier: MIT
 * The facts about TLS with a session's server that the access log, `show sess`
 * and `show closed` have.
 *
 * The owner packs them into a word of the session when the handshake is done,
 * so they can be read while the session runs.  More than a word would make a
 * session larger by a cache line.
 */
#ifndef PROXY_SERVER_TLS_H
#define PROXY_SERVER_TLS_H

#include <stdbool.h>

struct server;
struct session;

#define SERVER_TLS_ALPN_SIZE 23

struct server_tls {
	const char *version; /* `TLSv1.3`, static; NULL: no TLS so far */
	const char *cipher;  /* `TLS_AES_128_GCM_SHA256`, static */
	const char *group;   /* `X25519`, static; NULL: no key exchange */
	const char *verify;  /* `ok`, static; NULL: servers are not verified */
	char alpn[SERVER_TLS_ALPN_SIZE]; /* cut to fit; "": none was chosen */
	bool resumed;
};

/* Publishes the facts, when the handshake with s->server is done.  Runs on the
 * session's owner. */
void server_tls_publish(struct session *s);

/* Clears the facts, when the session has no server any more.  Runs on the
 * session's owner. */
void server_tls_clear(struct session *s);

/* Reads the facts.  server: the session's, or NULL.  Runs on the session's
 * owner, or on the control thread for a session that may end meanwhile; the
 * control thread then checks that it has not, see session_facts.h. */
void server_tls_read(const struct session *s, const struct server *server,
    struct server_tls *ret_tls);

#endif
