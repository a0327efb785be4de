/* SPDX-License-Identifier: MIT
 * The certificates of the authorities that a TLS peer's is held against.
 */
#ifndef NET_TRUST_H
#define NET_TRUST_H

#include <openssl/types.h>

#include "base/err.h"

/* Reads a PEM file of certificates, or, for NULL, takes those of the system.
 * Counted by OpenSSL (X509_STORE_up_ref), and not changed by its users.  NULL
 * with a sentence in err. */
X509_STORE *trust_load(const char *file, struct err *err);

/* For another user; NULL stays NULL. */
X509_STORE *trust_ref(X509_STORE *trust);

/* The last user's frees it; NULL is fine. */
void trust_free(X509_STORE *trust);

#endif
