/* SPDX-License-Identifier: MIT
 * TLS of nginx's stream servers: what [tls NAME] says here.
 */
#include <string.h>

#include "import/nginx.h"

/* The lines of a section. */
struct tls_lines {
	struct ngx_file *file;
	const struct ngx_item *server;
	struct arena_text text;
};

static void
put_line(struct tls_lines *lines, const char *key, const char *value)
{
	arena_text_printf(&lines->file->doc->arena, &lines->text, "%s = %s\n",
	    key, doc_clean(lines->file->doc, value));
}

/* Writes `key = argument` if the directive is there. */
static void
put_word(struct tls_lines *lines, const char *key, const char *directive)
{
	const struct ngx_item *item =
	    ngx_setting(lines->file, lines->server, directive);

	if (item && *ngx_word(item, 1) &&
	    doc_word(lines->file->doc, ngx_word(item, 1)))
		put_line(lines, key, ngx_word(item, 1));
}

/* Does the same for a path. */
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
	if (kept && strcmp(kept, "DEFAULT") != 0)
		put_line(lines, "ciphers", kept);
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
	if (!item)
		return;
	two = words_has(&item->words, "TLSv1.2");
	three = words_has(&item->words, "TLSv1.3");
	*ret_old = words_has(&item->words, "TLSv1") ||
	           words_has(&item->words, "TLSv1.1");
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
	put_path_setting(lines, "crl", "ssl_crl");
	put_word(lines, "depth", "ssl_verify_depth");
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
	struct tls_lines lines = {.file = file, .server = server};
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
	put_ciphers(&lines, "ssl_ciphers");
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

const char *
ngx_server_tls(
    struct ngx_file *file, const struct ngx_item *server, const char *want)
{
	struct tls_lines lines = {.file = file, .server = server};
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
		put_word(&lines, "depth", "proxy_ssl_verify_depth");
		/* nginx takes the CN of a certificate without host names in
		 * subjectAltName. */
		put_line(&lines, "common_name", "on");
	}
	put_versions(&lines, "proxy_ssl_protocols", &old);
	put_ciphers(&lines, "proxy_ssl_ciphers");
	if (name && ngx_word(name, 1)[0] != '$') {
		put_word(&lines, "name", "proxy_ssl_name");
		if (ngx_is_on(file, server, "proxy_ssl_server_name"))
			put_word(&lines, "sni", "proxy_ssl_name");
	} else if (name && strstr(ngx_word(name, 1), "server_name")) {
		put_line(&lines, "sni", "client");
	}
	return tls_section(&file->tls, file->doc, lines.text.data, want);
}
