/* SPDX-License-Identifier: MIT
 * A certificate of ours with its key, its chain and its OCSP response.
 *
 * Certificates are counted, and never changed once loaded: stores share those
 * whose files have not changed.  They are loaded on the control thread and read
 * by any.
 */
#ifndef TLS_CERT_H
#define TLS_CERT_H

#include <openssl/types.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/err.h"
#include "tls/ocsp.h"
#include "tls/settings.h"
#include "tls/stamp.h"

struct tls_cert {
	unsigned refs;
	char *file, *key_file, *ocsp_file; /* never NULL; ocsp_file may not
	                                    * exist */
	bool ocsp_named;                   /* in the settings: must exist */
	struct tls_stamp stamp, key_stamp, ocsp_stamp;
	time_t read_at;
	X509 *x509;
	STACK_OF(X509) * chain;
	EVP_PKEY *key;
	int key_type; /* as EVP_PKEY_RSA: a client can verify some types */
	char **names; /* DNS names in lower case, without duplicates */
	unsigned names_n;
	int64_t not_before, not_after; /* seconds since 1970 */
	struct tls_ocsp ocsp;
	bool key_is_open; /* every user of this host can read the key's file */
	bool in_memory;   /* not from its files */
	/* A digest of the certificate and its chain; base: of those in the
	 * files, which is the same unless in_memory. */
	uint64_t print, base;
};

/* Reads a certificate and all that belongs to it.  Returns it with one
 * reference, or NULL with err set, which names the file.  Blocks. */
struct tls_cert *tls_cert_load(
    const struct tls_pair *pair, struct err *err) MUST_CHECK;

/* Returns old's replacement in memory, with one reference.  pem has the
 * certificate with its chain, NULL: the old one; key_pem has the key, NULL: the
 * key in pem, or else the old one.  Returns NULL with err set. */
struct tls_cert *tls_cert_replace(const struct tls_cert *old, const char *pem,
    const char *key_pem, struct err *err) MUST_CHECK;

/* Adds a reference.  Returns cert.  Any thread. */
struct tls_cert *tls_cert_ref(struct tls_cert *cert);
/* Drops a reference, the last one frees it.  Accepts NULL.  Any thread. */
void tls_cert_unref(struct tls_cert *cert);

/* Returns whether loading pair would read what cert was made of: its files are
 * the same and have not changed since.  Blocks. */
bool tls_cert_is_current(
    const struct tls_cert *cert, const struct tls_pair *pair);

/* Returns the certificate that x509 belongs to, or NULL if x509 is NULL or not
 * ours. */
struct tls_cert *tls_cert_of(const X509 *x509);

/* Returns `RSA`, `EC`, `ED25519`...; static. */
const char *tls_cert_key_type_name(const struct tls_cert *cert);

#endif
