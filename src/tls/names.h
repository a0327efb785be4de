/* SPDX-License-Identifier: MIT
 * Certificates by host name.
 *
 * The index is a sorted array: 10 000 names take fourteen comparisons.  It is
 * built once, and then only read, by any thread.
 */
#ifndef TLS_NAMES_H
#define TLS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct tls_cert;

struct tls_name {
	const char *name; /* the certificate's */
	struct tls_cert *cert;
	size_t order; /* the certificate's place among those given */
};

struct tls_names {
	struct tls_name *names; /* by name, then in the order given */
	size_t n;
	struct tls_name first; /* of the first certificate, if it has no name */
};

/* The certificates for a name: at most one of each type of key. */
struct tls_names_match {
	const struct tls_name *names;
	size_t n;
};

/* Indexes certificates, which stay the caller's.  If several have the same name
 * and type of key, the first one is found.  Returns false when memory is
 * short. */
bool tls_names_init(
    struct tls_names *names, struct tls_cert *const *certs, size_t certs_n);
/* Frees the index, and no certificate. */
void tls_names_fini(struct tls_names *names);

/* Returns the certificates for a host name: those with exactly this name, else
 * with the longest wildcard that matches, else those for the names of the first
 * certificate.  `*.example.com` matches every name below example.com.  The case
 * of name does not matter; name may be NULL.  n is 0 only without
 * certificates. */
struct tls_names_match tls_names_find(
    const struct tls_names *names, const char *name);

/* Returns the certificates for the next wildcard that matches the name, after
 * the matches that tls_names_find and this function, with a lower number from 1
 * on, have returned.  n is 0 if there is none. */
struct tls_names_match tls_names_find_wider(
    const struct tls_names *names, const char *name, unsigned number);

/* Returns whether a certificate has the name, exactly or by a wildcard; false
 * if name is NULL. */
bool tls_names_has(const struct tls_names *names, const char *name);

/* Returns what tls_names_find returns for a name that no certificate has. */
struct tls_names_match tls_names_default(const struct tls_names *names);

/* Returns whether any host name leads to the certificate. */
bool tls_names_uses(const struct tls_names *names, const struct tls_cert *cert);

#endif
