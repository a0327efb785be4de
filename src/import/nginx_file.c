/* SPDX-License-Identifier: MIT
 * Queries about a configuration of nginx's, and reports of lost directives, for
 * all parts of the conversion.
 */
#include <string.h>

#include "import/nginx.h"
#include "vocabulary/keywords.h"

const char *
ngx_word(const struct ngx_item *item, size_t i)
{
	return words_get(&item->words, i);
}

bool
ngx_is(const struct ngx_item *item, const char *name)
{
	return strcmp(ngx_word(item, 0), name) == 0;
}

const struct ngx_item *
ngx_find(const struct ngx_item *block, const char *name)
{
	for (size_t i = block->n; i-- > 0;)
		if (ngx_is(&block->children[i], name))
			return &block->children[i];
	return NULL;
}

const struct ngx_item *
ngx_setting(const struct ngx_file *file, const struct ngx_item *server,
    const char *name)
{
	const struct ngx_item *found = server ? ngx_find(server, name) : NULL;

	return found          ? found
	       : file->stream ? ngx_find(file->stream, name)
	                      : NULL;
}

bool
ngx_is_on(const struct ngx_file *file, const struct ngx_item *server,
    const char *name)
{
	const struct ngx_item *item = ngx_setting(file, server, name);

	return item && strcmp(ngx_word(item, 1), "on") == 0;
}

void
ngx_lose_block(const struct ngx_item *block, enum loss loss)
{
	for (size_t i = 0; i < block->n; i++)
		if (block->children[i].words.n > 0) {
			ledger_differs(block->children[i].row, loss,
			    block->children[i].text, NULL);
			ngx_lose_block(&block->children[i], loss);
		}
}

void
ngx_lost(struct ngx_file *file, struct ini_section *section,
    const struct ngx_item *item, enum loss loss, const char *words,
    const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	doc_lost(file->doc, section,
	    (struct origin){item->file, item->line, item->row, false}, loss,
	    words ? words : item->text, "%s",
	    arena_vprintf(&file->doc->arena, fmt, args));
	va_end(args);
	if (!words)
		ngx_lose_block(item, loss);
}

/* Returns whether the directive is a setting of a stream or a server, which is
 * read where it is needed. */
bool
ngx_is_setting(const struct ngx_item *item)
{
	static const char *const names[] = {"listen", "proxy_pass",
	    "proxy_connect_timeout", "proxy_timeout", "proxy_protocol",
	    "proxy_protocol_version", "proxy_bind", "proxy_download_rate",
	    "proxy_upload_rate", "proxy_next_upstream",
	    "proxy_next_upstream_tries", "proxy_socket_keepalive", "allow",
	    "deny", "limit_conn", "limit_conn_zone", "ssl_preread",
	    "ssl_certificate", "ssl_certificate_key", "ssl_protocols",
	    "ssl_ciphers", "ssl_conf_command", "proxy_ssl_conf_command",
	    "proxy_half_close", "limit_conn_dry_run", "ssl_ecdh_curve",
	    "ssl_verify_client", "ssl_client_certificate",
	    "ssl_trusted_certificate", "ssl_crl", "ssl_verify_depth",
	    "ssl_session_timeout", "ssl_session_tickets",
	    "ssl_session_ticket_key", "ssl_handshake_timeout", "ssl_alpn",
	    "ssl_stapling_file", "ssl_prefer_server_ciphers", "proxy_ssl",
	    "proxy_ssl_certificate", "proxy_ssl_certificate_key",
	    "proxy_ssl_protocols", "proxy_ssl_ciphers", "proxy_ssl_verify",
	    "proxy_ssl_verify_depth", "proxy_ssl_trusted_certificate",
	    "proxy_ssl_crl", "proxy_ssl_name", "proxy_ssl_server_name",
	    "set_real_ip_from", "preread_timeout", "proxy_protocol_timeout",
	    "map", "geo", "split_clients", "tcp_nodelay", "server_name"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (ngx_is(item, names[i]))
			return true;
	return false;
}

const char *
ngx_path(struct ngx_file *file, const char *path)
{
	if (path[0] == '/')
		return path;
	return arena_printf(&file->doc->arena, "%s%s", file->dir, path);
}

const char *
ngx_time(
    struct ngx_file *file, const struct ngx_item *item, const char *otherwise)
{
	uint64_t ms;

	if (!item || !value_nginx_time(ngx_word(item, 1), &ms))
		return otherwise;
	return value_duration(&file->doc->arena, ms, 10, VALUE_FOREVER_MS);
}

void
ngx_report(struct ngx_file *file, struct ini_section *section,
    const struct ngx_item *item)
{
	const struct keyword *found = keyword_find(item->words.word[0]);
	bool known = found && found->reason;

	ngx_lost(file, section, item,
	    known && found->noticed == NOTICED_NEVER ? LOSS_OPERATORS
	                                             : LOSS_CLIENTS,
	    NULL, "%s",
	    known ? found->reason : "lfproxy has nothing of that name");
}
