/* SPDX-License-Identifier: MIT
 * Stapling of OCSP responses in handshakes (RFC 6066, section 8).
 */
#ifndef TLS_OCSP_STAPLE_H
#define TLS_OCSP_STAPLE_H

#include <openssl/types.h>

/* Staples the responses of the store's certificates for clients that ask. */
void tls_ocsp_attach(SSL_CTX *ssl);

#endif
