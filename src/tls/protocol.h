/* SPDX-License-Identifier: MIT
 * Versions, ciphers and curves.
 *
 * The defaults for clients are Mozilla's "intermediate", without finite-field
 * Diffie-Hellman: every client with TLS 1.2 has elliptic curves, and finite
 * fields cost several times as much.  (A cipher list with DHE words enables
 * them.)  The client's order decides: phones without AES instructions prefer
 * ChaCha20.  For servers, which are often old and in the operator's own
 * network, the defaults are OpenSSL's, from TLS 1.2 on.
 *
 * wiki.mozilla.org/Security/Server_Side_TLS
 */
#ifndef TLS_PROTOCOL_H
#define TLS_PROTOCOL_H

#include <openssl/types.h>
#include <stdbool.h>

#include "base/err.h"
#include "tls/settings.h"

/* Sets the versions, ciphers and curves of the settings, and the options that
 * are the same for every context.  Returns false with err set, which names the
 * setting and the word. */
bool tls_protocol_set(SSL_CTX *ssl, const struct tls_settings *settings,
    enum tls_role role, struct err *err) MUST_CHECK;

/* Returns whether the word is a class of ciphers that OpenSSL no longer has, or
 * several of these with + between.  Lists exclude such classes. */
bool tls_protocol_is_old_cipher(const char *word);

#endif
