/* SPDX-License-Identifier: MIT
 * See due.h.
 */
#include "control/due.h"

#include "base/clock.h"
#include "control/control_internal.h"

/* A grace period is a turn of each thread, some 50 us. */
#define ENDING_MS 1

/* 0: nothing is. */
static uint64_t
due_ms(const struct model *model)
{
	if (model->state->ending)
		return clock_now_ms() + ENDING_MS;
	return model->state->next_step_ms;
}

static void
on_prepare(struct ev_loop *loop, ev_prepare *prepare, int events)
{
	struct control *c = prepare->data;
	struct due *d = &c->due;
	uint64_t at_ms = due_ms(c->model), now_ms;

	(void)events;
	if (at_ms == 0 || (ev_is_active(&d->timer) && d->at_ms <= at_ms))
		return;
	d->at_ms = at_ms;
	now_ms = clock_now_ms();
	ev_now_update(loop);
	ev_timer_stop(loop, &d->timer);
	ev_timer_set(&d->timer,
	    at_ms > now_ms ? (double)(at_ms - now_ms) / 1e3 : 0., 0.);
	ev_timer_start(loop, &d->timer);
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
due_start(struct control *control)
{
	struct due *d = &control->due;

	ev_prepare_init(&d->prepare, on_prepare);
	ev_timer_init(&d->timer, on_timer, 0., 0.);
	d->prepare.data = d->timer.data = control;
	ev_prepare_start(control->loop, &d->prepare);
}
