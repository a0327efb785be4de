/* SPDX-License-Identifier: MIT
 * See removed.h.
 */
#include "model/removed.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/grace.h"
#include "base/grow.h"
#include "base/text.h"
#include "model/model.h"
#include "model/server_operator.h"

/* Note: walks.
 * Looking for each removed server among all servers takes too long when
 * thousands leave at once.  Instead each server of a model gets the number of
 * the walk over the model, and a server has that number if and only if the
 * model has it. */
static uint64_t last_walk;

/* Marks the states of the model's servers.  Returns the mark. */
static uint64_t
walk_model(const struct model *m, uint64_t walk)
{
	model_for_each_server (s, m)
		s->state->walk = walk;
	return walk;
}

static void
free_removed(struct removed_server *r)
{
	if (!r)
		return;
	free(r->backend);
	free(r->name);
	free(r->host);
	free(r);
}

/* Copies the names and the address.  Returns false when memory is short. */
static bool
copy_names(struct removed_server *r, const struct server *server)
{
	const struct server_spec *s = server->spec;

	r->backend = strdup(server->backend->spec->name);
	r->name = strdup(s->name);
	r->host = s->host ? strdup(s->host) : NULL;
	r->port = s->port;
	r->port_offset = s->port_offset;
	r->addr = s->addr;
	return r->backend && r->name && (r->host || !s->host);
}

static bool
was_at(const struct removed_server *r, const struct server_spec *spec)
{
	struct server_spec there = {.host = r->host,
	    .port = r->port,
	    .port_offset = r->port_offset,
	    .addr = r->addr};

	return server_spec_same_place(&there, spec);
}

static uint64_t
hash_name(const char *name)
{
	return XXH64(name, strlen(name), 0);
}

/* Adds the server to the list.  When memory is short the server is not noted,
 * and the time of its sessions has no limit. */
static void
removed_add(struct model *model, const struct server *server)
{
	const struct backend *b = server->backend;
	struct removed_servers *removed = &model->state->removed;
	struct removed_server *r = calloc(1, sizeof(*r)), **grown;
	uint32_t sessions = atomic_load_relaxed(&server->sessions->now);
	char limit[TEXT_DURATION_SIZE];

	grown = grow(removed->all, removed->n, &removed->room, sizeof(*grown));
	if (grown)
		removed->all = grown;
	if (!grown || !r || !copy_names(r, server)) {
		free_removed(r);
		return;
	}
	r->backend_hash = hash_name(r->backend);
	r->name_hash = hash_name(r->name);
	r->since = grace_stamp(model->grace);
	r->expires_ms = clock_now_ms() + b->spec->timeout_drain_ms;
	r->state = server_state_ref(server->state);
	removed->all[removed->n++] = r;
	if (sessions > 0)
		event_add(EVENT_SERVER_REMOVED, LOG_LEVEL_INFO, r->backend,
		    r->name,
		    "server %s/%s is removed; its %u session%s may go on for "
		    "%s",
		    r->backend, r->name, sessions, text_s(sessions),
		    text_duration(b->spec->timeout_drain_ms, limit));
}

static void
removed_drop(struct removed_server *r)
{
	server_state_unref(r->state);
	free_removed(r);
}

/* Drops from the list the servers of that walk, whose walk becomes 0.  Returns
 * whether there was one. */
static bool
drop_walked(struct removed_servers *removed, uint64_t walk)
{
	size_t kept = 0;
	bool any;

	for (size_t i = 0; i < removed->n; i++)
		if (removed->all[i]->state->walk == walk) {
			removed->all[i]->state->walk = 0;
			removed_drop(removed->all[i]);
		} else {
			removed->all[kept++] = removed->all[i];
		}
	any = kept < removed->n;
	removed->n = kept;
	return any;
}

void
removed_revive(struct model *model)
{
	struct removed_servers *removed = &model->state->removed;

	if (removed->n == 0 ||
	    !drop_walked(removed, walk_model(model, ++last_walk)))
		return;
	model_for_each_server (s, model)
		if (s->state->walk == 0 && !s->spec->set.is_set)
			server_forget_overrides(s);
}

static int
compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int
by_hashes(const void *one, const void *other)
{
	const struct removed_server *const *a = one, *const *b = other;
	int order = compare_numbers((*a)->backend_hash, (*b)->backend_hash);

	return order ? order
	             : compare_numbers((*a)->name_hash, (*b)->name_hash);
}

void
removed_note(struct model *model, const struct model *before)
{
	/* A server with the same state is one of a backend of the same name. */
	uint64_t walk = walk_model(model, ++last_walk);
	struct removed_servers *removed = &model->state->removed;
	size_t n = removed->n;

	model_for_each_server (s, before)
		if (s->state->walk != walk)
			removed_add(model, s);
	if (removed->n > n)
		qsort(
		    removed->all, removed->n, sizeof(*removed->all), by_hashes);
}

void
removed_follow(struct model *model, struct server *const *came, size_t came_n,
    struct server *const *gone, size_t gone_n)
{
	struct removed_servers *removed = &model->state->removed;
	uint64_t walk = ++last_walk;
	size_t n;

	for (size_t i = 0; i < came_n; i++)
		came[i]->state->walk = walk;
	(void)drop_walked(removed, walk);
	n = removed->n;
	for (size_t i = 0; i < gone_n; i++)
		if (gone[i]->state->walk != walk)
			removed_add(model, gone[i]);
	if (removed->n > n)
		qsort(
		    removed->all, removed->n, sizeof(*removed->all), by_hashes);
}

/* Returns whether no new session can choose a removed server any more. */
static bool
all_settled(const struct model_state *state)
{
	for (const struct model *m = state->retired; m; m = m->next_retired)
		if (!grace_passed(m->grace, m->retired_at))
			return false;
	return true;
}

/* Marks the servers that a session of a former model may still choose: a
 * session that waits for its client's first bytes, or in a queue.  Returns the
 * mark. */
static uint64_t
walk_choosable(const struct model_state *state)
{
	uint64_t walk = ++last_walk;

	for (const struct model *m = state->retired; m; m = m->next_retired)
		if (atomic_load_relaxed(&m->pins) > 0)
			walk_model(m, walk);
	return walk;
}

static void
note_gone(struct removed_server *r)
{
	if (!r->gone && !r->state->deleted)
		event_add(EVENT_SERVER_REMOVED, LOG_LEVEL_INFO, r->backend,
		    r->name,
		    "server %s/%s is gone: it was removed and has no session "
		    "left",
		    r->backend, r->name);
	r->gone = true;
}

/* Returns whether the time of the server's sessions is over, and notes it if
 * so. */
static bool
removed_expire(const struct removed_server *r, uint64_t now_ms)
{
	struct server_state *s = r->state;
	unsigned n = atomic_load_relaxed(&s->sessions.now);

	if (now_ms < r->expires_ms)
		return false;
	if (!s->expired)
		event_add(EVENT_SERVER_REMOVED, LOG_LEVEL_WARNING, r->backend,
		    r->name,
		    "server %s/%s was removed and its timeout_drain has "
		    "passed: %u session%s %s closed",
		    r->backend, r->name, n, text_s(n), text_are(n));
	atomic_store_relaxed(&s->expired, true);
	return true;
}

/* Returns whether the removed server need not be noted any more.  *walk: of
 * walk_choosable; 0: none yet. */
static bool
is_over(
    const struct model_state *state, struct removed_server *r, uint64_t *walk)
{
	note_gone(r);
	if (*walk == 0)
		*walk = walk_choosable(state);
	return r->state->walk != *walk;
}

bool
removed_watch(struct model *present, uint64_t now_ms)
{
	struct removed_servers *removed = &present->state->removed;
	bool expired = false;
	uint64_t walk = 0;
	size_t kept = 0;

	if (removed->n == 0 || !all_settled(present->state))
		return false;
	for (size_t i = 0; i < removed->n; i++) {
		struct removed_server *r = removed->all[i];

		if (atomic_load_relaxed(&r->state->sessions.now) > 0)
			expired |= removed_expire(r, now_ms);
		else if (grace_passed(present->grace, r->since) &&
		         is_over(present->state, r, &walk)) {
			removed_drop(r);
			continue;
		}
		removed->all[kept++] = r;
	}
	removed->n = kept;
	return expired;
}

/* Returns the index of the first removed server whose hashes are not lower. */
static size_t
lower_bound(
    const struct removed_servers *removed, const struct removed_server *key)
{
	size_t low = 0, high = removed->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_hashes(&removed->all[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct removed_server *const *
removed_of_backend(
    const struct removed_servers *removed, const char *backend, size_t *ret_n)
{
	const struct removed_server key = {.backend_hash = hash_name(backend)};
	size_t first = lower_bound(removed, &key), n = 0;

	while (first + n < removed->n &&
	       removed->all[first + n]->backend_hash == key.backend_hash)
		n++;
	*ret_n = n;
	/* Without servers there is no array, and nothing may be added to NULL.
	 */
	return removed->n > 0 ? removed->all + first : NULL;
}

struct server_state *
removed_find(const struct model_state *state, const char *backend,
    const struct server_spec *spec)
{
	const struct removed_servers *removed = &state->removed;
	const struct removed_server key = {
	    .backend_hash = removed->n > 0 ? hash_name(backend) : 0,
	    .name_hash = removed->n > 0 ? hash_name(spec->name) : 0};
	const struct removed_server *at = &key;

	for (size_t i = lower_bound(removed, &key);
	     i < removed->n && by_hashes(&removed->all[i], &at) == 0; i++) {
		const struct removed_server *r = removed->all[i];

		if (!r->state->deleted && !r->gone &&
		    strcmp(r->backend, backend) == 0 &&
		    strcmp(r->name, spec->name) == 0 && was_at(r, spec))
			return r->state;
	}
	return NULL;
}

void
removed_free_all(struct model_state *state)
{
	for (size_t i = 0; i < state->removed.n; i++)
		removed_drop(state->removed.all[i]);
	free(state->removed.all);
}
