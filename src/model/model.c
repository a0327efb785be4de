/* SPDX-License-Identifier: MIT
 * See model.h: making, finding, freeing.  How one follows the other is in
 * model_reload.c.
 */
#include "model/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/log.h"
#include "base/text.h"
#include "model/cycle.h"
#include "model/lineup.h"
#include "model/sni_map.h"

/* HAProxy numbers proxies from 2 upwards in the order of the file; here it is
 * frontends, then backends, then whatever a reload has added. */
#define FIRST_ID 2

static struct frontend_state *
frontend_state_new(unsigned id)
{
	struct frontend_state *s = aligned_alloc(CACHE_LINE, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct frontend_state){.refs = 1,
	    .id = id,
	    .maxconn = FRONTEND_NO_LIMIT,
	    .counters = counters_new()};
	if (!s->counters) {
		free(s);
		return NULL;
	}
	return s;
}

static void
frontend_state_unref(struct frontend_state *state)
{
	if (--state->refs > 0)
		return;
	counters_free(state->counters);
	free(state);
}

static void
frontend_free(struct frontend *frontend)
{
	if (!frontend)
		return;
	frontend_state_unref(frontend->state);
	for (size_t i = 0; i < frontend->logs_n; i++)
		log_target_close(frontend->logs[i].target);
	free(frontend->logs);
	cycle_unref(frontend->split);
	free(frontend->sni);
	free(frontend);
}

static bool
same_routes(const struct frontend *f, const struct frontend *before)
{
	if (f->spec->routes_n != before->spec->routes_n)
		return false;
	for (size_t i = 0; i < f->spec->routes_n; i++)
		if (f->spec->routes[i].weight !=
		        before->spec->routes[i].weight ||
		    f->backends[i]->state != before->backends[i]->state)
			return false;
	return true;
}

/* Each backend has the credit that it had before, if it was there. */
static void
carry_credits(struct frontend *f, const struct frontend *before)
{
	int64_t credits[ROUTES_MAX];

	cycle_credits(before->split, cycle_taken(before->split), credits);
	for (size_t i = 0; i < f->spec->routes_n; i++)
		for (size_t j = 0; j < before->spec->routes_n; j++)
			if (f->backends[i]->state == before->backends[j]->state)
				f->split->credits[i] = credits[j];
	cycle_begin(f->split);
}

/* While the routes are the same, so is the cycle.  False when memory is short.
 */
static bool
split_backends(struct frontend *f, const struct frontend *before)
{
	uint32_t weights[ROUTES_MAX];
	uint32_t n = (uint32_t)f->spec->routes_n;

	if (n < 2)
		return true;
	if (before && before->split && same_routes(f, before)) {
		f->split = cycle_ref(before->split);
		return true;
	}
	for (uint32_t i = 0; i < n; i++)
		weights[i] = f->spec->routes[i].weight;
	f->split = cycle_new(weights, n);
	if (f->split && before && before->split)
		carry_credits(f, before);
	return f->split;
}

static bool
any_has_servers(const struct frontend *f)
{
	for (size_t i = 0; i < f->spec->routes_n; i++)
		if (f->spec->routes[i].weight > 0 &&
		    backend_has_servers(f->backends[i]))
			return true;
	return false;
}

/* A backend without servers loses its turns: they would else all be those of
 * the next one in the cycle. */
static unsigned
take_turn(const struct frontend *f, uint64_t *taken)
{
	unsigned first =
	    cycle_turn(f->split, atomic_add_relaxed(taken, UINT64_C(1)));
	unsigned route = first;

	if (backend_has_servers(f->backends[route]) || !any_has_servers(f))
		return route;
	for (size_t i = 1; i < f->split->n; i++) {
		route = cycle_turn(
		    f->split, atomic_add_relaxed(taken, UINT64_C(1)));
		if (backend_has_servers(f->backends[route]))
			return route;
	}
	return first;
}

unsigned
frontend_route(const struct frontend *frontend)
{
	return frontend->split ? take_turn(frontend, &frontend->split->taken)
	                       : 0;
}

unsigned
frontend_peek_route(const struct frontend *frontend)
{
	uint64_t taken;

	if (!frontend->split)
		return 0;
	taken = cycle_taken(frontend->split);
	return take_turn(frontend, &taken);
}

unsigned
frontend_route_named(
    const struct frontend *frontend, const char *name, size_t name_len)
{
	const struct frontend *f = frontend;
	const struct sni_entry *e = f->sni && name_len > 0
	                                ? sni_map_find(f->sni, name, name_len)
	                                : NULL;

	if (e)
		return e->route;
	return f->spec->routes_n > 0 ? frontend_route(f) : f->backends_n;
}

static struct frontend *
frontend_new(const struct frontend_spec *spec, struct model *model,
    const struct frontend *before)
{
	/* At most; and the NULL behind them. */
	size_t backends = spec->routes_n + spec->sni_n + 1;
	struct frontend *f =
	    calloc(1, sizeof(*f) + backends * sizeof(f->backends[0]));

	if (!f)
		return NULL;
	f->spec = spec;
	f->model = model;
	if (before) {
		f->state = before->state;
		f->state->refs++;
	} else {
		f->state = frontend_state_new(model->state->next_id++);
	}
	if (!f->state) {
		free(f);
		return NULL;
	}
	f->id = f->state->id;
	f->counters = f->state->counters;
	f->sessions = &f->state->sessions;
	return f;
}

/* The backend's place in the frontend's, where it is put if it has none. */
static uint16_t
place_backend(
    const struct model *m, struct frontend *f, size_t backend, uint16_t *places)
{
	if (places[backend] == 0) {
		f->backends[f->backends_n] = m->backends[backend];
		places[backend] = ++f->backends_n;
	}
	return (uint16_t)(places[backend] - 1);
}

static bool
connect_rules(const struct model *m, struct frontend *f)
{
	const struct frontend_spec *spec = f->spec;
	/* Of each backend of the model, plus 1. */
	uint16_t *places = calloc(m->spec->backends_n + 1, sizeof(*places));
	uint16_t *routes = calloc(spec->sni_n + 1, sizeof(*routes));
	bool ok = places && routes;

	for (size_t i = 0; ok && i < spec->routes_n; i++)
		(void)place_backend(m, f, spec->routes[i].backend, places);
	for (size_t i = 0; ok && i < spec->sni_n; i++)
		routes[i] = place_backend(m, f, spec->sni[i].backend, places);
	if (ok && spec->sni_n > 0) {
		f->sni = sni_map_new(spec, routes);
		ok = f->sni;
	}
	free(places);
	free(routes);
	return ok;
}

static bool
connect_backends(
    const struct model *m, struct frontend *f, const struct frontend *before)
{
	if (!connect_rules(m, f))
		return false;
	f->inspects = f->sni;
	for (size_t i = 0; i < f->backends_n; i++)
		f->inspects |= backend_hashes_sni(f->backends[i]);
	return split_backends(f, before);
}

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
		if (!connect_backends(m, m->frontends[i],
		        before ? model_find_frontend(
		                     before, spec->frontends[i].name)
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
free_removed(struct model_state *state)
{
	while (state->removed) {
		struct removed_server *r = state->removed;

		state->removed = r->next;
		server_state_unref(r->state);
		free(r->backend);
		free(r->name);
		free(r->host);
		free(r);
	}
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
		free_removed(model->state);
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

struct frontend *
model_find_frontend(const struct model *model, const char *name)
{
	for (size_t i = 0; i < model->spec->frontends_n; i++)
		if (strcmp(model->spec->frontends[i].name, name) == 0)
			return model->frontends[i];
	return NULL;
}

struct backend *
model_find_backend(const struct model *model, const char *name)
{
	for (size_t i = 0; i < model->spec->backends_n; i++)
		if (strcmp(model->spec->backends[i].name, name) == 0)
			return model->backends[i];
	return NULL;
}

/* How much the counter has grown since it was told. */
static uint64_t
untold(const struct backend *b, enum counter which, uint64_t *told)
{
	uint64_t now = counters_sum(b->counters, which);
	uint64_t more = now > *told ? now - *told : 0;

	*told = now;
	return more;
}

static void
tell_refused(const struct backend *b)
{
	const char *name = b->spec->name;
	uint64_t n;

	n = untold(b, COUNTER_QUEUE_FULL, &b->state->queue_full);
	if (n > 0)
		event_add(EVENT_QUEUE_FULL, LOG_LEVEL_WARNING, name, NULL,
		    "backend %s: %" PRIu64 " session%s %s closed, as no "
		    "server had room and no more may wait (maxqueue, "
		    "timeout_queue)",
		    name, n, text_s(n), n == 1 ? "was" : "were");
	n = untold(b, COUNTER_RETRIES_REFUSED, &b->state->retries_refused);
	if (n > 0)
		event_add(EVENT_RETRY_BUDGET, LOG_LEVEL_WARNING, name, NULL,
		    "backend %s: %" PRIu64 " %s refused, as "
		    "retry_budget was used up",
		    name, n, n == 1 ? "retry was" : "retries were");
}

void
model_tick(struct model *model)
{
	uint64_t all = 0;

	for (size_t i = 0; i < model->spec->frontends_n; i++) {
		struct frontend *f = model->frontends[i];
		uint64_t n = counters_sum(f->counters, COUNTER_SESSIONS);

		rate_tick(&f->state->rate, n);
		all += n;
	}
	rate_tick(&model->state->rate, all);
	for (size_t i = 0; i < model->spec->backends_n; i++) {
		struct backend *b = model->backends[i];

		tell_refused(b);
		rate_tick(&b->state->rate,
		    counters_sum(b->counters, COUNTER_SESSIONS));
		for (size_t j = 0; j < b->spec->servers_n; j++) {
			struct server *s = b->servers[j];

			rate_tick(&s->state->rate,
			    counters_sum(s->counters, COUNTER_SESSIONS));
		}
	}
}

void
model_sample(struct model *model)
{
	for (size_t i = 0; i < model->spec->frontends_n; i++) {
		struct frontend_state *f = model->frontends[i]->state;

		trend_add(&f->trend, atomic_load_relaxed(&f->sessions.now));
	}
	for (size_t i = 0; i < model->spec->backends_n; i++) {
		struct backend *b = model->backends[i];

		trend_add(&b->state->trend,
		    atomic_load_relaxed(&b->state->queue.waiting.now));
		for (size_t j = 0; j < b->spec->servers_n; j++) {
			struct server_state *s = b->servers[j]->state;

			trend_add(
			    &s->trend, atomic_load_relaxed(&s->sessions.now));
		}
	}
}

static void
clear_one(struct counters *counters, struct gauge *sessions, struct rate *rate,
    bool all)
{
	gauge_clear_peak(sessions);
	rate->peak = 0;
	if (!all)
		return;
	counters_clear(counters);
	*rate = (struct rate){.total_before = 0};
}

static void
clear_server(struct server *s, bool all)
{
	clear_one(s->counters, s->sessions, &s->state->rate, all);
	timing_averages_clear(s->state->average, all);
	if (!all)
		return;
	s->state->checks_failed = 0;
	s->state->times_down = 0;
}

static void
clear_backend(struct backend *b, bool all)
{
	clear_one(b->counters, b->sessions, &b->state->rate, all);
	gauge_clear_peak(&b->state->queue.waiting);
	timing_averages_clear(b->state->average, all);
	if (all) {
		b->state->times_down = 0;
		timings_clear(b->state->timings);
	}
	for (size_t i = 0; i < b->spec->servers_n; i++)
		clear_server(b->servers[i], all);
}

void
model_clear_counters(struct model *model, bool all)
{
	for (size_t i = 0; i < model->spec->frontends_n; i++) {
		struct frontend *f = model->frontends[i];

		clear_one(f->counters, f->sessions, &f->state->rate, all);
	}
	for (size_t i = 0; i < model->spec->backends_n; i++)
		clear_backend(model->backends[i], all);
	gauge_clear_peak(&model->state->sessions);
	model->state->rate.peak = 0;
	if (all)
		model->state->rate = (struct rate){.total_before = 0};
}
