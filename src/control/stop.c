/* SPDX-License-Identifier: MIT
 * See stop.h.
 */
#include "control/stop.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/log.h"
#include "base/notify.h"
#include "base/text.h"
#include "control/control_internal.h"
#include "proxy/reaper.h"

#define KILL_LIMIT_MS 1000
#define STATUS_MS     1000

static const struct global_spec *
global_of(const struct control *c)
{
	return &c->model->spec->global;
}

/* Writes the status line that `systemctl status` shows. */
static void
describe(const struct control *c, char *out, size_t size)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t left_s = now_ms < c->phase_ends_ms
	                      ? (c->phase_ends_ms - now_ms + 999) / 1000
	                      : 0;
	uint32_t n = proxy_sessions(&c->proxy);

	snprintf(out, size, "%s: %u session%s, %lu s at most",
	    c->phase == LEAVING    ? "Stopping soon, still accepting"
	    : c->phase == DRAINING ? "Draining"
	                           : "Ending sessions",
	    n, n == 1 ? "" : "s", (unsigned long)left_s);
}

/* The phase's end is set.  more_ms: what may follow it. */
static void
announce(struct control *c, uint64_t more_ms)
{
	uint64_t now_ms = clock_now_ms();
	char status[128];

	describe(c, status, sizeof(status));
	notify_stopping(c->phase_ends_ms - now_ms + more_ms, "%s", status);
	c->status_ms = now_ms + STATUS_MS;
}

static void
tell_progress(struct control *c, uint64_t now_ms)
{
	char status[128];

	if (now_ms < c->status_ms)
		return;
	describe(c, status, sizeof(status));
	notify_status("%s", status);
	c->status_ms = now_ms + STATUS_MS;
}

static void
enter_leaving(struct control *c)
{
	uint64_t delay_ms = global_of(c)->shutdown_delay_ms;
	char delay[TEXT_DURATION_SIZE];

	c->phase = LEAVING;
	c->phase_ends_ms = clock_now_ms() + delay_ms;
	event_add(EVENT_STOP, LOG_LEVEL_INFO, NULL, NULL,
	    "stopping in %s (shutdown_delay): /readyz answers 503, clients are "
	    "still accepted; a second signal stops at once",
	    text_duration(delay_ms, delay));
	announce(c, global_of(c)->drain_timeout_ms + KILL_LIMIT_MS);
}

static void
enter_draining(struct control *c)
{
	uint64_t drain_ms = global_of(c)->drain_timeout_ms;
	uint64_t idle_ms = global_of(c)->drain_idle_timeout_ms;
	uint32_t n = proxy_sessions(&c->proxy);
	char limit[TEXT_DURATION_SIZE], idle[TEXT_DURATION_SIZE];

	c->phase = DRAINING;
	c->phase_ends_ms = clock_now_ms() + drain_ms;
	event_add(EVENT_STOP, LOG_LEVEL_INFO, NULL, NULL,
	    "draining: %u session%s may end within %s, idle ones %s after "
	    "their last byte; a second signal stops at once",
	    n, n == 1 ? "" : "s", text_duration(drain_ms, limit),
	    text_duration(idle_ms < drain_ms ? idle_ms : drain_ms, idle));
	listeners_stop(c->listeners);
	proxy_end_idle(&c->proxy, idle_ms, drain_ms);
	announce(c, KILL_LIMIT_MS);
}

static void
enter_killing(struct control *c)
{
	uint32_t n = proxy_sessions(&c->proxy);

	listeners_stop(c->listeners);
	c->phase = KILLING;
	c->phase_ends_ms = clock_now_ms() + KILL_LIMIT_MS;
	if (n > 0)
		event_add(EVENT_STOP, LOG_LEVEL_WARNING, NULL, NULL,
		    "stopping now: %u session%s closed", n,
		    n == 1 ? " is" : "s are");
	else
		event_add(
		    EVENT_STOP, LOG_LEVEL_INFO, NULL, NULL, "stopping now");
	announce(c, 0);
}

static bool
has_finished(const struct control *c, uint64_t now_ms)
{
	if (c->phase == KILLING && now_ms >= c->phase_ends_ms)
		return true;
	return listeners_stopped(c->listeners) &&
	       proxy_sessions(&c->proxy) == 0;
}

void
stop_on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct control *c = timer->data;
	uint64_t now_ms = clock_now_ms();

	(void)events;
	if (c->phase == LEAVING && now_ms >= c->phase_ends_ms)
		enter_draining(c);
	if (c->phase == DRAINING && now_ms >= c->phase_ends_ms) {
		log_warning("drain_timeout has passed");
		enter_killing(c);
	}
	if (c->phase == KILLING)
		proxy_kill_all(&c->proxy);
	if (has_finished(c, now_ms))
		ev_break(loop, EVBREAK_ALL);
	else
		tell_progress(c, now_ms);
}

void
stop_on_signal(struct ev_loop *loop, ev_signal *signal, int events)
{
	struct control *c = signal->data;

	switch (c->phase) {
	case RUNNING:
		if (global_of(c)->shutdown_delay_ms > 0)
			enter_leaving(c);
		else
			enter_draining(c);
		ev_timer_again(loop, &c->stopping);
		break;
	case LEAVING:
	case DRAINING:
		enter_killing(c);
		break;
	case KILLING:
		break;
	}
	stop_on_timer(loop, &c->stopping, events);
}
