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

/* Parses value as if it stood in the backend's section, but without
 * server_defaults.  Errors name BACKEND/SERVER as their place. */
static bool
parse_added_server(struct spec *spec, struct backend_spec *backend,
    const char *value, struct err_list *errors)
{
	char head[sizeof("backend ") + NAME_MAX_LEN];
	char label[2 * NAME_MAX_LEN + 2], key[] = "server";
	struct draft_section section = {
	    .head = head, .kind = SECTION_BACKEND, .name = backend->name};
	struct draft_entry entry = {.label = label, .name = key};
	struct value v = {.text = value,
	    .object = backend,
	    .spec = spec,
	    .section = &section,
	    .entry = &entry,
	    .errors = errors};
	char *defaults = backend->server_defaults;
	bool ok;

	snprintf(head, sizeof(head), "backend %s", backend->name);
	snprintf(label, sizeof(label), "%s/%.*s", backend->name,
	    (int)strcspn(value, " "), value);
	v.key = key_find(SECTION_BACKEND, key);
	/* HAProxy does not apply default-server to added servers either. */
	backend->server_defaults = NULL;
	ok = value_parse(&v);
	backend->server_defaults = defaults;
	return ok;
}

bool
config_add_server(struct spec *spec, struct backend_spec *backend,
    const char *value, struct err_list *errors)
{
	size_t errors_before = errors->n;
	struct server_spec *s;

	if (!parse_added_server(spec, backend, value, errors))
		return false;
	INDEX_POINTERS(backend, servers);
	s = backend->servers[backend->singles_n - 1];
	s->added = true;
	build_check_server(backend, s, errors);
	build_check_set_name(backend, s, errors);
	build_track(spec, errors);
	build_tls_server(spec, backend, s, errors);
	if (server_spec_has_tls(backend, s))
		build_pools(spec);
	return errors->n == errors_before;
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

/* Notes the server's name, so that a reload can say that it brings it back. */
static bool
remember_deleted(struct backend_spec *b, const char *name)
{
	char *copy, **grown;
	size_t i;

	if (name_table_find(NAME_TABLE(b->deleted, b->deleted_n), name, &i))
		return true;
	copy = strdup(name);
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

bool
config_del_server(struct spec *spec, struct backend_spec *backend,
    const char *name, struct err_list *errors)
{
	size_t errors_before = errors->n, i;
	struct server_spec *s;
	bool has_tls;

	ENSURE(name_table_find(SERVER_TABLE(backend), name, &i) &&
	       i < backend->singles_n);
	s = backend->servers[i];
	has_tls = server_spec_has_tls(backend, s);
	if (!s->added && !remember_deleted(backend, name)) {
		err_list_add(errors, NULL, 0, "out of memory");
		return false;
	}
	server_spec_free(s);
	backend->singles_n--;
	memmove(&backend->servers[i], &backend->servers[i + 1],
	    (--backend->servers_n - i) * sizeof(s));
	INDEX_POINTERS(backend, servers);
	if (has_tls)
		build_pools(spec);
	/* The servers behind the deleted one have moved: resolve `track`
	 * again. */
	build_track(spec, errors);
	return errors->n == errors_before;
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
		    "the file rules over what was added or deleted while it "
		    "ran: %s",
		    out.text);
	free(out.text);
}
