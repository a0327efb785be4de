/* SPDX-License-Identifier: MIT
 * Application protocols (ALPN, RFC 7301).
 */
#ifndef TLS_ALPN_H
#define TLS_ALPN_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Parses protocols that blanks separate into the form of the wire: each behind
 * its length.  words that are NULL or blank give NULL, with length 0.  The
 * result is from malloc, the caller's.  Returns false with err set. */
bool tls_alpn_parse(const char *words, uint8_t **ret_alpn, size_t *ret_n,
    struct err *err) MUST_CHECK;

/* Makes ssl, for clients, choose the first of the store's protocols that the
 * client offers.  A client that offers only others gets the alert
 * no_application_protocol; a client that offers none goes on without.  For
 * servers, makes ssl offer the protocols.  Does nothing without protocols.
 * Returns false when memory is short. */
bool tls_alpn_attach(SSL_CTX *ssl) MUST_CHECK;

/* Returns the place, from 1, in the store's list of the protocol that was
 * chosen with a server; 0: none was, or it is not among the first 255.  Runs on
 * the connection's owner. */
unsigned tls_alpn_number(const SSL *ssl);

/* Writes the protocol of that number in words, a setting, cut to size and
 * printable; "" for 0.  Any thread. */
void tls_alpn_name(const char *words, unsigned number, char *out, size_t size);

#endif
