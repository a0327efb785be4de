/* SPDX-License-Identifier: MIT
 * See store_make.h.
 */
#include "tls/store_make.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomics.h"
#include "tls/alpn.h"
#include "tls/authorities.h"
#include "tls/cert.h"
#include "tls/choice.h"
#include "tls/counters.h"
#include "tls/keylog.h"
#include "tls/ocsp_staple.h"
#include "tls/peer_session.h"
#include "tls/protocol.h"
#include "tls/store.h"
#include "tls/tickets.h"

/* Sessions that are kept for clients by id; some KiB each. */
#define STORE_SESSIONS_MAX 20000

static void
store_free(struct tls_store *store)
{
	for (size_t i = 0; store->parts.certs && i < store->parts.certs_n; i++)
		tls_cert_unref(store->parts.certs[i]);
	free(store->parts.certs);
	tls_authorities_unref(store->parts.authorities);
	tls_tickets_unref(store->parts.tickets);
	tls_counters_unref(store->parts.counters);
	tls_names_fini(&store->names);
	free(store->alpn);
	free(store->sni);
	free(store->name);
	if (store->keylog_fd >= 0)
		close(store->keylog_fd);
	free(store);
}

static void
digest_text(EVP_MD_CTX *md, const char *text)
{
	EVP_DigestUpdate(md, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void
digest_own_cert(EVP_MD_CTX *md, const X509 *cert)
{
	uint8_t print[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	if (X509_digest(cert, EVP_sha256(), print, &n) == 1)
		EVP_DigestUpdate(md, print, n);
}

/* Returns the digest of what a session is established with, without the names:
 * see struct link in peer.c. */
static uint64_t
sessions_digest(
    const struct tls_settings *settings, const struct tls_parts *parts)
{
	/* Without memory for a digest, no other store resumes the sessions. */
	static uint64_t alone;
	const int numbers[] = {settings->min_version, settings->max_version,
	    settings->common_name};
	uint8_t id[TLS_AUTHORITIES_DIGEST_SIZE], print[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	uint64_t digest = atomic_add_relaxed(&alone, 1ull);

	if (!md)
		return digest;
	tls_authorities_digest(parts->authorities, settings, id);
	EVP_DigestInit_ex(md, EVP_sha256(), NULL);
	EVP_DigestUpdate(md, id, sizeof(id));
	EVP_DigestUpdate(md, numbers, sizeof(numbers));
	digest_text(md, settings->ciphers);
	digest_text(md, settings->ciphersuites);
	digest_text(md, settings->curves);
	digest_text(md, settings->alpn);
	for (size_t i = 0; i < parts->certs_n; i++)
		digest_own_cert(md, parts->certs[i]->x509);
	if (EVP_DigestFinal_ex(md, print, NULL) == 1)
		memcpy(&digest, print, sizeof(digest));
	EVP_MD_CTX_free(md);
	return digest;
}

static char *
copy_or_null(const char *text, bool *ok)
{
	char *copy = text ? strdup(text) : NULL;

	*ok = *ok && (copy || !text);
	return copy;
}

/* Takes references to all parts. */
static bool
parts_copy(struct tls_parts *copy, const struct tls_parts *parts)
{
	*copy = *parts;
	copy->certs = calloc(parts->certs_n + 1, sizeof(*copy->certs));
	for (size_t i = 0; copy->certs && i < parts->certs_n; i++)
		copy->certs[i] = tls_cert_ref(parts->certs[i]);
	if (parts->authorities)
		tls_authorities_ref(parts->authorities);
	if (parts->tickets)
		tls_tickets_ref(parts->tickets);
	tls_counters_ref(parts->counters);
	return copy->certs != NULL;
}

/* Makes a store with all of its parts, but without an SSL_CTX. */
static struct tls_store *
store_make(const struct tls_settings *settings, const struct tls_parts *parts,
    struct err *err)
{
	struct tls_store *store = calloc(1, sizeof(*store));
	bool ok = true;

	if (!store) {
		err_oom(err);
		return NULL;
	}
	store->keylog_fd = -1;
	store->release = store_free;
	store->verify = tls_store_verifies(settings, parts->role);
	store->common_name = settings->common_name;
	store->strict_sni = settings->strict_sni;
	if (parts->role == TLS_CONNECTS)
		store->session_digest = sessions_digest(settings, parts);
	store->sni = copy_or_null(settings->sni, &ok);
	store->name = copy_or_null(settings->name, &ok);
	ok = parts_copy(&store->parts, parts) && ok;
	ok = ok && tls_names_init(
	               &store->names, store->parts.certs, store->parts.certs_n);
	if (!ok)
		err_oom(err);
	ok = ok &&
	     tls_alpn_parse(settings->alpn, &store->alpn, &store->alpn_n, err);
	ok = ok && tls_keylog_open(settings->keylog, &store->keylog_fd, err);
	if (ok)
		return store;
	store_free(store);
	return NULL;
}

/* Sets how sessions are resumed: by tickets if there are keys, else by ids with
 * a bounded cache. */
static bool
sessions_set(SSL_CTX *ssl, const struct tls_settings *settings,
    const struct tls_store *store)
{
	uint8_t id[TLS_AUTHORITIES_DIGEST_SIZE];

	SSL_CTX_set_timeout(ssl, (long)settings->session_timeout_s);
	if (store->parts.role == TLS_CONNECTS) {
		tls_peer_session_attach(ssl);
		return true;
	}
	SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_SERVER);
	SSL_CTX_sess_set_cache_size(ssl, STORE_SESSIONS_MAX);
	/* OpenSSL would send two after a full handshake of TLS 1.3.  Each
	 * costs 30 us, a tenth of the handshake, and most clients use one. */
	SSL_CTX_set_num_tickets(ssl, 1);
	if (store->parts.tickets)
		tls_tickets_attach(ssl);
	else
		SSL_CTX_set_options(ssl, SSL_OP_NO_TICKET);
	/* A session of a client that was verified in another way, or against
	 * other authorities, is not resumed. */
	tls_authorities_digest(store->parts.authorities, settings, id);
	return SSL_CTX_set_session_id_context(ssl, id, sizeof(id)) == 1;
}

/* Sets all that depends on the store, which ssl has. */
static bool
ssl_set(SSL_CTX *ssl, const struct tls_settings *settings, struct err *err)
{
	struct tls_store *store = tls_store_of(ssl);

	if (!tls_protocol_set(ssl, settings, store->parts.role, err) ||
	    !tls_choice_attach(ssl, err))
		return false;
	tls_counters_attach(ssl);
	if (store->keylog_fd >= 0)
		tls_keylog_attach(ssl);
	if (store->parts.role == TLS_ACCEPTS)
		tls_ocsp_attach(ssl);
	return (sessions_set(ssl, settings, store) &&
	           tls_authorities_attach(ssl, settings)) ||
	       err_oom(err);
}

bool
tls_store_give(SSL_CTX *ssl, const struct tls_settings *settings,
    const struct tls_parts *parts, struct err *err)
{
	struct tls_store *store = store_make(settings, parts, err);

	if (!store)
		return false;
	if (tls_store_attach(ssl, store))
		return ssl_set(ssl, settings, err);
	store_free(store);
	return err_oom(err);
}

SSL_CTX *
tls_store_make(const struct tls_settings *settings,
    const struct tls_parts *parts, struct err *err)
{
	SSL_CTX *ssl =
	    SSL_CTX_new(parts->role == TLS_ACCEPTS ? TLS_server_method()
	                                           : TLS_client_method());
	bool ok = ssl != NULL || err_oom(err);

	ok = ok && tls_store_give(ssl, settings, parts, err);
	if (ok && !tls_alpn_attach(ssl))
		ok = err_oom(err);
	ERR_clear_error();
	if (ok)
		return ssl;
	SSL_CTX_free(ssl);
	return NULL;
}
