/* SPDX-License-Identifier: MIT
 * See backend_servers.h.
 */
#include "model/backend_servers.h"

#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "base/grace.h"
#include "model/loops.h"
#include "model/model.h"
#include "model/removed.h"
#include "model/server_change.h"

/* The ids that are taken: a new server gets the lowest free one, as in HAProxy.
 */
struct ids {
	bool *taken; /* by id - 1 */
	size_t n;
	size_t next;
};

static void
ids_take(struct ids *ids, unsigned id)
{
	if (id <= ids->n)
		ids->taken[id - 1] = true;
}

static unsigned
ids_give(struct ids *ids)
{
	while (ids->taken[ids->next])
		ids->next++;
	ids->taken[ids->next] = true;
	return (unsigned)ids->next + 1;
}

/* Returns whether the removed server keeps its id.  A deleted one does not,
 * although a handler's run that has not ended may still give it a session: that
 * session does not depend on the id. */
static bool
holds_id(const struct removed_server *r, const struct backend *b)
{
	return strcmp(r->backend, b->spec->name) == 0 &&
	       ((!r->state->deleted && !r->gone) ||
	           atomic_load_relaxed(&r->state->sessions.now) > 0);
}

/* Makes room for the ids of new_n servers behind those that are taken. */
static bool
ids_init(struct ids *ids, const struct backend *b, const struct backend *before,
    size_t new_n)
{
	size_t before_n = before ? before->spec->servers_n : 0, removed_n;
	struct removed_server *const *removed = removed_of_backend(
	    &b->model->state->removed, b->spec->name, &removed_n);

	*ids = (struct ids){.n = new_n + before_n + removed_n + 1};
	ids->taken = calloc(ids->n, sizeof(*ids->taken));
	if (!ids->taken)
		return false;
	for (size_t i = 0; i < before_n; i++)
		ids_take(ids, before->servers[i]->id);
	for (size_t i = 0; i < removed_n; i++)
		if (holds_id(removed[i], b))
			ids_take(ids, removed[i]->state->id);
	return true;
}

/* Returns the server of that name in the former model, or NULL.  Most servers
 * are at the same place there. */
static const struct server *
find_old(const struct backend *before, const char *name, size_t place)
{
	if (!before)
		return NULL;
	if (place < before->spec->servers_n &&
	    strcmp(before->spec->servers[place]->name, name) == 0)
		return before->servers[place];
	return backend_find_server(before, name);
}

/* Makes a server of the spec.  old: the server of that name so far, or NULL.  A
 * server whose address has changed gets a new state, but keeps its id. */
static struct server *
make_server(struct backend *b, const struct server_spec *spec,
    const struct server *old, struct ids *ids)
{
	struct server_state *state = NULL;

	if (old && (server_spec_same_place(old->spec, spec) ||
	               server_has_place(old, spec)))
		state = old->state;
	else if (!spec->added)
		state = removed_find(b->model->state, b->spec->name, spec);
	return server_new(spec, b, state,
	    state ? state->id
	    : old ? old->id
	          : ids_give(ids));
}

bool
backend_make_servers(struct backend *backend, const struct backend *before)
{
	struct backend *b = backend;
	size_t n = b->spec->servers_n;
	struct ids ids;

	b->servers = calloc(n + 1, sizeof(*b->servers));
	if (!b->servers || !ids_init(&ids, b, before, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct server_spec *s = b->spec->servers[i];

		b->servers[i] =
		    make_server(b, s, find_old(before, s->name, i), &ids);
		if (!b->servers[i])
			break;
	}
	free(ids.taken);
	return n == 0 || b->servers[n - 1];
}

void
backend_track(struct server *server)
{
	const struct server_spec *spec = server->spec;
	struct server *t;

	if (!spec->track)
		return;
	t = backend_find_server(
	    server->backend->model->backends[spec->track_backend],
	    server_spec_tracked(spec));
	ENSURE(t);
	server_track(server, t);
}

/* -- changes -- */

/* Returns the index among the present servers, from `from` on, of the one with
 * this spec, or the number of servers if the spec is new. */
static size_t
find_present(
    const struct backend *b, const struct server_spec *spec, size_t from)
{
	const struct backend_spec *present = b->spec;
	size_t i = from;

	if (i < present->servers_n && present->servers[i] == spec)
		return i;
	return name_table_find(SERVER_TABLE(present), spec->name, &i) &&
	               i >= from && present->servers[i] == spec
	           ? i
	           : present->servers_n;
}

/* Fills in to, for servers that stay, and came_at for those that are new. */
static void
pair_servers(struct backend_change *c)
{
	const struct backend_spec *present = c->backend->spec;
	size_t from = 0;

	for (size_t i = 0; i < c->n; i++) {
		size_t at = find_present(c->backend, c->specs[i], from);

		if (at == present->servers_n) {
			c->came_at[c->came_n++] = (uint32_t)i;
			continue;
		}
		while (from < at)
			c->to[from++] = NAME_GONE;
		c->to[from++] = (uint32_t)i;
		c->servers[i] = c->backend->servers[at];
	}
	while (from < present->servers_n)
		c->to[from++] = NAME_GONE;
	for (size_t i = 0; i < present->servers_n; i++)
		if (c->to[i] == NAME_GONE)
			c->gone[c->gone_n++] = c->backend->servers[i];
}

static bool
make_new(struct backend_change *c)
{
	struct backend *b = c->backend;
	struct ids ids;
	bool ok;

	if (c->came_n == 0)
		return true;
	ok = ids_init(&ids, b, b, c->came_n);
	for (size_t i = 0; ok && i < c->came_n; i++) {
		const struct server_spec *s = c->specs[c->came_at[i]];

		c->came[i] =
		    make_server(b, s, backend_find_server(b, s->name), &ids);
		c->servers[c->came_at[i]] = c->came[i];
		ok = c->came[i];
	}
	free(ids.taken);
	return ok;
}

bool
backend_change_prepare(struct backend_change *ret_change,
    struct backend *backend, struct server_spec **specs, size_t n,
    size_t singles_n)
{
	struct backend_change *c = ret_change;
	size_t present_n = backend->spec->servers_n;

	*c = (struct backend_change){.backend = backend,
	    .specs = specs,
	    .n = n,
	    .singles_n = singles_n,
	    .servers = calloc(n + 1, sizeof(*c->servers)),
	    .came = calloc(n + 1, sizeof(*c->came)),
	    .gone = calloc(present_n + 1, sizeof(*c->gone)),
	    .came_at = calloc(n + 1, sizeof(*c->came_at)),
	    .to = calloc(present_n + 1, sizeof(*c->to))};
	if (c->servers && c->came && c->gone && c->came_at && c->to) {
		pair_servers(c);
		if (make_new(c))
			return true;
	}
	backend_change_cancel(c);
	return false;
}

void
backend_change_cancel(struct backend_change *change)
{
	struct backend_change *c = change;
	const struct backend *b = c->backend;

	for (size_t i = 0; i < c->came_n; i++)
		server_free(c->came[i]);
	for (size_t i = 0; c->specs && i < c->n; i++)
		if (find_present(b, c->specs[i], 0) == b->spec->servers_n)
			server_spec_free(c->specs[i]);
	free(c->specs);
	free(c->servers);
	backend_change_fini(c);
}

void
backend_change_fini(struct backend_change *change)
{
	free(change->came);
	free(change->gone);
	free(change->came_at);
	free(change->to);
	*change = (struct backend_change){.n = 0};
}

static bool
is_in_lineup(const struct server *s)
{
	const struct lineup *l = backend_lineup(s->backend);
	uint32_t place = lineup_place_of(l, s);

	return place != PLACE_NONE && l->servers[place] == s;
}

/* Marks the backend if a lineup with the server differs from one without. */
static void
mark_if_chosen(const struct server *s)
{
	struct backend *b = s->backend;

	if (is_in_lineup(s) || server_is_usable(s) ||
	    (b->spec->panic_percent > 0 && server_is_wanted(s)))
		backend_mark_changed(b);
}

static void
let_go(struct server *s)
{
	struct model *m = s->backend->model;

	ENSURE(!s->trackers);
	server_untrack(s);
	mark_if_chosen(s);
	s->next_gone = m->gone;
	m->gone = s;
}

static void
take_in(struct server *s)
{
	backend_track(s);
	s->loops = server_loop(s);
	server_settle(s);
	mark_if_chosen(s);
}

/* Replaces the lists of the backend and of its spec. */
static void
swap_lists(struct backend_change *c)
{
	struct backend *b = c->backend;
	struct spec *all = b->model->spec;
	struct backend_spec *spec = &all->backends[b->spec - all->backends];
	const struct name_table before = *SERVER_TABLE(spec);

	spec->servers = c->specs;
	spec->servers_n = c->n;
	spec->servers_room = c->n;
	spec->singles_n = c->singles_n;
	name_index_change(&spec->servers_index, &before, c->to,
	    SERVER_TABLE(spec), c->came_at, c->came_n);
	free((void *)(uintptr_t)before.all);
	free(b->servers);
	b->servers = c->servers;
	c->specs = NULL;
	c->servers = NULL;
}

/* Looks again which servers lead back to their backends, if one of those that
 * have come or gone may be a part of a way. */
static void
find_loops(const struct backend_change *c)
{
	struct model *m = c->backend->model;
	bool any = false;

	for (size_t i = 0; i < c->came_n && !any; i++)
		any = loops_concern(
		    m->loops, c->came[i]->spec, server_addr(c->came[i]));
	for (size_t i = 0; i < c->gone_n && !any; i++)
		any = loops_concern(
		    m->loops, c->gone[i]->spec, server_addr(c->gone[i]));
	if (any)
		model_for_each_server (s, m)
			server_find_loop(s);
}

void
backend_change_commit(struct backend_change *change)
{
	struct backend_change *c = change;

	swap_lists(c);
	for (size_t i = 0; i < c->gone_n; i++)
		let_go(c->gone[i]);
	for (size_t i = 0; i < c->came_n; i++)
		take_in(c->came[i]);
	find_loops(c);
	removed_follow(
	    c->backend->model, c->came, c->came_n, c->gone, c->gone_n);
}

/* -- servers that have gone -- */

static void
free_gone(void *arg)
{
	struct server *s = arg;
	struct server_spec *spec = (struct server_spec *)(uintptr_t)s->spec;

	server_free(s);
	server_spec_free(spec);
}

/* Returns whether no thread uses the server any more.  stamp: of this call;
 * 0: none yet. */
static bool
is_unused(struct server *s, struct grace *grace, uint64_t *stamp)
{
	if (s->gone_at > 0)
		return grace_passed(grace, s->gone_at) &&
		       atomic_load_acquire(&s->pins) == 0; /* [P15] */
	if (is_in_lineup(s))
		return false;
	if (*stamp == 0)
		*stamp = grace_stamp(grace);
	s->gone_at = *stamp;
	return false;
}

void
backend_servers_reclaim(struct model *model)
{
	struct server **link = &model->gone;
	uint64_t stamp = 0;

	while (*link) {
		struct server *s = *link;

		if (is_unused(s, model->grace, &stamp)) {
			*link = s->next_gone;
			grace_retire(model->grace, free_gone, s);
		} else {
			link = &s->next_gone;
		}
	}
}

void
backend_servers_free_gone(struct model *model)
{
	while (model->gone) {
		struct server *s = model->gone;

		model->gone = s->next_gone;
		free_gone(s);
	}
}
