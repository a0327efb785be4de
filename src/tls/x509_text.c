/* SPDX-License-Identifier: MIT
 * See x509_text.h.
 */
#include "tls/x509_text.h"

#include <arpa/inet.h>
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int64_t
tls_asn1_seconds(const ASN1_TIME *time)
{
	struct tm tm;

	if (!time || ASN1_TIME_to_tm(time, &tm) != 1)
		return 0;
	return timegm(&tm);
}

/* Copies the memory BIO's content. */
static void
bio_text(BIO *bio, char *out, size_t size)
{
	char *data = NULL;
	long n = BIO_get_mem_data(bio, &data);
	size_t len = n > 0 ? (size_t)n : 0;

	if (len >= size)
		len = size - 1;
	if (len > 0)
		memcpy(out, data, len);
	out[len] = '\0';
}

void
tls_x509_name(const X509_NAME *name, char *out, size_t size)
{
	BIO *bio = BIO_new(BIO_s_mem());

	out[0] = '\0';
	if (bio && name &&
	    X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253) >= 0)
		bio_text(bio, out, size);
	BIO_free(bio);
}

void
tls_x509_cn(const X509 *cert, char *out, size_t size)
{
	const X509_NAME *name = X509_get_subject_name(cert);
	int at = -1, last = -1;
	BIO *bio;

	out[0] = '\0';
	while ((at = X509_NAME_get_index_by_NID(name, NID_commonName, at)) >= 0)
		last = at;
	bio = last >= 0 ? BIO_new(BIO_s_mem()) : NULL;
	if (bio &&
	    ASN1_STRING_print_ex(bio,
	        X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, last)),
	        ASN1_STRFLGS_RFC2253) >= 0)
		bio_text(bio, out, size);
	BIO_free(bio);
}

void
tls_hex(const uint8_t *bytes, size_t n, char *out, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	size_t at = 0;

	for (size_t i = 0; i < n && at + 2 < size; i++) {
		out[at++] = digits[bytes[i] >> 4];
		out[at++] = digits[bytes[i] & 15];
	}
	out[at] = '\0';
}

void
tls_x509_serial(const X509 *cert, char *out, size_t size)
{
	const ASN1_INTEGER *serial = X509_get0_serialNumber(cert);

	tls_hex(ASN1_STRING_get0_data(serial),
	    (size_t)ASN1_STRING_length(serial), out, size);
}

static void
print_ip(BIO *bio, const ASN1_OCTET_STRING *ip)
{
	int n = ASN1_STRING_length(ip);
	char text[INET6_ADDRSTRLEN] = "?";

	if (n == 4 || n == 16)
		(void)inet_ntop(n == 4 ? AF_INET : AF_INET6,
		    ASN1_STRING_get0_data(ip), text, sizeof(text));
	BIO_printf(bio, "IP:%s", text);
}

static void
print_string(BIO *bio, const char *kind, const ASN1_STRING *text)
{
	BIO_puts(bio, kind);
	ASN1_STRING_print_ex(bio, text, ASN1_STRFLGS_RFC2253);
}

static void
print_san(BIO *bio, const GENERAL_NAME *san)
{
	switch (san->type) {
	case GEN_DNS:
		print_string(bio, "DNS:", san->d.dNSName);
		break;
	case GEN_EMAIL:
		print_string(bio, "email:", san->d.rfc822Name);
		break;
	case GEN_URI:
		print_string(bio, "URI:", san->d.uniformResourceIdentifier);
		break;
	case GEN_IPADD:
		print_ip(bio, san->d.iPAddress);
		break;
	case GEN_DIRNAME:
		BIO_puts(bio, "dir:");
		X509_NAME_print_ex(
		    bio, san->d.directoryName, 0, XN_FLAG_RFC2253);
		break;
	default:
		BIO_puts(bio, "other");
	}
}

void
tls_x509_sans(const X509 *cert, char *out, size_t size)
{
	GENERAL_NAMES *sans =
	    X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	BIO *bio = sans ? BIO_new(BIO_s_mem()) : NULL;

	out[0] = '\0';
	for (int i = 0; bio && i < sk_GENERAL_NAME_num(sans); i++) {
		if (i > 0)
			BIO_puts(bio, ",");
		print_san(bio, sk_GENERAL_NAME_value(sans, i));
	}
	if (bio)
		bio_text(bio, out, size);
	BIO_free(bio);
	GENERAL_NAMES_free(sans);
	ERR_clear_error();
}

const char *
tls_day_text(int64_t seconds, char out[TLS_DAY_SIZE])
{
	time_t time = seconds;
	struct tm tm;

	out[0] = '\0';
	if (gmtime_r(&time, &tm))
		(void)strftime(out, TLS_DAY_SIZE, "%Y-%m-%d %H:%M UTC", &tm);
	return out;
}

void
tls_x509_sig_alg(const X509 *cert, char *out, size_t size)
{
	int nid = X509_get_signature_nid(cert);
	const char *name = nid != NID_undef ? OBJ_nid2sn(nid) : NULL;

	snprintf(out, size, "%s", name ? name : "");
}

void
tls_x509_key_alg(X509 *cert, char *out, size_t size)
{
	const EVP_PKEY *key = X509_get0_pubkey(cert);

	if (key && EVP_PKEY_is_a(key, "RSA"))
		snprintf(out, size, "RSA%d", EVP_PKEY_get_bits(key));
	else if (key && EVP_PKEY_is_a(key, "EC"))
		snprintf(out, size, "EC%d", EVP_PKEY_get_bits(key));
	else
		snprintf(out, size, "%s",
		    key ? OBJ_nid2sn(EVP_PKEY_get_base_id(key)) : "");
}
