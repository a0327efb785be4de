/* SPDX-License-Identifier: MIT
 * See certs.h.
 */
#include "tls/certs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "tls/cert.h"
#include "tls/directory.h"
#include "tls/names.h"
#include "tls/x509_text.h"

/* A list that is being loaded. */
struct loading {
	struct tls_certs certs;
	size_t room;
	const struct tls_certs *old;
	size_t next; /* in old: where the next one is likely to be */
};

/* Returns the certificate of old for the pair if it is current, or NULL. */
static struct tls_cert *
find_current(struct loading *loading, const struct tls_pair *pair)
{
	size_t n = loading->old ? loading->old->n : 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = (loading->next + i) % n;
		struct tls_cert *cert = loading->old->certs[at];

		if (strcmp(cert->file, pair->cert) != 0)
			continue;
		loading->next = at + 1;
		return tls_cert_is_current(cert, pair) ? cert : NULL;
	}
	return NULL;
}

static bool
pair_load(struct loading *loading, const struct tls_pair *pair, struct err *err)
{
	struct tls_cert *cert = find_current(loading, pair);
	struct tls_cert **grown = grow(loading->certs.certs, loading->certs.n,
	    &loading->room, sizeof(*grown));

	if (!grown)
		return err_oom(err);
	loading->certs.certs = grown;
	cert = cert ? tls_cert_ref(cert) : tls_cert_load(pair, err);
	if (!cert)
		return false;
	grown[loading->certs.n++] = cert;
	return true;
}

static bool
is_pem_name(const char *name)
{
	size_t len = strlen(name);

	return len > 4 && strcmp(name + len - 4, ".pem") == 0;
}

/* Lists the certificates of the directory.  Returns false with err set, also if
 * there are none. */
static bool
dir_list(const char *dir, struct tls_directory *ret_files, struct err *err)
{
	struct tls_directory files;

	if (!tls_directory_read("cert_dir", dir, is_pem_name, &files, err))
		return false;
	if (files.n > 0) {
		*ret_files = files;
		return true;
	}
	tls_directory_fini(&files);
	return err_set(err, "cert_dir '%s' has no certificate: no *.pem", dir);
}

void
tls_certs_dir_errors(
    const char *dir, void (*error)(void *arg, const char *text), void *arg)
{
	struct tls_directory files;
	struct err err;

	if (!dir_list(dir, &files, &err)) {
		error(arg, err.text);
		return;
	}
	for (size_t i = 0; i < files.n; i++) {
		struct tls_pair pair = {.cert = files.paths[i]};
		struct tls_cert *cert = tls_cert_load(&pair, &err);

		if (!cert)
			error(arg, err.text);
		tls_cert_unref(cert);
	}
	tls_directory_fini(&files);
}

static bool
dir_load(struct loading *loading, const char *dir, struct err *err)
{
	struct tls_directory files;
	bool ok = true;

	if (!dir_list(dir, &files, err))
		return false;
	for (size_t i = 0; ok && i < files.n; i++)
		ok = pair_load(
		    loading, &(struct tls_pair){.cert = files.paths[i]}, err);
	tls_directory_fini(&files);
	return ok;
}

bool
tls_certs_load(const struct tls_settings *settings, const struct tls_certs *old,
    struct tls_certs *ret_certs, struct err *err)
{
	struct loading loading = {.old = old};
	bool ok = true;

	for (size_t i = 0; ok && i < settings->pairs_n; i++)
		ok = pair_load(&loading, &settings->pairs[i], err);
	for (size_t i = 0; ok && i < settings->cert_dirs_n; i++)
		ok = dir_load(&loading, settings->cert_dirs[i], err);
	if (ok)
		*ret_certs = loading.certs;
	else
		tls_certs_fini(&loading.certs);
	return ok;
}

bool
tls_certs_copy_with(const struct tls_certs *certs, size_t at,
    struct tls_cert *replacement, struct tls_certs *ret_copy)
{
	struct tls_certs copy = {.n = certs->n};

	copy.certs = calloc(copy.n + 1, sizeof(*copy.certs));
	if (!copy.certs)
		return false;
	for (size_t i = 0; i < copy.n; i++)
		copy.certs[i] =
		    tls_cert_ref(i == at ? replacement : certs->certs[i]);
	*ret_copy = copy;
	return true;
}

void
tls_certs_fini(struct tls_certs *certs)
{
	for (size_t i = 0; certs->certs && i < certs->n; i++)
		tls_cert_unref(certs->certs[i]);
	free(certs->certs);
	*certs = (struct tls_certs){.n = 0};
}

/* -- Warnings -- */

static void
validity_warnings(
    const struct tls_cert *cert, int64_t now, struct err_list *warnings)
{
	char day[TLS_DAY_SIZE];

	if (now >= cert->not_after)
		err_list_add(warnings, cert->file, 0,
		    "the certificate has expired on %s; clients will refuse it",
		    tls_day_text(cert->not_after, day));
	else if (now < cert->not_before)
		err_list_add(warnings, cert->file, 0,
		    "the certificate is not valid before %s; clients will "
		    "refuse it until then",
		    tls_day_text(cert->not_before, day));
}

static void
ocsp_warnings(
    const struct tls_cert *cert, int64_t now, struct err_list *warnings)
{
	char day[TLS_DAY_SIZE];

	switch (tls_ocsp_state(&cert->ocsp, now)) {
	case TLS_OCSP_STALE:
		err_list_add(warnings, cert->ocsp_file, 0,
		    "the OCSP response was valid until %s and is not sent; get "
		    "a newer one",
		    tls_day_text(cert->ocsp.next_update, day));
		break;
	case TLS_OCSP_NOT_YET:
		err_list_add(warnings, cert->ocsp_file, 0,
		    "the OCSP response is not valid before %s and is not sent",
		    tls_day_text(cert->ocsp.this_update, day));
		break;
	case TLS_OCSP_NOT_GOOD:
		err_list_add(warnings, cert->ocsp_file, 0,
		    "the OCSP response says that the certificate is revoked or "
		    "unknown, and is not sent");
		break;
	case TLS_OCSP_OTHER:
		err_list_add(warnings, cert->ocsp_file, 0,
		    "the OCSP response is about another certificate and is not "
		    "sent; get one for '%s'",
		    cert->file);
		break;
	default:
		break;
	}
}

void
tls_certs_warnings(const struct tls_certs *certs, const struct tls_names *names,
    struct err_list *warnings)
{
	int64_t now = time(NULL);

	for (size_t i = 0; i < certs->n; i++) {
		const struct tls_cert *cert = certs->certs[i];

		validity_warnings(cert, now, warnings);
		ocsp_warnings(cert, now, warnings);
		if (cert->key_is_open)
			err_list_add(warnings, cert->key_file, 0,
			    "every user of this host can read the key; do "
			    "`chmod o-rwx`");
		if (!names || tls_names_uses(names, cert))
			continue;
		err_list_add(warnings, cert->file, 0,
		    cert->names_n > 0
		        ? "the certificate is never used: others that come "
		          "before it have all of its names"
		        : "the certificate is never used: it has no host name");
	}
}
