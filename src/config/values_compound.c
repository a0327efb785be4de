/* SPDX-License-Identifier: MIT
 * Values with options: the admin socket, addresses to listen on, servers,
 * health checks.
 */
#include "config/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/hint.h"

/* Writes all options, or where the line would get too long for inih those
 * that differ from their defaults: the value that was read was no longer. */
static void
print_options(const struct shown *s, const struct key *options,
    const void *object, unsigned allowed, char out[VALUE_TEXT_SIZE])
{
	size_t len = strlen(out);

	options_print(options, object, s->spec, allowed, true, out);
	if (strlen(out) <= DRAFT_VALUE_MAX)
		return;
	out[len] = '\0';
	options_print(options, object, s->spec, allowed, false, out);
}

/* The socket's path must leave room for the final NUL of sun_path. */
static bool
parse_admin(const struct value *v)
{
	struct global_spec *g = v->object;
	struct words words;
	struct addr addr;
	bool ok;

	words_split(&words, v->text);
	ok = options_read(v, &words, 1, g, 0, "");
	if (strlen(words.word[0]) >= sizeof(addr.un.sun_path))
		return value_fail(v, "the path '%s' is longer than %zu bytes",
		    words.word[0], sizeof(addr.un.sun_path) - 1);
	return value_set_string(v, &g->admin, words.word[0]) && ok;
}

static bool
print_admin(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const struct global_spec *g = s->object;

	if (i > 0 || !g->admin)
		return false;
	snprintf(out, VALUE_TEXT_SIZE, "%s", g->admin);
	print_options(s, s->key->options, g, 0, out);
	return true;
}

static bool
parse_listen(const struct value *v)
{
	struct frontend_spec *f = v->object;
	struct listen_spec l = {.place = v->entry->place}, *grown;
	struct words words;
	struct err err;
	bool ok = true, is_unix;
	const char *text;

	words_split(&words, v->text);
	text = words.word[0];
	is_unix = strncmp(text, "unix:", 5) == 0;
	if (!addr_parse(text, ADDR_LISTEN, &l.addr, &err))
		ok = value_fail(v, "%s", err.text);
	ok &= options_read(v, &words, 1, &l, is_unix ? KEY_UNIX_ONLY : 0,
	    "unix sockets only, as in unix:/path mode=0666");
	l.both_families = text[0] == ':' || text[0] == '*';
	if (!ok)
		return false;
	grown = reallocarray(f->listens, f->listens_n + 1, sizeof(*grown));
	if (!grown)
		return value_fail(v, "out of memory");
	f->listens = grown;
	if (!value_set_string(v, &l.text, text))
		return false;
	f->listens[f->listens_n++] = l;
	return true;
}

static bool
print_listen(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const struct frontend_spec *f = s->object;
	const struct listen_spec *l;

	if (i >= f->listens_n)
		return false;
	l = &f->listens[i];
	snprintf(out, VALUE_TEXT_SIZE, "%s", l->text);
	print_options(s, s->key->options, l,
	    l->addr.sa.sa_family == AF_UNIX ? KEY_UNIX_ONLY : 0, out);
	return true;
}

/* Whether the name is free in this backend; else an error. */
static bool
check_server_name(const struct value *v, const char *name)
{
	const struct backend_spec *b = v->object;
	char first[DRAFT_FIRST_SIZE];
	struct err err;

	if (!name_check(name, NAME_MAX_LEN, &err))
		return value_fail(v, "%s", err.text);
	for (size_t i = 0; i < b->servers_n; i++) {
		const struct server_spec *other = &b->servers[i];

		if (strcmp(other->name, name) == 0)
			return value_fail(v,
			    "the name '%s' is taken by another server of "
			    "[%s]%s; names must differ",
			    name, v->section->head,
			    draft_first(other->place, v->entry->place, first));
	}
	return true;
}

/* Takes over what the server owns. */
static bool
append_server(const struct value *v, struct server_spec *server)
{
	struct backend_spec *b = v->object;
	struct server_spec *grown =
	    reallocarray(b->servers, b->servers_n + 1, sizeof(*grown));

	if (!grown) {
		free(server->name);
		free(server->address);
		return value_fail(v, "out of memory");
	}
	b->servers = grown;
	b->servers[b->servers_n++] = *server;
	return true;
}

/* `weight=5` and not the address `unix:/run/a=b`. */
static bool
is_option(const char *word)
{
	return word[strcspn(word, "=:/")] == '=';
}

/* A server with a fault elsewhere is appended all the same, so that a second
 * one of its name is noticed; the spec comes to nothing anyway. */
static bool
parse_server(const struct value *v)
{
	struct server_spec s = {.place = v->entry->place};
	struct words words;
	struct err err;
	bool ok, named;

	words_split(&words, v->text);
	if (words.n < 2 || is_option(words.word[1]))
		return value_fail(v,
		    "'%s' lacks a name or an address; write NAME HOST:PORT",
		    v->text);
	ok = named = check_server_name(v, words.word[0]);
	if (!addr_parse(words.word[1], ADDR_CONNECT, &s.addr, &err))
		ok = value_fail(v, "%s", err.text);
	ok &= options_read(v, &words, 2, &s, 0, "");
	if (!named)
		return false;
	if (!value_set_string(v, &s.name, words.word[0]) ||
	    !value_set_string(v, &s.address, words.word[1])) {
		free(s.name);
		return false;
	}
	return append_server(v, &s) && ok;
}

static bool
print_server(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const struct backend_spec *b = s->object;

	if (i >= b->servers_n)
		return false;
	snprintf(out, VALUE_TEXT_SIZE, "%s %s", b->servers[i].name,
	    b->servers[i].address);
	print_options(s, s->key->options, &b->servers[i], 0, out);
	return true;
}

/* In the order of enum check_kind. */
static const char *const check_kinds[] = {"off", "connect", "http", NULL};

#define KINDS (sizeof(check_kinds) / sizeof(check_kinds[0]) - 1)

static void
check_fini(struct check_spec *c)
{
	free(c->path);
	free(c->host);
	free(c->method);
}

static bool
parse_check_kind(
    const struct value *v, const char *word, enum check_kind *ret_kind)
{
	struct hint hint;

	hint_init(&hint, word);
	for (size_t i = 0; i < KINDS; i++) {
		if (strcmp(word, check_kinds[i]) == 0) {
			*ret_kind = (enum check_kind)i;
			return true;
		}
		hint_offer(&hint, check_kinds[i]);
	}
	return value_fail(
	    v, "'%s' is unknown; %s", word, hint_text(&hint, "allowed"));
}

static bool
parse_check(const struct value *v)
{
	struct check_spec *check = (void *)((char *)v->object + v->key->offset);
	struct check_spec c = {.kind = CHECK_OFF};
	struct words words;
	bool ok;

	words_split(&words, v->text);
	if (!parse_check_kind(v, words.word[0], &c.kind))
		return false;
	if (c.kind == CHECK_OFF && words.n > 1)
		return value_fail(v, "'off' takes no options");
	ok = options_read(v, &words, 1, &c,
	    c.kind == CHECK_HTTP ? KEY_HTTP_ONLY : 0,
	    "http checks only, as in check = http path=/healthz");
	if (!ok) {
		check_fini(&c);
		return false;
	}
	check_fini(check);
	*check = c;
	return true;
}

static bool
print_check(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const struct check_spec *c =
	    (const void *)((const char *)s->object + s->key->offset);

	if (i > 0)
		return false;
	snprintf(out, VALUE_TEXT_SIZE, "%s", check_kinds[c->kind]);
	if (c->kind != CHECK_OFF)
		print_options(s, s->key->options, c,
		    c->kind == CHECK_HTTP ? KEY_HTTP_ONLY : 0, out);
	return true;
}

const struct value_type type_admin = {parse_admin, print_admin};
const struct value_type type_listen = {parse_listen, print_listen};
const struct value_type type_server = {parse_server, print_server};
const struct value_type type_check = {parse_check, print_check};
