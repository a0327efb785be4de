/* SPDX-License-Identifier: MIT
 * Certificates of a context: what is listed, and their replacement in memory;
 * see context.h.
 */
#include "tls/context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <time.h>

#include "tls/cert.h"
#include "tls/certs.h"
#include "tls/context_internal.h"
#include "tls/facts.h"
#include "tls/store.h"
#include "tls/store_make.h"
#include "tls/x509_text.h"

/* Returns whether clients without a known name get the certificate. */
static bool
is_default(const struct tls_store *store, const struct tls_cert *cert)
{
	struct tls_names_match match = tls_names_default(&store->names);

	for (size_t i = 0; i < match.n; i++) {
		if (match.names[i].cert == cert)
			return true;
	}
	return false;
}

#define PRINT_SIZE (2 * EVP_MAX_MD_SIZE + 1)

static void
make_print(const X509 *x509, const EVP_MD *md, char out[PRINT_SIZE])
{
	uint8_t print[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	if (X509_digest(x509, md, print, &n) != 1)
		n = 0;
	tls_hex(print, n, out, PRINT_SIZE);
}

void
tls_context_report_x509(const X509 *x509, struct tls_cert_facts *facts,
    void (*report)(void *arg, const struct tls_cert_facts *facts), void *arg)
{
	char subject[TLS_SUBJECT_SIZE], issuer[TLS_SUBJECT_SIZE];
	char serial[TLS_SERIAL_SIZE], sans[TLS_SANS_SIZE];
	char sha256[PRINT_SIZE], sha1[PRINT_SIZE];

	tls_x509_name(X509_get_subject_name(x509), subject, sizeof(subject));
	tls_x509_name(X509_get_issuer_name(x509), issuer, sizeof(issuer));
	tls_x509_serial(x509, serial, sizeof(serial));
	tls_x509_sans(x509, sans, sizeof(sans));
	make_print(x509, EVP_sha256(), sha256);
	make_print(x509, EVP_sha1(), sha1);
	facts->subject = subject;
	facts->issuer = issuer;
	facts->serial = serial;
	facts->fingerprint = sha256;
	facts->fingerprint_sha1 = sha1;
	facts->sans = sans;
	facts->not_before = tls_asn1_seconds(X509_get0_notBefore(x509));
	facts->not_after = tls_asn1_seconds(X509_get0_notAfter(x509));
	report(arg, facts);
}

static void
report_cert(const struct tls_context *context, const struct tls_cert *cert,
    void (*report)(void *arg, const struct tls_cert_facts *facts), void *arg)
{
	struct tls_cert_facts facts = {.file = cert->file,
	    .key_file = cert->key_file,
	    .names = (const char *const *)cert->names,
	    .names_n = cert->names_n,
	    .key_type = tls_cert_key_type_name(cert),
	    .key_bits = (unsigned)EVP_PKEY_get_bits(cert->key),
	    .chain_n = (unsigned)sk_X509_num(cert->chain),
	    .ocsp = tls_ocsp_state(&cert->ocsp, time(NULL)),
	    .ocsp_next_update = cert->ocsp.next_update,
	    .is_default = is_default(tls_context_store(context), cert),
	    .in_memory = cert->in_memory,
	    .staged = tls_staged_find(&context->staged, cert)};

	tls_context_report_x509(cert->x509, &facts, report, arg);
}

void
tls_context_each_cert(const struct tls_context *context,
    void (*cert)(void *arg, const struct tls_cert_facts *facts), void *arg)
{
	struct tls_certs certs = tls_context_list(context);

	for (size_t i = 0; i < certs.n; i++)
		report_cert(context, certs.certs[i], cert, arg);
}

size_t
tls_context_certs(const struct tls_context *context)
{
	return tls_context_list(context).n;
}

const char *
tls_context_cert_file(
    const struct tls_context *context, size_t number, bool *ret_staged)
{
	const struct tls_cert *cert = tls_context_list(context).certs[number];

	*ret_staged = tls_staged_find(&context->staged, cert);
	return cert->file;
}

int64_t
tls_context_cert_end(const struct tls_context *context, size_t number)
{
	return tls_context_list(context).certs[number]->not_after;
}

void
tls_context_cert_at(const struct tls_context *context, size_t number,
    void (*cert)(void *arg, const struct tls_cert_facts *facts), void *arg)
{
	struct tls_certs certs = tls_context_list(context);

	if (number < certs.n)
		report_cert(context, certs.certs[number], cert, arg);
}

bool
tls_context_cert_of(const struct tls_context *context, const char *file,
    void (*cert)(void *arg, const struct tls_cert_facts *facts), void *arg)
{
	struct tls_certs certs = tls_context_list(context);
	size_t at = tls_staged_place(&certs, file);

	if (at == certs.n)
		return false;
	report_cert(context, certs.certs[at], cert, arg);
	return true;
}

void
tls_context_find_certs(const struct tls_context *context, const char *name,
    void (*cert)(void *arg, const struct tls_cert_facts *facts), void *arg)
{
	struct tls_names_match match =
	    tls_names_find(&tls_context_store(context)->names, name);

	for (size_t i = 0; i < match.n; i++)
		report_cert(context, match.names[i].cert, cert, arg);
}

/* -- Replacement in memory -- */

bool
tls_context_stage(struct tls_context *context, const char *file,
    const char *pem, struct err *err)
{
	struct tls_certs certs = tls_context_list(context);
	size_t at = tls_staged_place(&certs, file);

	if (at == certs.n)
		return err_set(err, "no certificate or key '%s' is used", file);
	return tls_staged_keep(
	    &context->staged, certs.certs[at], file, pem, err);
}

/* Returns what is kept for the file, and the place of its certificate. */
static struct tls_staged *
find_staged(const struct tls_context *context, const char *file, size_t *ret_at)
{
	struct tls_certs certs = tls_context_list(context);
	size_t at = tls_staged_place(&certs, file);

	*ret_at = at;
	return at < certs.n ? tls_staged_find(&context->staged, certs.certs[at])
	                    : NULL;
}

/* Makes an SSL_CTX of the present parts, with replacement for certificate
 * at. */
static SSL_CTX *
ssl_make_with(const struct tls_context *context, size_t at,
    struct tls_cert *replacement, struct err *err)
{
	struct tls_certs old = tls_context_list(context), certs;
	struct tls_parts parts = tls_context_store(context)->parts;
	SSL_CTX *ssl;

	if (!tls_certs_copy_with(&old, at, replacement, &certs)) {
		err_oom(err);
		return NULL;
	}
	parts.certs = certs.certs;
	ssl = tls_store_make(context->settings, &parts, err);
	tls_certs_fini(&certs);
	return ssl;
}

bool
tls_context_commit(
    struct tls_context *context, const char *file, struct err *err)
{
	size_t at;
	struct tls_staged *staged = find_staged(context, file, &at);
	struct tls_cert *cert;
	SSL_CTX *ssl;

	if (!staged)
		return err_set(err, "nothing is kept for '%s'", file);
	cert = tls_cert_replace(tls_context_list(context).certs[at],
	    staged->pem, staged->key_pem, err);
	ssl = cert ? ssl_make_with(context, at, cert, err) : NULL;
	tls_cert_unref(cert);
	ERR_clear_error();
	if (!ssl)
		return false;
	tls_staged_drop(&context->staged, staged);
	tls_context_swap(context, ssl);
	return true;
}

bool
tls_context_abort(struct tls_context *context, const char *file)
{
	size_t at;
	struct tls_staged *staged = find_staged(context, file, &at);

	if (staged)
		tls_staged_drop(&context->staged, staged);
	return staged != NULL;
}

bool
tls_context_show_staged(const struct tls_context *context, const char *file,
    void (*cert)(void *arg, const struct tls_cert_facts *facts), void *arg,
    struct err *err)
{
	size_t at;
	struct tls_staged *staged = find_staged(context, file, &at);
	struct tls_cert *made;

	if (!staged)
		return err_set(err, "nothing is kept for '%s'", file);
	made = tls_cert_replace(tls_context_list(context).certs[at],
	    staged->pem, staged->key_pem, err);
	ERR_clear_error();
	if (!made)
		return false;
	report_cert(context, made, cert, arg);
	tls_cert_unref(made);
	return true;
}
