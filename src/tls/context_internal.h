/* SPDX-License-Identifier: MIT
 * Declarations that context.c, context_certs.c and context_trust.c share.
 */
#ifndef TLS_CONTEXT_INTERNAL_H
#define TLS_CONTEXT_INTERNAL_H

#include "base/lock.h"
#include "tls/certs.h"
#include "tls/context.h"
#include "tls/staged.h"

struct tls_context {
	uint32_t refs;
	enum tls_role role;
	struct tls_settings *settings; /* never changes */
	struct tls_staged_list staged; /* control thread */
	/* Parts for tls_context_commit_trust; NULL: none.  Control thread. */
	struct tls_authorities *staged_trust[TLS_TRUSTS];
	/* The control thread changes ssl under the lock, and reads it without;
	 * other threads read it under the lock. */
	struct lock lock;
	SSL_CTX *ssl;
};

/* Returns the store of the present SSL_CTX; borrowed.  Control thread. */
struct tls_store *tls_context_store(const struct tls_context *context);

/* Returns the store's certificates; borrowed.  Control thread. */
struct tls_certs tls_context_list(const struct tls_context *context);

/* Gives ssl to connections from now on, and takes over the reference.  Control
 * thread. */
void tls_context_swap(struct tls_context *context, SSL_CTX *ssl);

/* Adds what x509 tells to facts, and calls report with them. */
void tls_context_report_x509(const X509 *x509, struct tls_cert_facts *facts,
    void (*report)(void *arg, const struct tls_cert_facts *facts), void *arg);

#endif
