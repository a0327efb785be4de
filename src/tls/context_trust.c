/* SPDX-License-Identifier: MIT
 * Authorities and CRLs of a context: what is listed, and their replacement in
 * memory; see context.h.
 */
#include "tls/context.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "tls/authorities.h"
#include "tls/context_internal.h"
#include "tls/facts.h"
#include "tls/store.h"
#include "tls/store_make.h"
#include "tls/x509_text.h"

static const char *
trust_name(enum tls_trust part)
{
	return part == TLS_TRUST_CA ? "ca" : "crl";
}

/* Returns the authorities in use, or NULL when peers are not verified. */
static const struct tls_authorities *
context_authorities(const struct tls_context *context)
{
	return tls_store_of(context->ssl)->parts.authorities;
}

/* Returns the authorities in use, or those that wait to be committed; NULL if
 * there are none. */
static const struct tls_authorities *
choose_authorities(
    const struct tls_context *context, enum tls_trust part, bool staged)
{
	return staged ? context->staged_trust[part]
	              : context_authorities(context);
}

const char *
tls_context_trust_file(const struct tls_context *context, enum tls_trust part)
{
	if (!context_authorities(context))
		return NULL;
	return part == TLS_TRUST_CA ? tls_context_ca(context)
	                            : context->settings->crl;
}

unsigned
tls_context_trust_count(
    const struct tls_context *context, enum tls_trust part, bool staged)
{
	const struct tls_authorities *from =
	    choose_authorities(context, part, staged);

	return from ? tls_authorities_count(from, part) : 0;
}

bool
tls_context_trust_is_in_memory(
    const struct tls_context *context, enum tls_trust part)
{
	const struct tls_authorities *from = context_authorities(context);

	return from && tls_authorities_are_in_memory(from, part);
}

void
tls_context_ca_at(const struct tls_context *context, bool staged,
    unsigned number,
    void (*cert)(void *arg, const struct tls_cert_facts *facts), void *arg)
{
	const X509 *x509 = tls_authorities_cert(
	    choose_authorities(context, TLS_TRUST_CA, staged), number);
	EVP_PKEY *key = X509_get0_pubkey(x509);
	const char *type = key ? EVP_PKEY_get0_type_name(key) : NULL;
	struct tls_cert_facts facts = {
	    .file = tls_context_trust_file(context, TLS_TRUST_CA),
	    .key_type = type ? type : "?",
	    .key_bits = key ? (unsigned)EVP_PKEY_get_bits(key) : 0,
	    .in_memory = !staged &&
	                 tls_context_trust_is_in_memory(context, TLS_TRUST_CA),
	    .staged = staged,
	};

	tls_context_report_x509(x509, &facts, cert, arg);
}

void
tls_context_crl_at(const struct tls_context *context, bool staged,
    unsigned number, void (*crl)(void *arg, const struct tls_crl_facts *facts),
    void *arg)
{
	X509_CRL *list = tls_authorities_crl(
	    choose_authorities(context, TLS_TRUST_CRL, staged), number);
	const STACK_OF(X509_REVOKED) *revoked = X509_CRL_get_REVOKED(list);
	const ASN1_TIME *next = X509_CRL_get0_nextUpdate(list);
	char issuer[TLS_SUBJECT_SIZE];

	tls_x509_name(X509_CRL_get_issuer(list), issuer, sizeof(issuer));
	crl(arg,
	    &(struct tls_crl_facts){
	        .file = tls_context_trust_file(context, TLS_TRUST_CRL),
	        .in_memory = !staged && tls_context_trust_is_in_memory(
	                                    context, TLS_TRUST_CRL),
	        .issuer = issuer,
	        .sig_alg = OBJ_nid2ln(X509_CRL_get_signature_nid(list)),
	        .version = X509_CRL_get_version(list),
	        .last_update = tls_asn1_seconds(X509_CRL_get0_lastUpdate(list)),
	        .next_update = next ? tls_asn1_seconds(next) : 0,
	        .revoked_n =
	            revoked ? (unsigned)sk_X509_REVOKED_num(revoked) : 0,
	        .crl = list});
}

bool
tls_context_stage_trust(struct tls_context *context, enum tls_trust part,
    const char *pem, struct err *err)
{
	const char *file = tls_context_trust_file(context, part);
	struct tls_authorities *staged;

	if (!file)
		return err_set(err, "no %s is used", trust_name(part));
	if (!tls_authorities_are_of_file(context_authorities(context), part))
		return err_set(err,
		    "%s '%s' is not one file; change the files, which are "
		    "watched",
		    trust_name(part), file);
	staged = tls_authorities_parse(part, file, pem, err);
	ERR_clear_error();
	if (!staged)
		return false;
	tls_authorities_unref(context->staged_trust[part]);
	context->staged_trust[part] = staged;
	return true;
}

bool
tls_context_commit_trust(
    struct tls_context *context, enum tls_trust part, struct err *err)
{
	const struct tls_authorities *staged = context->staged_trust[part];
	struct tls_parts parts = tls_store_of(context->ssl)->parts;
	SSL_CTX *ssl;

	if (!staged)
		return err_set(err, "nothing is kept for the %s of the section",
		    trust_name(part));
	parts.authorities =
	    tls_authorities_replace(parts.authorities, part, staged);
	if (!parts.authorities)
		return err_oom(err);
	ssl = tls_store_make(context->settings, &parts, err);
	tls_authorities_unref(parts.authorities);
	ERR_clear_error();
	if (!ssl)
		return false;
	(void)tls_context_abort_trust(context, part);
	tls_context_swap(context, ssl);
	return true;
}

bool
tls_context_abort_trust(struct tls_context *context, enum tls_trust part)
{
	bool any = context->staged_trust[part] != NULL;

	tls_authorities_unref(context->staged_trust[part]);
	context->staged_trust[part] = NULL;
	return any;
}
