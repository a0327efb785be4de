/* SPDX-License-Identifier: MIT
 * The certificate authorities that are trusted to sign a TLS peer's
 * certificate.
 */
#ifndef TLS_TRUST_H
#define TLS_TRUST_H

#include <openssl/types.h>

#include "base/err.h"

/* Reads the authorities from a PEM file; NULL: those of the system.  The store
 * has references (X509_STORE_up_ref), and never changes.  Returns NULL with err
 * set on failure. */
X509_STORE *trust_load(const char *file, struct err *err) MUST_CHECK;

/* Drops a reference.  Accepts NULL. */
void trust_free(X509_STORE *trust);

#endif
