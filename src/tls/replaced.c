/* SPDX-License-Identifier: MIT
 * See replaced.h.
 */
#include "tls/replaced.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tls/authorities_internal.h"
#include "tls/cert.h"
#include "tls/context_internal.h"
#include "tls/memory.h"
#include "tls/store.h"
#include "tls/x509_text.h"

#define CERTIFICATE "certificate"

static const char *const parts[TLS_TRUSTS] = {
    [TLS_TRUST_CA] = "ca", [TLS_TRUST_CRL] = "crl"};

static struct tls_authorities *
authorities_of(const struct tls_context *context)
{
	return tls_context_store(context)->parts.authorities;
}

static void
tell_cert(const struct tls_cert *cert,
    void (*replaced)(void *arg, const struct tls_replaced *r), void *arg)
{
	struct tls_replaced r = {.what = CERTIFICATE,
	    .file = cert->file,
	    .base = cert->base,
	    .cert = cert};
	char subject[TLS_SUBJECT_SIZE], day[TLS_DAY_SIZE];

	tls_x509_name(
	    X509_get_subject_name(cert->x509), subject, sizeof(subject));
	snprintf(r.text, sizeof(r.text), "%s, until %s", subject,
	    tls_day_text(cert->not_after, day));
	replaced(arg, &r);
}

static void
tell_trust(const struct tls_context *context, enum tls_trust part,
    void (*replaced)(void *arg, const struct tls_replaced *r), void *arg)
{
	const struct tls_authorities *a = authorities_of(context);
	unsigned n = tls_authorities_count(a, part);
	struct tls_replaced r = {.what = parts[part],
	    .file = tls_context_trust_file(context, part),
	    .base = a->sources[part].base,
	    .authorities = a};

	snprintf(r.text, sizeof(r.text), "%u %s%s", n,
	    part == TLS_TRUST_CA ? CERTIFICATE : "CRL", text_s(n));
	replaced(arg, &r);
}

void
tls_replaced_each(const struct tls_context *context,
    void (*replaced)(void *arg, const struct tls_replaced *r), void *arg)
{
	struct tls_certs certs = tls_context_list(context);
	const struct tls_authorities *a = authorities_of(context);

	for (size_t i = 0; i < certs.n; i++)
		if (certs.certs[i]->print != certs.certs[i]->base)
			tell_cert(certs.certs[i], replaced, arg);
	for (enum tls_trust part = 0; a && part < TLS_TRUSTS; part++)
		if (a->sources[part].in_memory &&
		    a->sources[part].base != tls_authorities_print(a, part))
			tell_trust(context, part, replaced, arg);
}

static bool
put_cert(BIO *out, const struct tls_cert *cert)
{
	bool ok = PEM_write_bio_X509(out, cert->x509) == 1;

	for (int i = 0; ok && i < sk_X509_num(cert->chain); i++)
		ok =
		    PEM_write_bio_X509(out, sk_X509_value(cert->chain, i)) == 1;
	return ok && PEM_write_bio_PrivateKey(
	                 out, cert->key, NULL, NULL, 0, NULL, NULL) == 1;
}

static bool
put_trust(BIO *out, const struct tls_authorities *a, bool is_ca)
{
	bool ok = true;

	for (int i = 0; ok && is_ca && i < sk_X509_num(a->certs); i++)
		ok = PEM_write_bio_X509(out, sk_X509_value(a->certs, i)) == 1;
	for (int i = 0; ok && !is_ca && i < sk_X509_CRL_num(a->crls); i++)
		ok = PEM_write_bio_X509_CRL(
		         out, sk_X509_CRL_value(a->crls, i)) == 1;
	return ok;
}

BIO *
tls_replaced_pem(const struct tls_replaced *replaced)
{
	BIO *out;
	bool ok;

	tls_memory_protect();
	out = BIO_new(BIO_s_mem());
	ok = out &&
	     (replaced->cert ? put_cert(out, replaced->cert)
	                     : put_trust(out, replaced->authorities,
	                           replaced->what == parts[TLS_TRUST_CA]));
	tls_memory_unprotect();
	if (ok)
		return out;
	BIO_free(out);
	return NULL;
}

static bool
restore_cert(struct tls_context *context, const char *file, uint64_t base,
    const char *pem, struct err *err)
{
	struct tls_certs certs = tls_context_list(context);
	size_t at = tls_staged_place(&certs, file);

	if (at == certs.n || certs.certs[at]->base != base)
		return err_set(err, "the file has another certificate");
	return tls_context_stage(context, file, pem, err) &&
	       tls_context_commit(context, file, err);
}

bool
tls_replaced_restore(struct tls_context *context, const char *what,
    const char *file, uint64_t base, const char *pem, struct err *err)
{
	const struct tls_authorities *a = authorities_of(context);
	enum tls_trust part = strcmp(what, parts[TLS_TRUST_CA]) == 0
	                          ? TLS_TRUST_CA
	                          : TLS_TRUST_CRL;
	const char *used = tls_context_trust_file(context, part);

	if (strcmp(what, CERTIFICATE) == 0)
		return restore_cert(context, file, base, pem, err);
	if (!used || strcmp(used, file) != 0 ||
	    tls_authorities_print(a, part) != base)
		return err_set(err, "the file has another content");
	return tls_context_stage_trust(context, part, pem, err) &&
	       tls_context_commit_trust(context, part, err);
}
