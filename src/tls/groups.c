/* SPDX-License-Identifier: MIT
 * See groups.h.
 */
#include "tls/groups.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <string.h>

/* The default lists, for more and more limited libraries.  OpenSSL 3.5 takes
 * the first one, which means the same as its own default: servers are sent a
 * key share of each group with *, and a client that has the hybrid, but has
 * sent a key share of another group alone, is asked for one of the hybrid.  The
 * second one is for a provider of the hybrid in an earlier version, the last
 * one for a library in FIPS mode. */
static const char *const defaults[] = {
    "?*X25519MLKEM768/?*X25519:?P-256:?P-384",
    "X25519MLKEM768:X25519:P-256:P-384", "X25519:P-256:P-384", "P-256:P-384"};

static const char *default_list;

static const struct {
	const char *registered, *listed;
} spellings[] = {{"x25519", "X25519"}, {"x448", "X448"}, {"secp256r1", "P-256"},
    {"secp384r1", "P-384"}, {"secp521r1", "P-521"}};

static void
find_default_list(void)
{
	SSL_CTX *scratch = SSL_CTX_new(TLS_method());
	size_t n = sizeof(defaults) / sizeof(*defaults), i = 0;

	while (i + 1 < n && scratch &&
	       SSL_CTX_set1_groups_list(scratch, defaults[i]) != 1)
		i++;
	default_list = defaults[scratch ? i : n - 1];
	SSL_CTX_free(scratch);
	ERR_clear_error();
}

bool
tls_groups_set(SSL_CTX *ssl, const char *list, struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_default_list);
	if (SSL_CTX_set1_groups_list(ssl, list ? list : default_list) == 1)
		return true;
	ERR_clear_error();
	return err_set(err,
	    "curves: '%s' is refused by OpenSSL; write each curve once, with : "
	    "between",
	    list ? list : default_list);
}

const char *
tls_group_spelling(const char *name)
{
	for (size_t i = 0; i < sizeof(spellings) / sizeof(*spellings); i++)
		if (strcmp(spellings[i].registered, name) == 0)
			return spellings[i].listed;
	return name;
}

struct group_names {
	void (*each)(void *arg, const char *name);
	void *arg;
};

/* Providers report a group once for each of its names. */
static bool
is_another_name(const char *name)
{
	return strncmp(name, "P-", 2) == 0;
}

/* Reports a group, if it is for TLS 1.3: other ones are of little use. */
static int
report_group(const OSSL_PARAM *group, void *arg)
{
	const struct group_names *names = arg;
	const OSSL_PARAM *name =
	    OSSL_PARAM_locate_const(group, OSSL_CAPABILITY_TLS_GROUP_NAME);
	const OSSL_PARAM *max =
	    OSSL_PARAM_locate_const(group, OSSL_CAPABILITY_TLS_GROUP_MAX_TLS);
	const char *text;
	int version = 0;

	if (name && OSSL_PARAM_get_utf8_string_ptr(name, &text) == 1 && max &&
	    OSSL_PARAM_get_int(max, &version) == 1 && !is_another_name(text) &&
	    (version == 0 || version >= TLS1_3_VERSION))
		names->each(names->arg, tls_group_spelling(text));
	return 1;
}

static int
report_provider(OSSL_PROVIDER *provider, void *arg)
{
	(void)OSSL_PROVIDER_get_capabilities(
	    provider, "TLS-GROUP", report_group, arg);
	return 1;
}

void
tls_groups_each(void (*each)(void *arg, const char *name), void *arg)
{
	struct group_names names = {each, arg};

	(void)OSSL_PROVIDER_do_all(NULL, report_provider, &names);
	ERR_clear_error();
}
