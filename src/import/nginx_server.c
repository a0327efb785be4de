/* SPDX-License-Identifier: MIT
 * nginx's server blocks in the stream block, as frontends.
 */
#include <string.h>

#include "import/nginx.h"
#include "import/serve_check.h"

/* A server block that is being converted. */
struct server_block {
	struct ngx_file *file;
	const struct ngx_item *item;
	struct ini_section *section;
	const char *name, *tls;
	bool tls_lost, accepts_proxy, trusts;
	size_t n_listens;
};

/* Returns the address as lfproxy writes it, or NULL with the reason. */
static const char *
listen_address(struct ngx_file *file, const char *word, const char **ret_reason)
{
	struct arena *arena = &file->doc->arena;
	const char *colon = strrchr(word, ':'), *range, *host;

	*ret_reason = "listen takes an address and a port";
	if (strncmp(word, "unix:", 5) == 0)
		return word[5] == '/' ? doc_word(file->doc, word) : NULL;
	if (word[strspn(word, "0123456789-")] == '\0')
		return arena_printf(arena, "0.0.0.0:%s", word);
	if (!colon || (word[0] == '[' && colon[-1] != ']'))
		return NULL;
	host = arena_copy(arena, word, (size_t)(colon - word));
	if (strcmp(host, "*") == 0)
		return arena_printf(arena, "0.0.0.0%s", colon);
	if (host[0] == '[')
		return doc_word(file->doc, word);
	*ret_reason = "listen takes no host names; write the address";
	return value_range(arena, host, &range) ? doc_word(file->doc, word)
	                                        : NULL;
}

static const char *
keepalive_of(struct ngx_file *file, const char *value)
{
	if (strcmp(value, "on") == 0 || strcmp(value, "off") == 0)
		return value;
	for (const char *c = value; *c; c++)
		if (!strchr("0123456789smh:", *c))
			return NULL;
	/* Each part of idle:interval:count may be empty; seconds need a unit.
	 */
	if (strchr(value, ':') && !strpbrk(value, "smh"))
		return NULL;
	return doc_word(file->doc, value);
}

/* Appends an option of listen that has an argument. */
static void
listen_setting(struct server_block *server, const struct ngx_item *item,
    const char *word, struct arena_text *options)
{
	static const char *const same[][2] = {
	    {"rcvbuf=", "rcvbuf"}, {"sndbuf=", "sndbuf"}, {"fastopen=", "tfo"}};
	struct arena *arena = &server->file->doc->arena;
	const char *keepalive;

	if (strncmp(word, "backlog=", 8) == 0) {
		word = value_up_to(arena, word + 8, 65535);
		/* -1 is the kernel's own. */
		if (word)
			arena_text_printf(arena, options, " backlog=%s", word);
		return;
	}
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		size_t n = strlen(same[i][0]);

		if (strncmp(word, same[i][0], n) == 0) {
			arena_text_printf(
			    arena, options, " %s=%s", same[i][1], word + n);
			return;
		}
	}
	if (strncmp(word, "so_keepalive=", 13) == 0) {
		keepalive = keepalive_of(server->file, word + 13);
		if (keepalive)
			arena_text_printf(
			    arena, options, " keepalive=%s", keepalive);
		else
			ngx_lost(server->file, server->section, item,
			    LOSS_OPERATORS, NULL,
			    "write keepalive=IDLE:INTERVAL:COUNT");
	} else if (strncmp(word, "ipv6only=", 9) == 0) {
		if (ngx_word(item, 1)[0] == '[')
			arena_text_printf(
			    arena, options, " v6only=%s", word + 9);
	} else if (strcmp(word, "reuseport") != 0 &&
	           strcmp(word, "bind") != 0 &&
	           strcmp(word, "default_server") != 0) {
		ngx_lost(server->file, server->section, item, LOSS_OPERATORS,
		    arena_printf(arena, "listen ... %s", word),
		    "listen has no such option");
	}
}

/* Appends the settings that are options of listen.  Returns false if the line
 * cannot be converted. */
static bool
nginx_listen_options(struct server_block *server, const struct ngx_item *item,
    struct arena_text *options)
{
	struct ngx_file *file = server->file;
	struct arena *arena = &file->doc->arena;

	for (size_t i = 2; i < item->words.n; i++) {
		const char *word = words_get(&item->words, i);

		if (strcmp(word, "udp") == 0 || strcmp(word, "quic") == 0) {
			ngx_lost(file, server->section, item, LOSS_CLIENTS,
			    NULL, "lfproxy relays TCP only");
			return false;
		}
		if (strcmp(word, "proxy_protocol") == 0) {
			arena_text_printf(arena, options, " accept_proxy");
			server->accepts_proxy = true;
		} else if (strcmp(word, "deferred") == 0) {
			arena_text_printf(arena, options, " defer_accept=1s");
		} else if (strcmp(word, "ssl") == 0) {
			const char *tls = ngx_listen_tls(
			    file, server->section, server->item, server->name);

			if (!tls) {
				ngx_lost(file, server->section, item,
				    LOSS_CLIENTS, NULL,
				    "there is no ssl_certificate; write "
				    "tls=NAME and a [tls NAME]");
				return false;
			}
			arena_text_printf(arena, options, " tls=%s", tls);
			server->tls = tls;
		} else {
			listen_setting(server, item, word, options);
		}
	}
	return true;
}

static void
put_address(struct server_block *server, const struct ngx_item *item,
    const char *word, const char *options)
{
	struct ngx_file *file = server->file;
	const char *reason, *address = listen_address(file, word, &reason);

	if (!address) {
		ngx_lost(file, server->section, item, LOSS_CLIENTS, NULL, "%s",
		    reason);
		return;
	}
	if (words_has(&file->listens, address)) {
		ngx_lost(file, server->section, item, LOSS_CLIENTS, NULL,
		    "another frontend listens there; write its sni = NAME "
		    "backend=BACKEND for each server_name");
		return;
	}
	words_add(&file->doc->arena, &file->listens, address);
	doc_key(file->doc, server->section, "listen", "%s%s", address, options);
	server->n_listens++;
}

static void
put_listen(struct server_block *server, const struct ngx_item *item)
{
	struct ngx_file *file = server->file;
	struct arena_text options = {NULL, 0, 0};
	const char *word = ngx_word(item, 1);

	arena_text_add(&file->doc->arena, &options, "", 0);
	if (!nginx_listen_options(server, item, &options))
		return;
	/* nginx listens at all addresses of the name. */
	if (strncmp(word, "localhost:", 10) == 0) {
		put_address(server, item,
		    arena_printf(&file->doc->arena, "127.0.0.1%s", word + 9),
		    options.data);
		word = arena_printf(&file->doc->arena, "[::1]%s", word + 9);
	}
	put_address(server, item, word, options.data);
}
/* Writes `allow` and `deny` of the server, or else of the stream, in their
 * order. */
static void
nginx_put_access(struct server_block *server)
{
	struct ngx_file *file = server->file;
	bool own =
	    ngx_find(server->item, "allow") || ngx_find(server->item, "deny");
	const struct ngx_item *block = own ? server->item : file->stream;

	for (size_t i = 0; i < block->n; i++) {
		const struct ngx_item *item = &block->children[i];
		const char *word = ngx_word(item, 1), *range = NULL;

		if (!ngx_is(item, "allow") && !ngx_is(item, "deny"))
			continue;
		if (strcmp(word, "all") == 0)
			range = "all";
		else if (strcmp(word, "unix:") == 0)
			range = "unix";
		else if (!value_range(&file->doc->arena, word, &range) ||
		         (strchr(word, ':') && !strchr(range, ':')))
			range = NULL;
		if (range)
			doc_key(file->doc, server->section, ngx_word(item, 0),
			    "%s", range);
		else
			ngx_lost(file, server->section, item, LOSS_CLIENTS,
			    NULL, "write an address or a range");
	}
}

/* Returns how many server blocks count in the zone. */
static size_t
count_users(const struct ngx_file *file, const char *zone)
{
	size_t n = 0;

	for (size_t i = 0; i < file->stream->n; i++) {
		const struct ngx_item *server = &file->stream->children[i];
		const struct ngx_item *block =
		    ngx_find(server, "limit_conn") ? server : file->stream;
		bool uses = false;

		for (size_t j = 0; j < block->n; j++)
			uses |=
			    ngx_is(&block->children[j], "limit_conn") &&
			    strcmp(ngx_word(&block->children[j], 1), zone) == 0;
		n += uses && ngx_is(server, "server") && server->is_block;
	}
	return n;
}

/* Returns whether the server listens at a range of ports, or at all
 * addresses. */
static bool
has_port_range(const struct ngx_item *server)
{
	const struct ngx_item *listen = ngx_find(server, "listen");

	return listen && strchr(ngx_word(listen, 1), '-');
}

/* Writes the limit for `limit_conn ZONE NUMBER`; `limit_conn_zone KEY
 * zone=ZONE:SIZE` says what it counts. */
static void
nginx_put_limit(struct server_block *server, const struct ngx_item *item)
{
	struct ngx_file *file = server->file;
	const char *zone = ngx_word(item, 1), *key = NULL;
	bool shared;
	uint64_t n;

	if (ngx_is_on(file, server->item, "limit_conn_dry_run")) {
		words_read_all(&item->words, 1);
		return;
	}

	for (size_t i = 0; i < file->stream->n; i++) {
		const struct ngx_item *z = &file->stream->children[i];
		const char *name = ngx_word(z, 2);

		if (ngx_is(z, "limit_conn_zone") &&
		    strncmp(name, "zone=", 5) == 0 &&
		    strncmp(name + 5, zone, strlen(zone)) == 0 &&
		    strchr(":", name[5 + strlen(zone)]))
			key = ngx_word(z, 1);
	}
	if (!value_number(ngx_word(item, 2), &n) || n < 1 || !key) {
		ngx_lost(file, server->section, item, LOSS_CLIENTS, NULL,
		    "write limit = sessions=NUMBER");
		return;
	}
	n = n > 1048576 ? 1048576 : n;
	shared = count_users(file, zone) > 1;
	if (strcmp(key, "$binary_remote_addr") == 0 ||
	    strcmp(key, "$remote_addr") == 0)
		doc_key(file->doc, server->section, "limit",
		    "sessions=%u prefix6=128 action=close%s", (unsigned)n,
		    shared ? arena_printf(
		                 &file->doc->arena, " table=zone-%.30s", zone)
		           : "");
	else if ((strcmp(key, "$server_port") == 0 ||
	             strcmp(key, "$server_addr") == 0) &&
	         !shared && server->n_listens == 1 &&
	         !has_port_range(server->item))
		doc_key(file->doc, server->section, "limit",
		    "sessions=%u per=frontend action=close", (unsigned)n);
	else
		ngx_lost(file, server->section, item, LOSS_CLIENTS, NULL,
		    "limits count for each source, a list, or the frontend");
}

static void
put_limits(struct server_block *server)
{
	const struct ngx_item *block = ngx_find(server->item, "limit_conn")
	                                   ? server->item
	                                   : server->file->stream;

	for (size_t i = 0; i < block->n; i++)
		if (ngx_is(&block->children[i], "limit_conn"))
			nginx_put_limit(server, &block->children[i]);
}

/* Returns a rate for one session for a size as nginx writes it, or NULL. */
static const char *
rate_of(struct ngx_file *file, const struct ngx_item *item)
{
	const char *word = item ? ngx_word(item, 1) : "0";
	size_t n = strspn(word, "0123456789");
	char unit = word[n];

	if (n == strspn(word, "0") && n == strlen(word) && n > 0)
		return NULL;
	if (n == 0 || (unit && (word[n + 1] || !strchr("kKmMgG", unit)))) {
		ngx_lost(file, file->defaults, item, LOSS_CLIENTS, NULL,
		    "write bandwidth = in=RATE out=RATE per=session");
		return NULL;
	}
	return arena_printf(&file->doc->arena, "%.*s%s/s", (int)n, word,
	    !unit                        ? "B"
	    : unit == 'k' || unit == 'K' ? "KiB"
	    : unit == 'm' || unit == 'M' ? "MiB"
	                                 : "GiB");
}

static void
nginx_put_bandwidth(struct server_block *server)
{
	struct ngx_file *file = server->file;
	const char *out = rate_of(
	    file, ngx_setting(file, server->item, "proxy_download_rate"));
	const char *in =
	    rate_of(file, ngx_setting(file, server->item, "proxy_upload_rate"));

	if (in || out)
		doc_key(file->doc, server->section, "bandwidth",
		    "%s%s%s%s%sper=session", in ? "in=" : "", in ? in : "",
		    in ? " " : "", out ? "out=" : "",
		    out ? arena_printf(&file->doc->arena, "%s ", out) : "");
}

/* Writes a time of the server, unless the stream has the same. */
static void
put_time(struct server_block *server, const char *directive, const char *key)
{
	struct ngx_file *file = server->file;
	const char *own =
	    ngx_time(file, ngx_find(server->item, directive), NULL);
	const char *all = ngx_time(file, ngx_find(file->stream, directive), "");

	if (own && strcmp(own, all) != 0)
		doc_key(file->doc, server->section, key, "%s", own);
}

/* nginx without set_real_ip_from ignores the addresses in PROXY headers.  A
 * server whose rules are about addresses would let clients name their own. */
static void
report_trust(struct server_block *server)
{
	struct ngx_file *file = server->file;
	static const char *const rules[] = {"allow", "deny", "limit_conn"};
	const struct ngx_item *listen = ngx_find(server->item, "listen");

	for (size_t i = 0; i < 3; i++)
		if (ngx_setting(file, server->item, rules[i]))
			server->trusts = true;
	ngx_lost(file, server->section, listen,
	    server->trusts ? LOSS_CLIENTS : LOSS_SERVERS, NULL,
	    server->trusts
	        ? "left out: the rules would judge the address in the header, "
	          "which the peer chooses; nginx without set_real_ip_from "
	          "judges the peer's own"
	        : "addresses are those of the header; nginx without "
	          "set_real_ip_from ignores them");
}

/* Writes the settings for sessions of the frontend. */
static void
put_settings(struct server_block *server)
{
	struct ngx_file *file = server->file;
	const struct ngx_item *from_item = NULL;
	struct words from = {.n = 0};
	const char *range;
	bool half_close;

	for (size_t i = 0; i < server->item->n + file->stream->n; i++) {
		const struct ngx_item *item =
		    i < server->item->n
		        ? &server->item->children[i]
		        : &file->stream->children[i - server->item->n];

		if (ngx_is(item, "set_real_ip_from") &&
		    value_range(&file->doc->arena, ngx_word(item, 1), &range)) {
			words_add(&file->doc->arena, &from, range);
			from_item = from_item ? from_item : item;
		}
	}
	if (from.n == 0 && server->accepts_proxy)
		report_trust(server);
	if (from.n > 0 && server->accepts_proxy) {
		doc_key(file->doc, server->section, "proxy_from", "%s",
		    words_join(&file->doc->arena, &from, 0, " "));
		ngx_lost(file, server->section, from_item, LOSS_CLIENTS, NULL,
		    "other peers begin without a PROXY header here; nginx "
		    "expects one of them too, and ignores its addresses");
	}
	nginx_put_access(server);
	put_limits(server);
	nginx_put_bandwidth(server);
	put_time(server, "proxy_timeout", "timeout_client");
	put_time(server, "proxy_timeout", "timeout_client_fin");
	half_close = ngx_is_on(file, server->item, "proxy_half_close");
	if (half_close != ngx_is_on(file, NULL, "proxy_half_close"))
		doc_key(file->doc, server->section, "half_close", "%s",
		    half_close ? "on" : "off");
	put_time(server, "ssl_handshake_timeout", "timeout_handshake");
	if (server->tls &&
	    !ngx_setting(file, server->item, "ssl_handshake_timeout"))
		doc_key(file->doc, server->section, "timeout_handshake", "1m");
	put_time(server,
	    ngx_find(server->item, "preread_timeout")
	        ? "preread_timeout"
	        : "proxy_protocol_timeout",
	    "timeout_hello");
}

void
ngx_log(struct ngx_file *file, struct ini_section *section,
    const struct ngx_item *item)
{
	const char *word = ngx_word(item, 1), *server;
	struct arena *arena = &file->doc->arena;
	struct arena_text text = {NULL, 0, 0};

	if (strcmp(word, "off") == 0) {
		if (section != file->global)
			doc_key(file->doc, section, "log", "off");
		return;
	}
	if (strncmp(word, "syslog:server=", 14) == 0) {
		server = arena_copy(arena, word + 14, strcspn(word + 14, ","));
		arena_text_printf(arena, &text, "syslog=%s", server);
		if (strstr(word, ",facility="))
			arena_text_printf(arena, &text, " facility=%.*s",
			    (int)strcspn(strstr(word, ",facility=") + 10, ","),
			    strstr(word, ",facility=") + 10);
	} else if (strcmp(word, "/dev/stdout") == 0 ||
	           strcmp(word, "/dev/stderr") == 0) {
		arena_text_printf(arena, &text, "%s", word + strlen("/dev/"));
	} else if (word[0] == '/' && !strchr(word, '$') &&
	           doc_word(file->doc, word)) {
		if (file->source->serves) {
			word = arena_printf(arena, "%s%s", SERVE_LOG_DIR,
			    strrchr(word, '/') + 1);
			ngx_lost(file, section, item, LOSS_OPERATORS, NULL,
			    "the service's files are in %s", SERVE_LOG_DIR);
		}
		arena_text_printf(arena, &text, "file=%s", word);
	} else {
		ngx_lost(file, section, item, LOSS_OPERATORS, NULL,
		    "write log = file=/PATH");
		return;
	}
	for (size_t i = 2; i < item->words.n; i++)
		ngx_lost(file, section, item, LOSS_OPERATORS,
		    arena_printf(arena, "access_log ... %s", ngx_word(item, i)),
		    "the access log has HAProxy's form, or format=json or "
		    "logfmt behind log = TARGET");
	doc_key(file->doc, section, "log", "%s", text.data);
	file->logs |= section == file->global;
}

/* Returns a name for the frontend: that of the host, of its target, or the
 * port. */
static const char *
nginx_frontend_name(struct ngx_file *file, const struct ngx_item *server)
{
	const struct ngx_item *name = ngx_find(server, "server_name");
	const struct ngx_item *pass = ngx_find(server, "proxy_pass");
	const struct ngx_item *listen = ngx_find(server, "listen");
	const char *target = pass ? ngx_word(pass, 1) : "";
	const char *port = listen ? strrchr(ngx_word(listen, 1), ':') : NULL;

	/* Without another server at its address, any name is the server's. */
	if (name)
		words_read_all(&name->words, 1);
	if (name && value_is_host_name(ngx_word(name, 1)))
		return ngx_word(name, 1);
	if (*target && !strchr("$0123456789[", *target) && !strchr(target, ':'))
		return target;
	return arena_printf(&file->doc->arena, "port-%s",
	    port     ? port + 1
	    : listen ? ngx_word(listen, 1)
	             : "none");
}

static void
put_item(struct server_block *server, const struct ngx_item *item)
{
	if (item->words.n == 0)
		doc_comment(server->file->doc, item->text);
	else if (ngx_is(item, "listen"))
		put_listen(server, item);
	else if (ngx_is(item, "access_log"))
		ngx_log(server->file, server->section, item);
	else if (ngx_is(item, "resolver"))
		ngx_lost(server->file, server->section, item, LOSS_OPERATORS,
		    NULL, "write nameserver = ADDRESS in [resolver]");
	else if (!ngx_is_setting(item))
		ngx_report(server->file, server->section, item);
}

void
ngx_server(struct ngx_file *file, const struct ngx_item *item)
{
	struct server_block server = {.file = file, .item = item};
	const struct ngx_item *pass = ngx_find(item, "proxy_pass");
	const char *want = nginx_frontend_name(file, item);
	size_t n_routes = 0;

	server.name = doc_name(file->doc, "frontend", want);
	server.section = doc_section(file->doc, "frontend %s", server.name);
	for (size_t i = 0; i < item->n; i++)
		put_item(&server, &item->children[i]);
	put_settings(&server);
	if (server.n_listens > 0 && pass && !server.trusts)
		n_routes = ngx_routes(file, server.section, item, pass);
	if (n_routes > 0) {
		file->n_frontends++;
		return;
	}
	server.section->left_out = true;
	ngx_lost(file, server.section, item, LOSS_CLIENTS, NULL,
	    server.trusts ? "it is left out"
	    : server.n_listens == 0
	        ? "it listens nowhere that can be converted, so it is left out"
	        : "it has no backend, so it is left out");
}
