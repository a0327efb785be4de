/* SPDX-License-Identifier: MIT
 * See cert_names.h.
 */
#include "tls/cert_names.h"

#include <ctype.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "tls/facts.h"

struct name_list {
	char **names;
	size_t n, room;
};

static bool
is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

/* Returns whether the text could be a host name, or *.NAME. */
static bool
is_host_name(const char *text, size_t len)
{
	size_t at = len > 2 && text[0] == '*' && text[1] == '.' ? 2 : 0;

	if (len == 0 || len >= TLS_NAME_SIZE)
		return false;
	for (; at < len; at++) {
		if (!is_name_char(text[at]))
			return false;
	}
	return true;
}

static bool
name_append(struct name_list *list, const char *text, int length)
{
	size_t len = length > 0 ? (size_t)length : 0;
	char **grown, *name;

	if (len > 0 && text[len - 1] == '.')
		len--;
	if (!is_host_name(text, len))
		return true;
	grown = grow(list->names, list->n, &list->room, sizeof(*grown));
	if (!grown)
		return false;
	list->names = grown;
	name = strndup(text, len);
	if (!name)
		return false;
	for (char *c = name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	list->names[list->n++] = name;
	return true;
}

/* Appends the DNS names; *ret_any: there are some.  Returns false when memory
 * is short. */
static bool
sans_append(struct name_list *list, const X509 *cert, bool *ret_any)
{
	GENERAL_NAMES *sans =
	    X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	bool ok = true;

	*ret_any = false;
	for (int i = 0; ok && i < sk_GENERAL_NAME_num(sans); i++) {
		const GENERAL_NAME *san = sk_GENERAL_NAME_value(sans, i);

		if (san->type != GEN_DNS)
			continue;
		*ret_any = true;
		ok = name_append(list,
		    (const char *)ASN1_STRING_get0_data(san->d.dNSName),
		    ASN1_STRING_length(san->d.dNSName));
	}
	GENERAL_NAMES_free(sans);
	ERR_clear_error();
	return ok;
}

static bool
cns_append(struct name_list *list, const X509 *cert)
{
	const X509_NAME *subject = X509_get_subject_name(cert);
	bool ok = true;
	int at = -1;

	while (ok && (at = X509_NAME_get_index_by_NID(
	                  subject, NID_commonName, at)) >= 0) {
		unsigned char *text;
		int n = ASN1_STRING_to_UTF8(&text,
		    X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));

		if (n < 0)
			continue;
		ok = name_append(list, (const char *)text, n);
		OPENSSL_free(text);
	}
	ERR_clear_error();
	return ok;
}

static int
compare_host_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
names_deduplicate(struct name_list *list)
{
	size_t kept = 0;

	if (list->n > 0)
		qsort(list->names, list->n, sizeof(*list->names),
		    compare_host_names);
	for (size_t i = 0; i < list->n; i++) {
		if (kept > 0 &&
		    strcmp(list->names[kept - 1], list->names[i]) == 0)
			free(list->names[i]);
		else
			list->names[kept++] = list->names[i];
	}
	list->n = kept;
}

bool
tls_cert_names(const X509 *cert, char ***ret_names, unsigned *ret_names_n)
{
	struct name_list list = {.n = 0};
	bool any, ok = sans_append(&list, cert, &any);

	if (ok && !any)
		ok = cns_append(&list, cert);
	if (!ok) {
		tls_cert_names_free(list.names, (unsigned)list.n);
		return false;
	}
	names_deduplicate(&list);
	*ret_names = list.names;
	*ret_names_n = (unsigned)list.n;
	return true;
}

void
tls_cert_names_free(char **names, unsigned names_n)
{
	for (unsigned i = 0; i < names_n; i++)
		free(names[i]);
	free(names);
}
