/* SPDX-License-Identifier: MIT
 * nginx's maps and geos: the conditions that their keys stand for, as routes.
 */
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "import/nginx_route.h"

#define DEPTH_MAX 4

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

/* Returns whether the key matches the name, as nginx compares them. */
static bool
key_covers(const char *key, const char *name)
{
	size_t n = strlen(name), m;

	if (*key == '~' || strcasecmp(key, name) == 0)
		return *key != '~';
	if (strncmp(key, "*.", 2) != 0 && *key != '.')
		return false;
	key += *key == '*';
	m = strlen(key);
	return (n >= m && strcasecmp(name + n - m, key) == 0) ||
	       strcasecmp(name, key + 1) == 0;
}

static bool
has_flag(const struct ngx_item *map, const char *flag)
{
	const struct ngx_item *item = ngx_find(map, flag);

	return item && item->words.n == 1;
}

/* Returns whether an entry that nginx prefers has the name: names and wildcards
 * precede expressions, which are tried in their order. */
static bool
is_hidden(struct map_state *state, const struct ngx_item *map, size_t nth,
    const char *name)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct ngx_item *other = &map->children[i];
		struct words names = {.n = 0};

		if (other->words.n < 2)
			continue;
		if (key_covers(other->words.word[0], name))
			return true;
		if (i < nth && other->words.word[0][0] == '~' &&
		    names_of_key(state, other->words.word[0], &names))
			for (size_t j = 0; j < names.n; j++)
				if (key_covers(names.word[j], name))
					return true;
	}
	return false;
}

static void
nginx_put_names(struct map_state *state, const struct ngx_item *map, size_t nth,
    struct guard guard)
{
	const struct ngx_item *entry = &map->children[nth];
	const char *key = ngx_word(entry, 0), *value = ngx_word(entry, 1);
	struct words names = {.n = 0};

	if (guard.sni) {
		ngx_lose_entry(state, entry, "the name is tested twice");
		return;
	}
	/* Without `hostnames`, such a key is no wildcard, and no name. */
	if ((*key == '*' || *key == '.') && !has_flag(map, "hostnames"))
		return;
	if (!names_of_key(state, key, &names)) {
		ngx_lose_entry(state, entry,
		    "names are whole, or *.NAME for all below one; write sni = "
		    "NAME backend=BACKEND");
		return;
	}
	for (size_t i = 0; i < names.n; i++) {
		if (*key == '~' && is_hidden(state, map, nth, names.word[i]))
			continue;
		guard.sni = names.word[i];
		ngx_put_value(state, entry, &guard, value);
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
condition_of(
    struct map_state *state, enum subject subject, const char *key, bool geo)
{
	struct arena *arena = &state->file->doc->arena;
	const char *value = NULL;
	uint64_t port;

	if (subject == ABOUT_ALPN)
		value = protocol_of(state, key);
	else if (subject == ABOUT_PORT && value_number(key, &port))
		value = key;
	else if ((subject == ABOUT_SRC || subject == ABOUT_DST) &&
	         (geo || !strchr(key, '/')))
		value = value_range(arena, key, &value) &&
		                !strchr(key, ':') == !strchr(value, ':')
		            ? value
		            : NULL;
	if (!value || strchr(value, ','))
		return NULL;
	return arena_printf(arena, " %s=%s",
	    subject == ABOUT_ALPN   ? "alpn"
	    : subject == ABOUT_PORT ? "port"
	    : subject == ABOUT_SRC  ? "src"
	                            : "dst",
	    value);
}

/* Returns whether the entry's map is about the protocol that was agreed on, and
 * not about those that the client offers. */
static bool
is_negotiated(struct map_state *state, const struct ngx_item *entry)
{
	for (size_t i = 0; i < state->file->stream->n; i++) {
		const struct ngx_item *map = &state->file->stream->children[i];

		if (entry >= map->children && entry < map->children + map->n)
			return strcmp(ngx_word(map, 1), "$ssl_alpn_protocol") ==
			       0;
	}
	return false;
}

static void
put_entry(struct map_state *state, enum subject subject,
    const struct ngx_item *entry, struct guard guard, bool geo)
{
	const char *key = ngx_word(entry, 0), *value = ngx_word(entry, 1);
	const char *condition = condition_of(state, subject, key, geo);

	if (!condition) {
		ngx_lose_entry(
		    state, entry, "write route = CONDITION backend=NAME");
		return;
	}
	if (subject == ABOUT_ALPN && *key != '~' &&
	    !is_negotiated(state, entry))
		ngx_lost(state->file, state->section, entry, LOSS_CLIENTS, NULL,
		    "alpn=PROTOCOL also holds for clients that offer others "
		    "besides");
	guard.others = arena_printf(
	    &state->file->doc->arena, "%s%s", guard.others, condition);
	ngx_put_value(state, entry, &guard, value);
}

/* Writes a map over names: these, then what has none, and the default. */
static void
put_name_map(struct map_state *state, const struct ngx_item *map,
    const struct guard *guard)
{
	const struct ngx_item *none = ngx_entry_of(map, "");
	const struct ngx_item *others = ngx_entry_of(map, "default");
	struct guard plain = *guard;

	for (size_t i = 0; i < map->n; i++) {
		const struct ngx_item *entry = &map->children[i];

		if (entry->words.n == 0)
			doc_comment(state->file->doc, entry->text);
		else if (entry->words.n >= 2 && *ngx_word(entry, 0) &&
		         !ngx_is(entry, "default"))
			nginx_put_names(state, map, i, *guard);
	}
	if (!guard->sni &&
	    strcmp(ngx_value_of(none), ngx_value_of(others)) != 0) {
		ngx_lost(state->file, state->section, none ? none : map,
		    LOSS_CLIENTS, none ? NULL : "\"\"",
		    "TLS clients that name nothing get the default");
		plain.tls = "no";
		if (!guard->tls || guard->tls[0] == 'n')
			ngx_put_value(state, none, &plain, ngx_value_of(none));
	}
	if (!guard->tls || guard->tls[0] == 'y')
		ngx_put_key(state, map, guard, "default");
}

/* The values of $ssl_preread_protocol, and the versions of a route. */
static const struct {
	const char *value, *version;
} tls_versions[] = {{"TLSv1.3", "1.3"}, {"TLSv1.2", "1.2"}, {"TLSv1.1", "1.1"},
    {"TLSv1", "1.0"}, {"SSLv3", "ssl3"}};

#define TLS_VERSIONS (sizeof(tls_versions) / sizeof(tls_versions[0]))

/* Returns whether the expression `~REGEX` of a map matches the value.  *ok is
 * false if the expression is one of PCRE's alone. */
static bool
expression_has(const char *key, const char *value, bool *ok)
{
	bool any_case = key[1] == '*';
	regex_t regex;
	bool match;

	*ok = !strstr(key, "(?") && !strstr(key, "\\d") &&
	      regcomp(&regex, key + 1 + any_case,
	          REG_EXTENDED | REG_NOSUB | (any_case ? REG_ICASE : 0)) == 0;
	if (!*ok)
		return false;
	match = regexec(&regex, value, 0, NULL, 0) == 0;
	regfree(&regex);
	return match;
}

/* Returns the value that the map has for a version: of the entry that equals
 * it, else of the first expression that matches, else the default. */
static const char *
value_of_version(const struct ngx_item *map, const char *version)
{
	const struct ngx_item *entry = ngx_entry_of(map, version);
	bool ok;

	if (entry && strcmp(entry->words.word[0], version) == 0)
		return ngx_value_of(entry);
	for (size_t i = 0; i < map->n; i++)
		if (map->children[i].words.n > 1 &&
		    map->children[i].words.word[0][0] == '~' &&
		    expression_has(
		        map->children[i].words.word[0], version, &ok))
			return ngx_value_of(&map->children[i]);
	return ngx_value_of(entry);
}

/* Reports the entries of a map over versions whose keys cannot be read, and
 * copies its comments. */
static void
report_versions(struct map_state *state, const struct ngx_item *map)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct ngx_item *entry = &map->children[i];
		bool ok = true;

		if (entry->words.n == 0)
			doc_comment(state->file->doc, entry->text);
		else if (entry->words.word[0][0] == '~')
			(void)expression_has(entry->words.word[0], "", &ok);
		if (!ok)
			ngx_lose_entry(state, entry,
			    "write route = version=VERSION backend=NAME");
	}
}

/* Writes the value of the versions that have this one, from `first` on.  all:
 * whether these are the ones that no other route has. */
static void
put_versions(struct map_state *state, const struct ngx_item *map, size_t first,
    bool all, const struct guard *guard)
{
	struct arena *arena = &state->file->doc->arena;
	const char *value = value_of_version(map, tls_versions[first].value);
	const char *list = NULL;
	struct guard inner = *guard;

	for (size_t i = first; i < TLS_VERSIONS; i++)
		if (strcmp(value,
		        value_of_version(map, tls_versions[i].value)) == 0)
			list = list ? arena_printf(arena, "%s,%s", list,
			                  tls_versions[i].version)
			            : tls_versions[i].version;
	if (!all)
		inner.others =
		    arena_printf(arena, "%s version=%s", guard->others, list);
	ngx_put_value(state, map, &inner, value);
}

static bool
has_value_before(const struct ngx_item *map, size_t nth)
{
	const char *value = value_of_version(map, tls_versions[nth].value);

	for (size_t i = 0; i < nth; i++)
		if (strcmp(value,
		        value_of_version(map, tls_versions[i].value)) == 0)
			return true;
	return false;
}

/* Writes a map over versions: clients without TLS, then each other value than
 * that of TLS 1.3 with its versions, and the rest. */
static void
put_version_map(struct map_state *state, const struct ngx_item *map,
    const struct guard *guard)
{
	const char *plain = value_of_version(map, "");
	const char *tls = value_of_version(map, "TLSv1.3");
	struct guard inner = *guard;
	bool differ = strcmp(plain, tls) != 0;

	report_versions(state, map);
	if (strstr(guard->others, " version=")) {
		ngx_lose_entry(state, map, "the version is tested twice");
		return;
	}
	for (size_t i = 1; i < TLS_VERSIONS; i++)
		differ |= !has_value_before(map, i);
	if (differ && !guard->sni && (!guard->tls || guard->tls[0] == 'n')) {
		inner.tls = "no";
		ngx_put_value(state, map, &inner, plain);
	}
	inner.tls = differ && !guard->sni ? "yes" : guard->tls;
	if (differ && guard->tls && guard->tls[0] == 'n')
		return;
	for (size_t i = 1; i < TLS_VERSIONS; i++)
		if (!has_value_before(map, i))
			put_versions(state, map, i, false, &inner);
	put_versions(state, map, 0, true, &inner);
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
				put_entry(
				    state, ABOUT_SRC, entry, *guard, true);
		}
}

/* Writes a map over addresses, ports or protocols, or a geo. */
static void
put_plain_map(struct map_state *state, const struct ngx_item *map,
    enum subject subject, const struct guard *guard)
{
	bool geo = ngx_is(map, "geo");

	if (geo)
		put_ranges(state, map, guard);
	for (size_t i = 0; i < map->n; i++) {
		const struct ngx_item *entry = &map->children[i];

		if (entry->words.n == 0)
			doc_comment(state->file->doc, entry->text);
		else if (ngx_is(entry, "include"))
			ngx_lose_entry(state, entry, "the file was not read");
		else if (geo &&
		         (ngx_is(entry, "proxy") || ngx_is(entry, "delete")))
			ngx_lose_entry(state, entry,
			    "a route has ranges, without exceptions");
		else if (!geo && entry->words.n >= 2 && *ngx_word(entry, 0) &&
		         !ngx_is(entry, "default"))
			put_entry(state, subject, entry, *guard, false);
	}
	ngx_put_key(state, map, guard, "default");
}

/* Writes the values of the inner map, each by way of the outer one. */
static void
put_through(struct map_state *state, const struct ngx_item *map,
    const struct ngx_item *inner, const struct guard *guard)
{
	struct through *through =
	    arena_alloc(&state->file->doc->arena, sizeof(*through));
	struct guard next = *guard;

	*through = (struct through){map, guard->through};
	next.through = through;
	ngx_put_map(state, inner, &next);
}

void
ngx_put_map(struct map_state *state, const struct ngx_item *map,
    const struct guard *guard)
{
	bool geo = ngx_is(map, "geo");
	const char *variable =
	    geo && map->words.n == 2 ? "$remote_addr" : ngx_word(map, 1);
	enum subject subject = subject_of(variable);
	const struct ngx_item *inner_map = ngx_find_map(state->file, variable);
	struct guard inner = *guard;

	inner.depth++;
	words_read_all(&map->words, 1);
	for (size_t i = 0; i < map->n; i++) {
		(void)ngx_word(&map->children[i], 0);
		(void)ngx_word(&map->children[i], 1);
	}
	if ((subject == ABOUT_NOTHING && !inner_map) || inner.depth > DEPTH_MAX)
		ngx_lose_entry(state, map,
		    "routes know sni, alpn, tls, version, src, dst and "
		    "port");
	else if (inner_map)
		put_through(state, map, inner_map, &inner);
	else if (strncmp(variable, "$ssl_preread_", 13) == 0 &&
	         !ngx_is_on(state->file, state->server, "ssl_preread"))
		ngx_put_key(state, map, &inner, "");
	else if (subject == ABOUT_SNI)
		put_name_map(state, map, &inner);
	else if (subject == ABOUT_TLS)
		put_version_map(state, map, &inner);
	else
		put_plain_map(state, map, subject, &inner);
}
