/* SPDX-License-Identifier: MIT
 * The use of loaded authorities: peers are verified with them, and
 * compared, digested and reported; see authorities.h.
 */
#include "tls/authorities.h"

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "tls/anchors.h"
#include "tls/authorities_internal.h"
#include "tls/openssl_compat.h"
#include "tls/server_name.h"
#include "tls/store.h"
#include "tls/x509_text.h"

/* The most bytes of authorities' names that clients are sent: a longer list is
 * of no use to them, and some refuse it. */
#define AUTHORITIES_NAMES_MAX 16384

/* Returns the authorities' names, NULL when memory is short.  Clients choose
 * their certificate by them; without names they have to guess. */
static STACK_OF(X509_NAME) *
    make_names(const struct tls_authorities *authorities)
{
	STACK_OF(X509_NAME) *names = sk_X509_NAME_new_null();
	size_t bytes = 0;

	for (int i = 0; names && i < sk_X509_num(authorities->certs); i++) {
		X509 *cert = sk_X509_value(authorities->certs, i);
		X509_NAME *name = X509_NAME_dup(X509_get_subject_name(cert));
		int n = name ? i2d_X509_NAME(name, NULL) : -1;

		if (n < 0 || !sk_X509_NAME_push(names, name)) {
			X509_NAME_free(name);
			sk_X509_NAME_pop_free(names, X509_NAME_free);
			return NULL;
		}
		bytes += (size_t)n + 2;
	}
	while (bytes > AUTHORITIES_NAMES_MAX && sk_X509_NAME_num(names) > 0) {
		X509_NAME_free(sk_X509_NAME_pop(names));
	}
	return names;
}

static int
verify_mode(const struct tls_settings *settings, enum tls_role role)
{
	if (role == TLS_ACCEPTS && settings->verify == TLS_VERIFY_REQUIRED)
		return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
	return SSL_VERIFY_PEER;
}

/* OpenSSL calls this for each certificate of a chain, and for each error. */
static int
note_certificate(int ok, X509_STORE_CTX *chain)
{
	if (ok || !tls_anchors_excuse(chain))
		return tls_server_name_verify(ok, chain);
	X509_STORE_CTX_set_error(chain, X509_V_OK);
	return 1;
}

/* Verifies a chain that the links may complete.  Returns what X509_verify_cert
 * does. */
static int
verify_with_links(X509_STORE_CTX *chain, STACK_OF(X509) * links)
{
	STACK_OF(X509) *sent = X509_STORE_CTX_get0_untrusted(chain);
	STACK_OF(X509) *all = sent ? sk_X509_dup(sent) : sk_X509_new_null();
	int verdict = -1;

	if (all && X509_add_certs(all, links, X509_ADD_FLAG_DEFAULT) == 1) {
		X509_STORE_CTX_set0_untrusted(chain, all);
		verdict = X509_verify_cert(chain);
		X509_STORE_CTX_set0_untrusted(chain, sent);
	} else {
		X509_STORE_CTX_set_error(chain, X509_V_ERR_OUT_OF_MEM);
	}
	sk_X509_free(all);
	return verdict;
}

/* Verifies a peer's chain; arg: the authorities. */
static int
verify_chain(X509_STORE_CTX *chain, void *arg)
{
	const struct tls_authorities *authorities = arg;

	return sk_X509_num(authorities->links) > 0
	           ? verify_with_links(chain, authorities->links)
	           : X509_verify_cert(chain);
}

/* Verifies a client's certificate, and accepts it whatever the result is, which
 * the SSL object and its session keep.  A callback for each certificate of the
 * chain would leave the last error, where the first one says more. */
static int
note_verdict(X509_STORE_CTX *chain, void *arg)
{
	if (verify_chain(chain, arg) <= 0 &&
	    X509_STORE_CTX_get_error(chain) == X509_V_OK)
		X509_STORE_CTX_set_error(chain, X509_V_ERR_UNSPECIFIED);
	return 1;
}

/* Ends the session when the client's certificate expires, and at the latest a
 * session timeout after the certificate was verified: OpenSSL gives every
 * ticket of TLS 1.3 the full timeout, so a client that resumes often would
 * never be verified again.  The session carries the time; after it the client
 * gets a session that is over already.  Returns 0 to fail the handshake. */
static int
limit_session(SSL *ssl, void *arg)
{
	SSL_SESSION *session = SSL_get_session(ssl);
	const X509 *cert = SSL_SESSION_get0_peer(session);
	int64_t start = tls_session_time(session), end, expiry;
	void *kept;
	size_t n;

	(void)arg;
	if (!cert)
		return 1;
	end = start + SSL_CTX_get_timeout(SSL_get_SSL_CTX(ssl));
	if (SSL_session_reused(ssl) == 1 &&
	    SSL_SESSION_get0_ticket_appdata(session, &kept, &n) == 1 &&
	    n == sizeof(end))
		memcpy(&end, kept, sizeof(end));
	expiry = tls_asn1_seconds(X509_get0_notAfter(cert));
	if (end > expiry)
		end = expiry;
	/* OpenSSL 3.0 cannot make a ticket of a session with the timeout 0. */
	if (end <= start) {
		start = end - 1;
		tls_session_set_time(session, start);
	}
	SSL_SESSION_set_timeout(session, (long)(end - start));
	return SSL_SESSION_set1_ticket_appdata(session, &end, sizeof(end));
}

/* Ends a session that is kept by id in TLS 1.2, and so gets no ticket, when the
 * client's certificate expires.  Resumption does not renew such a session.
 * Returns 0: takes no reference. */
static int
limit_kept_session(SSL *ssl, SSL_SESSION *session)
{
	const X509 *cert = SSL_SESSION_get0_peer(session);
	int64_t left, limit = SSL_SESSION_get_timeout(session);

	if (!cert || SSL_version(ssl) > TLS1_2_VERSION)
		return 0;
	left = tls_asn1_seconds(X509_get0_notAfter(cert)) -
	       tls_session_time(session);
	if (left < limit)
		SSL_SESSION_set_timeout(session, left > 0 ? (long)left : 1);
	return 0;
}

bool
tls_authorities_attach(SSL_CTX *ssl, const struct tls_settings *settings)
{
	const struct tls_parts *parts = &tls_store_of(ssl)->parts;
	struct tls_authorities *authorities = parts->authorities;
	bool requested = parts->role == TLS_ACCEPTS &&
	                 settings->verify == TLS_VERIFY_REQUEST;
	unsigned long flags = X509_V_FLAG_PARTIAL_CHAIN;
	STACK_OF(X509_NAME) * names;

	if (!authorities)
		return true;
	if (sk_X509_CRL_num(authorities->crls) > 0)
		flags |= X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL;
	SSL_CTX_set1_cert_store(ssl, authorities->trust);
	SSL_CTX_set_verify(
	    ssl, verify_mode(settings, parts->role), note_certificate);
	SSL_CTX_set_cert_verify_callback(
	    ssl, requested ? note_verdict : verify_chain, authorities);
	if (settings->depth > 0)
		SSL_CTX_set_verify_depth(ssl, (int)settings->depth);
	if (X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(ssl), flags) != 1)
		return false;
	if (parts->role != TLS_ACCEPTS)
		return true;
	SSL_CTX_sess_set_new_cb(ssl, limit_kept_session);
	if (SSL_CTX_set_session_ticket_cb(ssl, limit_session, NULL, NULL) != 1)
		return false;
	if (authorities->system)
		return true;
	names = make_names(authorities);
	if (!names)
		return false;
	SSL_CTX_set_client_CA_list(ssl, names);
	return true;
}

static void
digest_cert(EVP_MD_CTX *md, const X509 *cert)
{
	uint8_t print[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	if (X509_digest(cert, EVP_sha256(), print, &n) == 1)
		EVP_DigestUpdate(md, print, n);
}

static void
digest_crl(EVP_MD_CTX *md, const X509_CRL *crl)
{
	uint8_t print[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	if (X509_CRL_digest(crl, EVP_sha256(), print, &n) == 1)
		EVP_DigestUpdate(md, print, n);
}

uint64_t
tls_authorities_print(
    const struct tls_authorities *authorities, enum tls_trust part)
{
	uint8_t sha256[EVP_MAX_MD_SIZE];
	uint64_t print = 0;
	unsigned n;

	for (unsigned i = 0; i < tls_authorities_count(authorities, part);
	     i++) {
		n = 0;
		if (part == TLS_TRUST_CA)
			(void)X509_digest(tls_authorities_cert(authorities, i),
			    EVP_sha256(), sha256, &n);
		else
			(void)X509_CRL_digest(
			    tls_authorities_crl(authorities, i), EVP_sha256(),
			    sha256, &n);
		print = XXH64(sha256, n, print);
	}
	return print;
}

bool
tls_authorities_equal(
    const struct tls_authorities *a, const struct tls_authorities *b)
{
	if (!a || !b)
		return a == b;
	if (a->system != b->system ||
	    sk_X509_num(a->certs) != sk_X509_num(b->certs))
		return false;
	for (int i = 0; i < sk_X509_num(a->certs); i++) {
		if (X509_cmp(sk_X509_value(a->certs, i),
		        sk_X509_value(b->certs, i)) != 0)
			return false;
	}
	return true;
}

bool
tls_authorities_crls_equal(
    const struct tls_authorities *a, const struct tls_authorities *b)
{
	int n = a ? sk_X509_CRL_num(a->crls) : 0;

	if (n != (b ? sk_X509_CRL_num(b->crls) : 0))
		return false;
	for (int i = 0; i < n; i++) {
		if (X509_CRL_match(sk_X509_CRL_value(a->crls, i),
		        sk_X509_CRL_value(b->crls, i)) != 0)
			return false;
	}
	return true;
}

void
tls_authorities_digest(const struct tls_authorities *authorities,
    const struct tls_settings *settings,
    uint8_t ret_digest[TLS_AUTHORITIES_DIGEST_SIZE])
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	char head[64];
	int n = snprintf(head, sizeof(head), "lfproxy verify=%d depth=%u",
	    authorities ? (int)settings->verify : 0,
	    authorities ? settings->depth : 0);

	memset(ret_digest, 0, TLS_AUTHORITIES_DIGEST_SIZE);
	if (!md)
		return;
	EVP_DigestInit_ex(md, EVP_sha256(), NULL);
	EVP_DigestUpdate(md, head, (size_t)n);
	for (int i = 0; authorities && i < sk_X509_num(authorities->certs); i++)
		digest_cert(md, sk_X509_value(authorities->certs, i));
	for (int i = 0; authorities && i < sk_X509_CRL_num(authorities->crls);
	     i++)
		digest_crl(md, sk_X509_CRL_value(authorities->crls, i));
	EVP_DigestFinal_ex(md, ret_digest, NULL);
	EVP_MD_CTX_free(md);
}

void
tls_authorities_warnings(const struct tls_authorities *authorities,
    const struct tls_settings *settings, struct err_list *warnings)
{
	int64_t now = time(NULL);

	for (int i = 0; authorities && !authorities->system &&
	                i < sk_X509_num(authorities->certs);
	     i++) {
		const X509 *cert = sk_X509_value(authorities->certs, i);
		char name[256];

		if (tls_asn1_seconds(X509_get0_notAfter(cert)) > now)
			continue;
		tls_x509_name(X509_get_subject_name(cert), name, sizeof(name));
		err_list_add(warnings, settings->ca, 0,
		    "the authority '%s' has expired", name);
	}
	for (int i = 0; authorities && i < sk_X509_CRL_num(authorities->crls);
	     i++) {
		const X509_CRL *crl = sk_X509_CRL_value(authorities->crls, i);
		const ASN1_TIME *next = X509_CRL_get0_nextUpdate(crl);
		char name[256];

		if (!next || tls_asn1_seconds(next) > now)
			continue;
		tls_x509_name(X509_CRL_get_issuer(crl), name, sizeof(name));
		err_list_add(warnings, settings->crl, 0,
		    "the CRL of '%s' is out of date: every certificate of that "
		    "authority is refused; get a newer one",
		    name);
	}
}
