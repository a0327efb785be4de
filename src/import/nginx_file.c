/* SPDX-License-Identifier: MIT
 * Queries about a configuration of nginx's, and reports of lost directives, for
 * all parts of the conversion.
 */
#include <string.h>

#include "import/nginx.h"

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

/* Directives without a counterpart. */
static const struct {
	const char *name;
	enum loss loss;
	const char *reason;
} lost[] = {
    {"pid", LOSS_OPERATORS, "the service manager knows the process"},
    {"daemon", LOSS_OPERATORS,
        "lfproxy stays in the foreground, where a service "
        "manager keeps it"},
    {"master_process", LOSS_OPERATORS, "there is one process"},
    {"load_module", LOSS_OPERATORS, "everything is built in"},
    {"error_log", LOSS_OPERATORS, "messages go to standard error"},
    {"worker_rlimit_nofile", LOSS_OPERATORS, "lfproxy raises the limit itself"},
    {"worker_priority", LOSS_OPERATORS,
        "write threads = NUMBER nice=NUMBER in [pool main]"},
    {"worker_cpu_affinity", LOSS_OPERATORS, "write cpus = LIST in [pool main]"},
    {"env", LOSS_OPERATORS, "values may have ${NAME}"},
    {"pcre_jit", LOSS_OPERATORS, "lfproxy has no expressions"},
    {"thread_pool", LOSS_OPERATORS, "files are not served"},
    {"timer_resolution", LOSS_OPERATORS, "time is exact"},
    {"working_directory", LOSS_OPERATORS, "write it in the systemd unit"},
    {"use", LOSS_OPERATORS, "epoll is all there is"},
    {"multi_accept", LOSS_OPERATORS, "connections are accepted as they come"},
    {"accept_mutex", LOSS_OPERATORS, "one thread leads, see promotion"},
    {"log_format", LOSS_OPERATORS,
        "the access log has HAProxy's form, or "
        "format=json or logfmt behind log = TARGET"},
    {"open_log_file_cache", LOSS_OPERATORS, "log files stay open"},
    {"variables_hash_max_size", LOSS_OPERATORS, "lfproxy has no such table"},
    {"variables_hash_bucket_size", LOSS_OPERATORS, "lfproxy has no such table"},
    {"map_hash_max_size", LOSS_OPERATORS, "lfproxy has no such table"},
    {"map_hash_bucket_size", LOSS_OPERATORS, "lfproxy has no such table"},
    {"proxy_buffer_size", LOSS_OPERATORS, "each thread has one buffer"},
    {"preread_buffer_size", LOSS_OPERATORS, "a hello may have 16 KiB"},
    {"proxy_next_upstream_timeout", LOSS_CLIENTS, "write timeout_queue = TIME"},
    {"proxy_session_drop", LOSS_CLIENTS, "write on_down = close"},
    {"proxy_ssl_session_reuse", LOSS_OPERATORS, "sessions are resumed"},
    {"proxy_ssl_password_file", LOSS_CLIENTS, "keys have no passphrase"},
    {"ssl_password_file", LOSS_CLIENTS, "keys have no passphrase"},
    {"ssl_session_cache", LOSS_OPERATORS, "tickets need no cache"},
    {"ssl_dhparam", LOSS_OPERATORS, "ECDHE needs no parameters"},
    {"ssl_stapling", LOSS_CLIENTS, "write ocsp=FILE behind cert"},
    {"ssl_engine", LOSS_OPERATORS, "write it in OpenSSL's configuration"},
    {"limit_conn_log_level", LOSS_OPERATORS, "show stat counts such clients"},
    {"resolver_timeout", LOSS_OPERATORS, "write timeout = TIME in [resolver]"},
    {"status_zone", LOSS_OPERATORS, "all frontends are counted"},
    {"zone_sync", LOSS_CLIENTS, "every lfproxy counts alone"},
    {"health_check", LOSS_CLIENTS, "write check = connect in [backend NAME]"},
    {"match", LOSS_CLIENTS, "write check = send-expect, and check_step"},
    {"return", LOSS_CLIENTS, "nothing is answered by lfproxy"},
    {"set", LOSS_CLIENTS,
        "lfproxy has no variables; write route = CONDITION "
        "backend=NAME"},
    {"proxy_responses", LOSS_OPERATORS, "lfproxy relays TCP only"},
    {"proxy_requests", LOSS_OPERATORS, "lfproxy relays TCP only"},
    {"mail", LOSS_CLIENTS,
        "mail is relayed as TCP: [frontend NAME] and "
        "[backend NAME]"},
    {"include", LOSS_CLIENTS, "the file was not read"},
    {"js_import", LOSS_CLIENTS, "lfproxy has no scripts"},
    {"js_include", LOSS_CLIENTS, "lfproxy has no scripts"},
    {"js_set", LOSS_CLIENTS, "lfproxy has no scripts"},
    {"js_access", LOSS_CLIENTS, "lfproxy has no scripts"},
    {"js_preread", LOSS_CLIENTS, "lfproxy has no scripts"},
    {"js_filter", LOSS_CLIENTS, "lfproxy has no scripts"},
    {"js_path", LOSS_OPERATORS, "lfproxy has no scripts"},
};

void
ngx_report(struct ngx_file *file, struct ini_section *section,
    const struct ngx_item *item)
{
	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
		if (ngx_is(item, lost[i].name)) {
			ngx_lost(file, section, item, lost[i].loss, NULL, "%s",
			    lost[i].reason);
			return;
		}
	ngx_lost(file, section, item, LOSS_CLIENTS, NULL,
	    "lfproxy has nothing of that name");
}
