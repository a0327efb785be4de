/* SPDX-License-Identifier: MIT
 * See choice.h.
 *
 * The default certificates are in the SSL_CTX; an SSL_CTX for each name would
 * take some 10 KiB and 100 us, for thousands of names.
 */
#include "tls/choice.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "tls/cert.h"
#include "tls/counters.h"
#include "tls/openssl_err.h"
#include "tls/store.h"

static bool
matches_equal(struct tls_names_match a, struct tls_names_match b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++) {
		if (a.names[i].cert != b.names[i].cert)
			return false;
	}
	return true;
}

static bool
ssl_use_cert(SSL *ssl, const struct tls_cert *cert)
{
	return SSL_use_cert_and_key(
	           ssl, cert->x509, cert->key, cert->chain, 1) == 1;
}

/* Returns whether a cipher of TLS 1.2 that both ends have goes with the type of
 * key. */
static bool
shares_cipher(SSL *ssl, const struct tls_cert *cert)
{
	const STACK_OF(SSL_CIPHER) *offered = SSL_get_client_ciphers(ssl);
	const STACK_OF(SSL_CIPHER) *ours = SSL_get_ciphers(ssl);
	int base = EVP_PKEY_get_base_id(cert->key);
	int wanted = base == EVP_PKEY_RSA || base == EVP_PKEY_RSA_PSS
	                 ? NID_auth_rsa
	                 : NID_auth_ecdsa;

	for (int i = 0; i < sk_SSL_CIPHER_num(offered); i++) {
		const SSL_CIPHER *cipher = sk_SSL_CIPHER_value(offered, i);

		for (int k = 0; SSL_CIPHER_get_auth_nid(cipher) == wanted &&
		                k < sk_SSL_CIPHER_num(ours);
		     k++) {
			if (sk_SSL_CIPHER_value(ours, k) == cipher)
				return true;
		}
	}
	return false;
}

/* Returns whether TLS 1.3 with this client has an algorithm for signatures by
 * the key: an ECDSA key's goes with one size of hash (RFC 8446, 4.2.3). */
static bool
has_algorithm(SSL *ssl, const struct tls_cert *cert)
{
	int bits = EVP_PKEY_get_bits(cert->key), sign, hash;
	int n = SSL_get_shared_sigalgs(ssl, 0, NULL, NULL, NULL, NULL, NULL);
	int wanted = bits == 256   ? NID_sha256
	             : bits == 384 ? NID_sha384
	                           : NID_sha512;

	if (EVP_PKEY_get_base_id(cert->key) != EVP_PKEY_EC)
		return true;
	for (int i = 0; i < n; i++) {
		SSL_get_shared_sigalgs(ssl, i, &sign, &hash, NULL, NULL, NULL);
		if (sign == EVP_PKEY_EC && hash == wanted)
			return true;
	}
	return false;
}

/* Returns whether the client can use the certificate: it shares an algorithm
 * for its signatures, and in TLS 1.2 a cipher and the key's group. */
static bool
client_can_use(SSL *ssl, const struct tls_cert *cert)
{
	int flags = SSL_check_chain(ssl, cert->x509, cert->key, cert->chain);

	/* CERT_PKEY_VALID asks for more: OpenSSL finds no algorithm for the
	 * signature of an issuer with an Ed25519 key. */
	if (!(flags & CERT_PKEY_SIGN))
		return false;
	if (SSL_version(ssl) >= TLS1_3_VERSION)
		return has_algorithm(ssl, cert);
	return (flags & CERT_PKEY_EE_PARAM) && shares_cipher(ssl, cert);
}

static bool
client_can_use_any(SSL *ssl, struct tls_names_match match)
{
	for (size_t i = 0; i < match.n; i++) {
		if (client_can_use(ssl, match.names[i].cert))
			return true;
	}
	return false;
}

/* Returns the certificates for the name: those that match best of what the
 * client can use.  What it can use is looked at only if there is a choice. */
static struct tls_names_match
find_usable(SSL *ssl, const struct tls_names *names, const char *name)
{
	struct tls_names_match best = tls_names_find(names, name);
	struct tls_names_match wider = tls_names_find_wider(names, name, 1);

	if (wider.n == 0 || client_can_use_any(ssl, best))
		return best;
	for (unsigned i = 2; wider.n > 0 && !client_can_use_any(ssl, wider);
	     i++)
		wider = tls_names_find_wider(names, name, i);
	return wider.n > 0 ? wider : best;
}

/* Chooses the certificates by the name that the client asks for.  Called in a
 * full handshake, once the hello was read.  Returns 0 to fail. */
static int
choose_by_name(SSL *ssl, void *arg)
{
	const struct tls_store *store = tls_store_of_ssl(ssl);
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
	struct tls_names_match match = find_usable(ssl, &store->names, name);

	(void)arg;
	tls_counters_key_operation(store->parts.counters);
	if (matches_equal(match, tls_names_default(&store->names)))
		return 1;
	SSL_certs_clear(ssl);
	for (size_t i = 0; i < match.n; i++) {
		if (!ssl_use_cert(ssl, match.names[i].cert))
			return 0;
	}
	return 1;
}

/* Counts a signature when a server asks for our certificate. */
static int
count_request(SSL *ssl, void *arg)
{
	const struct tls_store *store = tls_store_of_ssl(ssl);

	(void)arg;
	if (store->parts.certs_n > 0)
		tls_counters_key_operation(store->parts.counters);
	return 1;
}

/* Acknowledges the client's name even if no certificate has it: sessions
 * remember it, and RFC 6066 has servers acknowledge it.  OpenSSL calls this for
 * each hello, also for one without a name, and when a session is resumed. */
static int
acknowledge_name(SSL *ssl, int *alert, void *arg)
{
	const struct tls_store *store = tls_store_of_ssl(ssl);
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

	(void)arg;
	if (store->strict_sni && !tls_names_has(&store->names, name)) {
		tls_openssl_raise_unknown_name();
		*alert = SSL_AD_UNRECOGNIZED_NAME;
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	}
	return name ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

/* Returns whether the certificate is signed with a hash that is too weak for
 * the security level.  OpenSSL 3.5 leaves this check to the peer, which then
 * refuses the certificate. */
static bool
is_signed_weakly(const SSL *ssl, X509 *cert)
{
	/* See SSL_CTX_set_security_level(3). */
	static const int level_bits[] = {0, 80, 112, 128, 192, 256};
	int level = SSL_get_security_level(ssl), bits;

	return level >= 0 && level <= 5 &&
	       !(X509_get_extension_flags(cert) & EXFLAG_SS) &&
	       X509_get_signature_info(cert, NULL, NULL, &bits, NULL) == 1 &&
	       bits < level_bits[level];
}

/* Returns whether OpenSSL takes the certificate, and peers will. */
static bool
cert_check(SSL *ssl, const struct tls_cert *cert)
{
	bool weak = is_signed_weakly(ssl, cert->x509);

	for (int i = 0; !weak && i < sk_X509_num(cert->chain); i++)
		weak = is_signed_weakly(ssl, sk_X509_value(cert->chain, i));
	if (weak)
		ERR_raise(ERR_LIB_SSL, SSL_R_CA_MD_TOO_WEAK);
	return !weak && ssl_use_cert(ssl, cert);
}

/* Tries each certificate, with all of OpenSSL's checks. */
static bool
certs_check(SSL_CTX *ssl_ctx, const struct tls_parts *parts, struct err *err)
{
	SSL *ssl = SSL_new(ssl_ctx);
	bool ok = ssl != NULL || err_oom(err);

	for (size_t i = 0; ok && i < parts->certs_n; i++) {
		ok = cert_check(ssl, parts->certs[i]);
		if (!ok)
			err_set(err, "certificate '%s': %s",
			    parts->certs[i]->file, tls_openssl_reason());
	}
	SSL_free(ssl);
	return ok;
}

/* Puts the certificates into the SSL_CTX that are used unless a name leads to
 * others. */
static bool
defaults_set(SSL_CTX *ssl, const struct tls_store *store)
{
	struct tls_names_match match = tls_names_default(&store->names);
	bool ok = true;

	for (size_t i = 0; ok && i < match.n; i++) {
		const struct tls_cert *cert = match.names[i].cert;

		ok = SSL_CTX_use_cert_and_key(
		         ssl, cert->x509, cert->key, cert->chain, 1) == 1;
	}
	return ok;
}

/* Puts the first certificate of each type of key into the SSL_CTX. */
static bool
firsts_set(SSL_CTX *ssl, const struct tls_parts *parts)
{
	bool ok = true;

	for (size_t i = parts->certs_n; ok && i > 0; i--) {
		const struct tls_cert *cert = parts->certs[i - 1];

		ok = SSL_CTX_use_cert_and_key(
		         ssl, cert->x509, cert->key, cert->chain, 1) == 1;
	}
	return ok;
}

bool
tls_choice_attach(SSL_CTX *ssl, struct err *err)
{
	const struct tls_store *store = tls_store_of(ssl);
	bool ok;

	/* Without this, OpenSSL would look for the chain of a certificate among
	 * the peers' authorities in each handshake. */
	SSL_CTX_set_mode(ssl, SSL_MODE_NO_AUTO_CHAIN);
	ERR_clear_error();
	if (!certs_check(ssl, &store->parts, err))
		return false;
	if (store->parts.role == TLS_CONNECTS) {
		SSL_CTX_set_cert_cb(ssl, count_request, NULL);
		ok = firsts_set(ssl, &store->parts);
	} else {
		SSL_CTX_set_cert_cb(ssl, choose_by_name, NULL);
		SSL_CTX_set_tlsext_servername_callback(ssl, acknowledge_name);
		ok = defaults_set(ssl, store);
	}
	return ok || err_set(err, "certificates: %s", tls_openssl_reason());
}
