/* SPDX-License-Identifier: MIT
 * The groups for the exchange of keys.
 *
 * By default a hybrid of X25519 and ML-KEM comes first, if OpenSSL has it:
 * recorded traffic then stays secret although quantum computers may break
 * X25519.  OpenSSL has the hybrid since version 3.5.
 */
#ifndef TLS_GROUPS_H
#define TLS_GROUPS_H

#include <openssl/types.h>
#include <stdbool.h>

#include "base/err.h"

/* Sets the groups of the list, in the form of SSL_CTX_set1_groups_list, or the
 * default ones if list is NULL.  Returns false with err set. */
bool tls_groups_set(SSL_CTX *ssl, const char *list, struct err *err) MUST_CHECK;

/* Calls each with the name of every group that this OpenSSL has for TLS 1.3.
 * The names are valid as long as OpenSSL's providers are loaded. */
void tls_groups_each(void (*each)(void *arg, const char *name), void *arg);

/* Returns the name as lists have it, `X25519` or `P-256`, for the name in the
 * registry of TLS, which OpenSSL reports: `x25519` or `secp256r1`.  Returns
 * name itself if both are the same. */
const char *tls_group_spelling(const char *name);

#endif
