/* SPDX-License-Identifier: MIT
 * Values of [tls], and references to such a section.  The words of OpenSSL are
 * checked with OpenSSL.
 */
#include "config/values.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tls/groups.h"
#include "tls/protocol.h"
#include "vocabulary/match.h"

/* -- files -- */

static bool
parse_cert(const struct value *v)
{
	struct tls_spec *t = v->object;
	struct tls_settings *s = &t->settings;
	struct tls_pair pair = {.cert = NULL};
	struct words words;

	words_split(&words, v->text);
	for (size_t i = 0; i < s->pairs_n; i++)
		if (strcmp(s->pairs[i].cert, words.word[0]) == 0)
			return value_fail(
			    v, "'%s' is given twice; keep one", words.word[0]);
	if (options_read(v, &words, 1, &pair, 0, "") &&
	    value_set_string(v, &pair.cert, words.word[0]) &&
	    value_append(v, &s->pairs, &s->pairs_n, &pair, sizeof(pair)))
		return true;
	free(pair.cert);
	free(pair.key);
	free(pair.ocsp);
	return false;
}

static bool
print_cert(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct tls_spec *t = s->object;
	const struct tls_pair *pair;

	if (s->nth >= t->settings.pairs_n)
		return false;
	pair = &t->settings.pairs[s->nth];
	return value_write(out, "%s", pair->cert) &&
	       options_print(s, pair, NULL, 0, out);
}

static bool
parse_cert_dir(const struct value *v)
{
	struct tls_spec *t = v->object;
	struct tls_settings *s = &t->settings;
	char *copy = NULL;

	for (size_t i = 0; i < s->cert_dirs_n; i++)
		if (strcmp(s->cert_dirs[i], v->text) == 0)
			return value_fail(
			    v, "'%s' is given twice; keep one", v->text);
	if (!value_set_string(v, &copy, v->text))
		return false;
	if (value_append(
	        v, &s->cert_dirs, &s->cert_dirs_n, &copy, sizeof(copy)))
		return true;
	free(copy);
	return false;
}

static bool
print_cert_dir(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct tls_spec *t = s->object;

	return s->nth < t->settings.cert_dirs_n &&
	       value_write(out, "%s", t->settings.cert_dirs[s->nth]);
}

/* -- versions -- */

static const struct {
	const char *name;
	int version;
} versions[] = {{"1.2", TLS1_2_VERSION}, {"1.3", TLS1_3_VERSION}};

#define VERSIONS (sizeof(versions) / sizeof(versions[0]))

static const char *const old_versions = "1, 1.0, 1.1, TLSv1, TLSv1.0, TLSv1.1, "
                                        "SSLv3, ssl3, tls10, tls11";

static bool
parse_tls_version(const struct value *v)
{
	int *version = value_target(v);
	size_t i;

	if (match_word(v->text, old_versions))
		return value_fail(v,
		    "'%s' is not supported: versions before TLS 1.2 are not "
		    "secure (RFC 8996); allowed are 1.2, 1.3",
		    v->text);
	if (!value_choose(v, v->text, NAME_TABLE(versions, VERSIONS), &i))
		return false;
	*version = versions[i].version;
	return true;
}

static bool
print_tls_version(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const int *version = shown_source(s);

	for (size_t i = 0; i < VERSIONS; i++)
		if (versions[i].version == *version)
			return value_write(out, "%s", versions[i].name);
	return false;
}

/* -- words of OpenSSL -- */

/* Runs the check on each of the words, with a context to try it on. */
static bool
check_words(const struct value *v, const char *separators,
    bool (*check)(const struct value *v, SSL_CTX *ctx, const char *word))
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());
	char copy[DRAFT_VALUE_MAX + 1], *rest = copy, *word;
	bool ok = ctx || value_fail(v, "out of memory"), any = false;

	snprintf(copy, sizeof(copy), "%s", v->text);
	while (ok && (word = strsep(&rest, separators))) {
		if (!*word)
			continue;
		any = true;
		ok = check(v, ctx, word);
	}
	ERR_clear_error();
	SSL_CTX_free(ctx);
	return ok && (any || value_fail(v, "'%s' has no word", v->text));
}

static bool
has_cipher(const SSL_CTX *ctx, const char *name)
{
	const STACK_OF(SSL_CIPHER) *all = SSL_CTX_get_ciphers(ctx);

	for (int i = 0; i < sk_SSL_CIPHER_num(all); i++)
		if (strcmp(SSL_CIPHER_get_name(sk_SSL_CIPHER_value(all, i)),
		        name) == 0)
			return true;
	return false;
}

/* Returns whether the name is that of a cipher of TLS 1.3.  ctx has none
 * afterwards. */
static bool
is_ciphersuite(SSL_CTX *ctx, const char *name)
{
	bool is =
	    SSL_CTX_set_ciphersuites(ctx, name) == 1 && has_cipher(ctx, name);

	/* OpenSSL also accepts standard names of older ciphers here, and
	 * afterwards every list of ciphers, as long as one is left. */
	(void)SSL_CTX_set_ciphersuites(ctx, "");
	return is;
}

static bool
fail_unknown_cipher(const struct value *v, SSL_CTX *ctx, const char *word)
{
	const STACK_OF(SSL_CIPHER) *all = SSL_CTX_get_ciphers(ctx);
	const char *name = OPENSSL_cipher_name(word);
	struct hint hint;

	if (strcmp(name, "(NONE)") != 0)
		return value_fail(v,
		    "'%s' is the standard's name; OpenSSL's is '%s'", word,
		    name);
	hint_init(&hint, word);
	for (int i = 0; i < sk_SSL_CIPHER_num(all); i++)
		hint_offer(
		    &hint, SSL_CIPHER_get_name(sk_SSL_CIPHER_value(all, i)));
	return value_fail(v,
	    "OpenSSL has no cipher '%s'; %s%s%sthe command `openssl ciphers "
	    "-s -v ALL` lists them",
	    word, hint.near ? "did you mean '" : "", hint.near ? hint.near : "",
	    hint.near ? "'? " : "");
}

/* Checks a word of a list of ciphers: OpenSSL ignores words that it does not
 * know. */
static bool
check_cipher(const struct value *v, SSL_CTX *ctx, const char *word)
{
	size_t signs = strspn(word, "!-+");
	const char *name = word + signs;

	if (name[0] == '@') {
		if (strcmp(name, "@STRENGTH") == 0 ||
		    (strncmp(name, "@SECLEVEL=", 10) == 0 && name[10] >= '0' &&
		        name[10] <= '5' && name[11] == '\0'))
			return true;
		return value_fail(v,
		    "'%s' is unknown; allowed are @STRENGTH and @SECLEVEL=0 to "
		    "@SECLEVEL=5",
		    name);
	}
	if (is_ciphersuite(ctx, name))
		return value_fail(v,
		    "'%s' is a cipher of TLS 1.3; write it behind "
		    "ciphersuites =",
		    name);
	if (SSL_CTX_set_cipher_list(ctx, name) == 1 ||
	    (strcspn(word, "!-") < signs && tls_protocol_is_old_cipher(name)))
		return true;
	(void)SSL_CTX_set_cipher_list(ctx, "ALL:COMPLEMENTOFALL");
	return fail_unknown_cipher(v, ctx, name);
}

/* Checks each word, and all words together, which may exclude each other. */
static bool
parse_ciphers(const struct value *v)
{
	SSL_CTX *ctx;
	bool ok;

	if (!check_words(v, ":,; ", check_cipher))
		return false;
	ctx = SSL_CTX_new(TLS_method());
	ok = ctx && SSL_CTX_set_cipher_list(ctx, v->text) == 1;
	SSL_CTX_free(ctx);
	ERR_clear_error();
	return ok ? value_keep_text(v)
	          : value_fail(v, "'%s' leaves no cipher", v->text);
}

static bool
check_ciphersuite(const struct value *v, SSL_CTX *ctx, const char *word)
{
	if (is_ciphersuite(ctx, word))
		return true;
	if (SSL_CTX_set_cipher_list(ctx, word) == 1)
		return value_fail(v,
		    "'%s' is not a cipher of TLS 1.3; write it behind "
		    "ciphers =",
		    word);
	(void)SSL_CTX_set_ciphersuites(ctx,
	    "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:"
	    "TLS_AES_128_GCM_SHA256:TLS_AES_128_CCM_SHA256:"
	    "TLS_AES_128_CCM_8_SHA256");
	return fail_unknown_cipher(v, ctx, word);
}

static bool
parse_ciphersuites(const struct value *v)
{
	return check_words(v, ":", check_ciphersuite) && value_keep_text(v);
}

static void
offer_curve(void *hint, const char *name)
{
	hint_offer(hint, name);
}

static bool
check_curve(const struct value *v, SSL_CTX *ctx, const char *word)
{
	struct hint hint;

	if (SSL_CTX_set1_groups_list(ctx, word) == 1)
		return true;
	hint_init(&hint, word);
	tls_groups_each(offer_curve, &hint);
	return value_fail(v, "OpenSSL %s has no curve '%s'; %s",
	    OpenSSL_version(OPENSSL_VERSION_STRING), word,
	    hint_text(&hint, "allowed"));
}

static bool
parse_curves(const struct value *v)
{
	SSL_CTX *ctx;
	bool ok;

	if (!check_words(v, ":", check_curve))
		return false;
	ctx = SSL_CTX_new(TLS_method());
	ok = ctx && SSL_CTX_set1_groups_list(ctx, v->text) == 1;
	SSL_CTX_free(ctx);
	ERR_clear_error();
	return ok ? value_keep_text(v)
	          : value_fail(v,
	                "'%s' is refused by OpenSSL; write each curve once, "
	                "with : between",
	                v->text);
}

/* -- names -- */

#define ALPN_NAME_MAX 255 /* RFC 7301, section 3.1 */

static bool
parse_alpn(const struct value *v)
{
	char joined[DRAFT_VALUE_MAX + 1] = "";
	struct words words;
	size_t len = 0;

	words_split(&words, v->text);
	for (size_t i = 0; i < words.n; i++) {
		const char *word = words.word[i];

		if (strlen(word) > ALPN_NAME_MAX)
			return value_fail(v,
			    "'%.40s...' has %zu bytes; the name of a protocol "
			    "has at most %d",
			    word, strlen(word), ALPN_NAME_MAX);
		if (strchr(word, ','))
			return value_fail(v,
			    "'%s' has a comma; write blanks between the names, "
			    "as in h2 http/1.1",
			    word);
		for (size_t j = 0; j < i; j++)
			if (strcmp(words.word[j], word) == 0)
				return value_fail(
				    v, "'%s' is given twice; keep one", word);
		len += (size_t)snprintf(joined + len, sizeof(joined) - len,
		    "%s%s", len > 0 ? " " : "", word);
	}
	return value_set_string(v, value_target(v), joined);
}

static bool
is_ip_address(const char *text)
{
	struct in6_addr any;

	return inet_pton(AF_INET, text, &any) == 1 ||
	       inet_pton(AF_INET6, text, &any) == 1;
}

static bool
parse_tls_name(const struct value *v)
{
	const char *p = v->text;

	if (is_ip_address(p))
		return value_fail(v,
		    "'%s' is an address; servers that are given by address are "
		    "verified for it without this key",
		    v->text);
	while (isalnum((unsigned char)*p) || (*p && strchr("-_.", *p)))
		p++;
	if (*p || p - v->text > 253)
		return value_fail(v,
		    "'%s' is not a host name; write one as in www.example.com",
		    v->text);
	return value_keep_text(v);
}

/* Reads a choice; these begin with TLS_VERIFY_NONE. */
static bool
parse_tls_verify(const struct value *v)
{
	enum tls_verify *verify = value_target(v);
	size_t n = 0, choice;

	while (v->key->choices[n])
		n++;
	if (!value_choose(v, v->text, NAME_TABLE(v->key->choices, n), &choice))
		return false;
	*verify = (enum tls_verify)(TLS_VERIFY_NONE + choice);
	return true;
}

static bool
print_tls_verify(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const enum tls_verify *verify = shown_source(s);

	return *verify != TLS_VERIFY_DEFAULT &&
	       value_write(
	           out, "%s", s->key->choices[*verify - TLS_VERIFY_NONE]);
}

/* -- references -- */

static bool
parse_tls(const struct value *v)
{
	struct optional *tls = value_target(v);
	const struct spec *s = v->spec;
	struct hint hint;
	size_t i;

	if (name_table_find(INDEXED_TABLE(s, tls), v->text, &i)) {
		tls->value = (unsigned)i;
		return true;
	}
	if (s->tls_n > 0)
		return value_fail(v, "unknown tls '%s'; %s", v->text,
		    hint_table(&hint, v->text, INDEXED_TABLE(s, tls), "there"));
	if (v->entry && v->entry->label)
		return value_fail(v,
		    "TLS needs a section [tls %s], which only a file can have; "
		    "write one and name it with -c",
		    v->text);
	return value_fail(
	    v, "unknown tls '%s'; write a section [tls %s]", v->text, v->text);
}

static bool
parse_tls_or_off(const struct value *v)
{
	struct optional *tls = value_target(v);

	if (strcmp(v->text, "off") != 0)
		return parse_tls(v);
	tls->value = TLS_OFF;
	return true;
}

static bool
print_tls(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct optional *tls = shown_source(s);

	return value_write(out, "%s",
	    tls->value == TLS_OFF ? "off" : s->spec->tls[tls->value].name);
}

const struct value_type type_file = {
    value_keep_text, value_print_string, "a file", 0, 0};
const struct value_type type_ca_path = {value_keep_text, value_print_string,
    "a file of certificates in PEM form, a folder, or system", 0, 0};
VALUE_TYPE(cert, print_cert, "a file of certificates in PEM form", 0);
VALUE_TYPE(cert_dir, print_cert_dir, "a folder", 0);
VALUE_TYPE(tls_version, print_tls_version, "1.2, 1.3", 0);
VALUE_TYPE(ciphers, value_print_string,
    "as in ECDHE+AESGCM:ECDHE+CHACHA20, see openssl-ciphers(1)", 0);
VALUE_TYPE(ciphersuites, value_print_string,
    "as in TLS_AES_128_GCM_SHA256, with : between several", 0);
VALUE_TYPE(
    curves, value_print_string, "as in X25519:P-256, the best one first", 0);
VALUE_TYPE(alpn, value_print_string,
    "names of protocols as in h2 http/1.1, blanks between", 0);
VALUE_TYPE(tls_verify, print_tls_verify, NULL, 0);
VALUE_TYPE(tls_name, value_print_string, "a host name", 0);
VALUE_TYPE(tls, print_tls, "the name of a [tls NAME]", VALUE_OPTIONAL);
VALUE_TYPE(
    tls_or_off, print_tls, "the name of a [tls NAME], or off", VALUE_OPTIONAL);
