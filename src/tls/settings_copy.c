/* SPDX-License-Identifier: MIT
 * Deep copies of settings, for contexts that read their files again.
 */
#include "tls/settings_copy.h"

#include <stdlib.h>
#include <string.h>

static bool
text_copy(char **text)
{
	if (*text)
		*text = strdup(*text);
	else
		return true;
	return *text != NULL;
}

static bool
pair_copy(struct tls_pair *to, const struct tls_pair *from)
{
	bool ok;

	*to = *from;
	ok = text_copy(&to->cert);
	ok = text_copy(&to->key) && ok;
	return text_copy(&to->ocsp) && ok;
}

/* Copies the arrays' elements into copy, whose arrays have room and zeros. */
static bool
arrays_copy(struct tls_settings *copy, const struct tls_settings *settings)
{
	bool ok = true;

	for (size_t i = 0; i < settings->pairs_n; i++)
		ok = pair_copy(&copy->pairs[i], &settings->pairs[i]) && ok;
	for (size_t i = 0; i < settings->cert_dirs_n; i++) {
		copy->cert_dirs[i] = settings->cert_dirs[i];
		ok = text_copy(&copy->cert_dirs[i]) && ok;
	}
	return ok;
}

static bool
texts_copy(struct tls_settings *copy)
{
	char **texts[] = {&copy->ciphers, &copy->ciphersuites, &copy->curves,
	    &copy->alpn, &copy->tickets_file, &copy->ca, &copy->crl,
	    &copy->name, &copy->sni, &copy->keylog};
	bool ok = true;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		ok = text_copy(texts[i]) && ok;
	return ok;
}

struct tls_settings *
tls_settings_copy(const struct tls_settings *settings)
{
	struct tls_settings *copy = malloc(sizeof(*copy));
	bool ok;

	if (!copy)
		return NULL;
	*copy = *settings;
	copy->pairs = calloc(settings->pairs_n + 1, sizeof(*copy->pairs));
	copy->cert_dirs =
	    calloc(settings->cert_dirs_n + 1, sizeof(*copy->cert_dirs));
	ok = texts_copy(copy);
	if (copy->pairs && copy->cert_dirs)
		ok = arrays_copy(copy, settings) && ok;
	else
		ok = false;
	if (ok)
		return copy;
	tls_settings_free(copy);
	return NULL;
}

static void
pair_free(struct tls_pair *pair)
{
	free(pair->cert);
	free(pair->key);
	free(pair->ocsp);
}

void
tls_settings_free(struct tls_settings *copy)
{
	if (!copy)
		return;
	for (size_t i = 0; copy->pairs && i < copy->pairs_n; i++)
		pair_free(&copy->pairs[i]);
	for (size_t i = 0; copy->cert_dirs && i < copy->cert_dirs_n; i++)
		free(copy->cert_dirs[i]);
	free(copy->pairs);
	free(copy->cert_dirs);
	free(copy->ciphers);
	free(copy->ciphersuites);
	free(copy->curves);
	free(copy->alpn);
	free(copy->tickets_file);
	free(copy->ca);
	free(copy->crl);
	free(copy->name);
	free(copy->sni);
	free(copy->keylog);
	free(copy);
}
