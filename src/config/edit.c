/* SPDX-License-Identifier: MIT
 * See edit.h.
 */
#include "config/edit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "config/build_parts.h"
#include "config/draft.h"
#include "config/keys.h"
#include "config/values.h"

/* NULL: there is none. */
static struct server_spec *
server_named(const struct backend_spec *b, const char *name)
{
	size_t i;

	return b && name_table_find(
	                NAME_TABLE(b->servers, b->servers_n), name, &i)
	           ? &b->servers[i]
	           : NULL;
}

/* Parses value as if it stood in the backend's section, but without
 * server_defaults.  Errors name BACKEND/SERVER as their place. */
static bool
parse_added_server(struct spec *spec, struct backend_spec *backend, char *value,
    struct err_list *errors)
{
	char head[sizeof("backend ") + NAME_MAX_LEN];
	char label[2 * NAME_MAX_LEN + 2], key[] = "server";
	struct draft_section section = {
	    .head = head, .kind = SECTION_BACKEND, .name = backend->name};
	struct draft_entry entry = {
	    .label = label, .name = key, .value = value};
	struct value v = {.text = value,
	    .object = backend,
	    .spec = spec,
	    .section = &section,
	    .entry = &entry,
	    .errors = errors};
	char *defaults = backend->server_defaults;
	enum section_kind home;
	bool ok;

	snprintf(head, sizeof(head), "backend %s", backend->name);
	snprintf(label, sizeof(label), "%s/%.*s", backend->name,
	    (int)strcspn(value, " "), value);
	v.key = key_find(SECTION_BACKEND, key, &home);
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
	char *copy = strdup(value);
	struct server_spec *s;

	if (!copy || !parse_added_server(spec, backend, copy, errors)) {
		free(copy);
		if (errors->n == errors_before)
			err_list_add(errors, NULL, 0, "out of memory");
		return false;
	}
	free(copy);
	s = &backend->servers[backend->servers_n - 1];
	s->added = true;
	build_check_server(backend, s, errors);
	build_track(spec, errors);
	return errors->n == errors_before;
}

/* So that a reload can say that it brings one back. */
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
	struct server_spec *s = server_named(backend, name);
	size_t errors_before = errors->n;

	ENSURE(s);
	if (!s->added && !remember_deleted(backend, name)) {
		err_list_add(errors, NULL, 0, "out of memory");
		return false;
	}
	server_spec_clear(s);
	memmove(s, s + 1,
	    (size_t)(&backend->servers[--backend->servers_n] - s) * sizeof(*s));
	/* The servers behind the deleted one have moved: resolve `track`
	 * again. */
	build_track(spec, errors);
	return errors->n == errors_before;
}

/* -- a reload -- */

enum fate { DROPPED, KEPT, BACK, FATES };

static void
name_one(FILE *out, const struct backend_spec *b, const char *name)
{
	fprintf(out, "%s%s/%s", ftell(out) > 0 ? ", " : "", b->name, name);
}

static void
sort_backend(const struct backend_spec *running,
    const struct backend_spec *file, FILE *out[FATES])
{
	for (size_t i = 0; i < running->servers_n; i++) {
		const struct server_spec *s = &running->servers[i], *now;

		if (!s->added)
			continue;
		now = server_named(file, s->name);
		name_one(
		    out[now && server_spec_same_place(now, s) ? KEPT : DROPPED],
		    running, s->name);
	}
	for (size_t i = 0; i < running->deleted_n; i++)
		if (server_named(file, running->deleted[i]) &&
		    !server_named(running, running->deleted[i]))
			name_one(out[BACK], running, running->deleted[i]);
}

static void
tell_fates(const char *const texts[FATES], struct changes *changes)
{
	const char *dropped = texts[DROPPED], *kept = texts[KEPT];
	const char *back = texts[BACK];

	if (!*dropped && !*kept && !*back)
		return;
	changes_add(changes, false,
	    "the file rules over what was added or deleted while it ran: "
	    "%s%s%s%s%s%s%s%s",
	    *dropped ? "not in it, and removed: " : "", dropped,
	    *dropped && (*kept || *back) ? "; " : "",
	    *kept ? "in it, and kept as they are: " : "", kept,
	    *kept && *back ? "; " : "", *back ? "in it, and back again: " : "",
	    back);
}

void
config_tell_edits(const struct spec *running, const struct spec *file,
    struct changes *changes)
{
	char *texts[FATES] = {NULL};
	FILE *out[FATES] = {NULL};
	bool ok = true;
	size_t size;

	for (size_t i = 0; i < FATES; i++) {
		out[i] = open_memstream(&texts[i], &size);
		ok &= out[i] != NULL;
	}
	for (size_t i = 0; ok && i < running->backends_n; i++) {
		const struct backend_spec *b = &running->backends[i];
		size_t same;

		sort_backend(b,
		    name_table_find(
		        NAME_TABLE(file->backends, file->backends_n), b->name,
		        &same)
		        ? &file->backends[same]
		        : NULL,
		    out);
	}
	for (size_t i = 0; i < FATES; i++)
		if (out[i] && fclose(out[i]) != 0)
			ok = false;
	if (ok)
		tell_fates((const char *const *)texts, changes);
	for (size_t i = 0; i < FATES; i++)
		free(texts[i]);
}
