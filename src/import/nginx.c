/* SPDX-License-Identifier: MIT
 * Converts nginx's configuration: the stream block, and what concerns the whole
 * process.
 */
#include <stdlib.h>
#include <string.h>

#include "import/convert.h"
#include "import/nginx.h"
#include "import/serve_check.h"

/* The folder of relative paths if the file's own is not known. */
#define NGINX_DIR "/etc/nginx/"

static void
put_global(struct ngx_file *file, const char *key, const char *value)
{
	if (doc_word(file->doc, value))
		doc_key(file->doc, file->global, key, "%s", value);
}

static void
nginx_put_user(struct ngx_file *file, const struct ngx_item *item)
{
	const char *user = ngx_word(item, 1), *group = ngx_word(item, 2);

	if (file->source->serves) {
		ngx_lost(file, file->global, item, LOSS_OPERATORS, NULL,
		    "the service runs as " SERVE_USER);
		return;
	}
	if (file->source->may_read &&
	    (!value_has_user(user) || (*group && !value_has_group(group)))) {
		ngx_lost(file, file->global, item, LOSS_OPERATORS, NULL,
		    "this host has no such user or group; write user = NAME");
		return;
	}
	put_global(file, "user", user);
	if (*group)
		put_global(file, "group", group);
}

/* Writes the number of sessions: each takes two of a worker's connections. */
static void
put_connections(struct ngx_file *file, const struct ngx_item *events)
{
	const struct ngx_item *item = ngx_find(events, "worker_connections");
	uint64_t n, workers = 1;

	for (size_t i = 0; i < events->n; i++) {
		const struct ngx_item *child = &events->children[i];

		if (child->words.n == 0)
			doc_comment(file->doc, child->text);
		else if (child != item)
			ngx_report(file, file->global, child);
	}
	if (!item || !value_number(ngx_word(item, 1), &n))
		return;
	if (file->processes && !value_number(file->processes, &workers)) {
		ngx_lost(file, file->global, item, LOSS_OPERATORS, NULL,
		    "write maxconn = NUMBER; of a worker's connections, a "
		    "session takes two");
		return;
	}
	n = n * workers / 2;
	doc_key(file->doc, file->global, "maxconn", "%u",
	    n > 1048576 ? 1048576
	    : n < 1     ? 1
	                : (unsigned)n);
}

static void
put_threads(struct ngx_file *file, const char *number)
{
	struct ini_section *pool;
	uint64_t n;

	file->processes = number;
	if (!value_number(number, &n) || n < 1 || n > 1024)
		return;
	pool = doc_find_section(file->doc, "pool main");
	doc_key(file->doc, pool, "threads", "%s", number);
}

/* Converts `resolver ADDRESS ... [valid=TIME]`. */
static void
nginx_put_resolver(struct ngx_file *file, const struct ngx_item *item)
{
	struct arena *arena = &file->doc->arena;

	if (file->resolver) {
		ngx_lost(file, file->resolver, item, LOSS_OPERATORS, NULL,
		    "there is one [resolver] for all servers");
		return;
	}
	file->resolver = doc_find_section(file->doc, "resolver");
	for (size_t i = 1; i < item->words.n; i++) {
		const char *word = words_get(&item->words, i), *range;
		const char *colon = strrchr(word, ':');
		const char *host = word;
		uint64_t ms;

		if (strncmp(word, "valid=", 6) == 0 &&
		    value_nginx_time(word + 6, &ms)) {
			doc_key(file->doc, file->resolver, "ttl_max", "%s",
			    value_duration(arena, ms, 1000, VALUE_FOREVER_MS));
			continue;
		}
		if (strchr(word, '='))
			continue;
		if (word[0] == '[' && strchr(word, ']'))
			host =
			    arena_copy(arena, word + 1, strcspn(word + 1, "]"));
		else if (colon)
			host = arena_copy(arena, word, (size_t)(colon - word));
		if (value_range(arena, host, &range) && !strchr(host, '/'))
			doc_key(file->doc, file->resolver, "nameserver", "%s",
			    word);
		else
			ngx_lost(file, file->resolver, item, LOSS_OPERATORS,
			    NULL, "a name server is an IP address");
	}
}

/* Reports the sites of an http block as lost, each by its name. */
static void
lose_http(struct ngx_file *file, const struct ngx_item *http)
{
	struct ini_section *remark = doc_section(file->doc, "%s", "");

	remark->head = NULL;
	ngx_lost(file, remark, http, LOSS_OPERATORS, "http",
	    "HTTP is not looked into; nearest: [frontend NAME] and [backend "
	    "NAME], which relay it as TCP");
	ngx_lose_block(http, LOSS_OPERATORS);
	for (size_t i = 0; i < http->n; i++) {
		const struct ngx_item *item = &http->children[i];
		const struct ngx_item *name, *listen;

		if (!ngx_is(item, "server") || !item->is_block)
			continue;
		name = ngx_find(item, "server_name");
		listen = ngx_find(item, "listen");
		ngx_lost(file, remark, item, LOSS_CLIENTS,
		    arena_printf(&file->doc->arena, "http server %s: %s",
		        name ? ngx_word(name, 1) : "without a name",
		        listen ? listen->text : "listen 80"),
		    "this site is lost");
	}
}

/* Writes nginx's defaults. */
static void
put_defaults(struct ngx_file *file)
{
	struct ini_section *defaults = file->defaults;
	struct document *doc = file->doc;
	const char *connect = ngx_time(
	    file, ngx_find(file->stream, "proxy_connect_timeout"), "1m");
	const char *idle =
	    ngx_time(file, ngx_find(file->stream, "proxy_timeout"), "10m");
	const char *hello =
	    ngx_time(file, ngx_find(file->stream, "preread_timeout"), "30s");

	doc_note(doc, defaults,
	    "nginx: proxy_connect_timeout, proxy_timeout, preread_timeout");
	doc_key(doc, defaults, "timeout_connect", "%s", connect);
	doc_key(doc, defaults, "timeout_client", "%s", idle);
	doc_key(doc, defaults, "timeout_client_fin", "%s", idle);
	doc_key(doc, defaults, "timeout_server", "%s", idle);
	doc_key(doc, defaults, "timeout_server_fin", "%s", idle);
	doc_key(doc, defaults, "timeout_hello", "%s", hello);
	doc_note(doc, defaults,
	    "nginx: max_fails=1 fail_timeout=10s, without "
	    "checks");
	doc_key(doc, defaults, "check", "off");
	doc_key(doc, defaults, "eject_after", "1");
	doc_key(doc, defaults, "eject_on", "connect");
	doc_key(doc, defaults, "eject_time", "10s");
	doc_key(doc, defaults, "eject_time_max", "10s");
	doc_key(doc, defaults, "eject_max_percent", "100%%");
	doc_key(doc, defaults, "retry_on", "connect");
	doc_key(doc, defaults, "retry_budget", "100%%");
	doc_key(doc, defaults, "all_backups", "on");
	doc_note(doc, defaults, "nginx: deny closes the connection");
	doc_key(doc, defaults, "on_deny", "close");
	doc_note(doc, defaults, "nginx: proxy_half_close");
	doc_key(doc, defaults, "half_close", "%s",
	    ngx_is_on(file, NULL, "proxy_half_close") ? "on" : "off");
}

static void
stream_item(struct ngx_file *file, const struct ngx_item *item)
{
	if (item->words.n == 0)
		doc_comment(file->doc, item->text);
	else if (ngx_is(item, "server") && item->is_block)
		ngx_server(file, item);
	else if (ngx_is(item, "upstream") && item->is_block)
		ngx_upstream(file, item);
	else if (ngx_is(item, "resolver"))
		nginx_put_resolver(file, item);
	else if (ngx_is(item, "access_log"))
		ngx_log(file, file->global, item);
	else if (!ngx_is_setting(item))
		ngx_report(file, file->defaults, item);
}

static void
convert_stream(struct ngx_file *file, const struct ngx_item *stream)
{
	file->stream = stream;
	file->defaults = doc_find_section(file->doc, "defaults");
	if (file->defaults->n_keys == 0)
		put_defaults(file);
	for (size_t i = 0; i < stream->n; i++)
		stream_item(file, &stream->children[i]);
	ngx_mark_unused(file);
}

static void
top_item(struct ngx_file *file, const struct ngx_item *item)
{
	uint64_t ms;

	if (item->words.n == 0)
		doc_comment(file->doc, item->text);
	else if (ngx_is(item, "user"))
		nginx_put_user(file, item);
	else if (ngx_is(item, "worker_processes"))
		put_threads(file, ngx_word(item, 1));
	else if (ngx_is(item, "events"))
		put_connections(file, item);
	else if (ngx_is(item, "worker_shutdown_timeout") &&
	         value_nginx_time(ngx_word(item, 1), &ms))
		doc_key(file->doc, file->global, "drain_timeout", "%s",
		    value_duration(
		        &file->doc->arena, ms, 10, VALUE_FOREVER_MS));
	else if (ngx_is(item, "stream"))
		convert_stream(file, item);
	else if (ngx_is(item, "http"))
		lose_http(file, item);
	else
		ngx_report(file, file->global, item);
}

/* Returns whether the file is one that a stream block includes, and so has no
 * such block itself. */
static bool
is_inside_of_stream(const struct ngx_file *file)
{
	return !ngx_find(&file->top, "stream") &&
	       !ngx_find(&file->top, "http") &&
	       !ngx_find(&file->top, "events") &&
	       ngx_find(&file->top, "server");
}

static void
find_dir(struct ngx_file *file)
{
	char *real = NULL;

	file->dir = NGINX_DIR;
	if (file->source->file[0] == '/')
		file->dir = value_dir(&file->doc->arena, file->source->file);
	else if (file->source->may_read)
		real = realpath(file->source->file, NULL);
	if (real)
		file->dir = value_dir(&file->doc->arena, real);
	free(real);
}

bool
nginx_convert(
    struct document *doc, const struct import_source *source, FILE *errors)
{
	struct ngx_file file = {.doc = doc, .source = source, .errors = errors};

	find_dir(&file);
	if (!ngx_read(&file))
		return false;
	file.global = doc_find_section(doc, "global");
	if (is_inside_of_stream(&file))
		convert_stream(&file, &file.top);
	else
		for (size_t i = 0; i < file.top.n; i++)
			top_item(&file, &file.top.children[i]);
	if (!file.logs)
		doc_key(doc, file.global, "log", "off");
	if (file.n_frontends > 0)
		return true;
	fprintf(errors,
	    "%s: no server in a stream block that lfproxy could serve\n",
	    source->file);
	ledger_print_lost(&doc->ledger, errors);
	return false;
}
