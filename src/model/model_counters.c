/* SPDX-License-Identifier: MIT
 * The counters of all frontends, backends and servers: see model.h.
 */
#include <inttypes.h>

#include "base/events.h"
#include "base/text.h"
#include "model/model.h"

/* Returns by how much the counter has grown since the last event. */
static uint64_t
increase_of(const struct backend *b, enum counter which, uint64_t *told)
{
	uint64_t now = counters_sum(b->counters, which);
	uint64_t more = now > *told ? now - *told : 0;

	*told = now;
	return more;
}

static void
report_refused(const struct backend *b)
{
	const char *name = b->spec->name;
	uint64_t n;

	n = increase_of(b, COUNTER_QUEUE_FULL, &b->state->queue_full);
	if (n > 0)
		event_add(EVENT_QUEUE_FULL, LOG_LEVEL_WARNING, name, NULL,
		    "backend %s: %" PRIu64 " session%s %s closed, as no "
		    "server had room and no more may wait (maxqueue, "
		    "timeout_queue)",
		    name, n, text_s(n), n == 1 ? "was" : "were");
	n = increase_of(b, COUNTER_RETRIES_REFUSED, &b->state->retries_refused);
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

		report_refused(b);
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
clear_common(struct counters *counters, struct gauge *sessions,
    struct rate *rate, bool all)
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
	clear_common(s->counters, s->sessions, &s->state->rate, all);
	timing_averages_clear(s->state->average, all);
	if (!all)
		return;
	s->state->checks_failed = 0;
	s->state->times_down = 0;
}

static void
clear_backend(struct backend *b, bool all)
{
	clear_common(b->counters, b->sessions, &b->state->rate, all);
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

		clear_common(f->counters, f->sessions, &f->state->rate, all);
	}
	for (size_t i = 0; i < model->spec->backends_n; i++)
		clear_backend(model->backends[i], all);
	gauge_clear_peak(&model->state->sessions);
	model->state->rate.peak = 0;
	if (all)
		model->state->rate = (struct rate){.total_before = 0};
}
