/* SPDX-License-Identifier: MIT
 * TLS of nginx's stream servers: what [tls NAME] says here.
 */
#include <string.h>

#include "import/nginx.h"

/* The lines of a section. */
struct tls_lines {
	struct ngx_file *file;
	const struct ngx_item *server;
	struct ini_section *section; /* for reports */
	struct arena_text text;
};

static void
put_line(struct tls_lines *lines, const char *key, const char *value)
{
	arena_text_printf(&lines->file->doc->arena, &lines->text, "%s = %s\n",
	    key, doc_clean(lines->file->doc, value));
}

/* Writes `key = path` if the directive is there. */
static void
put_path_setting(
    struct tls_lines *lines, const char *key, const char *directive)
{
	const struct ngx_item *item =
	    ngx_setting(lines->file, lines->server, directive);

	if (item && *ngx_word(item, 1) &&
	    doc_word(lines->file->doc, ngx_word(item, 1)))
		put_line(lines, key, ngx_path(lines->file, ngx_word(item, 1)));
}

static void
put_ciphers(struct tls_lines *lines, const char *directive)
{
	const struct ngx_item *item =
	    ngx_setting(lines->file, lines->server, directive);
	const char *dropped, *kept;

	if (!item)
		return;
	kept = tls_ciphers(lines->file->doc, ngx_word(item, 1), &dropped);
	if (dropped)
		ngx_lost(lines->file, lines->section, item, LOSS_OPERATORS,
		    dropped, "these ciphers are not in today's OpenSSL");
	if (kept)
		put_line(lines, "ciphers", kept);
}

/* Writes `ssl_conf_command NAME VALUE` for the names that have a key here. */
static void
put_commands(struct tls_lines *lines, const char *directive)
{
	const struct ngx_item *block = lines->server;

	if (!ngx_find(block, directive))
		block = lines->file->stream;
	for (size_t i = 0; i < block->n; i++) {
		const struct ngx_item *item = &block->children[i];
		const char *value;

		if (!ngx_is(item, directive))
			continue;
		value = doc_word(lines->file->doc, ngx_word(item, 2));
		if (value && strcmp(ngx_word(item, 1), "Ciphersuites") == 0)
			put_line(lines, "ciphersuites", value);
		else if (value && strcmp(ngx_word(item, 1), "Groups") == 0)
			put_line(lines, "curves", value);
		else
			ngx_lost(lines->file, lines->section, item,
			    LOSS_CLIENTS, NULL,
			    "[tls NAME] has ciphersuites and curves; write the "
			    "rest into OpenSSL's configuration");
	}
}

/* Reports settings whose value is not the one that lfproxy has. */
static void
report_fixed(struct tls_lines *lines)
{
	static const struct {
		const char *name, *same, *reason;
		enum loss loss;
	} fixed[] = {
	    {"ssl_prefer_server_ciphers", "off",
	        "the client's order of ciphers decides", LOSS_OPERATORS},
	    {"ssl_stapling_file", "", "write ocsp=FILE behind cert",
	        LOSS_CLIENTS},
	};

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		const struct ngx_item *item =
		    ngx_setting(lines->file, lines->server, fixed[i].name);

		if (item && strcmp(ngx_word(item, 1), fixed[i].same) != 0)
			ngx_lost(lines->file, lines->section, item,
			    fixed[i].loss, NULL, "%s", fixed[i].reason);
	}
}

/* Writes the versions.  Those before 1.2 are left out; *ret_old: there were
 * some. */
static void
put_versions(struct tls_lines *lines, const char *directive, bool *ret_old)
{
	const struct ngx_item *item =
	    ngx_setting(lines->file, lines->server, directive);
	bool two, three;

	*ret_old = false;
	if (!item && !lines->file->told_versions) {
		lines->file->told_versions = true;
		doc_default(lines->file->doc, lines->section, LOSS_OPERATORS,
		    directive,
		    "TLS 1.2 and 1.3, as in nginx from 1.27.3 on; before, also "
		    "1.0 and 1.1 where OpenSSL allows them, and before 1.23.4 "
		    "no 1.3");
	}
	if (!item)
		return;
	(void)words_has(&item->words, "SSLv2");
	(void)words_has(&item->words, "SSLv3");
	two = words_has(&item->words, "TLSv1.2");
	three = words_has(&item->words, "TLSv1.3");
	*ret_old = words_has(&item->words, "TLSv1");
	*ret_old |= words_has(&item->words, "TLSv1.1");
	if (three && !two)
		put_line(lines, "min_version", "1.3");
	if (two && !three)
		put_line(lines, "max_version", "1.2");
}

/* Writes the pairs of ssl_certificate and ssl_certificate_key, in their order.
 * Returns their number. */
static size_t
put_certs(struct tls_lines *lines, const struct ngx_item *block,
    const char *cert, const char *key)
{
	struct ngx_file *file = lines->file;
	size_t n = 0;

	for (size_t i = 0; block && i < block->n; i++) {
		const struct ngx_item *item = &block->children[i];
		const char *path = ngx_path(file, ngx_word(item, 1));
		size_t nth = 0;

		if (!ngx_is(item, cert) || !doc_word(file->doc, path))
			continue;
		arena_text_printf(
		    &file->doc->arena, &lines->text, "cert = %s", path);
		for (size_t j = 0; j < block->n; j++) {
			const struct ngx_item *k = &block->children[j];
			const char *key_path = ngx_path(file, ngx_word(k, 1));

			if (!ngx_is(k, key) || nth++ != n)
				continue;
			if (strcmp(key_path, path) != 0)
				arena_text_printf(&file->doc->arena,
				    &lines->text, " key=%s",
				    doc_clean(file->doc, key_path));
		}
		arena_text_add(&file->doc->arena, &lines->text, "\n", 1);
		n++;
	}
	return n;
}

/* Writes the depth of chains, which nginx bounds by 1. */
static void
put_depth(struct tls_lines *lines, const char *directive)
{
	const struct ngx_item *item =
	    ngx_setting(lines->file, lines->server, directive);
	const char *depth = value_up_to(
	    &lines->file->doc->arena, item ? ngx_word(item, 1) : "1", 100);

	if (depth)
		put_line(lines, "depth", depth);
}

/* Writes the groups: nginx leaves them to OpenSSL unless it is told. */
static void
put_curves(struct tls_lines *lines)
{
	const struct ngx_item *item =
	    ngx_setting(lines->file, lines->server, "ssl_ecdh_curve");
	const char *list = item ? ngx_word(item, 1) : "auto";

	if (strcmp(list, "auto") == 0)
		list = "X25519:P-256:X448:P-521:P-384";
	put_line(lines, "curves", list);
}

static void
put_verify(struct tls_lines *lines)
{
	const struct ngx_item *item =
	    ngx_setting(lines->file, lines->server, "ssl_verify_client");
	const char *word = item ? ngx_word(item, 1) : "off";

	if (strcmp(word, "off") == 0)
		return;
	put_line(lines, "verify",
	    strcmp(word, "on") == 0               ? "required"
	    : strcmp(word, "optional_no_ca") == 0 ? "request"
	                                          : "optional");
	put_path_setting(lines, "ca",
	    ngx_setting(lines->file, lines->server, "ssl_client_certificate")
	        ? "ssl_client_certificate"
	        : "ssl_trusted_certificate");
	if (ngx_setting(lines->file, lines->server, "ssl_client_certificate") &&
	    (item = ngx_setting(
	         lines->file, lines->server, "ssl_trusted_certificate")))
		ngx_lost(lines->file, lines->section, item, LOSS_CLIENTS, NULL,
		    "write these authorities into the file of ca");
	put_path_setting(lines, "crl", "ssl_crl");
	put_depth(lines, "ssl_verify_depth");
}

static void
put_alpn(struct tls_lines *lines)
{
	const struct ngx_item *item =
	    ngx_setting(lines->file, lines->server, "ssl_alpn");

	if (item)
		put_line(lines, "alpn",
		    words_join(&lines->file->doc->arena, &item->words, 1, " "));
}

const char *
ngx_listen_tls(struct ngx_file *file, struct ini_section *section,
    const struct ngx_item *server, const char *want)
{
	struct tls_lines lines = {
	    .file = file, .server = server, .section = section};
	const struct ngx_item *timeout =
	    ngx_setting(file, server, "ssl_session_timeout");
	const struct ngx_item *tickets =
	    ngx_setting(file, server, "ssl_session_tickets");
	uint64_t ms;
	bool old;

	if (put_certs(&lines, server, "ssl_certificate",
	        "ssl_certificate_key") == 0 &&
	    put_certs(&lines, file->stream, "ssl_certificate",
	        "ssl_certificate_key") == 0)
		return NULL;
	put_verify(&lines);
	put_versions(&lines, "ssl_protocols", &old);
	if (old)
		ngx_lost(file, section,
		    ngx_setting(file, server, "ssl_protocols"), LOSS_CLIENTS,
		    NULL, "versions before TLS 1.2 are not supported");
	if (!ngx_setting(file, server, "ssl_ciphers"))
		put_line(&lines, "ciphers", "HIGH:!aNULL:!MD5");
	put_ciphers(&lines, "ssl_ciphers");
	put_curves(&lines);
	put_commands(&lines, "ssl_conf_command");
	report_fixed(&lines);
	put_alpn(&lines);
	if (timeout && value_nginx_time(ngx_word(timeout, 1), &ms))
		put_line(&lines, "session_timeout",
		    value_duration(&file->doc->arena, ms / 1000 * 1000, 1000,
		        7ULL * 86400 * 1000));
	if (tickets && strcmp(ngx_word(tickets, 1), "off") == 0)
		put_line(&lines, "tickets", "off");
	put_path_setting(&lines, "tickets_file", "ssl_session_ticket_key");
	return tls_section(&file->tls, file->doc, lines.text.data, want);
}

/* Writes the name to ask for and to verify: without proxy_ssl_name the host of
 * proxy_pass, which may be the name of the upstream. */
static void
put_server_name(struct tls_lines *lines, const struct ngx_item *item,
    const char *host, bool verify)
{
	struct ngx_file *file = lines->file;
	bool asks = ngx_is_on(file, lines->server, "proxy_ssl_server_name");
	const char *name = item ? ngx_word(item, 1) : host;

	if (strcmp(name, "$ssl_preread_server_name") == 0 ||
	    strcmp(name, "$ssl_server_name") == 0) {
		if (asks)
			put_line(lines, "sni", "client");
		else if (verify)
			ngx_lost(file, lines->section, item, LOSS_SERVERS, NULL,
			    "write sni = client, which also asks for the name");
		return;
	}
	if (!value_is_host_name(name)) {
		if (item)
			ngx_lost(file, lines->section, item, LOSS_SERVERS, NULL,
			    "name and sni are a host's name, or sni = client");
		return;
	}
	if (verify)
		put_line(lines, "name", name);
	if (asks)
		put_line(lines, "sni", name);
	else if (ngx_has_names(file, host))
		ngx_lost(file, lines->section,
		    ngx_setting(file, lines->server, "proxy_ssl"), LOSS_SERVERS,
		    NULL,
		    "the server is asked for by its name (SNI); nginx names "
		    "none without proxy_ssl_server_name");
}

const char *
ngx_server_tls(struct ngx_file *file, struct ini_section *section,
    const struct ngx_item *server, const char *want, const char *host)
{
	struct tls_lines lines = {
	    .file = file, .server = server, .section = section};
	const struct ngx_item *name =
	    ngx_setting(file, server, "proxy_ssl_name");
	bool verify = ngx_is_on(file, server, "proxy_ssl_verify"), old;

	if (put_certs(&lines, server, "proxy_ssl_certificate",
	        "proxy_ssl_certificate_key") == 0)
		(void)put_certs(&lines, file->stream, "proxy_ssl_certificate",
		    "proxy_ssl_certificate_key");
	if (!verify) {
		put_line(&lines, "verify", "none");
	} else {
		put_path_setting(&lines, "ca", "proxy_ssl_trusted_certificate");
		put_path_setting(&lines, "crl", "proxy_ssl_crl");
		put_depth(&lines, "proxy_ssl_verify_depth");
		/* nginx takes the CN of a certificate without host names in
		 * subjectAltName. */
		put_line(&lines, "common_name", "on");
	}
	put_versions(&lines, "proxy_ssl_protocols", &old);
	put_ciphers(&lines, "proxy_ssl_ciphers");
	put_commands(&lines, "proxy_ssl_conf_command");
	if (old)
		ngx_lost(file, section,
		    ngx_setting(file, server, "proxy_ssl_protocols"),
		    LOSS_SERVERS, NULL,
		    "versions before TLS 1.2 are not supported");
	put_server_name(&lines, name, host, verify);
	return tls_section(&file->tls, file->doc, lines.text.data, want);
}
