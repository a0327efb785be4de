/* SPDX-License-Identifier: MIT
 * See model.h.
 */
#include "model/model.h"

#include <stdlib.h>

#include "base/clock.h"

static void
frontend_free(struct frontend *frontend)
{
	if (!frontend)
		return;
	counters_free(frontend->counters);
	free(frontend);
}

static struct frontend *
frontend_new(
    const struct frontend_spec *spec, unsigned id, struct backend *backend)
{
	struct frontend *f = aligned_alloc(CACHE_LINE, sizeof(*f));

	if (!f)
		return NULL;
	*f = (struct frontend){
	    .spec = spec,
	    .id = id,
	    .backend = backend,
	    .counters = counters_new(),
	};
	if (!f->counters) {
		frontend_free(f);
		return NULL;
	}
	return f;
}

/* HAProxy numbers proxies from 2 upwards in the order of the file; here it is
 * frontends, then backends. */
static bool
populate(struct model *m, struct grace *grace)
{
	const struct spec *spec = m->spec;
	unsigned id = 2;

	m->frontends = calloc(spec->frontends_n, sizeof(*m->frontends));
	m->backends = calloc(spec->backends_n, sizeof(*m->backends));
	if (!m->frontends || !m->backends)
		return false;
	for (size_t i = 0; i < spec->backends_n; i++) {
		m->backends[i] = backend_new(&spec->backends[i],
		    id + (unsigned)(spec->frontends_n + i), grace);
		if (!m->backends[i])
			return false;
	}
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		m->frontends[i] =
		    frontend_new(f, id + (unsigned)i, m->backends[f->backend]);
		if (!m->frontends[i])
			return false;
	}
	return true;
}

struct model *
model_new(struct spec *spec, struct grace *grace)
{
	struct model *m = aligned_alloc(CACHE_LINE, sizeof(*m));

	if (!m) {
		spec_free(spec);
		return NULL;
	}
	*m = (struct model){
	    .spec = spec,
	    .started_ms = clock_now_ms(),
	    .started_wall_us = clock_wall_us(),
	};
	if (!populate(m, grace)) {
		model_free(m);
		return NULL;
	}
	return m;
}

void
model_free(struct model *model)
{
	if (!model)
		return;
	for (size_t i = 0; model->frontends && i < model->spec->frontends_n;
	     i++)
		frontend_free(model->frontends[i]);
	for (size_t i = 0; model->backends && i < model->spec->backends_n; i++)
		backend_free(model->backends[i]);
	free(model->frontends);
	free(model->backends);
	spec_free(model->spec);
	free(model);
}

void
model_tick(struct model *model)
{
	uint64_t all = 0;

	for (size_t i = 0; i < model->spec->frontends_n; i++) {
		struct frontend *f = model->frontends[i];
		uint64_t n = counters_sum(f->counters, COUNTER_SESSIONS);

		rate_tick(&f->rate, n);
		all += n;
	}
	rate_tick(&model->rate, all);
	for (size_t i = 0; i < model->spec->backends_n; i++) {
		struct backend *b = model->backends[i];

		rate_tick(
		    &b->rate, counters_sum(b->counters, COUNTER_SESSIONS));
		for (size_t j = 0; j < b->spec->servers_n; j++) {
			struct server *s = b->servers[j];

			rate_tick(&s->rate,
			    counters_sum(s->counters, COUNTER_SESSIONS));
		}
	}
}
