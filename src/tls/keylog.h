/* SPDX-License-Identifier: MIT
 * Secrets of sessions in a file, for tools such as Wireshark that decrypt what
 * they capture.  Written only if the setting keylog names a file; the
 * environment's SSLKEYLOGFILE is ignored.
 */
#ifndef TLS_KEYLOG_H
#define TLS_KEYLOG_H

#include <openssl/types.h>
#include <stdbool.h>

#include "base/err.h"

/* Opens the file to append, and makes it, for its owner alone; NULL: -1.
 * Blocks. */
bool tls_keylog_open(const char *file, int *ret_fd, struct err *err) MUST_CHECK;

/* Writes the secrets of all sessions of ssl to the file of its store: a short
 * write for each, on the session's thread. */
void tls_keylog_attach(SSL_CTX *ssl);

#endif
