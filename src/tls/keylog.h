/* SPDX-License-Identifier: MIT
 * Writes the secrets of sessions to a file, for tools such as Wireshark that
 * decrypt what they capture.  Only the setting keylog enables this; the
 * environment's SSLKEYLOGFILE is ignored.
 */
#ifndef TLS_KEYLOG_H
#define TLS_KEYLOG_H

#include <openssl/types.h>
#include <stdbool.h>

#include "base/err.h"

/* Opens the file for appending, and creates it, readable by its owner alone.
 * *ret_fd is -1 if file is NULL.  Returns false with err set.  Blocks. */
bool tls_keylog_open(const char *file, int *ret_fd, struct err *err) MUST_CHECK;

/* Makes ssl write the secrets of all its sessions to the file of its store: a
 * short write for each, on the session's thread. */
void tls_keylog_attach(SSL_CTX *ssl);

#endif
