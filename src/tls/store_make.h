/* SPDX-License-Identifier: MIT
 * Making an SSL_CTX with its store.
 */
#ifndef TLS_STORE_MAKE_H
#define TLS_STORE_MAKE_H

#include <openssl/types.h>
#include <stdbool.h>

#include "base/err.h"
#include "tls/settings.h"

struct tls_parts;

/* Gives an SSL_CTX, new or another library's, a store, and all settings except
 * ALPN.  Returns false with err set. */
bool tls_store_give(SSL_CTX *ssl, const struct tls_settings *settings,
    const struct tls_parts *parts, struct err *err) MUST_CHECK;

/* Makes an SSL_CTX with its store.  Returns NULL with err set. */
SSL_CTX *tls_store_make(const struct tls_settings *settings,
    const struct tls_parts *parts, struct err *err) MUST_CHECK;

#endif
