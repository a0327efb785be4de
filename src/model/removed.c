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
#include "base/text.h"
#include "model/model.h"

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
	struct removed_server *r = calloc(1, sizeof(*r));
	uint32_t sessions = atomic_load_relaxed(&server->sessions->now);
	char limit[TEXT_DURATION_SIZE];

	if (!r || !copy_names(r, server)) {
		free_removed(r);
		return;
	}
	r->name_hash = hash_name(r->name);
	r->expires_ms = clock_now_ms() + b->spec->timeout_drain_ms;
	r->state = server_state_ref(server->state);
	r->next = model->state->removed;
	model->state->removed = r;
	if (sessions > 0)
		event_add(EVENT_SERVER_REMOVED, LOG_LEVEL_INFO, r->backend,
		    r->name,
		    "server %s/%s is removed; its %u session%s may go on for "
		    "%s",
		    r->backend, r->name, sessions, text_s(sessions),
		    text_duration(b->spec->timeout_drain_ms, limit));
}

static void
removed_drop(struct removed_server **link)
{
	struct removed_server *r = *link;

	*link = r->next;
	server_state_unref(r->state);
	free_removed(r);
}

void
removed_revive(struct model *model)
{
	struct removed_server **link = &model->state->removed;
	uint64_t walk;

	if (!*link)
		return;
	walk = walk_model(model, ++last_walk);
	while (*link)
		if ((*link)->state->walk == walk)
			removed_drop(link);
		else
			link = &(*link)->next;
}

void
removed_note(struct model *model, const struct model *before)
{
	/* A server with the same state is one of a backend of the same name. */
	uint64_t walk = walk_model(model, ++last_walk);

	model_for_each_server (s, before)
		if (s->state->walk != walk)
			removed_add(model, s);
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

bool
removed_watch(struct model *present, uint64_t now_ms)
{
	struct removed_server **link = &present->state->removed;
	bool expired = false;
	uint64_t walk = 0; /* none yet */

	if (!*link || !all_settled(present->state))
		return false;
	while (*link) {
		struct removed_server *r = *link;

		if (atomic_load_relaxed(&r->state->sessions.now) > 0) {
			expired |= removed_expire(r, now_ms);
			link = &r->next;
			continue;
		}
		note_gone(r);
		if (walk == 0)
			walk = walk_choosable(present->state);
		if (r->state->walk == walk)
			link = &r->next;
		else
			removed_drop(link);
	}
	return expired;
}

struct server_state *
removed_find(const struct model_state *state, const char *backend,
    const struct server_spec *spec)
{
	uint64_t hash = state->removed ? hash_name(spec->name) : 0;

	for (const struct removed_server *r = state->removed; r; r = r->next)
		if (r->name_hash == hash && !r->state->deleted && !r->gone &&
		    strcmp(r->backend, backend) == 0 &&
		    strcmp(r->name, spec->name) == 0 && was_at(r, spec))
			return r->state;
	return NULL;
}

void
removed_free_all(struct model_state *state)
{
	while (state->removed)
		removed_drop(&state->removed);
}
