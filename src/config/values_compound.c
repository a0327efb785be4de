/* SPDX-License-Identifier: MIT
 * Values with options: admin sockets, servers and what they have in common
 * (`server_defaults = weight=10 maxconn=100`), the age of sessions.
 */
#include "config/values.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/server_addr.h"
#include "config/server_defaults.h"

/* Reads an address: `/path`, `unix:/path` and `name` are files,
 * `127.0.0.1:9999` is TCP.  A TCP socket admits every client that reaches it,
 * so it must be reachable from this host only. */
static bool
parse_admin_addr(const struct value *v, const char *text, struct addr *ret_addr)
{
	const char *path = strncmp(text, "unix:", 5) == 0 ? text + 5 : text;
	struct err err;

	if (path == text && path[0] != '/' && strchr(path, ':')) {
		if (!addr_parse(text, ADDR_LISTEN, ret_addr, &err))
			return value_fail(v, "%s", err.text);
		return addr_is_loopback(ret_addr) ||
		       value_fail(v,
		           "'%s' can be reached from other hosts; allowed are "
		           "a path and addresses of this host alone, as in "
		           "127.0.0.1:9999 or [::1]:9999",
		           text);
	}
	if (strlen(path) >= sizeof(ret_addr->un.sun_path))
		return value_fail(v, "the path '%s' is longer than %zu bytes",
		    path, sizeof(ret_addr->un.sun_path) - 1);
	ret_addr->un.sun_family = AF_UNIX;
	strcpy(ret_addr->un.sun_path, path);
	ret_addr->len = sizeof(ret_addr->un);
	return true;
}

static void
forget_admin(struct admin_spec *a)
{
	free(a->text);
	free(a->user);
	free(a->group);
	free(a->operators);
	free(a->admins);
}

static unsigned
admin_options_of(const struct addr *addr)
{
	return addr->sa.sa_family == AF_UNIX ? KEY_UNIX_ONLY : 0;
}

static bool
parse_admin(const struct value *v)
{
	struct admin_list *list = value_target(v);
	struct admin_spec a = {.level = LEVEL_ADMIN};
	char first[DRAFT_FIRST_SIZE];
	struct words words;
	bool ok;

	if (v->entry)
		a.place = v->entry->place;
	words_split(&words, v->text);
	if (!parse_admin_addr(v, words.word[0], &a.addr))
		return false;
	if (a.addr.sa.sa_family != AF_UNIX)
		a.level = LEVEL_USER;
	ok = options_read(
	    v, &words, 1, &a, admin_options_of(&a.addr), "unix sockets only");
	for (size_t i = 0; ok && i < list->n; i++)
		if (addr_equal(&list->all[i].addr, &a.addr) &&
		    !addr_has_any_port(&a.addr))
			ok = value_fail(v,
			    "'%s' is an admin socket already%s; each address "
			    "can be used once",
			    words.word[0],
			    draft_first(list->all[i].place, a.place, first));
	if (ok && value_set_string(v, &a.text, words.word[0]) &&
	    value_append(v, &list->all, &list->n, &a, sizeof(a)))
		return true;
	forget_admin(&a);
	return false;
}

static bool
print_admin(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct admin_list *list = shown_source(s);
	const struct admin_spec *a;

	if (s->nth >= list->n)
		return false;
	a = &list->all[s->nth];
	return value_write(out, "%s", a->text) &&
	       options_print(s, a, NULL, admin_options_of(&a->addr), out);
}

/* Reads the address.  A second value in the same place replaces the first. */
static bool
parse_http(const struct value *v)
{
	struct global_spec *g = v->object;
	struct listen_spec *at = &g->http.at;
	struct words words;
	const char *where;
	struct err err;

	words_split(&words, v->text);
	where = words.word[0];
	if (!addr_parse(where, ADDR_LISTEN, &at->addr, &err))
		return value_fail(v, "%s", err.text);
	if (at->addr.sa.sa_family == AF_UNIX)
		return value_fail(
		    v, "'%s' is a unix socket; this is TCP only", where);
	at->both_families = where[0] == ':' || where[0] == '*';
	if (v->entry)
		at->place = v->entry->place;
	if (!options_read(v, &words, 1, g, 0, ""))
		return false;
	if (!g->http.user_header != !g->http.header_from)
		return value_fail(v,
		    "user_header and header_from need each other: every "
		    "client that sends the header is that user");
	if (g->http.user_header && !g->http.users)
		return value_fail(v, "user_header needs users = FILE, which "
		                     "has the level of each user");
	return value_set_string(v, &at->text, where);
}

static bool
print_http(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct global_spec *g = s->object;

	if (!g->http.at.text)
		return false;
	return value_write(out, "%s", g->http.at.text) &&
	       options_print(s, g, NULL, 0, out);
}

/* Returns whether the name is free in this backend; adds an error otherwise. */
static bool
check_name_is_free(const struct value *v, const char *name)
{
	const struct backend_spec *b = v->object;
	char first[DRAFT_FIRST_SIZE];
	struct err err;

	if (!name_check(name, NAME_MAX_LEN, &err))
		return value_fail(v, "%s", err.text);
	/* A file may have thousands of servers: build_check looks at all of
	 * them. */
	if (v->entry->place.file)
		return true;
	for (size_t i = 0; i < b->servers_n; i++) {
		const struct server_spec *other = b->servers[i];

		if (strcmp(other->name, name) == 0)
			return value_fail(v,
			    "the name '%s' is already used by another server "
			    "of [%s]%s; names must differ",
			    name, v->section->head,
			    draft_first(other->place, v->entry->place, first));
	}
	return true;
}

/* Makes room at once for all servers of the section: growing by one each time
 * would copy thousands of servers thousands of times. */
static bool
make_room_for_servers(const struct value *v)
{
	struct backend_spec *b = v->object;
	size_t room = b->servers_n, least = room + 1;
	struct server_spec **grown;

	if (b->servers_n < b->servers_room)
		return true;
	for (size_t i = 0; i < v->section->entries_n; i++)
		room +=
		    strcmp(v->section->entries[i].name, v->entry->name) == 0;
	room = room < least ? least : room;
	grown = reallocarray(b->servers, room, sizeof(*grown));
	if (!grown)
		return false;
	b->servers = grown;
	b->servers_room = room;
	return true;
}

/* Appends the server, and takes over what it owns, also on failure. */
static bool
append_server(const struct value *v, struct server_spec *server)
{
	struct backend_spec *b = v->object;
	struct server_spec *s = malloc(sizeof(*s));

	if (!s || !make_room_for_servers(v)) {
		free(s);
		server_spec_clear(server);
		return value_fail(v, "out of memory");
	}
	*s = *server;
	/* Servers of the file come before the members of sets. */
	memmove(&b->servers[b->singles_n + 1], &b->servers[b->singles_n],
	    (b->servers_n - b->singles_n) * sizeof(s));
	b->servers[b->singles_n++] = s;
	b->servers_n++;
	return true;
}

/* Reads the options into a temporary server, to report their errors, and keeps
 * the text. */
static bool
parse_server_defaults(const struct value *v)
{
	struct server_spec scratch = {.name = NULL};
	struct key key = *v->key;
	struct value options = *v;
	struct words words;
	bool ok;

	key.options = key.borrowed_options;
	options.key = &key;
	words_split(&words, v->text);
	if (words.n > 0 && !strchr(words.word[0], '=') &&
	    strchr(words.word[0], ':'))
		return value_fail(v,
		    "'%s' is an address; write options alone, as in weight=10",
		    words.word[0]);
	ok = options_read(&options, &words, 0, &scratch, KEY_TCP_ONLY, "TCP");
	server_spec_clear(&scratch);
	return ok && value_keep_text(v);
}

/* Returns whether the word is an option that servers with these flags have. */
static bool
is_option_for(const char *word, const struct key *options, unsigned allowed)
{
	size_t len = strcspn(word, "=");

	for (const struct key *o = options; o->name; o++)
		if (o->name[0] == word[0] && strncmp(o->name, word, len) == 0 &&
		    !o->name[len])
			return !(o->flags & ~allowed);
	return false;
}

bool
server_defaults_apply(
    const struct value *value, struct server_spec *server, unsigned allowed)
{
	const struct backend_spec *b = value->object;
	const struct key *options = value->key->options;
	struct words none, words, fit;
	struct value quiet = *value;

	/* The rest of these is large, and not read. */
	none.n = fit.n = 0;
	if (!options_read(value, &none, 0, server, allowed, ""))
		return false;
	if (!b->server_defaults)
		return true;
	words_split(&words, b->server_defaults);
	for (size_t i = 0; i < words.n; i++)
		if (is_option_for(words.word[i], options, allowed))
			fit.word[fit.n++] = words.word[i];
	/* The line of server_defaults has reported its errors already. */
	quiet.errors = NULL;
	return options_read_over(&quiet, &fit, 0, server, allowed, "");
}

/* Returns whether the word is like `weight=5`, and not an address like
 * `unix:/run/a=b`. */
static bool
is_option(const char *word)
{
	return word[strcspn(word, "=:/")] == '=';
}

/* Reads a server.  Appends it even if it has an error, so that a second one
 * with its name is noticed; the spec will not be used anyway. */
static bool
parse_server(const struct value *v)
{
	struct server_spec s = {.place = v->entry->place};
	struct addr_name name = {.host = ""};
	struct words words;
	struct err err;
	unsigned allowed;
	bool ok, named;

	words_split(&words, v->text);
	if (words.n < 2 || is_option(words.word[1]) ||
	    is_option_for(words.word[1], v->key->options, UINT_MAX))
		return value_fail(v,
		    "'%s' has no name or no address; write NAME HOST:PORT",
		    v->text);
	ok = named = check_name_is_free(v, words.word[0]);
	if (!server_addr_parse(words.word[1], &s, &name, &err))
		ok = value_fail(v, "%s", err.text);
	allowed = strncmp(words.word[1], "unix:", 5) == 0 ? 0 : KEY_TCP_ONLY;
	if (!server_defaults_apply(v, &s, allowed))
		ok = value_fail(v, "out of memory");
	ok &= options_read_over(v, &words, 2, &s, allowed, "TCP only");
	if (!named || !value_set_string(v, &s.name, words.word[0]) ||
	    (name.host[0] && !value_set_string(v, &s.host, name.host)) ||
	    !value_set_string(v, &s.address, words.word[1])) {
		server_spec_clear(&s);
		return false;
	}
	return append_server(v, &s) && ok;
}

static bool
print_server(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct backend_spec *b = s->object;
	struct value v = {.key = s->key,
	    .object = (void *)(uintptr_t)b,
	    .spec = (struct spec *)(uintptr_t)s->spec};
	struct server_spec base = {.name = NULL};
	const struct server_spec *server;
	unsigned allowed;

	if (s->nth >= b->singles_n)
		return false;
	server = b->servers[s->nth];
	allowed = server->addr.sa.sa_family == AF_UNIX ? 0 : KEY_TCP_ONLY;
	value_write(out, "%s %s", server->name, server->address);
	options_print(s, server,
	    b->server_defaults && server_defaults_apply(&v, &base, allowed)
	        ? &base
	        : NULL,
	    allowed, out);
	server_spec_clear(&base);
	return true;
}

/* Reads the name of a server.  Whether it exists is checked once all servers
 * are known. */
static bool
parse_track(const struct value *v)
{
	const char *slash = strchr(v->text, '/');
	const char *name = slash ? slash + 1 : v->text;

	if (!*name || slash == v->text || strchr(name, '/'))
		return value_fail(v,
		    "'%s' is not a server; write BACKEND/SERVER, or SERVER "
		    "alone for one of the same backend",
		    v->text);
	return value_keep_text(v);
}

static bool
parse_age(const struct value *v)
{
	struct frontend_spec *f = v->object;
	struct words words;
	struct err err;
	bool ok;

	words_split(&words, v->text);
	ok = options_read(v, &words, 1, f, 0, "");
	if (value_is_unset(v, words.word[0])) {
		f->max_age_ms = 0;
		return true;
	}
	return (text_parse_duration(words.word[0], v->key->min, v->key->max,
	            &f->max_age_ms, &err) ||
	           value_fail(v, "%s", err.text)) &&
	       ok;
}

static bool
print_age(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct frontend_spec *f = s->object;

	if (f->max_age_ms == 0)
		return false;
	text_duration(f->max_age_ms, out);
	options_print(s, f, NULL, 0, out);
	return true;
}

VALUE_TYPE(admin, print_admin,
    "a path, or a loopback address as in 127.0.0.1:9999", 0);
VALUE_TYPE(http, print_http, "HOST:PORT, [HOST]:PORT, *:PORT or :PORT", 0);
VALUE_TYPE(server, print_server,
    "NAME and HOST:PORT, [V6]:PORT or unix:/path; without :PORT, or with :+N "
    "or "
    ":-N, the client's port",
    0);
VALUE_TYPE(track, value_print_string, "BACKEND/SERVER, or SERVER", 0);
VALUE_TYPE(age, print_age, NULL, 0);
VALUE_TYPE(server_defaults, value_print_string,
    "options of a server, as in weight=10 maxconn=100", 0);
