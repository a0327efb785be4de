/* SPDX-License-Identifier: MIT
 * See facts.h.
 */
#include "tls/facts.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tls/groups.h"
#include "tls/x509_text.h"

/* Copies a name that a peer has sent, without bytes that are not printable. */
static void
copy_printable(const char *text, size_t n, char *out, size_t size)
{
	size_t at = 0;

	for (; at < n && at + 1 < size; at++)
		out[at] = text[at] > ' ' && text[at] < 0x7f ? text[at] : '?';
	out[at] = '\0';
}

static void
read_cert(const X509 *cert, struct tls_facts *facts)
{
	tls_x509_name(X509_get_subject_name(cert), facts->subject,
	    sizeof(facts->subject));
	tls_x509_name(
	    X509_get_issuer_name(cert), facts->issuer, sizeof(facts->issuer));
	tls_x509_serial(cert, facts->serial, sizeof(facts->serial));
	tls_x509_cn(cert, facts->cn, sizeof(facts->cn));
	tls_x509_sans(cert, facts->sans, sizeof(facts->sans));
}

static void
read_names(SSL *ssl, struct tls_facts *facts)
{
	const char *sni = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
	const unsigned char *alpn;
	unsigned n;

	if (sni)
		copy_printable(
		    sni, strlen(sni), facts->sni, sizeof(facts->sni));
	SSL_get0_alpn_selected(ssl, &alpn, &n);
	if (n > 0)
		copy_printable(
		    (const char *)alpn, n, facts->alpn, sizeof(facts->alpn));
}

void
tls_facts_read(SSL *ssl, struct tls_facts *ret_facts)
{
	const SSL_CIPHER *cipher = SSL_get_current_cipher(ssl);
	X509 *cert = SSL_get0_peer_certificate(ssl);

	memset(ret_facts, 0, sizeof(*ret_facts));
	ret_facts->version_name = "-";
	ret_facts->cipher = "-";
	if (cipher) {
		ret_facts->version = SSL_version(ssl);
		ret_facts->version_name = SSL_get_version(ssl);
		ret_facts->cipher = SSL_CIPHER_get_name(cipher);
		ret_facts->group = tls_group_name(tls_group(ssl));
	}
	ret_facts->resumed = SSL_session_reused(ssl) == 1;
	read_names(ssl, ret_facts);
	ret_facts->has_cert = cert != NULL;
	ret_facts->verify_result = SSL_get_verify_result(ssl);
	if (ret_facts->verify_result != X509_V_OK)
		ret_facts->verify_error =
		    X509_verify_cert_error_string(ret_facts->verify_result);
	if (cert)
		read_cert(cert, ret_facts);
}

static SSL *made_any_ssl;

static void
make_any_ssl(void)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());

	made_any_ssl = ctx ? SSL_new(ctx) : NULL;
	SSL_CTX_free(ctx);
}

/* Returns an object for lookups of names, which never change it; NULL when
 * memory was short.  The object is never freed, so its names are static. */
static SSL *
any_ssl(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_any_ssl);
	return made_any_ssl;
}

const char *
tls_cipher_name(uint16_t number)
{
	const uint8_t bytes[] = {(uint8_t)(number >> 8), (uint8_t)number};
	SSL *ssl = any_ssl();
	const SSL_CIPHER *cipher = ssl ? SSL_CIPHER_find(ssl, bytes) : NULL;

	return cipher ? SSL_CIPHER_get_name(cipher) : "-";
}

int
tls_group(SSL *ssl)
{
	return (int)SSL_get_negotiated_group(ssl);
}

const char *
tls_group_name(int group)
{
	SSL *ssl = group != 0 ? any_ssl() : NULL;
	const char *name = ssl ? SSL_group_to_name(ssl, group) : NULL;

	return name ? tls_group_spelling(name) : NULL;
}

void
tls_crl_revoked(const struct tls_crl_facts *facts, unsigned number,
    char ret_serial[TLS_SERIAL_SIZE], int64_t *ret_revoked_at)
{
	const X509_REVOKED *revoked = sk_X509_REVOKED_value(
	    X509_CRL_get_REVOKED(facts->crl), (int)number);
	const ASN1_INTEGER *serial = X509_REVOKED_get0_serialNumber(revoked);

	tls_hex(ASN1_STRING_get0_data(serial),
	    (size_t)ASN1_STRING_length(serial), ret_serial, TLS_SERIAL_SIZE);
	*ret_revoked_at =
	    tls_asn1_seconds(X509_REVOKED_get0_revocationDate(revoked));
}
