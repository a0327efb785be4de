/* SPDX-License-Identifier: MIT
 * See pace.h.
 */
#include "control/pace.h"

#include "base/clock.h"
#include "control/control_internal.h"
#include "proxy/reaper.h"

static void
look(struct control *c)
{
	struct pace_loop *p = &c->pace;
	uint64_t now_ns = clock_now_ns();
	uint64_t next_ns = pacer_look(&c->proxy.pacer, now_ns);

	if (next_ns == UINT64_MAX) {
		ev_timer_stop(c->loop, &p->look);
		return;
	}
	p->look.repeat =
	    next_ns > now_ns ? (double)(next_ns - now_ns) / 1e9 : 0.0001;
	ev_now_update(c->loop);
	ev_timer_again(c->loop, &p->look);
}

static void
on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	look(timer->data);
}

static void
on_called(struct ev_loop *loop, ev_async *called, int events)
{
	(void)loop;
	(void)events;
	look(called->data);
}

static void
call_pacer(void *arg)
{
	struct control *c = arg;

	ev_async_send(c->loop, &c->pace.called);
}

void
pace_start(struct control *control)
{
	struct control *c = control;

	ev_init(&c->pace.look, on_look);
	c->pace.look.data = c;
	ev_async_init(&c->pace.called, on_called);
	c->pace.called.data = c;
	ev_async_start(c->loop, &c->pace.called);
	c->proxy.pacer.call = call_pacer;
	c->proxy.pacer.call_arg = c;
}

void
pace_follow(struct control *control)
{
	struct control *c = control;
	bool limited;

	if (!bandwidth_follow(c->model, &limited))
		return;
	atomic_store_relaxed(&c->proxy.pacer.limited, limited);
	pacer_wake_all(&c->proxy.pacer);
	if (limited)
		proxy_note_all(&c->proxy, NOTE_PACE);
}
