/* SPDX-License-Identifier: MIT
 * Deep copies of settings, for contexts that read their files again.
 */
#include "tls/settings_copy.h"

#include <stdlib.h>
#include <string.h>

/* Copies the text in place.  Returns false when memory is short. */
static bool
text_copy(char **text)
{
	if (!*text)
		return true;
	*text = strdup(*text);
	return *text != NULL;
}

static bool
pair_copy(struct tls_pair *pair)
{
	bool ok = true;

#define X(member) ok = text_copy(&pair->member) && ok;
	TLS_PAIR_TEXTS(X)
#undef X
	return ok;
}

/* Returns a copy of the array, or NULL when memory is short. */
static void *
array_copy(const void *array, size_t n, size_t size)
{
	void *copy = calloc(n + 1, size);

	if (copy && n > 0)
		memcpy(copy, array, n * size);
	return copy;
}

struct tls_settings *
tls_settings_copy(const struct tls_settings *settings)
{
	struct tls_settings *copy = array_copy(settings, 1, sizeof(*copy));
	bool ok;

	if (!copy)
		return NULL;
	copy->pairs =
	    array_copy(copy->pairs, copy->pairs_n, sizeof(*copy->pairs));
	copy->cert_dirs = array_copy(
	    copy->cert_dirs, copy->cert_dirs_n, sizeof(*copy->cert_dirs));
	ok = copy->pairs && copy->cert_dirs;
	for (size_t i = 0; copy->pairs && i < copy->pairs_n; i++)
		ok = pair_copy(&copy->pairs[i]) && ok;
	for (size_t i = 0; copy->cert_dirs && i < copy->cert_dirs_n; i++)
		ok = text_copy(&copy->cert_dirs[i]) && ok;
#define X(member) ok = text_copy(&copy->member) && ok;
	TLS_SETTINGS_TEXTS(X)
#undef X
	if (ok)
		return copy;
	tls_settings_free(copy);
	return NULL;
}

void
tls_settings_free(struct tls_settings *copy)
{
	if (!copy)
		return;
#define X(member) free(copy->pairs[i].member);
	for (size_t i = 0; copy->pairs && i < copy->pairs_n; i++) {
		TLS_PAIR_TEXTS(X)
	}
#undef X
	for (size_t i = 0; copy->cert_dirs && i < copy->cert_dirs_n; i++)
		free(copy->cert_dirs[i]);
	free(copy->pairs);
	free(copy->cert_dirs);
#define X(member) free(copy->member);
	TLS_SETTINGS_TEXTS(X)
#undef X
	free(copy);
}
