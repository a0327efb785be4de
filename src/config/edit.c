/* SPDX-License-Identifier: MIT
 * See edit.h.
 */
#include "config/edit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "base/text_out.h"
#include "config/build.h"
#include "config/draft.h"
#include "config/keys.h"
#include "config/values.h"
#include "config/server_defaults.h"

/* Returns the backend's server of that name, or NULL. */
static struct server_spec *
server_named(const struct backend_spec *b, const char *name)
{
	size_t i;

	return b && name_table_find(SERVER_TABLE(b), name, &i) ? b->servers[i]
	                                                       : NULL;
}

/* Returns the backend of that name in the file, or NULL. */
static const struct backend_spec *
backend_like(const struct spec *file, const struct backend_spec *b)
{
	size_t i;

	return name_table_find(INDEXED_TABLE(file, backends), b->name, &i)
	           ? &file->backends[i]
	           : NULL;
}

/* Parses value as if it stood in the backend's section, with server_defaults
 * or without.  Errors name BACKEND/SERVER as their place.  Returns NULL
 * after an error. */
static struct server_spec *
parse_server(struct spec *spec, const struct backend_spec *backend,
    const char *value, bool defaults, struct err_list *errors)
{
	char head[sizeof("backend ") + NAME_MAX_LEN];
	char label[2 * NAME_MAX_LEN + 2], key[] = "server";
	/* The parser appends to the backend that it is given.  HAProxy does not
	 * apply default-server to added servers either. */
	struct backend_spec scratch = *backend;
	struct draft_section section = {
	    .head = head, .kind = SECTION_BACKEND, .name = backend->name};
	struct draft_entry entry = {.label = label, .name = key};
	struct value v = {.text = value,
	    .object = &scratch,
	    .spec = spec,
	    .section = &section,
	    .entry = &entry,
	    .errors = errors};
	struct server_spec *s = NULL;

	scratch.servers = NULL;
	scratch.servers_n = scratch.servers_room = scratch.singles_n = 0;
	if (!defaults)
		scratch.server_defaults = NULL;
	snprintf(head, sizeof(head), "backend %s", backend->name);
	snprintf(label, sizeof(label), "%s/%.*s", backend->name,
	    (int)strcspn(value, " "), value);
	v.key = key_find(SECTION_BACKEND, key);
	if (value_parse(&v))
		s = scratch.servers[0];
	else if (scratch.servers_n > 0)
		server_spec_free(scratch.servers[0]);
	free(scratch.servers);
	return s;
}

/* Adds an error if another server of the backend has the name. */
static void
check_name_is_new(const struct backend_spec *b, const struct server_spec *s,
    struct err_list *errors)
{
	const struct server_spec *other = server_named(b, s->name);
	char label[2 * NAME_MAX_LEN + 2], first[DRAFT_FIRST_SIZE];

	if (!other)
		return;
	snprintf(label, sizeof(label), "%s/%s", b->name, s->name);
	err_list_add(errors, label, 0,
	    "the name '%s' is already used by another server of [backend "
	    "%s]%s; "
	    "names must differ",
	    s->name, b->name, draft_first(other->place, s->place, first));
}

/* Checks the server against the rest of the configuration.  Returns it, or
 * frees it and returns NULL if there are more errors than before. */
static struct server_spec *
check_server(struct spec *spec, const struct backend_spec *backend,
    struct server_spec *s, struct err_list *errors, size_t before)
{
	build_check_server(backend, s, errors);
	build_check_set_name(backend, s, errors);
	if (s->track)
		build_track_server(
		    spec, (size_t)(backend - spec->backends), s, errors);
	build_tls_server(spec, backend, s, errors);
	if (errors->n == before)
		return s;
	server_spec_free(s);
	return NULL;
}

struct server_spec *
config_read_server(struct spec *spec, const struct backend_spec *backend,
    const char *value, struct err_list *errors)
{
	struct server_spec *s =
	    parse_server(spec, backend, value, false, errors);

	size_t before = errors->n;

	if (!s)
		return NULL;
	s->added = true;
	check_name_is_new(backend, s, errors);
	return check_server(spec, backend, s, errors, before);
}

struct server_spec *
config_read_line(struct spec *spec, const struct backend_spec *backend,
    const char *value, struct err_list *errors)
{
	struct server_spec *s =
	    parse_server(spec, backend, value, true, errors);

	return s ? check_server(spec, backend, s, errors, errors->n) : NULL;
}

void
config_server_text(const struct spec *spec, const struct backend_spec *backend,
    const struct server_spec *server, char out[CONFIG_SERVER_TEXT_SIZE])
{
	const struct key *key = key_find(SECTION_BACKEND, "server");
	struct shown s = {.key = key, .object = backend, .spec = spec};
	struct value v = {.key = key,
	    .object = (void *)(uintptr_t)backend,
	    .spec = (struct spec *)(uintptr_t)spec};
	struct server_spec base = {.name = NULL};
	unsigned allowed =
	    server->addr.sa.sa_family == AF_UNIX ? 0 : KEY_TCP_ONLY;
	bool defaults = backend->server_defaults &&
	                server_defaults_apply(&v, &base, allowed);

	_Static_assert(CONFIG_SERVER_TEXT_SIZE == VALUE_TEXT_SIZE, "one size");
	(void)value_write(out, "%s %s", server->name, server->address);
	options_print_set(&s, server, defaults ? &base : NULL, allowed, out);
	server_spec_clear(&base);
}

bool
config_note_deleted(
    struct backend_spec *backend, const struct server_spec *server)
{
	struct backend_spec *b = backend;
	char *copy, **grown;
	size_t i;

	if (server->added ||
	    name_table_find(
	        NAME_TABLE(b->deleted, b->deleted_n), server->name, &i))
		return true;
	copy = strdup(server->name);
	grown = reallocarray(b->deleted, b->deleted_n + 1, sizeof(*grown));
	if (grown)
		b->deleted = grown;
	if (!copy || !grown) {
		free(copy);
		return false;
	}
	b->deleted[b->deleted_n++] = copy;
	return true;
}

void
config_follow_servers(struct spec *spec)
{
	build_pools(spec);
}

/* Writes the server's name, behind the intro if it is the first one. */
static void
name_server(FILE *out, const char **intro, const struct backend_spec *b,
    const char *name)
{
	fprintf(out, "%s%s%s/%s", ftell(out) > 0 && *intro ? "; " : "",
	    *intro ? *intro : ", ", b->name, name);
	*intro = NULL;
}

/* Names the servers that were added.  in_file: those that are in the file with
 * the same address; otherwise the others. */
static void
name_added(FILE *out, const char *intro, const struct spec *running,
    const struct spec *file, bool in_file)
{
	for (size_t i = 0; i < running->backends_n; i++) {
		const struct backend_spec *b = &running->backends[i];
		const struct backend_spec *like = backend_like(file, b);

		for (size_t j = 0; j < b->servers_n; j++) {
			const struct server_spec *s = b->servers[j];
			const struct server_spec *now =
			    s->added ? server_named(like, s->name) : NULL;
			bool same = now && server_spec_same_place(now, s);

			if (s->added && same == in_file)
				name_server(out, &intro, b, s->name);
		}
	}
}

static void
name_deleted(FILE *out, const char *intro, const struct spec *running,
    const struct spec *file)
{
	for (size_t i = 0; i < running->backends_n; i++) {
		const struct backend_spec *b = &running->backends[i];
		const struct backend_spec *like = backend_like(file, b);

		for (size_t j = 0; j < b->deleted_n; j++)
			if (server_named(like, b->deleted[j]) &&
			    !server_named(b, b->deleted[j]))
				name_server(out, &intro, b, b->deleted[j]);
	}
}

void
config_tell_edits(const struct spec *running, const struct spec *file,
    struct changes *changes)
{
	struct text_out out;

	if (!text_out_open(&out))
		return;
	name_added(
	    out.stream, "not in it, and removed: ", running, file, false);
	name_added(
	    out.stream, "in it, and kept as they are: ", running, file, true);
	name_deleted(out.stream, "in it, and back again: ", running, file);
	if (text_out_close(&out) && out.size > 0)
		changes_add(changes, false,
		    "the reload discards servers added or deleted at run time: "
		    "%s",
		    out.text);
	free(out.text);
}
