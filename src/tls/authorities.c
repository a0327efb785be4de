/* SPDX-License-Identifier: MIT
 * See authorities.h.
 */
#include "tls/authorities.h"

#include <dirent.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/atomics.h"
#include "tls/anchors.h"
#include "tls/authorities_internal.h"
#include "tls/directory.h"
#include "tls/openssl_err.h"
#include "tls/pem.h"
#include "tls/store.h"

void
tls_authorities_unref(struct tls_authorities *authorities)
{
	if (!authorities || atomic_sub_acq_rel(&authorities->refs, 1u) > 1)
		return;
	X509_STORE_free(authorities->trust);
	sk_X509_free(authorities->links);
	sk_X509_pop_free(authorities->certs, X509_free);
	sk_X509_CRL_pop_free(authorities->crls, X509_CRL_free);
	free(authorities);
}

struct tls_authorities *
tls_authorities_ref(struct tls_authorities *authorities)
{
	atomic_add_relaxed(&authorities->refs, 1u);
	return authorities;
}

/* -- Loading -- */

static bool
crls_parse(struct tls_authorities *authorities, const char *file,
    const struct tls_text *text, struct err *err)
{
	BIO *bio = BIO_new_mem_buf(text->data, (int)text->n);
	X509_CRL *crl;

	ERR_clear_error();
	while (bio && (crl = PEM_read_bio_X509_CRL(bio, NULL, NULL, NULL))) {
		if (!sk_X509_CRL_push(authorities->crls, crl))
			X509_CRL_free(crl);
	}
	BIO_free(bio);
	if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
		return err_set(
		    err, "crl '%s' is damaged: %s", file, tls_openssl_reason());
	ERR_clear_error();
	if (sk_X509_CRL_num(authorities->crls) == 0)
		return err_set(err,
		    "crl '%s' has no CRL in PEM form (-----BEGIN X509 "
		    "CRL-----)",
		    file);
	return true;
}

static bool
text_parse(struct tls_authorities *authorities, enum tls_trust part,
    const char *file, const struct tls_text *text, struct err *err)
{
	return part == TLS_TRUST_CA ? tls_pem_certs("ca", file, text->data,
	                                  text->n, authorities->certs, err)
	                            : crls_parse(authorities, file, text, err);
}

static bool
file_read(struct tls_authorities *authorities, enum tls_trust part,
    const char *file, struct err *err)
{
	struct tls_trust_source *source = &authorities->sources[part];
	struct tls_text text;
	bool ok;

	source->read_at = time(NULL);
	if (!tls_text_read(
	        part == TLS_TRUST_CA ? "ca" : "crl", file, &text, err))
		return false;
	source->stamp = tls_stamp_of(&text.stat);
	ok = text_parse(authorities, part, file, &text, err);
	tls_text_fini(&text);
	return ok;
}

static bool
is_ca_file_name(const char *name)
{
	static const char *const ends[] = {".pem", ".crt", ".cer", ".0"};
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && strcmp(name + len - n, ends[i]) == 0)
			return true;
	}
	return false;
}

/* Reads all certificates of a directory, whose names need not be hashes.  A
 * hashed name leads to a file that is also read under its own name: the store
 * keeps only one of the two. */
static bool
ca_dir_read(
    struct tls_authorities *authorities, const char *dir, struct err *err)
{
	struct tls_directory files;
	bool ok = true;

	if (!tls_directory_read("ca", dir, is_ca_file_name, &files, err))
		return false;
	if (files.n == 0)
		ok = err_set(err,
		    "ca '%s' has no certificate: no *.pem, *.crt or *.cer",
		    dir);
	for (size_t i = 0; ok && i < files.n; i++)
		ok = file_read(authorities, TLS_TRUST_CA, files.paths[i], err);
	tls_directory_fini(&files);
	/* The stamp is that of the last file, but the part is from all of
	 * them. */
	authorities->sources[TLS_TRUST_CA].stamp.exists = false;
	return ok;
}

/* Returns the file or directory of the system's authorities, or NULL. */
static const char *
find_system_ca(void)
{
	const char *const paths[] = {getenv(X509_get_default_cert_file_env()),
	    X509_get_default_cert_file(), "/etc/ssl/certs/ca-certificates.crt",
	    "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
	    getenv(X509_get_default_cert_dir_env()),
	    X509_get_default_cert_dir()};
	struct stat st;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (paths[i] && *paths[i] && stat(paths[i], &st) == 0)
			return paths[i];
	}
	return NULL;
}

/* Returns the path of ca, or NULL with err set. */
static const char *
find_ca(const char *ca, bool *ret_system, struct err *err)
{
	*ret_system = strcmp(ca, "system") == 0;
	if (!*ret_system)
		return ca;
	ca = find_system_ca();
	if (!ca)
		err_set(err,
		    "ca = system: the system has no certificates of "
		    "authorities; install ca-certificates, or name a file");
	return ca;
}

static bool
path_is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static X509_CRL *
crl_ref(const X509_CRL *crl)
{
	X509_CRL *same = (X509_CRL *)(uintptr_t)crl;

	return X509_CRL_up_ref(same) == 1 ? same : NULL;
}

/* Shares a part with other authorities.  Returns false when memory is short. */
static bool
part_share(struct tls_authorities *authorities, enum tls_trust part,
    const struct tls_authorities *from)
{
	authorities->sources[part] = from->sources[part];
	if (part == TLS_TRUST_CRL) {
		STACK_OF(X509_CRL) *crls =
		    sk_X509_CRL_deep_copy(from->crls, crl_ref, X509_CRL_free);

		if (!crls)
			return false;
		sk_X509_CRL_free(authorities->crls);
		authorities->crls = crls;
		return true;
	}
	authorities->system = from->system;
	sk_X509_free(authorities->certs);
	authorities->certs = X509_chain_up_ref(from->certs);
	return authorities->certs != NULL;
}

/* Returns whether reading the file would give what is present. */
static bool
part_is_current(const struct tls_authorities *present, enum tls_trust part,
    const char *file)
{
	const struct tls_trust_source *source;

	if (!present)
		return false;
	source = &present->sources[part];
	if (!source->stamp.exists)
		return false;
	/* When in doubt, content that is only in memory stays. */
	return tls_stamp_is_current(file, &source->stamp,
	    source->in_memory ? INT64_MAX : source->read_at);
}

static bool
part_load(struct tls_authorities *authorities, enum tls_trust part,
    const char *path, const struct tls_authorities *present, struct err *err)
{
	if (part_is_current(present, part, path))
		return part_share(authorities, part, present) || err_oom(err);
	if (part == TLS_TRUST_CA && path_is_directory(path))
		return ca_dir_read(authorities, path, err);
	return file_read(authorities, part, path, err);
}

static bool
is_link(const struct tls_authorities *authorities, const X509 *cert)
{
	for (int i = 0; i < sk_X509_num(authorities->links); i++) {
		if (sk_X509_value(authorities->links, i) == cert)
			return true;
	}
	return false;
}

/* Fills the store, with CRLs by anchors alone, and sets links (anchors.h).  A
 * certificate may be added twice.  Returns false when memory is short. */
static bool
trust_store_fill(struct tls_authorities *authorities)
{
	X509_STORE *trust = authorities->trust;
	bool ok = true;

	if (sk_X509_CRL_num(authorities->crls) > 0) {
		authorities->links = tls_anchors_links(authorities->certs);
		ok = authorities->links != NULL;
	}
	for (int i = 0; ok && i < sk_X509_num(authorities->certs); i++) {
		X509 *cert = sk_X509_value(authorities->certs, i);

		ok = is_link(authorities, cert) ||
		     X509_STORE_add_cert(trust, cert) == 1;
	}
	for (int i = 0; ok && i < sk_X509_CRL_num(authorities->crls); i++)
		ok = X509_STORE_add_crl(
		         trust, sk_X509_CRL_value(authorities->crls, i)) == 1;
	return ok;
}

static struct tls_authorities *
authorities_make(void)
{
	struct tls_authorities *authorities = calloc(1, sizeof(*authorities));

	if (!authorities)
		return NULL;
	authorities->refs = 1;
	authorities->trust = X509_STORE_new();
	authorities->certs = sk_X509_new_null();
	authorities->crls = sk_X509_CRL_new_null();
	if (authorities->trust && authorities->certs && authorities->crls)
		return authorities;
	tls_authorities_unref(authorities);
	return NULL;
}

/* Returns which authorities are wanted, or NULL with err set. */
static const char *
choose_ca(
    const struct tls_settings *settings, enum tls_role role, struct err *err)
{
	if (settings->ca)
		return settings->ca;
	if (role == TLS_CONNECTS)
		return "system";
	err_set(err,
	    "verify of clients' certificates needs ca: the file or directory "
	    "of the authorities that issue them");
	return NULL;
}

/* Makes the objects that verification uses from the certificates and CRLs.
 * Returns authorities, or NULL, with them dropped, when memory is short. */
static struct tls_authorities *
authorities_complete(struct tls_authorities *authorities)
{
	if (trust_store_fill(authorities))
		return authorities;
	tls_authorities_unref(authorities);
	return NULL;
}

bool
tls_authorities_load(const struct tls_settings *settings, enum tls_role role,
    const struct tls_authorities *present,
    struct tls_authorities **ret_authorities, struct err *err)
{
	struct tls_authorities *authorities;
	const char *ca, *path;
	bool system;

	if (!tls_store_verifies(settings, role)) {
		*ret_authorities = NULL;
		return true;
	}
	ca = choose_ca(settings, role, err);
	path = ca ? find_ca(ca, &system, err) : NULL;
	if (!path)
		return false;
	authorities = authorities_make();
	if (!authorities)
		return err_oom(err);
	if (!part_load(authorities, TLS_TRUST_CA, path, present, err) ||
	    (settings->crl && !part_load(authorities, TLS_TRUST_CRL,
	                          settings->crl, present, err))) {
		tls_authorities_unref(authorities);
		return false;
	}
	authorities->system = system;
	authorities = authorities_complete(authorities);
	if (authorities)
		*ret_authorities = authorities;
	return authorities || err_oom(err);
}

/* -- Replacement in memory -- */

struct tls_authorities *
tls_authorities_parse(
    enum tls_trust part, const char *file, const char *pem, struct err *err)
{
	struct tls_authorities *authorities = authorities_make();
	struct tls_text text = {
	    .data = (char *)(uintptr_t)pem, .n = strlen(pem)};

	if (!authorities) {
		err_oom(err);
		return NULL;
	}
	if (text_parse(authorities, part, file, &text, err))
		return authorities;
	tls_authorities_unref(authorities);
	return NULL;
}

struct tls_authorities *
tls_authorities_replace(const struct tls_authorities *authorities,
    enum tls_trust part, const struct tls_authorities *from)
{
	struct tls_authorities *copy = authorities_make();

	for (enum tls_trust p = 0; copy && p < TLS_TRUSTS; p++) {
		if (!part_share(copy, p, p == part ? from : authorities)) {
			tls_authorities_unref(copy);
			return NULL;
		}
	}
	if (!copy)
		return NULL;
	copy->sources[part] = authorities->sources[part];
	if (!copy->sources[part].in_memory)
		copy->sources[part].base =
		    tls_authorities_print(authorities, part);
	copy->sources[part].in_memory = true;
	return authorities_complete(copy);
}

unsigned
tls_authorities_count(
    const struct tls_authorities *authorities, enum tls_trust part)
{
	return (unsigned)(part == TLS_TRUST_CA
	                      ? sk_X509_num(authorities->certs)
	                      : sk_X509_CRL_num(authorities->crls));
}

const X509 *
tls_authorities_cert(const struct tls_authorities *authorities, unsigned number)
{
	return sk_X509_value(authorities->certs, (int)number);
}

X509_CRL *
tls_authorities_crl(const struct tls_authorities *authorities, unsigned number)
{
	return sk_X509_CRL_value(authorities->crls, (int)number);
}

bool
tls_authorities_are_of_file(
    const struct tls_authorities *authorities, enum tls_trust part)
{
	return authorities->sources[part].stamp.exists &&
	       (part != TLS_TRUST_CA || !authorities->system);
}

bool
tls_authorities_are_in_memory(
    const struct tls_authorities *authorities, enum tls_trust part)
{
	return authorities->sources[part].in_memory;
}
