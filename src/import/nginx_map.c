/* SPDX-License-Identifier: MIT
 * nginx's proxy_pass with a variable, which a map, geo or split_clients gives
 * its value, as routes.
 */
#include <stdlib.h>
#include <string.h>

#include "import/nginx.h"

#define DEPTH_MAX 4
/* The most routes of maps in maps that a frontend gets: the sizes of the maps
 * multiply. */
#define NESTED_MAX 5000

/* The routes of one frontend. */
struct map_state {
	struct ngx_file *file;
	struct ini_section *section;
	const struct ngx_item *server, *pass;
	const char *suffix; /* behind the variable: `:443` */
	size_t n, n_nested;
};

/* Conditions that apply to what is being written. */
struct guard {
	const char *sni;    /* a name, or NULL */
	const char *tls;    /* yes, no or NULL */
	const char *others; /* ` key=value`, or "" */
	unsigned depth;
};

static void put_value(struct map_state *state, const struct ngx_item *entry,
    const struct guard *guard, const char *value);

static void
lose_entry(
    struct map_state *state, const struct ngx_item *entry, const char *reason)
{
	ngx_lost(state->file, state->section, entry, LOSS_CLIENTS, NULL, "%s",
	    reason);
}

/* Writes that clients that fulfil the guard get the backend. */
static void
put_backend(
    struct map_state *state, const struct guard *guard, const char *backend)
{
	struct document *doc = state->file->doc;
	bool tls = guard->tls && !(guard->sni && guard->tls[0] == 'y');

	if (guard->sni && guard->tls && guard->tls[0] == 'n')
		return;
	state->n++;
	if (!guard->sni && !guard->tls && !*guard->others) {
		doc_key(doc, state->section, "backend", "%s", backend);
	} else if (guard->sni && !*guard->others) {
		doc_key(doc, state->section, "sni", "%s backend=%s", guard->sni,
		    backend);
	} else {
		doc_key(doc, state->section, "route", "%s%s%s%s%s backend=%s",
		    guard->sni ? "sni=" : "", guard->sni ? guard->sni : "",
		    tls ? guard->sni ? " tls=" : "tls=" : "",
		    tls ? guard->tls : "",
		    guard->sni || tls ? guard->others
		    : *guard->others  ? guard->others + 1
		                      : "",
		    backend);
	}
}

/* The condition that a variable stands for. */
enum subject {
	ABOUT_SNI,
	ABOUT_TLS,
	ABOUT_ALPN,
	ABOUT_SRC,
	ABOUT_PORT,
	ABOUT_DST,
	ABOUT_NOTHING,
};

static enum subject
subject_of(const char *variable)
{
	static const struct {
		const char *name;
		enum subject subject;
	} subjects[] = {{"$ssl_preread_server_name", ABOUT_SNI},
	    {"$ssl_server_name", ABOUT_SNI},
	    {"$ssl_preread_protocol", ABOUT_TLS},
	    {"$ssl_preread_alpn_protocols", ABOUT_ALPN},
	    {"$ssl_alpn_protocol", ABOUT_ALPN}, {"$remote_addr", ABOUT_SRC},
	    {"$binary_remote_addr", ABOUT_SRC}, {"$server_port", ABOUT_PORT},
	    {"$server_addr", ABOUT_DST}};

	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		if (strcmp(subjects[i].name, variable) == 0)
			return subjects[i].subject;
	return ABOUT_NOTHING;
}

/* Adds the names that a key of a map stands for: `a.b`, `*.b`, `.b`, `~REGEX`.
 * Returns false if it is none of these. */
static bool
names_of_key(struct map_state *state, const char *key, struct words *names)
{
	struct arena *arena = &state->file->doc->arena;
	const char *plain = key;

	if (*key == '~')
		return value_regex_names(
		    arena, key + 1 + (key[1] == '*'), names);
	if (*key == '\\')
		plain = ++key;
	if (*key == '.')
		plain = key + 1;
	else if (strncmp(key, "*.", 2) == 0)
		plain = key + 2;
	if (!value_is_host_name(plain))
		return false;
	if (plain == key || *key == '.')
		words_add(arena, names, plain);
	if (plain != key)
		words_add(arena, names, arena_printf(arena, "*.%s", plain));
	return true;
}

static void
nginx_put_names(struct map_state *state, const struct ngx_item *entry,
    struct guard guard, const char *value)
{
	struct words names = {.n = 0};

	if (guard.sni) {
		lose_entry(state, entry, "the name is tested twice");
		return;
	}
	if (!names_of_key(state, ngx_word(entry, 0), &names)) {
		lose_entry(state, entry,
		    "names are whole, or *.NAME for all below one; write sni = "
		    "NAME backend=BACKEND");
		return;
	}
	for (size_t i = 0; i < names.n; i++) {
		guard.sni = names.word[i];
		put_value(state, entry, &guard, value);
	}
}

/* Returns the protocol in `~\bh2\b`, or in a key without `~`; NULL: unknown. */
static const char *
protocol_of(struct map_state *state, const char *key)
{
	static const char *const known[] = {"http/1.1", "http/1.0", "h2c", "h2",
	    "xmpp-client", "xmpp-server", "acme-tls/1", "dot", "mqtt", "ssh",
	    "postgresql", "imap", "ftp"};

	if (*key != '~')
		return doc_word(state->file->doc, key);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strstr(key, known[i]))
			return known[i];
	return NULL;
}

static const char *
condition_of(struct map_state *state, enum subject subject, const char *key)
{
	struct arena *arena = &state->file->doc->arena;
	const char *value = NULL;
	uint64_t port;

	if (subject == ABOUT_ALPN)
		value = protocol_of(state, key);
	else if (subject == ABOUT_PORT && value_number(key, &port))
		value = key;
	else if (subject == ABOUT_SRC || subject == ABOUT_DST)
		value = value_range(arena, key, &value) ? value : NULL;
	if (!value || strchr(value, ','))
		return NULL;
	return arena_printf(arena, " %s=%s",
	    subject == ABOUT_ALPN   ? "alpn"
	    : subject == ABOUT_PORT ? "port"
	    : subject == ABOUT_SRC  ? "src"
	                            : "dst",
	    value);
}

static void
put_entry(struct map_state *state, enum subject subject,
    const struct ngx_item *entry, struct guard guard)
{
	struct arena *arena = &state->file->doc->arena;
	const char *key = ngx_word(entry, 0), *value = ngx_word(entry, 1);
	const char *condition;

	if (subject == ABOUT_SNI && *key) {
		nginx_put_names(state, entry, guard, value);
		return;
	}
	if (subject == ABOUT_SNI) {
		/* Clients without a name are those that are left. */
		put_value(state, entry, &guard, value);
		return;
	}
	if (subject == ABOUT_TLS) {
		const char *tls = *key ? "yes" : "no";

		if (guard.tls && strcmp(guard.tls, tls) != 0)
			return;
		guard.tls = tls;
		put_value(state, entry, &guard, value);
		return;
	}
	condition = condition_of(state, subject, key);
	if (!condition) {
		lose_entry(state, entry,
		    "write route = CONDITION "
		    "backend=NAME");
		return;
	}
	guard.others = arena_printf(arena, "%s%s", guard.others, condition);
	put_value(state, entry, &guard, value);
}

/* Returns whether another entry says the same about TLS: one for an earlier
 * version, or the default. */
static bool
nginx_is_repeated(const struct ngx_item *map, size_t nth, enum subject subject)
{
	const struct ngx_item *entry = &map->children[nth];
	const struct ngx_item *otherwise = ngx_find(map, "default");

	if (subject == ABOUT_TLS && otherwise &&
	    strcmp(ngx_word(entry, 1), ngx_word(otherwise, 1)) == 0)
		return true;

	for (size_t i = 0; subject == ABOUT_TLS && i < nth; i++)
		if (map->children[i].words.n > 0 && *ngx_word(entry, 0) &&
		    *ngx_word(&map->children[i], 0) &&
		    !ngx_is(&map->children[i], "default"))
			return true;
	return false;
}

static bool
is_flag(const struct ngx_item *entry)
{
	return entry->words.n < 2 || ngx_is(entry, "include") ||
	       ngx_is(entry, "proxy") || ngx_is(entry, "delete");
}

static int
nginx_bits_of(const struct ngx_item *entry)
{
	const char *slash = strchr(ngx_word(entry, 0), '/');

	return slash ? atoi(slash + 1) : 128;
}

/* Writes the ranges of a geo, the narrowest first, since it decides. */
static void
put_ranges(struct map_state *state, const struct ngx_item *geo,
    const struct guard *guard)
{
	for (int bits = 128; bits >= 0; bits--)
		for (size_t i = 0; i < geo->n; i++) {
			const struct ngx_item *entry = &geo->children[i];

			if (!is_flag(entry) && !ngx_is(entry, "default") &&
			    nginx_bits_of(entry) == bits)
				put_entry(state, ABOUT_SRC, entry, *guard);
		}
}

/* Writes the value of a map whose variable is always empty. */
static void
put_empty(struct map_state *state, const struct ngx_item *map,
    const struct guard *guard)
{
	const struct ngx_item *found = NULL;

	for (size_t i = 0; i < map->n; i++) {
		const struct ngx_item *entry = &map->children[i];

		words_read_all(&entry->words, 0);
		if (entry->words.n == 2 && !*ngx_word(entry, 0))
			found = entry;
		else if (!found && ngx_is(entry, "default"))
			found = entry;
	}
	if (found)
		put_value(state, found, guard, ngx_word(found, 1));
}

static void
put_map(struct map_state *state, const struct ngx_item *map,
    const struct guard *guard)
{
	bool geo = ngx_is(map, "geo");
	const char *variable =
	    geo && map->words.n == 2 ? "$remote_addr" : ngx_word(map, 1);
	enum subject subject = subject_of(variable);
	struct guard inner = *guard;
	const struct ngx_item *otherwise = NULL;

	inner.depth++;
	words_read_all(&map->words, 1);
	if (subject == ABOUT_NOTHING || inner.depth > DEPTH_MAX) {
		lose_entry(state, map,
		    "routes know sni, alpn, tls, src, dst and port");
		return;
	}
	if (strncmp(variable, "$ssl_preread_", 13) == 0 &&
	    !ngx_is_on(state->file, state->server, "ssl_preread")) {
		put_empty(state, map, &inner);
		return;
	}
	if (geo)
		put_ranges(state, map, &inner);
	for (size_t i = 0; i < map->n; i++) {
		const struct ngx_item *entry = &map->children[i];

		if (entry->words.n == 0)
			doc_comment(state->file->doc, entry->text);
		else if (ngx_is(entry, "default"))
			otherwise = entry;
		else if (ngx_is(entry, "include"))
			lose_entry(state, entry, "the file was not read");
		else if (geo &&
		         (ngx_is(entry, "proxy") || ngx_is(entry, "delete")))
			lose_entry(state, entry,
			    "a route has ranges, without exceptions");
		else if (!geo && !is_flag(entry) &&
		         *ngx_word(entry, 0) == '\0' && subject == ABOUT_SNI &&
		         !otherwise)
			otherwise = entry;
		else if (!geo && !is_flag(entry) &&
		         !nginx_is_repeated(map, i, subject))
			put_entry(state, subject, entry, inner);
	}
	if (otherwise)
		put_value(state, otherwise, &inner, ngx_word(otherwise, 1));
}

/* Writes the shares of `split_clients KEY $variable { 10% a; * b; }`. */
static void
nginx_put_split(struct map_state *state, const struct ngx_item *split,
    const struct guard *guard)
{
	double left = 100;

	words_read_all(&split->words, 1);
	if (guard->sni || guard->tls || *guard->others) {
		lose_entry(state, split, "routes have no shares");
		return;
	}
	ngx_lost(state->file, state->section, split, LOSS_CLIENTS, NULL,
	    "shares are drawn for each session, not by %s", ngx_word(split, 1));
	for (size_t i = 0; i < split->n; i++) {
		const struct ngx_item *entry = &split->children[i];
		bool rest = ngx_is(entry, "*");
		double share = rest ? left : atof(ngx_word(entry, 0));
		const char *reason, *backend;

		if (entry->words.n < 2)
			continue;
		backend = ngx_backend(state->file, state->server,
		    arena_printf(&state->file->doc->arena, "%s%s",
		        ngx_word(entry, 1), state->suffix),
		    &reason);
		left -= share;
		if (!backend) {
			lose_entry(state, entry, reason);
			continue;
		}
		share = share < 0 ? 0 : share > 100 ? 100 : share;
		doc_key(state->file->doc, state->section, "backend",
		    "%s weight=%u", backend, (unsigned)(share + 0.5));
		state->n++;
	}
}

static const struct ngx_item *
find_map(const struct ngx_file *file, const char *variable)
{
	for (size_t i = 0; i < file->stream->n; i++) {
		const struct ngx_item *item = &file->stream->children[i];

		if (item->is_block &&
		    (ngx_is(item, "map") || ngx_is(item, "geo") ||
		        ngx_is(item, "split_clients")) &&
		    strcmp(item->words.word[item->words.n - 1], variable) == 0)
			return item;
	}
	return NULL;
}

/* Writes the value of a proxy_pass, or of an entry of a map. */
static void
put_value(struct map_state *state, const struct ngx_item *entry,
    const struct guard *guard, const char *value)
{
	struct arena *arena = &state->file->doc->arena;
	const struct ngx_item *map =
	    value[0] == '$' ? find_map(state->file, value) : NULL;
	const char *reason = NULL, *backend;
	bool nested = guard->depth > 1 || (map && guard->depth > 0);

	if (nested && state->n_nested++ >= NESTED_MAX) {
		lose_entry(state, entry,
		    "maps in maps would become more than 5000 routes; write "
		    "one map");
		return;
	}
	if (map && ngx_is(map, "split_clients")) {
		nginx_put_split(state, map, guard);
		return;
	}
	if (map) {
		put_map(state, map, guard);
		return;
	}
	backend = ngx_backend(state->file, state->server,
	    arena_printf(arena, "%s%s", value, state->suffix), &reason);
	if (backend)
		put_backend(state, guard, backend);
	else
		lose_entry(state, entry, reason);
}

size_t
ngx_routes(struct ngx_file *file, struct ini_section *section,
    const struct ngx_item *server, const struct ngx_item *pass)
{
	struct map_state state = {.file = file,
	    .section = section,
	    .server = server,
	    .pass = pass,
	    .suffix = ""};
	struct guard guard = {.others = ""};
	const char *target = ngx_word(pass, 1);
	const char *colon = target[0] == '$' ? strchr(target, ':') : NULL;

	if (colon) {
		state.suffix = colon;
		target = arena_copy(
		    &file->doc->arena, target, (size_t)(colon - target));
	}
	(void)ngx_is_on(file, server, "ssl_preread");
	put_value(&state, pass, &guard, target);
	return state.n;
}
