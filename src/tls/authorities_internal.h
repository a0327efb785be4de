/* SPDX-License-Identifier: MIT
 * The struct that authorities.c, which loads authorities, and
 * authorities_use.c share.
 */
#ifndef TLS_AUTHORITIES_INTERNAL_H
#define TLS_AUTHORITIES_INTERNAL_H

#include <openssl/x509.h>
#include <time.h>

#include "tls/authorities.h"
#include "tls/stamp.h"

/* The file of a part. */
struct tls_trust_source {
	bool in_memory;         /* replaced since the file was read */
	struct tls_stamp stamp; /* of the file; exists: it is one file */
	uint64_t base;          /* a digest of what the file had */
	time_t read_at;
};

struct tls_authorities {
	unsigned refs;
	bool system;
	struct tls_trust_source sources[TLS_TRUSTS];
	X509_STORE *trust;
	STACK_OF(X509) * certs;
	STACK_OF(X509) * links; /* of certs, borrowed; NULL without CRLs */
	STACK_OF(X509_CRL) * crls;
};

#endif
