/* SPDX-License-Identifier: MIT
 * nginx's upstreams, and addresses of proxy_pass, as backends.
 *
 * Settings of connections to servers stand in nginx's server block, and in the
 * backend here, so that an upstream may become several backends.
 */
#include <string.h>

#include "import/nginx.h"

/* The most addresses of a name that become servers. */
#define NAME_ADDRESSES 16

/* A backend that was written. */
struct ngx_backend {
	struct ngx_backend *next;
	const char *target;   /* the upstream or the address */
	const char *settings; /* lines of the server block; NULL: none yet */
	const char *name;
	struct ini_section *section;
};

/* An upstream's servers that are being converted. */
struct upstream_state {
	struct ngx_file *file;
	const struct ngx_item *upstream;
	struct ini_section *section;
	uint64_t max_weight; /* 0 without weights */
	const char *max_fails, *fail_timeout;
	bool fails_differ;
	size_t n;
};

static const struct ngx_item *
find_upstream(const struct ngx_file *file, const char *name)
{
	for (size_t i = 0; i < file->stream->n; i++) {
		const struct ngx_item *item = &file->stream->children[i];

		if (ngx_is(item, "upstream") && item->is_block &&
		    strcmp(ngx_word(item, 1), name) == 0)
			return item;
	}
	return NULL;
}

static bool
is_named(struct arena *arena, const char *address)
{
	const char *host = arena_copy(arena, address, strcspn(address, ":"));
	const char *range;

	return value_is_host_name(host) && strcmp(host, "unix") != 0 &&
	       !value_range(arena, host, &range);
}

bool
ngx_has_names(const struct ngx_file *file, const char *target)
{
	const struct ngx_item *upstream = find_upstream(file, target);
	struct arena *arena = &file->doc->arena;

	if (!upstream)
		return is_named(arena, target);
	for (size_t i = 0; i < upstream->n; i++)
		if (ngx_is(&upstream->children[i], "server") &&
		    is_named(arena, ngx_word(&upstream->children[i], 1)))
			return true;
	return false;
}

/* Returns the argument of `name=ARGUMENT` in the words, or NULL. */
static const char *
argument_of(const struct ngx_item *item, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 1; i < item->words.n; i++)
		if (strncmp(item->words.word[i], name, n) == 0 &&
		    item->words.word[i][n] == '=')
			return words_get(&item->words, i) + n + 1;
	return NULL;
}

/* Returns the address as lfproxy writes it, or NULL. */
static const char *
server_address(struct ngx_file *file, const char *word)
{
	struct arena *arena = &file->doc->arena;

	size_t n = strlen(word);

	if (strncmp(word, "unix:", 5) == 0)
		return word[5] == '/' ? doc_word(file->doc, word) : NULL;
	/* The port that the client connected to. */
	if (n > 13 && strcmp(word + n - 13, ":$server_port") == 0)
		word = arena_copy(arena, word, n - 13);
	else if (word[0] == '[' ? !strstr(word, "]:") : !strchr(word, ':'))
		return NULL;
	if (strchr(word, '$') || !doc_word(file->doc, word))
		return NULL;
	return arena_printf(arena, "%s", word);
}

/* Returns whether the server is given by a name, which may have several
 * addresses. */
static bool
is_name(struct ngx_file *file, const char *address)
{
	const char *colon = strrchr(address, ':'), *range;

	return strncmp(address, "unix:", 5) != 0 && address[0] != '[' &&
	       colon &&
	       !value_range(&file->doc->arena,
	           arena_copy(
	               &file->doc->arena, address, (size_t)(colon - address)),
	           &range);
}

/* Writes a server, or as many as its name has addresses. */
static void
write_server(struct ngx_file *file, struct ini_section *section, size_t n,
    const char *address, const char *options)
{
	if (is_name(file, address))
		doc_key(file->doc, section, "servers", "server%zu- %d dns=%s%s",
		    n, NAME_ADDRESSES, address, options);
	else
		doc_key(file->doc, section, "server", "server%zu %s%s", n,
		    address, options);
}

/* Notes how the server's failures count.  All servers of a backend react alike,
 * so the first one's values are used. */
static void
note_fails(struct upstream_state *state, const struct ngx_item *item)
{
	const char *fails = argument_of(item, "max_fails");
	const char *time = argument_of(item, "fail_timeout");

	fails = fails ? fails : "1";
	time = time ? time : "10s";
	if (state->n == 0) {
		state->max_fails = fails;
		state->fail_timeout = time;
	}
	state->fails_differ |= strcmp(fails, state->max_fails) != 0 ||
	                       strcmp(time, state->fail_timeout) != 0;
}

static const char *
upstream_options(struct upstream_state *state, const struct ngx_item *item)
{
	struct arena *arena = &state->file->doc->arena;
	struct arena_text text = {NULL, 0, 0};
	const char *weight = argument_of(item, "weight");
	const char *conns = argument_of(item, "max_conns");
	const char *start = argument_of(item, "slow_start");
	uint64_t n;

	arena_text_add(arena, &text, "", 0);
	if (state->max_weight > 0) {
		if (!weight || !value_number(weight, &n))
			n = 1;
		if (state->max_weight > 256) {
			n = n * 256 / state->max_weight;
			ngx_lost(state->file, state->section, item,
			    LOSS_SERVERS,
			    arena_printf(
			        arena, "weight=%s", weight ? weight : "1"),
			    "weights are at most 256; those of the upstream "
			    "are divided");
		}
		arena_text_printf(
		    arena, &text, " weight=%u", n < 1 ? 1 : (unsigned)n);
	}
	if (conns && value_number(conns, &n))
		arena_text_printf(arena, &text, " maxconn=%s", conns);
	if (conns && !ngx_find(state->upstream, "zone") &&
	    state->file->processes && strcmp(state->file->processes, "1") != 0)
		ngx_lost(state->file, state->section, item, LOSS_SERVERS,
		    arena_printf(arena, "max_conns=%s", conns),
		    "for all sessions together; without zone, nginx counts "
		    "those of each worker apart");
	if (start && value_nginx_time(start, &n) && n > 0)
		arena_text_printf(arena, &text, " slow_start=%s",
		    value_duration(arena, n, 1000, 86400ULL * 1000));
	if (words_has(&item->words, "backup"))
		arena_text_printf(arena, &text, " backup");
	if (words_has(&item->words, "down"))
		arena_text_printf(arena, &text, " disabled");
	(void)words_has(&item->words, "resolve"); /* sets follow the TTL */
	return text.data;
}

static void
put_server(struct upstream_state *state, const struct ngx_item *item)
{
	struct ngx_file *file = state->file;
	const char *address = server_address(file, ngx_word(item, 1));

	if (!address || argument_of(item, "service")) {
		ngx_lost(file, state->section, item, LOSS_CLIENTS, NULL,
		    address ? "write servers = PREFIX NUMBER srv=NAME"
		            : "write server = NAME HOST:PORT");
		return;
	}
	note_fails(state, item);
	state->n++;
	write_server(file, state->section, state->n, address,
	    upstream_options(state, item));
}

/* Returns the hash_key for `hash KEY`, or NULL. */
static const char *
hash_key(const char *key)
{
	static const struct {
		const char *nginx, *ours;
	} keys[] = {{"$remote_addr", "source"},
	    {"$binary_remote_addr", "source"},
	    {"$remote_addr$remote_port", "source-port"},
	    {"$remote_addr:$remote_port", "source-port"},
	    {"$binary_remote_addr$remote_port", "source-port"},
	    {"$server_addr:$server_port", "destination"},
	    {"$server_addr$server_port", "destination"},
	    {"$ssl_preread_server_name", "sni"}, {"$ssl_server_name", "sni"}};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i].nginx, key) == 0)
			return keys[i].ours;
	return NULL;
}

static void
put_hash(struct upstream_state *state, const struct ngx_item *item)
{
	struct document *doc = state->file->doc;
	const char *key = hash_key(ngx_word(item, 1));

	(void)words_has(&item->words, "consistent");
	if (!key)
		ngx_lost(state->file, state->section, item, LOSS_CLIENTS, NULL,
		    "hash_key is source, source-port, destination or sni; the "
		    "client's address is hashed instead");
	if (!key || strcmp(key, "source") == 0) {
		doc_key(doc, state->section, "balance", "source");
		return;
	}
	doc_key(doc, state->section, "balance", "hash");
	doc_key(doc, state->section, "hash_key", "%s", key);
	if (strcmp(key, "sni") == 0)
		doc_note(doc, state->section,
		    "clients without a name are spread by their address; nginx "
		    "gives them the servers in turn");
}

/* Converts `random [two [least_conn]]`. */
static void
put_random(struct upstream_state *state, const struct ngx_item *item)
{
	doc_key(state->file->doc, state->section, "balance", "random");
	if (!words_has(&item->words, "two"))
		ngx_lost(state->file, state->section, item, LOSS_SERVERS, NULL,
		    "of two servers drawn, the one with fewer sessions is "
		    "chosen");
	else if (!words_has(&item->words, "least_conn") && item->words.n > 2)
		ngx_lost(state->file, state->section, item, LOSS_SERVERS, NULL,
		    "balance = random compares sessions");
}

static void
put_upstream_item(struct upstream_state *state, const struct ngx_item *item)
{
	struct document *doc = state->file->doc;
	struct ini_section *section = state->section;

	if (item->words.n == 0)
		doc_comment(doc, item->text);
	else if (ngx_is(item, "server"))
		put_server(state, item);
	else if (ngx_is(item, "hash"))
		put_hash(state, item);
	else if (ngx_is(item, "ip_hash"))
		doc_key(doc, section, "balance", "source");
	else if (ngx_is(item, "least_conn"))
		doc_key(doc, section, "balance", "leastconn");
	else if (ngx_is(item, "least_time"))
		doc_key(doc, section, "balance", "ewma");
	else if (ngx_is(item, "random"))
		put_random(state, item);
	else if (ngx_is(item, "resolver"))
		ngx_lost(state->file, section, item, LOSS_OPERATORS, NULL,
		    "write nameserver = ADDRESS in [resolver]");
	else if (ngx_is(item, "zone"))
		(void)ngx_word(item, ngx_word(item, 1) ? 2 : 1);
	else
		ngx_report(state->file, section, item);
}

/* Returns the largest weight, or 0 if no server has one. */
static uint64_t
find_max_weight(const struct ngx_item *upstream)
{
	uint64_t largest = 0, n;

	for (size_t i = 0; i < upstream->n; i++) {
		const struct ngx_item *item = &upstream->children[i];
		const char *weight = argument_of(item, "weight");

		if (ngx_is(item, "server") && weight &&
		    value_number(weight, &n) && n > largest)
			largest = n;
	}
	return largest;
}

/* Writes how failures of the servers count. */
static void
put_failures(struct upstream_state *state)
{
	struct ngx_file *file = state->file;
	uint64_t fails, ms;

	if (state->n == 0)
		return;
	if (state->fails_differ)
		ngx_lost(file, state->section, state->upstream, LOSS_CLIENTS,
		    "max_fails, fail_timeout",
		    "those of the first server are those of all");
	if (strcmp(state->max_fails, "1") != 0 &&
	    value_number(state->max_fails, &fails))
		doc_key(file->doc, state->section, "eject_after", "%u",
		    (unsigned)fails);
	if (strcmp(state->fail_timeout, "10s") != 0 &&
	    value_nginx_time(state->fail_timeout, &ms) && ms > 0) {
		const char *time =
		    value_duration(&file->doc->arena, ms, 10, 86400ULL * 1000);

		doc_key(file->doc, state->section, "eject_time", "%s", time);
		doc_key(
		    file->doc, state->section, "eject_time_max", "%s", time);
	}
}

static void
put_upstream(struct ngx_file *file, struct ini_section *section,
    const struct ngx_item *upstream)
{
	struct upstream_state state = {.file = file,
	    .upstream = upstream,
	    .section = section,
	    .max_weight = find_max_weight(upstream)};

	for (size_t i = 0; i < upstream->n; i++)
		put_upstream_item(&state, &upstream->children[i]);
	put_failures(&state);
}

/* Adds a time of the server block, unless the stream has the same. */
static void
add_time(struct ngx_file *file, struct arena_text *text,
    const struct ngx_item *server, const char *directive, const char *keys)
{
	const struct ngx_item *own = ngx_find(server, directive);
	const struct ngx_item *all = ngx_find(file->stream, directive);
	const char *time = ngx_time(file, own, NULL), *rest = keys;

	if (!time || (all && strcmp(time, ngx_time(file, all, "")) == 0))
		return;
	while (*rest) {
		size_t n = strcspn(rest, " ");

		arena_text_printf(
		    &file->doc->arena, text, "%.*s = %s\n", (int)n, rest, time);
		rest += n + (rest[n] == ' ');
	}
}

/* Adds the source for `proxy_bind ADDRESS [transparent]`. */
static void
add_source(struct ngx_file *file, struct arena_text *text,
    const struct ngx_item *server)
{
	const struct ngx_item *item = ngx_setting(file, server, "proxy_bind");
	const char *word = item ? ngx_word(item, 1) : "off", *range;

	bool transparent = item && words_has(&item->words, "transparent");

	if (strcmp(word, "$remote_addr") == 0 && transparent)
		arena_text_printf(&file->doc->arena, text, "source = client\n");
	else if (value_range(&file->doc->arena, word, &range))
		arena_text_printf(
		    &file->doc->arena, text, "source = %s\n", range);
	else if (strcmp(word, "off") != 0)
		ngx_lost(file, file->defaults, item, LOSS_SERVERS, NULL,
		    "source is an address of this host, or the client's");
}

/* Adds the number of retries: nginx tries each server once. */
static void
add_retries(struct ngx_file *file, struct arena_text *text,
    const struct ngx_item *server, size_t n_servers)
{
	const struct ngx_item *next =
	    ngx_setting(file, server, "proxy_next_upstream");
	const struct ngx_item *tries =
	    ngx_setting(file, server, "proxy_next_upstream_tries");
	uint64_t n = n_servers > 0 ? n_servers - 1 : 0, limit;

	if (next && strcmp(ngx_word(next, 1), "off") == 0)
		n = 0;
	if (tries && value_number(ngx_word(tries, 1), &limit) && limit > 0 &&
	    n > limit - 1)
		n = limit - 1;
	if (n > 10)
		doc_default(file->doc, file->defaults, LOSS_CLIENTS,
		    "proxy_next_upstream_tries 0",
		    "%u servers are tried; lfproxy tries 11, write check = "
		    "connect, which finds the others down",
		    (unsigned)n + 1);
	if (n != 3)
		arena_text_printf(&file->doc->arena, text, "retries = %u\n",
		    n > 10 ? 10 : (unsigned)n);
}

/* Returns the lines that the server block adds to its backend. */
static const char *
nginx_settings_of(struct ngx_file *file, const struct ngx_item *server,
    size_t n_servers, const char *name, const char *target)
{
	struct arena *arena = &file->doc->arena;
	struct arena_text text = {NULL, 0, 0};
	const struct ngx_item *version =
	    ngx_setting(file, server, "proxy_protocol_version");

	arena_text_add(arena, &text, "", 0);
	add_time(
	    file, &text, server, "proxy_connect_timeout", "timeout_connect");
	add_time(file, &text, server, "proxy_timeout",
	    "timeout_server timeout_server_fin");
	add_retries(file, &text, server, n_servers);
	add_source(file, &text, server);
	if (ngx_is_on(file, server, "proxy_socket_keepalive"))
		arena_text_printf(
		    arena, &text, "server_defaults = keepalive\n");
	if (ngx_is_on(file, server, "proxy_protocol"))
		arena_text_printf(arena, &text, "send_proxy = v%s\n",
		    version && strcmp(ngx_word(version, 1), "2") == 0 ? "2"
		                                                      : "1");
	if (ngx_is_on(file, server, "proxy_ssl"))
		arena_text_printf(arena, &text, "tls = %s\n",
		    ngx_server_tls(file, file->defaults, server,
		        arena_printf(arena, "%.30s-servers", name),
		        arena_copy(arena, target, strcspn(target, ":"))));
	return text.data;
}

static struct ngx_backend *
add_backend(struct ngx_file *file, const char *target, const char *want)
{
	struct ngx_backend *backend =
	    arena_alloc(&file->doc->arena, sizeof(*backend));

	backend->target = target;
	backend->name = doc_name(file->doc, "backend", want);
	backend->section = doc_find_section(file->doc,
	    arena_printf(&file->doc->arena, "backend %s", backend->name));
	backend->next = file->backends;
	file->backends = backend;
	return backend;
}

static void
give_settings(
    struct ngx_file *file, struct ngx_backend *backend, const char *settings)
{
	backend->settings = settings;
	arena_text_add(&file->doc->arena, &backend->section->lines, settings,
	    strlen(settings));
}

/* Returns how many servers are tried for it: a name hardly has more than four
 * addresses. */
static size_t
count_addresses(struct ngx_file *file, const char *word)
{
	const char *address = server_address(file, word);

	return address && is_name(file, address) ? 4 : 1;
}

static size_t
nginx_count_servers(struct ngx_file *file, const struct ngx_item *upstream)
{
	size_t n = 0;

	for (size_t i = 0; i < upstream->n; i++)
		if (ngx_is(&upstream->children[i], "server"))
			n += count_addresses(
			    file, ngx_word(&upstream->children[i], 1));
	return n;
}

const char *
ngx_backend(struct ngx_file *file, const struct ngx_item *server,
    const char *target, const char **ret_reason)
{
	const struct ngx_item *upstream = find_upstream(file, target);
	const char *address = upstream ? NULL : server_address(file, target);
	struct ngx_backend *backend;
	const char *settings;
	size_t n;

	if (!upstream && !address) {
		*ret_reason = strchr(target, '$')
		                  ? "a variable cannot be an address; write "
		                    "sni = NAME backend=BACKEND for each name"
		                  : "there is no upstream of that name";
		return NULL;
	}
	n = upstream ? nginx_count_servers(file, upstream)
	             : count_addresses(file, target);
	settings = nginx_settings_of(
	    file, server, n, upstream ? target : "tls", target);
	for (backend = file->backends; backend; backend = backend->next) {
		if (strcmp(backend->target, target) != 0)
			continue;
		if (!backend->settings)
			give_settings(file, backend, settings);
		if (backend->settings &&
		    strcmp(backend->settings, settings) == 0)
			return backend->name;
	}
	backend = add_backend(file, target, target);
	if (upstream)
		put_upstream(file, backend->section, upstream);
	else
		write_server(file, backend->section, 1, address, "");
	give_settings(file, backend, settings);
	return backend->name;
}

void
ngx_upstream(struct ngx_file *file, const struct ngx_item *item)
{
	const char *before = doc_take_pending(file->doc);
	struct ngx_backend *backend =
	    add_backend(file, ngx_word(item, 1), ngx_word(item, 1));

	if (before)
		arena_text_add(&file->doc->arena, &backend->section->before,
		    before, strlen(before));
	put_upstream(file, backend->section, item);
}
