/* SPDX-License-Identifier: MIT
 * The differences that a refresh or a reload makes for new connections.
 */
#ifndef TLS_CHANGES_H
#define TLS_CHANGES_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>

/* Compares the certificates, keys, OCSP responses, authorities, CRLs and ticket
 * keys of two SSL_CTX, which are from tls_context_take or tls_context_load.
 * Calls change with a sentence for each difference, as in `certificate 'x.pem'
 * is another: CN=a, until 2026-01-01 12:00 UTC`.  Settings are not compared.
 * change may be NULL.  Returns the number of differences.  Control thread. */
size_t tls_changes(const SSL_CTX *before, const SSL_CTX *now,
    void (*change)(void *arg, const char *text), void *arg);

#endif
