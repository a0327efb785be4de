/* SPDX-License-Identifier: MIT
 * See names.h.
 */
#include "tls/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tls/cert.h"

static int
compare_entries(const void *a, const void *b)
{
	const struct tls_name *x = a, *y = b;
	int by_name = strcmp(x->name, y->name);

	if (by_name != 0)
		return by_name;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Returns whether the entries before n have the name with the same type of key.
 */
static bool
type_is_taken(const struct tls_names *names, const struct tls_name *entry)
{
	for (size_t i = names->n; i > 0; i--) {
		const struct tls_name *before = &names->names[i - 1];

		if (strcmp(before->name, entry->name) != 0)
			return false;
		if (before->cert->key_type == entry->cert->key_type)
			return true;
	}
	return false;
}

bool
tls_names_init(
    struct tls_names *names, struct tls_cert *const *certs, size_t certs_n)
{
	size_t all = 0, n = 0;

	*names = (struct tls_names){.n = 0};
	if (certs_n > 0)
		names->first = (struct tls_name){.name = "", .cert = certs[0]};
	for (size_t i = 0; i < certs_n; i++)
		all += certs[i]->names_n;
	if (all == 0)
		return true;
	names->names = calloc(all, sizeof(*names->names));
	if (!names->names)
		return false;
	for (size_t i = 0; i < certs_n; i++) {
		for (unsigned k = 0; k < certs[i]->names_n; k++)
			names->names[n++] =
			    (struct tls_name){.name = certs[i]->names[k],
			        .cert = certs[i],
			        .order = i};
	}
	qsort(names->names, all, sizeof(*names->names), compare_entries);
	for (size_t i = 0; i < all; i++) {
		if (!type_is_taken(names, &names->names[i]))
			names->names[names->n++] = names->names[i];
	}
	return true;
}

void
tls_names_fini(struct tls_names *names)
{
	free(names->names);
	*names = (struct tls_names){.n = 0};
}

/* Returns the entries with exactly this name. */
static struct tls_names_match
find_exact(const struct tls_names *names, const char *name)
{
	struct tls_names_match match = {.n = 0};
	size_t low = 0, high = names->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(names->names[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + match.n < names->n &&
	       strcmp(names->names[low + match.n].name, name) == 0)
		match.n++;
	match.names = match.n > 0 ? &names->names[low] : NULL;
	return match;
}

struct tls_names_match
tls_names_default(const struct tls_names *names)
{
	const struct tls_cert *first = names->first.cert;

	if (!first)
		return (struct tls_names_match){.n = 0};
	if (first->names_n > 0)
		return find_exact(names, first->names[0]);
	return (struct tls_names_match){.names = &names->first, .n = 1};
}

/* Returns the certificates that have the name, exactly or by the longest
 * wildcard, after so many other matches; n is 0 for none. */
static struct tls_names_match
find_known(const struct tls_names *names, const char *name, unsigned skipped)
{
	char text[TLS_NAME_SIZE + 1];
	struct tls_names_match match = {.n = 0};
	size_t len = name ? strlen(name) : 0;

	/* RFC 6066 wants no dot at the end; some clients send it. */
	if (len > 0 && name[len - 1] == '.')
		len--;
	if (len == 0 || len >= TLS_NAME_SIZE)
		return match;
	for (size_t i = 0; i < len; i++)
		text[i] = (char)tolower((unsigned char)name[i]);
	text[len] = '\0';
	match = find_exact(names, text);
	for (char *dot = strchr(text, '.');
	     (match.n == 0 || skipped > 0) && dot > text;
	     dot = strchr(dot + 1, '.')) {
		skipped -= match.n > 0;
		dot[-1] = '*';
		match = find_exact(names, dot - 1);
	}
	if (skipped > 0)
		match.n = 0;
	return match;
}

struct tls_names_match
tls_names_find(const struct tls_names *names, const char *name)
{
	struct tls_names_match match = find_known(names, name, 0);

	return match.n > 0 ? match : tls_names_default(names);
}

struct tls_names_match
tls_names_find_wider(
    const struct tls_names *names, const char *name, unsigned number)
{
	return find_known(names, name, number);
}

bool
tls_names_has(const struct tls_names *names, const char *name)
{
	return find_known(names, name, 0).n > 0;
}

bool
tls_names_uses(const struct tls_names *names, const struct tls_cert *cert)
{
	if (names->first.cert == cert)
		return true;
	for (unsigned i = 0; i < cert->names_n; i++) {
		struct tls_names_match match =
		    find_exact(names, cert->names[i]);

		for (size_t k = 0; k < match.n; k++) {
			if (match.names[k].cert == cert)
				return true;
		}
	}
	return false;
}
