/* SPDX-License-Identifier: MIT
 * The choice of a certificate for a handshake.
 */
#ifndef TLS_CHOICE_H
#define TLS_CHOICE_H

#include <openssl/types.h>
#include <stdbool.h>

#include "base/err.h"

/* Makes ssl use the certificates of its store.  A client gets those of the name
 * that it asks for (tls_names_find); OpenSSL chooses among their types of key
 * what the client can verify.  If it can use none of these, it gets those of
 * the longest wildcard (tls_names_find_wider) that it can use.  A server that
 * asks gets the first certificate of a type that it accepts.  Returns false
 * with err set if a certificate cannot be used, as when its key is too weak for
 * the security level of ssl. */
bool tls_choice_attach(SSL_CTX *ssl, struct err *err) MUST_CHECK;

#endif
