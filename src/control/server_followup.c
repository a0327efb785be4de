/* SPDX-License-Identifier: MIT
 * See server_followup.h.
 */
#include "control/server_followup.h"

#include "base/clock.h"
#include "control/control_internal.h"
#include "proxy/reaper.h"

/* A grace period takes one turn of each thread, some 50 us. */
#define ENDING_MS 1

/* Returns when there is work to do, or 0 for no work. */
static uint64_t
followup_ms(const struct model *model)
{
	if (model->state->ending)
		return clock_now_ms() + ENDING_MS;
	return model->state->next_step_ms;
}

static void
on_prepare(struct ev_loop *loop, ev_prepare *prepare, int events)
{
	struct control *c = prepare->data;
	struct server_followup *f = &c->followup;
	uint64_t at_ms, now_ms;

	(void)events;
	model_update(c->model);
	at_ms = followup_ms(c->model);
	if (at_ms == 0 || (ev_is_active(&f->timer) && f->at_ms <= at_ms))
		return;
	f->at_ms = at_ms;
	now_ms = clock_now_ms();
	ev_now_update(loop);
	ev_timer_stop(loop, &f->timer);
	ev_timer_set(&f->timer,
	    at_ms > now_ms ? (double)(at_ms - now_ms) / 1e3 : 0., 0.);
	ev_timer_start(loop, &f->timer);
}

static void
on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct control *c = timer->data;
	const struct model_state *state = c->model->state;
	uint64_t now_ms = clock_now_ms();

	(void)loop;
	(void)events;
	if (state->ending && model_end_sessions(c->model))
		proxy_expire(&c->proxy);
	if (state->next_step_ms != 0 && state->next_step_ms <= now_ms)
		(void)model_step(c->model, now_ms);
}

void
server_followup_start(struct control *control)
{
	struct server_followup *f = &control->followup;

	ev_prepare_init(&f->prepare, on_prepare);
	ev_timer_init(&f->timer, on_timer, 0., 0.);
	f->prepare.data = f->timer.data = control;
	ev_prepare_start(control->loop, &f->prepare);
}
