/* SPDX-License-Identifier: MIT
 * See protocol.h.
 */
#include "tls/protocol.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "tls/groups.h"

#define DEFAULT_MIN_VERSION TLS1_2_VERSION
#define DEFAULT_CIPHERS                                                        \
	"ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"           \
	"ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"           \
	"ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"

/* A word of a list is at most this long, with NUL. */
#define WORD_SIZE 128

/* Words that may be excluded although the library no longer has such ciphers:
 * many lists contain `!RC4`. */
static const char *const old_words[] = {"RC4", "RC2", "DES", "3DES", "IDEA",
    "SEED", "MD5", "EXP", "EXPORT", "EXPORT40", "EXPORT56", "LOW", "MEDIUM",
    "SSLv2", "SSLv3", "KRB5", "DSS", "aDSS", "kDH", "kDHr", "kDHd", "aDH",
    "aECDH", "kECDH", "kECDHe", "kECDHr", "aGOST", "aGOST01", "kGOST", "GOST94",
    "GOST89MAC", "CAMELLIA", "CAMELLIA128", "CAMELLIA256", "ARIA", "ARIA128",
    "ARIA256", "SRP", "PSK", "kPSK", "aPSK", "eNULL", "NULL", "aNULL", "ADH",
    "AECDH", "kFZA", "FZA", "eFZA", "aFZA"};

/* Returns whether ssl takes the word alone. */
typedef bool (*word_check)(SSL_CTX *ssl, const char *word);

static bool
is_old_word(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(old_words) / sizeof(*old_words); i++) {
		if (strlen(old_words[i]) == len &&
		    memcmp(old_words[i], word, len) == 0)
			return true;
	}
	return false;
}

bool
tls_protocol_is_old_cipher(const char *word)
{
	for (;; word++) {
		size_t len = strcspn(word, "+");

		if (!is_old_word(word, len))
			return false;
		word += len;
		if (!*word)
			return true;
	}
}

/* Returns whether the word is a cipher, or a class with + between the parts,
 * with !, - or + in front, or a command: see ciphers(1). */
static bool
is_cipher_word(SSL_CTX *ssl, const char *word)
{
	bool excluded = *word == '!' || *word == '-';

	if (strcmp(word, "@STRENGTH") == 0)
		return true;
	if (strncmp(word, "@SECLEVEL=", 10) == 0)
		return word[10] >= '0' && word[10] <= '5' && !word[11];
	word += strspn(word, "!+-");
	return SSL_CTX_set_cipher_list(ssl, word) == 1 ||
	       (excluded && tls_protocol_is_old_cipher(word));
}

static bool
is_ciphersuite_word(SSL_CTX *ssl, const char *word)
{
	STACK_OF(SSL_CIPHER) * ciphers;

	/* OpenSSL ignores names that it does not know. */
	if (SSL_CTX_set_ciphersuites(ssl, "") != 1 ||
	    SSL_CTX_set_ciphersuites(ssl, word) != 1)
		return false;
	ciphers = SSL_CTX_get_ciphers(ssl);
	for (int i = 0; i < sk_SSL_CIPHER_num(ciphers); i++) {
		const SSL_CIPHER *cipher = sk_SSL_CIPHER_value(ciphers, i);

		if (strcmp(SSL_CIPHER_get_name(cipher), word) == 0)
			return true;
	}
	return false;
}

static bool
is_curve_word(SSL_CTX *ssl, const char *word)
{
	return SSL_CTX_set1_groups_list(ssl, word) == 1;
}

/* Checks each word of the list; returns false with err set at the first that is
 * wrong. */
static bool
words_check(const char *setting, const char *list, const char *separators,
    const char *allowed, word_check check, struct err *err)
{
	SSL_CTX *scratch = SSL_CTX_new(TLS_method());
	const char *at = list;
	bool ok = scratch != NULL || err_oom(err);

	while (ok && *at) {
		size_t len = strcspn(at, separators);
		char word[WORD_SIZE];

		if (len >= sizeof(word))
			ok = err_set(err, "%s: unknown word '%.*s...'; %s",
			    setting, WORD_SIZE / 2, at, allowed);
		if (ok && len > 0) {
			memcpy(word, at, len);
			word[len] = '\0';
			ok = check(scratch, word) ||
			     err_set(err, "%s: unknown word '%s'; %s", setting,
			         word, allowed);
		}
		at += len;
		at += strspn(at, separators);
	}
	SSL_CTX_free(scratch);
	ERR_clear_error();
	return ok;
}

static bool
ciphers_set(SSL_CTX *ssl, const char *list, enum tls_role role, struct err *err)
{
	const char *own = role == TLS_ACCEPTS ? DEFAULT_CIPHERS : "DEFAULT";

	if (list &&
	    !words_check("ciphers", list, ": ,;",
	        "see `openssl ciphers -s` and ciphers(1)", is_cipher_word, err))
		return false;
	if (SSL_CTX_set_cipher_list(ssl, list ? list : own) == 1)
		return true;
	ERR_clear_error();
	return err_set(err, "ciphers: '%s' leaves no cipher; see ciphers(1)",
	    list ? list : own);
}

static bool
ciphersuites_set(SSL_CTX *ssl, const char *list, struct err *err)
{
	if (!list)
		return true;
	if (!words_check("ciphersuites", list, ":",
	        "allowed: TLS_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384, "
	        "TLS_CHACHA20_POLY1305_SHA256, TLS_AES_128_CCM_SHA256, "
	        "TLS_AES_128_CCM_8_SHA256, separated by ':'",
	        is_ciphersuite_word, err))
		return false;
	return SSL_CTX_set_ciphersuites(ssl, list) == 1 || err_oom(err);
}

static bool
curves_set(SSL_CTX *ssl, const char *list, struct err *err)
{
	return (!list || words_check("curves", list, ":",
	                     "write groups of this OpenSSL, separated by ':'",
	                     is_curve_word, err)) &&
	       tls_groups_set(ssl, list, err);
}

static bool
versions_set(SSL_CTX *ssl, const struct tls_settings *settings, struct err *err)
{
	int min =
	    settings->min_version ? settings->min_version : DEFAULT_MIN_VERSION;

	if (settings->max_version && settings->max_version < min)
		return err_set(err, "max_version is lower than min_version");
	if (SSL_CTX_set_min_proto_version(ssl, min) == 1 &&
	    SSL_CTX_set_max_proto_version(ssl, settings->max_version) == 1)
		return true;
	ERR_clear_error();
	return err_set(
	    err, "min_version, max_version: not known to this OpenSSL");
}

/* Sets the options that are the same for every context. */
static void
options_set(SSL_CTX *ssl)
{
	SSL_CTX_set_options(
	    ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_clear_options(ssl, SSL_OP_CIPHER_SERVER_PREFERENCE |
	                               SSL_OP_LEGACY_SERVER_CONNECT |
	                               SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_clear_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE);
	SSL_CTX_set_read_ahead(ssl, 1);
	SSL_CTX_set_max_early_data(ssl, 0);
	SSL_CTX_set_recv_max_early_data(ssl, 0);
}

bool
tls_protocol_set(SSL_CTX *ssl, const struct tls_settings *settings,
    enum tls_role role, struct err *err)
{
	options_set(ssl);
	/* Parameters that suit the certificate, if DHE ciphers are chosen. */
	if (role == TLS_ACCEPTS)
		SSL_CTX_set_dh_auto(ssl, 1);
	return versions_set(ssl, settings, err) &&
	       ciphers_set(ssl, settings->ciphers, role, err) &&
	       ciphersuites_set(ssl, settings->ciphersuites, err) &&
	       curves_set(ssl, settings->curves, err);
}
