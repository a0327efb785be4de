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

/* Makes the form that goes over the wire of protocols that blanks separate:
 * each behind its length.  NULL and blanks alone make NULL, with length 0.  The
 * result is from malloc. */
bool tls_alpn_parse(const char *words, uint8_t **ret_alpn, size_t *ret_n,
    struct err *err) MUST_CHECK;

/* Chooses, for a client, the first of the store's protocols that it offers; a
 * client that offers others only gets the alert no_application_protocol, one
 * that offers none is left alone.  Offers them to a server.  Does nothing
 * without protocols.  Returns false when memory is short. */
bool tls_alpn_attach(SSL_CTX *ssl) MUST_CHECK;

/* Returns the place of the protocol that was chosen with a server in the
 * store's list, from 1; 0: none was, or it is not in the first 255.  The
 * connection's owner. */
unsigned tls_alpn_number(const SSL *ssl);

/* Writes the protocol of that number of the words of a setting, cut to size and
 * printable; "" for 0.  Any thread. */
void tls_alpn_name(const char *words, unsigned number, char *out, size_t size);

#endif
