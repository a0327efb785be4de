/* SPDX-License-Identifier: MIT
 * Keeping the sessions that servers give.
 */
#ifndef TLS_PEER_SESSION_H
#define TLS_PEER_SESSION_H

#include <openssl/types.h>

/* Keeps every new session of ssl, which is for servers, in the tls_resume of
 * its connection. */
void tls_peer_session_attach(SSL_CTX *ssl);

#endif
