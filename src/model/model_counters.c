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

	model_for_each_frontend (f, model) {
		uint64_t n = counters_sum(f->counters, COUNTER_SESSIONS);

		rate_tick(&f->state->rate, n);
		all += n;
	}
	rate_tick(&model->state->rate, all);
	model_for_each_backend (b, model) {
		report_refused(b);
		rate_tick(&b->state->rate,
		    counters_sum(b->counters, COUNTER_SESSIONS));
	}
	model_for_each_server (s, model)
		rate_tick(&s->state->rate,
		    counters_sum(s->counters, COUNTER_SESSIONS));
}

void
model_sample(struct model *model)
{
	model_for_each_frontend (f, model)
		trend_add(
		    &f->state->trend, atomic_load_relaxed(&f->sessions->now));
	model_for_each_backend (b, model)
		trend_add(&b->state->trend,
		    atomic_load_relaxed(&b->state->queue.waiting.now));
	model_for_each_server (s, model)
		trend_add(
		    &s->state->trend, atomic_load_relaxed(&s->sessions->now));
}

/* Clears the peaks and, with all, the rest. */
static void
clear_common(struct counters *counters, struct gauge *sessions,
    struct rate *rate, bool all)
{
	gauge_clear_peak(sessions);
	rate->peak = 0;
	if (!all)
		return;
	*rate = (struct rate){.total_before = 0};
	if (counters)
		counters_clear(counters);
}

void
model_clear_counters(struct model *model, bool all)
{
	clear_common(NULL, &model->state->sessions, &model->state->rate, all);
	model_for_each_frontend (f, model) {
		clear_common(f->counters, f->sessions, &f->state->rate, all);
		gauge_clear_peak(&f->state->handshakes);
	}
	for (struct acl_list **l = model->lists; all && *l; l++)
		acl_list_clear_matches(*l);
	model_for_each_backend (b, model) {
		struct backend_state *state = b->state;

		clear_common(b->counters, b->sessions, &state->rate, all);
		gauge_clear_peak(&state->queue.waiting);
		timing_averages_clear(state->average, all);
		if (all) {
			state->times_down = 0;
			timings_clear(state->timings);
		}
	}
	model_for_each_server (s, model) {
		struct server_state *state = s->state;

		clear_common(s->counters, s->sessions, &state->rate, all);
		timing_averages_clear(state->average, all);
		if (all)
			state->checks_failed = state->times_down = 0;
	}
}
