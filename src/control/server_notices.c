/* SPDX-License-Identifier: MIT
 * See server_notices.h.
 */
#include "control/server_notices.h"

#include "base/clock.h"
#include "control/control_internal.h"
#include "model/ejection.h"

static void
notify(void *arg)
{
	struct control *c = arg;

	ev_async_send(c->loop, &c->noticed);
}

/* Readmits servers whose time is over, and sets the timer for the next one. */
static void
readmit_servers(struct control *c)
{
	uint64_t now_ms = clock_now_ms(), next_ms = UINT64_MAX;

	for (size_t i = 0; i < c->model->spec->backends_n; i++) {
		uint64_t at_ms = backend_readmit(c->model->backends[i], now_ms);

		if (at_ms < next_ms)
			next_ms = at_ms;
	}
	model_update(c->model);
	if (next_ms == UINT64_MAX) {
		ev_timer_stop(c->loop, &c->readmit);
		return;
	}
	ev_now_update(c->loop);
	c->readmit.repeat = (double)(next_ms - now_ms + 1) / 1000;
	ev_timer_again(c->loop, &c->readmit);
}

static void
on_readmit(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	readmit_servers(timer->data);
}

/* A notice is kept in its server, so one look at all servers serves any number
 * of wake-ups. */
void
server_notices_review(struct control *control)
{
	struct control *c = control;
	uint64_t now_ms = clock_now_ms();

	for (size_t i = 0; i < c->model->spec->backends_n; i++) {
		struct backend *b = c->model->backends[i];

		for (size_t j = 0; j < b->spec->servers_n; j++) {
			bool soon = server_review(b->servers[j], now_ms);

			model_update(c->model);
			if (soon)
				checker_hurry(c->checker, b->servers[j]);
		}
	}
	readmit_servers(c);
}

static void
on_notice(struct ev_loop *loop, ev_async *async, int events)
{
	(void)loop;
	(void)events;
	server_notices_review(async->data);
}

void
server_notices_watch(struct control *control)
{
	struct control *c = control;

	ev_async_init(&c->noticed, on_notice);
	c->noticed.data = c;
	ev_async_start(c->loop, &c->noticed);
	ev_init(&c->readmit, on_readmit);
	c->readmit.data = c;
	c->model->state->notify_arg = c;
	c->model->state->notify = notify;
}
