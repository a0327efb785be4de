/* SPDX-License-Identifier: MIT
 * How one model follows the other: see model.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/grace.h"
#include "base/log.h"
#include "base/text.h"
#include "model/model.h"

static bool
has_state(const struct backend *backend, const struct server_state *state)
{
	for (size_t i = 0; i < backend->spec->servers_n; i++)
		if (backend->servers[i]->state == state)
			return true;
	return false;
}

static bool
model_has_state(const struct model *m, const struct server_state *state)
{
	for (size_t i = 0; i < m->spec->backends_n; i++)
		if (has_state(m->backends[i], state))
			return true;
	return false;
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

/* False when memory is short. */
static bool
name_removed(struct removed_server *r, const struct server *server)
{
	const struct server_spec *s = server->spec;

	r->backend = strdup(server->backend->spec->name);
	r->name = strdup(s->name);
	r->host = s->host ? strdup(s->host) : NULL;
	r->port = s->port;
	r->addr = s->addr;
	return r->backend && r->name && (r->host || !s->host);
}

static bool
was_at(const struct removed_server *r, const struct server_spec *spec)
{
	struct server_spec there = {
	    .host = r->host, .port = r->port, .addr = r->addr};

	return server_spec_same_place(&there, spec);
}

/* When memory is short nobody watches its sessions: they last as they may. */
static void
remember_removed(struct model *model, const struct server *server)
{
	const struct backend *b = server->backend;
	struct removed_server *r = calloc(1, sizeof(*r));
	uint32_t sessions = atomic_load_relaxed(&server->sessions->now);
	char limit[TEXT_DURATION_SIZE];

	if (!r || !name_removed(r, server)) {
		free_removed(r);
		return;
	}
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
forget_removed(struct removed_server **link)
{
	struct removed_server *r = *link;

	*link = r->next;
	server_state_unref(r->state);
	free_removed(r);
}

/* Those that have come back. */
static void
revive(struct model *model)
{
	struct removed_server **link = &model->state->removed;

	while (*link)
		if (model_has_state(model, (*link)->state))
			forget_removed(link);
		else
			link = &(*link)->next;
}

static void
note_removed(struct model *model, const struct model *before)
{
	for (size_t i = 0; i < before->spec->backends_n; i++) {
		const struct backend *old = before->backends[i];
		const struct backend *now =
		    model_find_backend(model, old->spec->name);

		for (size_t j = 0; j < old->spec->servers_n; j++)
			if (!now || !has_state(now, old->servers[j]->state))
				remember_removed(model, old->servers[j]);
	}
}

/* Those that track others come after those. */
static void
settle(struct model *model, bool trackers)
{
	for (size_t i = 0; i < model->spec->backends_n; i++) {
		struct backend *b = model->backends[i];

		for (size_t j = 0; j < b->spec->servers_n; j++)
			if ((b->servers[j]->tracked != NULL) == trackers)
				server_settle(b->servers[j]);
	}
}

void
model_publish(struct model *model, const struct model *before)
{
	model->present = true;
	settle(model, false);
	settle(model, true);
	for (size_t i = 0; i < model->spec->backends_n; i++) {
		struct backend *b = model->backends[i];

		backend_publish(b);
		/* Those that are ejected may be all that are left. */
		if (b->state->usable == 0 && backend_rebuild(b) < 0)
			log_error("out of memory: backend %s stays without "
			          "the servers that are ejected",
			    b->spec->name);
		backend_tell(b);
	}
	revive(model);
	if (before)
		note_removed(model, before);
}

void
model_retire(struct model *model)
{
	model->present = false;
	model->next_retired = model->state->retired;
	model->state->retired = model;
	model->retired_at = grace_stamp(model->grace);
}

/* A session of an even older model may still choose a server from the lineup
 * of a backend that this was the last to have. */
static bool
lends_lineup(const struct model *m)
{
	for (size_t i = 0; i < m->spec->backends_n; i++) {
		const struct backend_state *s = m->backends[i]->state;

		if (s->owner == m && s->refs > 1)
			return true;
	}
	return false;
}

static void
free_retired(void *arg)
{
	model_free(arg);
}

unsigned
model_reclaim(struct model *present)
{
	struct model **link = &present->state->retired;
	unsigned left = 0;

	grace_poll(present->grace);
	while (*link) {
		struct model *m = *link;

		if (!grace_passed(m->grace, m->retired_at) ||
		    atomic_load_acquire(&m->pins) > 0 || /* [P15] */
		    lends_lineup(m)) {
			link = &m->next_retired;
			left++;
			continue;
		}
		*link = m->next_retired;
		grace_retire(m->grace, free_retired, m);
	}
	return left;
}

/* No session that begins now chooses a removed server any more. */
static bool
all_settled(const struct model_state *state)
{
	for (const struct model *m = state->retired; m; m = m->next_retired)
		if (!grace_passed(m->grace, m->retired_at))
			return false;
	return true;
}

/* A session that waits, for its client's first bytes or in a queue, chooses
 * among the servers of the model that it was born under. */
static bool
may_be_chosen(
    const struct model_state *state, const struct server_state *server)
{
	for (const struct model *m = state->retired; m; m = m->next_retired)
		if (atomic_load_relaxed(&m->pins) > 0 &&
		    model_has_state(m, server))
			return true;
	return false;
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

/* True when it has just expired, or has before, and has sessions. */
static bool
expire(const struct removed_server *r, uint64_t now_ms)
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
model_watch_removed(struct model *present, uint64_t now_ms)
{
	struct removed_server **link = &present->state->removed;
	bool expired = false;

	if (!*link || !all_settled(present->state))
		return false;
	while (*link) {
		struct removed_server *r = *link;

		if (atomic_load_relaxed(&r->state->sessions.now) > 0) {
			expired |= expire(r, now_ms);
			link = &r->next;
			continue;
		}
		note_gone(r);
		if (may_be_chosen(present->state, r->state))
			link = &r->next;
		else
			forget_removed(link);
	}
	return expired;
}

struct server_state *
model_removed_server(const struct model *model, const char *backend,
    const struct server_spec *spec)
{
	for (const struct removed_server *r = model->state->removed; r;
	     r = r->next)
		if (!r->state->deleted && !r->gone &&
		    strcmp(r->backend, backend) == 0 &&
		    strcmp(r->name, spec->name) == 0 && was_at(r, spec))
			return r->state;
	return NULL;
}
