/* SPDX-License-Identifier: MIT
 * The certificates, keys and counters that belong to an SSL_CTX of ours.
 *
 * A refresh makes a new SSL_CTX with its store, so a store never changes once
 * connections are made.  It lives as long as the SSL_CTX, which OpenSSL counts:
 * until the last connection that was made from it ends.
 */
#ifndef TLS_STORE_H
#define TLS_STORE_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "tls/names.h"
#include "tls/settings.h"

struct tls_authorities;
struct tls_cert;
struct tls_counters;
struct tls_tickets;

/* The parts of an SSL_CTX, besides the settings.  The members are borrowed
 * and counted: a store takes references. */
struct tls_parts {
	enum tls_role role;
	struct tls_cert **certs; /* in the order given */
	size_t certs_n;
	struct tls_authorities *authorities; /* NULL: peers are not verified */
	struct tls_tickets *tickets;         /* NULL: none */
	struct tls_counters *counters;
};

struct tls_store {
	void (*release)(struct tls_store *store); /* frees it */
	struct tls_parts parts;
	struct tls_names names;
	/* TLS_CONNECTS: a digest of what sessions are established with.  They
	 * may be resumed with any store that has the same digest. */
	uint64_t session_digest;
	bool verify;      /* peers have to be verified */
	bool common_name; /* TLS_CONNECTS: a CN may have the name */
	bool strict_sni;  /* clients have to ask for a known name */
	uint8_t *alpn;    /* protocols, each behind its length */
	size_t alpn_n;
	char *sni, *name; /* of the settings; NULL: not given */
	int keylog_fd;    /* -1: none */
	/* SSL objects that were freed, and references to the SSL_CTX that were
	 * given back.  OpenSSL's counts of references order their last uses
	 * before the release; this word shows ThreadSanitizer the same. */
	uint64_t ended;
};

/* Returns whether peers are verified in this role according to the settings. */
bool tls_store_verifies(
    const struct tls_settings *settings, enum tls_role role);

/* Gives ssl its store, which is released with it.  Returns false when memory is
 * short. */
bool tls_store_attach(SSL_CTX *ssl, struct tls_store *store) MUST_CHECK;

/* Returns the store; borrowed.  Any thread. */
struct tls_store *tls_store_of(const SSL_CTX *ssl);
/* Returns the store of the object's SSL_CTX.  Any thread. */
struct tls_store *tls_store_of_ssl(const SSL *ssl);

#endif
