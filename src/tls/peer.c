/* SPDX-License-Identifier: MIT
 * See peer.h.
 *
 * Sessions are copied when they are kept and when they are used: OpenSSL marks
 * a session as unusable when one of its connections ends badly, and writes to
 * it during a handshake, without a lock.
 */
#include "tls/peer.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/atomics.h"
#include "base/ensure.h"
#include "base/lock.h"
#include "tls/facts.h"
#include "tls/openssl_compat.h"
#include "tls/openssl_err.h"
#include "tls/peer_session.h"
#include "tls/server_name.h"
#include "tls/store.h"

/* A session with our own reference count: ThreadSanitizer does not see
 * OpenSSL's. */
struct kept_session {
	unsigned refs;
	SSL_SESSION *session;          /* never changed */
	uint64_t session_digest;       /* of the store that it was made with */
	char names[2 * TLS_NAME_SIZE]; /* see struct link */
};

struct tls_resume {
	unsigned refs;
	struct lock lock;
	struct kept_session *kept; /* under the lock; NULL: none */
};

/* An SSL object's data for the sessions that its server gives. */
struct link {
	struct tls_resume *resume;
	/* The SNI and the checked name, with a blank between: a session is used
	 * for the same names only. */
	char names[2 * TLS_NAME_SIZE];
};

static int link_slot;

static void
free_link(void *ssl, void *link, CRYPTO_EX_DATA *data, int slot, long number,
    void *arg)
{
	struct link *it = link;

	(void)ssl;
	(void)data;
	(void)slot;
	(void)number;
	(void)arg;
	if (it)
		tls_resume_unref(it->resume);
	free(it);
}

static void
make_link_slot(void)
{
	link_slot = SSL_get_ex_new_index(0, NULL, NULL, NULL, free_link);
	ENSURE(link_slot >= 0);
}

static int
get_link_slot(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_link_slot);
	return link_slot;
}

/* -- The session of a server -- */

struct tls_resume *
tls_resume_new(void)
{
	struct tls_resume *resume = calloc(1, sizeof(*resume));

	if (resume) {
		resume->refs = 1;
		lock_init(&resume->lock);
	}
	return resume;
}

struct tls_resume *
tls_resume_ref(struct tls_resume *resume)
{
	if (resume)
		atomic_add_relaxed(&resume->refs, 1u);
	return resume;
}

static void
kept_unref(struct kept_session *kept)
{
	if (!kept || atomic_sub_acq_rel(&kept->refs, 1u) > 1)
		return;
	SSL_SESSION_free(kept->session);
	free(kept);
}

void
tls_resume_unref(struct tls_resume *resume)
{
	if (!resume || atomic_sub_acq_rel(&resume->refs, 1u) > 1)
		return;
	kept_unref(resume->kept);
	lock_fini(&resume->lock);
	free(resume);
}

/* Puts kept in the place of the present session, and takes its reference. */
static void
kept_exchange(struct tls_resume *resume, struct kept_session *kept)
{
	struct kept_session *old;

	lock_acquire(&resume->lock);
	old = resume->kept;
	resume->kept = kept;
	lock_release(&resume->lock);
	kept_unref(old);
}

void
tls_resume_drop(struct tls_resume *resume)
{
	if (resume)
		kept_exchange(resume, NULL);
}

/* Returns the session with a reference, or NULL. */
static struct kept_session *
kept_get(struct tls_resume *resume)
{
	struct kept_session *kept;

	lock_acquire(&resume->lock);
	kept = resume->kept;
	if (kept)
		atomic_add_relaxed(&kept->refs, 1u);
	lock_release(&resume->lock);
	return kept;
}

/* Keeps a copy of a session that the server has given.  Returns 0: the
 * reference stays OpenSSL's. */
static int
keep_session(SSL *ssl, SSL_SESSION *session)
{
	const struct link *link = SSL_get_ex_data(ssl, get_link_slot());
	struct kept_session *kept;

	if (!link || !SSL_SESSION_is_resumable(session))
		return 0;
	kept = calloc(1, sizeof(*kept));
	if (!kept)
		return 0;
	kept->refs = 1;
	kept->session = SSL_SESSION_dup(session);
	kept->session_digest = tls_store_of_ssl(ssl)->session_digest;
	memcpy(kept->names, link->names, sizeof(kept->names));
	if (kept->session)
		kept_exchange(link->resume, kept);
	else
		kept_unref(kept);
	return 0;
}

void
tls_peer_session_attach(SSL_CTX *ssl)
{
	SSL_CTX_set_session_cache_mode(
	    ssl, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(ssl, keep_session);
}

/* -- Connections -- */

/* Returns whether the server's certificate has not expired since it was
 * verified: resumption verifies nothing. */
static bool
is_cert_valid(SSL_SESSION *session)
{
	const X509 *cert = SSL_SESSION_get0_peer(session);

	return !cert || X509_cmp_current_time(X509_get0_notAfter(cert)) > 0;
}

/* Returns whether the session may be used by the connection. */
static bool
is_kept_current(
    const struct kept_session *kept, const SSL *ssl, const struct link *link)
{
	return kept->session_digest == tls_store_of_ssl(ssl)->session_digest &&
	       strcmp(kept->names, link->names) == 0 &&
	       time(NULL) - tls_session_time(kept->session) <
	           SSL_SESSION_get_timeout(kept->session) &&
	       is_cert_valid(kept->session);
}

/* Makes the handshake resume the server's session, and later sessions be
 * kept. */
static bool
resume_set(
    SSL *ssl, struct tls_resume *resume, const char *sni, const char *name)
{
	struct link *link = calloc(1, sizeof(*link));
	struct kept_session *kept;
	SSL_SESSION *copy = NULL;

	if (!link || SSL_set_ex_data(ssl, get_link_slot(), link) != 1) {
		free(link);
		return false;
	}
	link->resume = tls_resume_ref(resume);
	snprintf(link->names, sizeof(link->names), "%s %s", sni ? sni : "",
	    name ? name : "");
	kept = kept_get(resume);
	if (kept && is_kept_current(kept, ssl, link))
		copy = SSL_SESSION_dup(kept->session);
	if (copy)
		(void)SSL_set_session(ssl, copy);
	SSL_SESSION_free(copy);
	kept_unref(kept);
	return true;
}

bool
tls_peer_passes_sni(const SSL_CTX *context)
{
	const char *sni = tls_store_of(context)->sni;

	return sni && strcmp(sni, "client") == 0;
}

const char *
tls_peer_sni(const SSL_CTX *context, const struct tls_peer *peer)
{
	const struct tls_store *store = tls_store_of(context);
	const char *sni = store->sni ? store->sni : peer->host;

	if (tls_peer_passes_sni(context))
		sni = peer->client_sni ? peer->client_sni : peer->host;
	return sni && *sni && strlen(sni) < TLS_NAME_SIZE &&
	               !tls_is_address(sni)
	           ? sni
	           : NULL;
}

/* Returns the name or address to check, or NULL. */
static const char *
choose_name(
    const struct tls_store *store, const struct tls_peer *peer, const char *sni)
{
	if (store->name)
		return store->name;
	if (sni)
		return sni;
	return peer->host && *peer->host ? peer->host : peer->ip;
}

bool
tls_peer_lacks_name(const SSL_CTX *context, const struct tls_peer *peer)
{
	const struct tls_store *store = tls_store_of(context);
	const char *name =
	    choose_name(store, peer, tls_peer_sni(context, peer));

	return store->verify &&
	       (!name || !*name || strlen(name) >= TLS_NAME_SIZE);
}

/* Makes the name be checked if the settings say so; *ret_name is NULL
 * otherwise. */
static bool
name_expect(const struct tls_store *store, X509_VERIFY_PARAM *param,
    const struct tls_peer *peer, const char *sni, const char **ret_name,
    struct err *err)
{
	const char *name;

	*ret_name = NULL;
	if (!store->verify)
		return true;
	name = choose_name(store, peer, sni);
	if (!name || !*name || strlen(name) >= TLS_NAME_SIZE)
		return err_set(err,
		    "no name is known to check in the server's certificate; "
		    "set name in its [tls] section");
	*ret_name = name;
	return tls_server_name_set(param, name, store->common_name) ||
	       err_oom(err);
}

bool
tls_peer_expect(SSL_CTX *context, const struct tls_peer *peer, struct err *err)
{
	const char *name;

	return name_expect(tls_store_of(context), SSL_CTX_get0_param(context),
	    peer, tls_peer_sni(context, peer), &name, err);
}

bool
tls_peer_prepare(SSL *ssl, const struct tls_peer *peer, struct err *err)
{
	const char *sni = tls_peer_sni(SSL_get_SSL_CTX(ssl), peer), *name;
	bool ok;

	if (!name_expect(tls_store_of_ssl(ssl), SSL_get0_param(ssl), peer, sni,
	        &name, err))
		return false;
	ok = !sni || SSL_set_tlsext_host_name(ssl, sni) == 1;
	if (ok && peer->resume)
		ok = resume_set(ssl, peer->resume, sni, name);
	ERR_clear_error();
	return ok || err_oom(err);
}

const char *
tls_peer_expected(const SSL *ssl, char out[TLS_EXPECTED_SIZE])
{
	/* SSL_get0_param does not change the object. */
	X509_VERIFY_PARAM *param = SSL_get0_param((SSL *)(uintptr_t)ssl);
	const char *host = X509_VERIFY_PARAM_get0_host(param, 0);
	char *ip = host ? NULL : X509_VERIFY_PARAM_get1_ip_asc(param);

	snprintf(out, TLS_EXPECTED_SIZE, "%s", host ? host : ip ? ip : "");
	OPENSSL_free(ip);
	return out;
}
