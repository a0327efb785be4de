/* SPDX-License-Identifier: MIT
 * Makes the servers of a spec from the members of its sets, see
 * sets_internal.h.
 */
#include "sets/sets_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "base/text.h"
#include "config/keys.h"
#include "config/member.h"

const char *
set_source_text(const struct set_spec *set, char out[SET_TEXT_SIZE])
{
	snprintf(out, SET_TEXT_SIZE, "%s=%s", discovery_kinds[set->kind].name,
	    set->source);
	return out;
}

struct server_set *
set_find(struct list *sets, const struct backend_spec *b,
    const struct set_spec *spec)
{
	for_each_set(set, sets)
	{
		if (strcmp(set->backend, b->name) == 0 &&
		    strcmp(set->prefix, spec->prefix) == 0)
			return set;
	}
	return NULL;
}

struct server_set *
set_of(struct sets *sets, const struct backend_spec *b,
    const struct set_spec *spec)
{
	struct server_set *set = set_find(&sets->coming, b, spec);

	return set ? set : set_find(&sets->sets, b, spec);
}

/* A list of a backend's servers that is being made. */
struct filling {
	struct spec *spec;
	struct backend_spec *backend;
	struct server_spec **servers;
	size_t n, room;
	size_t old; /* index of the backend's next present member */
};

static void
note_left_out(const struct filling *f, size_t set, struct set_member *m,
    const struct err_list *errors, bool is_used)
{
	const struct err_entry *e = errors->entries;
	const char *why = errors->n > 0 && e ? e->text : NULL;
	char source[SET_TEXT_SIZE];

	if (!why)
		why = "out of memory";
	if (m->why && strcmp(m->why, why) == 0)
		return;
	free(m->why);
	m->why = strdup(why);
	event_add(EVENT_SET_MEMBER, LOG_LEVEL_ERROR, f->backend->name, m->key,
	    "%s: member %s%s%s%s of the set %s %s: %s (source: %s)",
	    f->backend->name, m->key, *m->note ? " (" : "", m->note,
	    *m->note ? ")" : "", f->backend->sets[set].prefix,
	    is_used ? "keeps its former options" : "is left out", why,
	    set_source_text(&f->backend->sets[set], source));
}

/* Reads the member with these options into ret.  Returns false with errors. */
static bool
read_with(const struct filling *f, size_t set, const struct set_member *m,
    const char *options, struct server_spec **ret, struct err_list *errors)
{
	char name[NAME_MAX_LEN + 12];
	const struct config_member member = {.name = name,
	    .key = m->key,
	    .address = m->address,
	    .options = options,
	    .note = m->note,
	    .since_ms = m->since_ms,
	    .joined = m->joined};

	snprintf(name, sizeof(name), "%s%u", f->backend->sets[set].prefix,
	    m->number);
	return config_member_read(
	    f->spec, f->backend, set, &member, ret, errors);
}

/* Returns the number in the name of a member of the set. */
static unsigned
number_of(const struct filling *f, const struct server_spec *server, size_t set)
{
	size_t len = strlen(f->backend->sets[set].prefix);

	return (unsigned)strtoul(server->name + len, NULL, 10);
}

/* Returns whether the present member of the backend is of an earlier set, or
 * has a lower number. */
static bool
is_before(const struct filling *f, const struct server_spec *s, size_t set,
    unsigned number)
{
	return s->set.value < set ||
	       (s->set.value == set && number_of(f, s, set) < number);
}

/* Takes over the present server of a member that has not changed: reading
 * options again takes most of the time of an update.  Members and servers are
 * in the same order.  Returns false if there is no such server. */
static bool
take_present(struct filling *f, size_t set, const struct set_member *m)
{
	const struct backend_spec *b = f->backend;
	struct server_spec *s;

	while (f->old < b->servers_n &&
	       is_before(f, b->servers[f->old], set, m->number))
		f->old++;
	if (f->old == b->servers_n)
		return false;
	s = b->servers[f->old];
	if (s->set.value != set || !m->same || m->why ||
	    number_of(f, s, set) != m->number ||
	    strcmp(s->address, m->address) != 0 || strcmp(s->key, m->key) != 0)
		return false;
	f->servers[f->n++] = s;
	f->old++;
	return true;
}

static void
fill_member(struct filling *f, size_t set, struct set_member *m)
{
	struct server_spec **to = &f->servers[f->n];
	struct err_list errors, ignored;
	bool ok;

	if (take_present(f, set, m))
		return;
	err_list_init(&errors);
	ok = read_with(f, set, m, m->options, to, &errors);
	if (ok) {
		free(m->why);
		free(m->former_options);
		m->why = m->former_options = NULL;
	} else {
		err_list_init(&ignored);
		ok = m->former_options &&
		     read_with(f, set, m, m->former_options, to, &ignored);
		err_list_fini(&ignored);
		note_left_out(f, set, m, &errors, ok);
	}
	err_list_fini(&errors);
	f->n += ok;
}

static struct set_members *
members_to_be(struct server_set *set)
{
	return set->has_next ? &set->next : &set->members;
}

/* Makes the list of the backend's servers, with those of its sets.  Returns
 * false when memory is short. */
static bool
fill_list(struct sets *sets, struct filling *f)
{
	const struct backend_spec *b = f->backend;
	struct server_set *set;

	f->room = f->old = b->singles_n;
	for (size_t i = 0; i < b->sets_n; i++) {
		set = set_of(sets, b, &b->sets[i]);
		f->room += set ? members_to_be(set)->live : 0;
	}
	f->servers = calloc(f->room + 1, sizeof(struct server_spec *));
	if (!f->servers)
		return false;
	for (f->n = 0; f->n < b->singles_n; f->n++)
		f->servers[f->n] = b->servers[f->n];
	for (size_t i = 0; i < b->sets_n; i++) {
		struct set_members *m;

		set = set_of(sets, b, &b->sets[i]);
		m = set ? members_to_be(set) : NULL;
		for (size_t j = 0; m && j < m->n; j++)
			if (!m->all[j].gone)
				fill_member(f, i, &m->all[j]);
	}
	return true;
}

bool
sets_fill_spec(struct sets *sets, struct spec *spec)
{
	for (size_t i = 0; i < spec->backends_n; i++) {
		struct filling f = {
		    .spec = spec, .backend = &spec->backends[i]};

		if (f.backend->sets_n == 0)
			continue;
		if (!fill_list(sets, &f))
			return false;
		config_set_members(f.backend, f.servers, f.n);
	}
	return true;
}

bool
sets_list_servers(struct sets *sets, struct spec *spec,
    struct backend_spec *backend, struct server_spec ***ret_list, size_t *ret_n)
{
	struct filling f = {.spec = spec, .backend = backend};

	if (!fill_list(sets, &f))
		return false;
	*ret_list = f.servers;
	*ret_n = f.n;
	return true;
}
