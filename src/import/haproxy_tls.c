/* SPDX-License-Identifier: MIT
 * TLS of HAProxy's bind and server lines: what [tls NAME] says here.
 */
#include <string.h>
#include <sys/stat.h>

#include "import/haproxy.h"

const char *
hap_path(struct hap_file *file, const char *base, const char *path)
{
	if (!base || path[0] == '/' || strncmp(path, "${", 2) == 0)
		return path;
	return arena_printf(&file->doc->arena, "%s%s%s", base,
	    base[0] && base[strlen(base) - 1] == '/' ? "" : "/", path);
}

static void
tls_lost(struct hap_file *file, struct hap_tls *tls, const char *words,
    const char *reason)
{
	words_add(&file->doc->arena, &tls->lost, words);
	words_add(&file->doc->arena, &tls->lost, reason);
}

static bool
is_folder(const struct hap_file *file, const char *path)
{
	struct stat st;

	if (path[0] && path[strlen(path) - 1] == '/')
		return true;
	return file->source->may_read && stat(path, &st) == 0 &&
	       S_ISDIR(st.st_mode);
}

static void
add_cert(struct hap_file *file, struct hap_tls *tls, const char *path)
{
	bool folder;

	path = doc_word(file->doc, hap_path(file, file->crt_base, path));
	if (!path) {
		tls_lost(file, tls, "crt", "a path cannot have blanks here");
		return;
	}
	folder = is_folder(file, path);
	if (folder)
		tls_lost(file, tls, "crt",
		    "of a folder, only the files named *.pem are read here");
	arena_text_printf(&file->doc->arena, &tls->lines, "%s = %s\n",
	    folder ? "cert_dir" : "cert", path);
	if (!tls->first_cert)
		tls->first_cert = path;
}

/* Returns whether each line begins with the name of a certificate's file, so
 * that nothing of another file becomes a part of the result. */
static bool
is_crt_list(const char *text)
{
	static const char *const endings[] = {
	    ".pem", ".crt", ".cer", ".cert", ".rsa", ".ecdsa"};

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		size_t n;
		bool known = false;

		text += strspn(text, " \t");
		n = strcspn(text, " \t\r\n[#");
		for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]);
		     i++) {
			size_t m = strlen(endings[i]);

			known |=
			    n > m && memcmp(text + n - m, endings[i], m) == 0;
		}
		if (n > 0 && (!known || memchr(text, ':', n)))
			return false;
	}
	return true;
}

/* Adds the certificates of a crt-list, whose lines are FILE [OPTIONS] NAMES. */
static void
add_crt_list(struct hap_file *file, struct hap_tls *tls, const char *path)
{
	struct arena *arena = &file->doc->arena;
	char *text = NULL, *rest = NULL;
	bool options = false;

	path = hap_path(file, file->crt_base, path);
	if (file->source->may_read)
		text = value_read_file(arena, path, NULL);
	if (!text) {
		tls_lost(file, tls, arena_printf(arena, "crt-list %s", path),
		    "CLIENTS: the file was not read; write cert = FILE for "
		    "each of its certificates");
		return;
	}
	if (!is_crt_list(text)) {
		tls_lost(file, tls, arena_printf(arena, "crt-list %s", path),
		    "CLIENTS: not a list of certificates; write cert = FILE "
		    "for each of them");
		return;
	}
	for (char *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		line += strspn(line, " \t");
		options |= strchr(line, '[') || strchr(line, '!');
		line[strcspn(line, " \t\r[#")] = '\0';
		if (*line)
			add_cert(file, tls, line);
	}
	if (options)
		tls_lost(file, tls, arena_printf(arena, "crt-list %s", path),
		    "CLIENTS: options and excluded names of a certificate have "
		    "no counterpart; a [tls NAME] of its own has them for all");
}

/* Returns `1.2` for `TLSv1.2` and for versions before it, which lfproxy does
 * not support, and `1.3`. */
static const char *
haproxy_version_of(struct hap_file *file, struct hap_tls *tls, const char *word)
{
	if (strcmp(word, "TLSv1.3") == 0)
		return "1.3";
	if (strcmp(word, "TLSv1.2") != 0)
		tls_lost(file, tls, word,
		    "CLIENTS: versions before TLS 1.2 are not supported");
	return "1.2";
}

/* Takes a word without an argument.  Returns false for others. */
static bool
take_flag(struct hap_file *file, struct hap_tls *tls, const char *word)
{
	if (strcmp(word, "ssl") == 0)
		tls->on = true;
	else if (strcmp(word, "no-ssl") == 0)
		tls->on = false;
	else if (strcmp(word, "strict-sni") == 0)
		tls->strict = true;
	else if (strcmp(word, "no-tls-tickets") == 0)
		tls->no_tickets = true;
	else if (strcmp(word, "no-tlsv12") == 0)
		tls->min = "1.3";
	else if (strcmp(word, "no-tlsv13") == 0)
		tls->max = "1.2";
	else if (strcmp(word, "force-tlsv12") == 0)
		tls->min = tls->max = "1.2";
	else if (strcmp(word, "force-tlsv13") == 0)
		tls->min = tls->max = "1.3";
	else if (strcmp(word, "force-tlsv10") == 0 ||
	         strcmp(word, "force-tlsv11") == 0 ||
	         strcmp(word, "force-sslv3") == 0)
		tls_lost(file, tls, word,
		    "CLIENTS: versions before TLS 1.2 are not supported");
	else if (strcmp(word, "tls-tickets") == 0)
		tls->no_tickets = false;
	else if (strcmp(word, "allow-0rtt") == 0)
		tls_lost(file, tls, word, "early data (0-RTT) is always off");
	else
		return strcmp(word, "no-sslv3") == 0 ||
		       strcmp(word, "no-tlsv10") == 0 ||
		       strcmp(word, "no-tlsv11") == 0 ||
		       strcmp(word, "prefer-client-ciphers") == 0 ||
		       strcmp(word, "no-ssl-reuse") == 0;
	return true;
}

static const char *
cipher_list(struct hap_file *file, struct hap_tls *tls, const char *list)
{
	const char *dropped, *kept = tls_ciphers(file->doc, list, &dropped);

	if (dropped)
		tls_lost(file, tls, dropped,
		    "these ciphers are not in today's OpenSSL");
	return kept;
}

/* Returns the name to send, which a word gives as an expression, or NULL. */
static const char *
sni_of(struct hap_file *file, struct hap_tls *tls, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(word, "str(", 4) == 0 && word[n - 1] == ')')
		return arena_copy(&file->doc->arena, word + 4, n - 5);
	if (strncmp(word, "ssl_fc_sni", 10) == 0 ||
	    strncmp(word, "req.ssl_sni", 11) == 0 ||
	    strncmp(word, "req_ssl_sni", 11) == 0)
		return "client";
	tls_lost(file, tls, arena_printf(&file->doc->arena, "sni %s", word),
	    "an expression cannot choose the name; sni = NAME or client can");
	return NULL;
}

static const char *
alpn_list(struct hap_file *file, const char *list)
{
	char *copy = arena_copy(&file->doc->arena, list, strlen(list));

	for (char *c = copy; *c; c++)
		if (*c == ',')
			*c = ' ';
	return copy;
}

static void
haproxy_take_alpn(
    struct hap_file *file, struct hap_tls *tls, bool bind, const char *list)
{
	tls->alpn = alpn_list(file, list);
	if (bind)
		tls_lost(file, tls,
		    arena_printf(&file->doc->arena, "bind ... alpn %s", list),
		    "CLIENTS: a client that offers protocols, but none of "
		    "these, is refused; HAProxy goes on without");
}

/* Takes a word with one argument.  Returns false for others. */
static bool
take_setting(struct hap_file *file, struct hap_tls *tls, bool bind,
    const char *word, const char *arg)
{
	if (strcmp(word, "crt") == 0)
		add_cert(file, tls, arg);
	else if (strcmp(word, "crt-list") == 0 && bind)
		add_crt_list(file, tls, arg);
	else if (strcmp(word, "ca-file") == 0)
		tls->ca = strcmp(arg, "@system-ca") == 0
		              ? "system"
		              : hap_path(file, file->ca_base, arg);
	else if (strcmp(word, "crl-file") == 0)
		tls->crl = hap_path(file, file->ca_base, arg);
	else if (strcmp(word, "verify") == 0)
		tls->verify = arg;
	else if (strcmp(word, "alpn") == 0 || strcmp(word, "npn") == 0)
		haproxy_take_alpn(file, tls, bind, arg);
	else if (strcmp(word, "ciphers") == 0)
		tls->ciphers = cipher_list(file, tls, arg);
	else if (strcmp(word, "ciphersuites") == 0)
		tls->suites = arg;
	else if (strcmp(word, "curves") == 0 || strcmp(word, "ecdhe") == 0)
		tls->curves = tls_curves(file->doc, arg);
	else if (strcmp(word, "ssl-min-ver") == 0)
		tls->min = haproxy_version_of(file, tls, arg);
	else if (strcmp(word, "ssl-max-ver") == 0)
		tls->max = haproxy_version_of(file, tls, arg);
	else if (strcmp(word, "sni") == 0 && !bind)
		tls->sni = sni_of(file, tls, arg);
	else if (strcmp(word, "verifyhost") == 0 && !bind)
		tls->name = arg;
	else if (strcmp(word, "tls-ticket-keys") == 0)
		arena_text_printf(&file->doc->arena, &tls->lines,
		    "tickets_file = %s\n", doc_clean(file->doc, arg));
	else if (strcmp(word, "crt-ignore-err") == 0 ||
	         strcmp(word, "ca-ignore-err") == 0)
		tls->ignores_errors = true;
	else
		return false;
	return true;
}

bool
hap_tls_word(struct hap_file *file, struct hap_tls *tls, bool bind,
    const struct words *words, size_t *i)
{
	const char *word = words_get(words, *i);

	if (take_flag(file, tls, word))
		return true;
	if (*i + 1 < words->n &&
	    take_setting(file, tls, bind, word, words_get(words, *i + 1))) {
		++*i;
		return true;
	}
	return false;
}

/* Adds the defaults that the global section has for this kind of line. */
static void
take_global(struct hap_file *file, struct hap_tls *tls, bool bind)
{
	const struct hap_line *options =
	    bind ? file->bind_options : file->server_options;
	const struct hap_line *ciphers =
	    bind ? file->bind_ciphers : file->server_ciphers;
	const struct hap_line *suites =
	    bind ? file->bind_suites : file->server_suites;
	struct hap_tls base = {.on = false};

	for (size_t i = 1; options && i < options->words.n; i++)
		if (!hap_tls_word(file, &base, bind, &options->words, &i))
			tls_lost(file, tls, options->words.word[i],
			    "CLIENTS: [tls NAME] has nothing of that name");
	if (!tls->min)
		tls->min = base.min;
	if (!tls->max)
		tls->max = base.max;
	tls->no_tickets |= base.no_tickets;
	tls->strict |= base.strict;
	if (!tls->ciphers && ciphers)
		tls->ciphers = cipher_list(file, tls, hap_word(ciphers, 1));
	if (!tls->suites && suites)
		tls->suites = hap_word(suites, 1);
	if (!tls->curves && bind && file->bind_curves)
		tls->curves =
		    tls_curves(file->doc, hap_word(file->bind_curves, 1));
}

static void
tls_line(struct hap_file *file, struct hap_tls *tls, const char *key,
    const char *value)
{
	if (value && *value)
		arena_text_printf(&file->doc->arena, &tls->lines, "%s = %s\n",
		    key, doc_clean(file->doc, value));
}

static const char *
verify_of(const struct hap_file *file, const struct hap_tls *tls, bool bind)
{
	if (!bind)
		return tls->verify                ? tls->verify
		       : file->servers_unverified ? "none"
		                                  : NULL;
	if (!tls->verify)
		return tls->ca ? NULL : tls->verify;
	return strcmp(tls->verify, "optional") == 0 && tls->ignores_errors
	           ? "request"
	           : tls->verify;
}

const char *
hap_tls_section(
    struct hap_file *file, struct hap_tls *tls, bool bind, const char *want)
{
	const char *verify;

	take_global(file, tls, bind);
	verify = verify_of(file, tls, bind);
	if (!bind && !tls->sni && !tls->name &&
	    (!verify || strcmp(verify, "none") != 0))
		tls_lost(file, tls, "verify required",
		    "CLIENTS: HAProxy verifies the authority of the "
		    "certificate alone; lfproxy also that it is for the "
		    "server's address; write name = NAME in [tls NAME]");
	tls_line(file, tls, "ca", tls->ca);
	tls_line(file, tls, "crl", tls->crl);
	tls_line(file, tls, "verify", verify);
	tls_line(file, tls, "sni", tls->sni);
	tls_line(file, tls, "name", tls->name);
	/* HAProxy looks at the CN, too. */
	if (!bind && (!verify || strcmp(verify, "none") != 0))
		tls_line(file, tls, "common_name", "on");
	tls_line(file, tls, "alpn", tls->alpn);
	tls_line(file, tls, "min_version", tls->min);
	tls_line(file, tls, "max_version", tls->max);
	/* Without words about it, HAProxy leaves ciphers to OpenSSL. */
	tls_line(file, tls, "ciphers",
	    bind && !tls->ciphers ? "DEFAULT" : tls->ciphers);
	tls_line(file, tls, "ciphersuites", tls->suites);
	tls_line(file, tls, "curves",
	    bind && !tls->curves ? "X25519:P-256:X448:P-521:P-384"
	                         : tls->curves);
	tls_line(file, tls, "strict_sni", tls->strict ? "on" : NULL);
	tls_line(file, tls, "tickets", tls->no_tickets ? "off" : NULL);
	if (!tls->lines.data)
		tls->lines.data =
		    arena_printf(&file->doc->arena, "; with all defaults\n");
	return tls_section(&file->tls, file->doc, tls->lines.data, want);
}
