/* SPDX-License-Identifier: MIT
 * See staged.h.
 */
#include "tls/staged.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "tls/cert.h"
#include "tls/certs.h"
#include "tls/memory.h"
#include "tls/pem.h"

size_t
tls_staged_place(const struct tls_certs *certs, const char *file)
{
	size_t key_at = certs->n;

	for (size_t i = certs->n; i > 0; i--) {
		if (strcmp(certs->certs[i - 1]->file, file) == 0)
			return i - 1;
		if (strcmp(certs->certs[i - 1]->key_file, file) == 0)
			key_at = i - 1;
	}
	return key_at;
}

struct tls_staged *
tls_staged_find(const struct tls_staged_list *list, const struct tls_cert *cert)
{
	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(list->entries[i].file, cert->file) == 0)
			return &list->entries[i];
	}
	return NULL;
}

static void
text_free(char *text)
{
	if (text)
		OPENSSL_clear_free(text, strlen(text));
}

static void
staged_fini(struct tls_staged *staged)
{
	free(staged->file);
	text_free(staged->pem);
	text_free(staged->key_pem);
}

void
tls_staged_drop(struct tls_staged_list *list, struct tls_staged *staged)
{
	staged_fini(staged);
	*staged = list->entries[--list->n];
}

void
tls_staged_fini(struct tls_staged_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		staged_fini(&list->entries[i]);
	free(list->entries);
	*list = (struct tls_staged_list){.n = 0};
}

static bool
pair_check(const struct tls_cert *cert, const char *pem, const char *key_pem,
    struct err *err)
{
	struct tls_cert *whole = tls_cert_replace(cert, pem, key_pem, err);

	tls_cert_unref(whole);
	return whole != NULL;
}

/* Returns whether the text can be parsed, and matches the key that it will
 * have: the one in the text, the one that is kept, or else the present one.
 * Only a key that has a file of its own may still come. */
static bool
cert_text_check(const struct tls_cert *cert, const struct tls_staged *kept,
    const char *pem, struct err *err)
{
	const char *key_pem = kept ? kept->key_pem : NULL;
	STACK_OF(X509) * chain;
	X509 *x509;

	if (key_pem || tls_pem_has_key(pem, strlen(pem)) ||
	    strcmp(cert->file, cert->key_file) == 0)
		return pair_check(cert, pem, key_pem, err);
	if (!tls_pem_chain(cert->file, pem, strlen(pem), &x509, &chain, err))
		return false;
	X509_free(x509);
	sk_X509_pop_free(chain, X509_free);
	return true;
}

/* Returns whether the text can be parsed, and matches the certificate that is
 * kept; without one, a certificate may still come. */
static bool
key_text_check(const struct tls_cert *cert, const struct tls_staged *kept,
    const char *pem, struct err *err)
{
	EVP_PKEY *key;

	if (kept && kept->pem)
		return pair_check(cert, kept->pem, pem, err);
	key = tls_pem_key(cert->key_file, pem, strlen(pem), err);
	EVP_PKEY_free(key);
	return key != NULL;
}

/* Returns the entry of the certificate, a new one if need be; NULL when memory
 * is short. */
static struct tls_staged *
entry_make(struct tls_staged_list *list, const struct tls_cert *cert)
{
	struct tls_staged *entry = tls_staged_find(list, cert);
	struct tls_staged *grown;

	if (entry)
		return entry;
	grown = grow(list->entries, list->n, &list->room, sizeof(*grown));
	if (!grown)
		return NULL;
	list->entries = grown;
	entry = &grown[list->n];
	*entry = (struct tls_staged){.file = strdup(cert->file)};
	if (!entry->file)
		return NULL;
	list->n++;
	return entry;
}

bool
tls_staged_keep(struct tls_staged_list *list, const struct tls_cert *cert,
    const char *file, const char *pem, struct err *err)
{
	bool is_key = strcmp(cert->file, file) != 0, ok;
	struct tls_staged *entry = tls_staged_find(list, cert);
	char *copy = NULL, **text;

	tls_memory_protect();
	ok = is_key ? key_text_check(cert, entry, pem, err)
	            : cert_text_check(cert, entry, pem, err);
	if (ok)
		copy = OPENSSL_strdup(pem);
	tls_memory_unprotect();
	if (!ok)
		return false;
	entry = copy ? entry_make(list, cert) : NULL;
	if (!entry) {
		text_free(copy);
		return err_oom(err);
	}
	text = is_key ? &entry->key_pem : &entry->pem;
	text_free(*text);
	*text = copy;
	return true;
}
