/* SPDX-License-Identifier: MIT
 * Connections to servers: the name sent, the name checked, the session resumed.
 */
#ifndef TLS_PEER_H
#define TLS_PEER_H

#include <openssl/types.h>
#include <stdbool.h>

#include "base/err.h"

/* The newest session of a server.  Counted: connections have references.
 * Functions may run on any thread; they hold a lock for a moment. */
struct tls_resume;

/* Returns an object without a session, with one reference, or NULL when memory
 * is short. */
struct tls_resume *tls_resume_new(void);
/* Adds a reference.  Returns resume.  Accepts NULL. */
struct tls_resume *tls_resume_ref(struct tls_resume *resume);
/* Drops a reference, the last one frees it.  Accepts NULL. */
void tls_resume_unref(struct tls_resume *resume);
/* Forgets the session, as when the server's address changes.  Accepts NULL. */
void tls_resume_drop(struct tls_resume *resume);

/* The server of a connection. */
struct tls_peer {
	const char *client_sni; /* the name the client asked for; NULL: none */
	const char *host;       /* the server's host name; NULL: none */
	const char *ip;         /* its address without port; NULL: unix */
	struct tls_resume *resume; /* NULL: every handshake is a full one */
};

/* Returns whether the setting is `sni = client`. */
bool tls_peer_passes_sni(const SSL_CTX *context);

/* Returns the SNI of connections to the peer, or NULL for none.  context has
 * the settings.  The text is borrowed from context or from peer. */
const char *tls_peer_sni(const SSL_CTX *context, const struct tls_peer *peer);

/* Returns whether a name has to be checked in the server's certificate and none
 * is known, as with `sni = client` for a client that has sent none. */
bool tls_peer_lacks_name(const SSL_CTX *context, const struct tls_peer *peer);

/* Makes all connections of another library's SSL_CTX, which has its settings
 * from tls_context_apply, check the name that tls_peer_prepare would check.
 * Sets neither SNI nor session.  Returns as tls_peer_prepare. */
bool tls_peer_expect(
    SSL_CTX *context, const struct tls_peer *peer, struct err *err) MUST_CHECK;

#define TLS_EXPECTED_SIZE 256

/* Writes the name or address that the server's certificate must have, for a
 * message; empty if none is checked.  Returns out.  Runs on the SSL object's
 * owner. */
const char *tls_peer_expected(const SSL *ssl, char out[TLS_EXPECTED_SIZE]);

/* Prepares an SSL object of a TLS_CONNECTS context before its handshake: sets
 * the SNI, the name that the server's certificate must have, and the session to
 * resume.
 *
 * The SNI is the setting sni, or client_sni for `sni = client`, or host; no
 * address is sent.  The name checked is the setting name, else the SNI, else
 * host, else ip, in the way of server_name.h.  Returns false with err
 * set when a name has to be checked and none is known, or when memory is short.
 * Copies what it needs.  Runs on the SSL object's owner. */
bool tls_peer_prepare(
    SSL *ssl, const struct tls_peer *peer, struct err *err) MUST_CHECK;

#endif
