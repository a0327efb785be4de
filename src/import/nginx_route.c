/* SPDX-License-Identifier: MIT
 * nginx's proxy_pass with a variable, which a map, geo or split_clients gives
 * its value, as routes.
 */
#include "import/nginx_route.h"

#include <stdlib.h>
#include <string.h>

/* The most routes of maps in maps that a frontend gets: the sizes of the maps
 * multiply. */
#define NESTED_MAX 5000
/* The characters of a variable's name. */
#define VARIABLE                                                               \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

void
ngx_lose_entry(
    struct map_state *state, const struct ngx_item *entry, const char *reason)
{
	ngx_lost(state->file, state->section, entry, LOSS_CLIENTS, NULL, "%s",
	    reason);
}

const struct ngx_item *
ngx_find_map(const struct ngx_file *file, const char *variable)
{
	/* A later one with the same variable replaces it. */
	for (size_t i = file->stream->n; i-- > 0;) {
		const struct ngx_item *item = &file->stream->children[i];

		if (item->is_block &&
		    (ngx_is(item, "map") || ngx_is(item, "geo") ||
		        ngx_is(item, "split_clients")) &&
		    strcmp(item->words.word[item->words.n - 1], variable) == 0)
			return item;
	}
	return NULL;
}

const struct ngx_item *
ngx_entry_of(const struct ngx_item *map, const char *key)
{
	const struct ngx_item *otherwise = NULL;

	for (size_t i = 0; i < map->n; i++) {
		const struct ngx_item *entry = &map->children[i];

		if (entry->words.n < 2)
			continue;
		if (strcmp(entry->words.word[0], key) == 0)
			return entry;
		if (strcmp(entry->words.word[0], "default") == 0)
			otherwise = entry;
	}
	return otherwise;
}

const char *
ngx_value_of(const struct ngx_item *entry)
{
	return entry ? ngx_word(entry, 1) : "";
}

static bool
is_always(const struct guard *guard)
{
	return !guard->sni && !guard->tls && !*guard->others;
}

/* Writes that clients that fulfil the guard get the backend. */
static void
put_backend(
    struct map_state *state, const struct guard *guard, const char *backend)
{
	struct document *doc = state->file->doc;
	bool implied = guard->sni || strstr(guard->others, " version=");
	bool tls = guard->tls && !(implied && guard->tls[0] == 'y');

	if (guard->sni && guard->tls && guard->tls[0] == 'n')
		return;
	state->n++;
	state->inspects |=
	    guard->sni || guard->tls || strstr(guard->others, "alpn=");
	if (is_always(guard)) {
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

/* Returns the share of an entry, in hundredths of a percent. */
static unsigned
share_of(const struct ngx_item *split, const struct ngx_item *entry)
{
	double left = 100, share = 0;

	for (size_t i = 0; i < split->n; i++) {
		const struct ngx_item *e = &split->children[i];

		share = ngx_is(e, "*") ? left : atof(ngx_word(e, 0));
		if (e == entry)
			break;
		left -= share;
	}
	share = share < 0 ? 0 : share > 100 ? 100 : share;
	return (unsigned)(share * 100 + 0.5);
}

/* Returns what a weight of 1 stands for, so that the weights of all shares are
 * whole numbers up to 256; or 0 if there is no such number. */
static unsigned
unit_of(const struct ngx_item *split)
{
	unsigned unit = 0, largest = 0;

	for (size_t i = 0; i < split->n; i++) {
		unsigned share = share_of(split, &split->children[i]);
		unsigned x = unit, y = share;

		if (split->children[i].words.n < 2)
			continue;
		while (y != 0) {
			unsigned rest = x % y;

			x = y;
			y = rest;
		}
		unit = x;
		largest = share > largest ? share : largest;
	}
	return unit > 0 && largest / unit <= 256 ? unit : 0;
}

static unsigned
weight_of(const struct ngx_item *split, const struct ngx_item *entry)
{
	unsigned unit = unit_of(split), share = share_of(split, entry);
	unsigned weight = (share * 256 + 5000) / 10000;

	if (share == 0)
		return 0;
	if (unit > 0)
		return share / unit;
	return weight > 0 ? weight : 1;
}

/* Writes the shares of `split_clients KEY $variable { 10% a; * b; }`. */
static void
nginx_put_split(struct map_state *state, const struct ngx_item *split,
    const struct guard *guard)
{
	words_read_all(&split->words, 1);
	if (!is_always(guard)) {
		ngx_lose_entry(state, split, "routes have no shares");
		return;
	}
	ngx_lost(state->file, state->section, split, LOSS_CLIENTS, split->text,
	    "shares are drawn for each session, not by %s%s",
	    ngx_word(split, 1),
	    unit_of(split) > 0 ? "" : "; they are rounded to 1 of 256");
	for (size_t i = 0; i < split->n; i++) {
		const struct ngx_item *entry = &split->children[i];
		const char *reason, *backend;

		if (entry->words.n < 2)
			continue;
		backend = ngx_backend(state->file, state->server,
		    arena_printf(&state->file->doc->arena, "%s%s%s",
		        state->prefix, ngx_word(entry, 1), state->suffix),
		    &reason);
		if (!backend) {
			ngx_lose_entry(state, entry, reason);
			continue;
		}
		doc_key(state->file->doc, state->section, "backend",
		    "%s weight=%u", backend, weight_of(split, entry));
		state->n++;
	}
}

/* Writes that clients that fulfil the guard are closed. */
static void
put_closed(struct map_state *state, const struct guard *guard)
{
	if (!is_always(guard))
		put_backend(state, guard, doc_reject_backend(state->file->doc));
}

void
ngx_put_key(struct map_state *state, const struct ngx_item *map,
    const struct guard *guard, const char *key)
{
	const struct ngx_item *entry = ngx_entry_of(map, key);

	ngx_put_value(state, entry ? entry : map, guard, ngx_value_of(entry));
}

/* Follows the value through a map that has it for its source. */
static void
follow(struct map_state *state, const struct guard *guard, const char *value)
{
	const struct ngx_item *map = guard->through->map;
	struct guard next = *guard;

	next.through = guard->through->next;
	for (size_t i = 0; i < map->n; i++)
		if (map->children[i].words.n >= 2 &&
		    map->children[i].words.word[0][0] == '~')
			ngx_lose_entry(state, &map->children[i],
			    "an expression over another map's value");
	ngx_put_key(state, map, &next, value);
}

void
ngx_put_value(struct map_state *state, const struct ngx_item *entry,
    const struct guard *guard, const char *value)
{
	struct arena *arena = &state->file->doc->arena;
	const struct ngx_item *map =
	    value[0] == '$' ? ngx_find_map(state->file, value) : NULL;
	const char *reason = NULL, *backend;
	bool nested = guard->depth > 1 || (map && guard->depth > 0);

	if (nested && state->n_nested++ >= NESTED_MAX) {
		ngx_lose_entry(state, entry,
		    "maps in maps would become more than 5000 routes; write "
		    "one map");
		return;
	}
	if (map && ngx_is(map, "split_clients"))
		nginx_put_split(state, map, guard);
	else if (map)
		ngx_put_map(state, map, guard);
	else if (guard->through)
		follow(state, guard, value);
	else if (!*value)
		put_closed(state, guard);
	else if ((backend = ngx_backend(state->file, state->server,
	              arena_printf(
	                  arena, "%s%s%s", state->prefix, value, state->suffix),
	              &reason)))
		put_backend(state, guard, backend);
	else
		ngx_lose_entry(state, entry, reason);
}

size_t
ngx_routes(struct ngx_file *file, struct ini_section *section,
    const struct ngx_item *server, const struct ngx_item *pass)
{
	struct arena *arena = &file->doc->arena;
	struct map_state state = {.file = file,
	    .section = section,
	    .server = server,
	    .pass = pass,
	    .prefix = "",
	    .suffix = ""};
	struct guard guard = {.others = ""};
	const char *target = ngx_word(pass, 1), *dollar = strchr(target, '$');
	size_t n = dollar ? 1 + strspn(dollar + 1, VARIABLE) : 0;
	const char *variable = dollar ? arena_copy(arena, dollar, n) : NULL;

	if (variable && ngx_find_map(file, variable)) {
		state.prefix =
		    arena_copy(arena, target, (size_t)(dollar - target));
		state.suffix = arena_printf(arena, "%s", dollar + n);
		target = variable;
	}
	ngx_put_value(&state, pass, &guard, target);
	if (!ngx_is_on(file, server, "ssl_preread"))
		return state.n;
	if (state.inspects)
		doc_key(file->doc, section, "on_no_hello", "close");
	else
		ngx_lost(file, section,
		    ngx_setting(file, server, "ssl_preread"), LOSS_CLIENTS,
		    NULL,
		    "the hello is read for logs alone; lfproxy connects "
		    "without waiting for one");
	return state.n;
}
