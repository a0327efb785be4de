/* SPDX-License-Identifier: MIT
 * The authorities whose certificates a TLS peer may have.
 */
#ifndef NET_TRUST_H
#define NET_TRUST_H

#include <openssl/types.h>

#include "base/err.h"

/* Reads a PEM file of certificates; NULL: those of the system.  The store is
 * counted (X509_STORE_up_ref), and never changed.  Returns NULL with err set.
 */
X509_STORE *trust_load(const char *file, struct err *err) MUST_CHECK;

/* Returns trust, with another reference unless it is NULL. */
X509_STORE *trust_ref(X509_STORE *trust);

/* Drops a reference.  Accepts NULL. */
void trust_free(X509_STORE *trust);

#endif
