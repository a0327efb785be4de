/* SPDX-License-Identifier: MIT
 * See model.h: making, finding, freeing.  How one follows the other is in
 * model_reload.c.
 */
#include "model/model.h"

#include <stdlib.h>

#include "base/clock.h"
#include "model/removed.h"

/* HAProxy numbers proxies from 2 upwards in the order of the file; here it is
 * frontends, then backends, then whatever a reload has added. */
#define FIRST_ID 2

/* Frontends first, for their ids. */
static bool
populate(struct model *m, const struct model *before)
{
	const struct spec *spec = m->spec;

	m->frontends = calloc(spec->frontends_n, sizeof(*m->frontends));
	m->backends = calloc(spec->backends_n, sizeof(*m->backends));
	if (!m->frontends || !m->backends)
		return false;
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		m->frontends[i] = frontend_new(
		    f, m, before ? model_find_frontend(before, f->name) : NULL);
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
	for (size_t i = 0; i < spec->frontends_n; i++)
		if (!frontend_connect(
		        m->frontends[i], before ? model_find_frontend(before,
		                                      spec->frontends[i].name)
		                                : NULL))
			return false;
	return true;
}

static void
link_trackers(struct model *m)
{
	for (size_t i = 0; i < m->spec->backends_n; i++)
		for (size_t j = 0; j < m->spec->backends[i].servers_n; j++) {
			const struct server_spec *s =
			    &m->spec->backends[i].servers[j];

			if (s->track)
				server_track(m->backends[i]->servers[j],
				    m->backends[s->track_backend]
				        ->servers[s->track_server]);
		}
}

static bool
prepare_lineups(struct model *m)
{
	for (size_t i = 0; i < m->spec->backends_n; i++)
		if (backend_prepare(m->backends[i]) < 0)
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
	link_trackers(m);
	if (!prepare_lineups(m))
		goto fail;
	if (!before)
		model_publish(m, NULL);
	return m;
fail:
	model_free(m);
	return NULL;
}

static void
free_ending(struct model_state *state)
{
	while (state->ending) {
		struct server_state *s = state->ending;

		state->ending = s->next_ending;
		server_state_unref(s);
	}
}

static void
free_one(struct model *model)
{
	for (size_t i = 0; model->frontends && i < model->spec->frontends_n;
	     i++)
		frontend_free(model->frontends[i]);
	for (size_t i = 0; model->backends && i < model->spec->backends_n; i++)
		backend_free(model->backends[i]);
	free(model->frontends);
	free(model->backends);
	spec_free(model->spec);
	if (model->state && --model->state->refs == 0) {
		removed_free_all(model->state);
		free_ending(model->state);
		free(model->state);
	}
	free(model);
}

void
model_free(struct model *model)
{
	struct model *retired = NULL;

	if (!model)
		return;
	if (model->present) {
		retired = model->state->retired;
		model->state->retired = NULL;
	}
	free_one(model);
	while (retired) {
		struct model *next = retired->next_retired;

		free_one(retired);
		retired = next;
	}
}
