/* SPDX-License-Identifier: MIT
 * The life of a model, and how it follows the changes of its servers: see
 * model.h.
 */
#include "model/model.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/grace.h"
#include "base/log.h"
#include "model/backend_servers.h"
#include "model/loops.h"
#include "model/removed.h"

struct frontend *
model_find_frontend(const struct model *model, const char *name)
{
	size_t i;

	return name_table_find(INDEXED_TABLE(model->spec, frontends), name, &i)
	           ? model->frontends[i]
	           : NULL;
}

struct backend *
model_find_backend(const struct model *model, const char *name)
{
	size_t i;

	return name_table_find(INDEXED_TABLE(model->spec, backends), name, &i)
	           ? model->backends[i]
	           : NULL;
}

struct acl_list *
model_find_list(const struct model *model, const char *name)
{
	size_t i;

	return name_table_find(INDEXED_TABLE(model->spec, lists), name, &i)
	           ? model->lists[i]
	           : NULL;
}

/* HAProxy numbers proxies from 2 upwards in the order of the file.  lfproxy
 * numbers frontends first, then backends, then those that a reload has added.
 */
#define FIRST_ID 2

static const struct frontend *
former_frontend(const struct model *before, const struct frontend_spec *spec)
{
	return before ? model_find_frontend(before, spec->name) : NULL;
}

/* Takes over the lists of the former model, and makes those that are new.
 * Lists keep their contents until model_publish.  Returns false when memory is
 * short. */
static bool
take_lists(struct model *m, const struct model *before)
{
	const struct spec *spec = m->spec;

	m->lists = calloc(spec->lists_n + 1, sizeof(struct acl_list *));
	for (size_t i = 0; m->lists && i < spec->lists_n; i++) {
		const char *name = spec->lists[i].name;
		struct acl_list *had =
		    before ? model_find_list(before, name) : NULL;

		m->lists[i] = had ? acl_list_ref(had) : acl_list_new(name);
		if (!m->lists[i])
			return false;
	}
	return m->lists;
}

/* Makes the lists, frontends and backends; frontends first, for their ids.
 * Returns false when memory is short. */
static bool
populate(struct model *m, const struct model *before)
{
	const struct spec *spec = m->spec;

	/* NULL ends both arrays. */
	m->frontends = calloc(spec->frontends_n + 1, sizeof(*m->frontends));
	m->backends = calloc(spec->backends_n + 1, sizeof(*m->backends));
	if (!m->frontends || !m->backends || !take_lists(m, before))
		return false;
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		m->frontends[i] =
		    frontend_new(f, m, former_frontend(before, f));
		if (!m->frontends[i])
			return false;
	}
	for (size_t i = 0; i < spec->backends_n; i++) {
		const struct backend_spec *b = &spec->backends[i];

		m->backends[i] = backend_new(
		    b, m, before ? model_find_backend(before, b->name) : NULL);
		if (!m->backends[i])
			return false;
	}
	model_for_each_frontend (f, m)
		if (!frontend_connect(
		        f, former_frontend(before, f->spec), before))
			return false;
	return true;
}

static struct model_state *
model_state_new(void)
{
	struct model_state *s = aligned_alloc(CACHE_LINE, sizeof(*s));

	if (s)
		*s = (struct model_state){
		    .refs = 1,
		    .next_id = FIRST_ID,
		    .started_ms = clock_now_ms(),
		    .started_wall_us = clock_wall_us(),
		};
	return s;
}

static const struct addr *
present_addr(void *arg, const struct backend_spec *backend, size_t at)
{
	const struct model *m = arg;

	return server_addr(
	    m->backends[backend - m->spec->backends]->servers[at]);
}

struct model *
model_new(struct spec *spec, struct grace *grace, const struct model *before)
{
	struct model *m = aligned_alloc(CACHE_LINE, sizeof(*m));

	if (!m) {
		spec_free(spec);
		return NULL;
	}
	*m = (struct model){.spec = spec, .grace = grace};
	list_init(&m->changed);
	m->state = before ? before->state : model_state_new();
	if (before)
		m->state->refs++;
	if (!m->state || !populate(m, before))
		goto fail;
	model_for_each_server (s, m)
		backend_track(s);
	m->loops = loops_new(m->spec, present_addr, m);
	if (!m->loops)
		goto fail;
	model_for_each_server (s, m)
		s->loops = server_loop(s);
	model_for_each_backend (b, m)
		if (backend_prepare(b) < 0)
			goto fail;
	if (!before)
		model_publish(m, NULL);
	return m;
fail:
	model_free(m);
	return NULL;
}

static void
model_state_free(struct model_state *state)
{
	removed_free_all(state);
	while (state->ending) {
		struct server_state *s = state->ending;

		state->ending = s->next_ending;
		server_state_unref(s);
	}
	free(state);
}

static void
free_one(void *arg)
{
	struct model *model = arg;

	if (model->frontends)
		model_for_each_frontend (f, model)
			frontend_free(f);
	if (model->backends)
		model_for_each_backend (b, model)
			backend_free(b);
	backend_servers_free_gone(model);
	for (size_t i = 0; i < model->messages.n; i++)
		log_target_close(model->messages.at[i].target);
	for (struct acl_list **l = model->lists; l && *l; l++)
		acl_list_unref(*l);
	free(model->frontends);
	free(model->backends);
	free(model->lists);
	loops_free(model->loops);
	spec_free(model->spec);
	if (model->state && --model->state->refs == 0)
		model_state_free(model->state);
	free(model);
}

void
model_free(struct model *model)
{
	if (!model)
		return;
	while (model->present && model->state->retired) {
		struct model *retired = model->state->retired;

		model->state->retired = retired->next_retired;
		free_one(retired);
	}
	free_one(model);
}

/* Settles either the servers that track others, or all other servers. */
static void
settle_servers(struct model *model, bool trackers)
{
	model_for_each_server (s, model)
		if ((s->tracked != NULL) == trackers)
			server_settle(s);
}

static void
publish_lists(struct model *model)
{
	for (size_t i = 0; i < model->spec->lists_n; i++) {
		struct acl_content **read = &model->spec->lists[i].content;

		if (*read)
			acl_list_publish(model->lists[i], *read, model->grace);
		*read = NULL;
	}
}

void
model_publish(struct model *model, const struct model *before)
{
	model->present = true;
	publish_lists(model);
	removed_revive(model);
	settle_servers(model, false);
	settle_servers(model, true);
	model_for_each_backend (b, model) {
		backend_publish(b);
		/* If only ejected servers are left, backend_rebuild lets them
		 * return. */
		if (b->state->usable == 0 && backend_rebuild(b) < 0)
			log_error("out of memory: backend %s stays without "
			          "the servers that are ejected",
			    b->spec->name);
		backend_report(b);
	}
	if (before)
		removed_note(model, before);
}

void
model_retire(struct model *model)
{
	model->present = false;
	model->next_retired = model->state->retired;
	model->state->retired = model;
	model->retired_at = grace_stamp(model->grace);
}

/* Returns whether a lineup of the model may still be chosen from: a session of
 * an even older model may do so if this model was the last to have the backend.
 */
static bool
lends_lineup(const struct model *m)
{
	model_for_each_backend (b, m)
		if (b->state->owner == m && b->state->refs > 1)
			return true;
	return false;
}

unsigned
model_reclaim(struct model *present)
{
	struct model **link = &present->state->retired;
	unsigned left = 0;

	grace_poll(present->grace);
	backend_servers_reclaim(present);
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
		grace_retire(m->grace, free_one, m);
	}
	return left;
}

static void
follow_changed(struct backend *b)
{
	backend_for_each_server (s, b) {
		if (!s->changed)
			continue;
		s->changed = false;
		for (struct server *t = s->trackers; t; t = t->next_tracker)
			server_follow_tracked(t);
	}
}

/* A tracked server does not track another one, so following ends. */
void
model_update(struct model *model)
{
	while (!list_empty(&model->changed)) {
		struct backend *b =
		    container_of(model->changed.next, struct backend, changed);

		list_remove(&b->changed);
		if (backend_rebuild(b) < 0)
			log_error("out of memory: backend %s keeps choosing "
			          "from its former servers",
			    b->spec->name);
		follow_changed(b);
	}
}

bool
model_end_switch(struct model *model)
{
	struct model_state *state = model->state;
	bool any = false;

	grace_poll(model->grace);
	if (!state->switched ||
	    !grace_passed(model->grace, state->switch_stamp))
		return false;
	state->switched = false;
	model_for_each_frontend (f, model) {
		any |= f->fallbacks != NULL;
		frontend_report_fallbacks(f);
	}
	return any;
}

bool
model_end_sessions(struct model *model)
{
	struct server_state **link = &model->state->ending;
	bool ended = false;

	grace_poll(model->grace);
	while (*link) {
		struct server_state *s = *link;

		if (!grace_passed(model->grace, s->end_stamp)) {
			link = &s->next_ending;
			continue;
		}
		*link = s->next_ending;
		atomic_store_relaxed(&s->ended, s->ending);
		s->ending = 0;
		server_state_unref(s);
		ended = true;
	}
	return ended;
}

uint64_t
model_step(struct model *model, uint64_t now_ms)
{
	uint64_t nearest_ms = 0;

	model_for_each_backend (b, model) {
		uint64_t *at_ms = &b->state->next_step_ms;

		if (*at_ms == 0)
			continue;
		if (*at_ms <= now_ms)
			(void)backend_rebuild(b);
		if (*at_ms != 0 && (nearest_ms == 0 || *at_ms < nearest_ms))
			nearest_ms = *at_ms;
	}
	model->state->next_step_ms = nearest_ms;
	return nearest_ms;
}
