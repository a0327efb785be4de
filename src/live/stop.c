/* SPDX-License-Identifier: MIT
 * See stop.h.
 */
#include "live/stop.h"

#include "base/clock.h"
#include "base/events.h"
#include "base/log.h"
#include "base/notify.h"
#include "base/text.h"
#include "handover/session_receiver.h"
#include "live/control.h"
#include "handover/upgrade.h"
#include "proxy/reaper.h"

/* How often lfproxy checks whether a phase is over. */
#define STOP_TICK_MS  20
#define KILL_LIMIT_MS 1000
#define STATUS_MS     1000

/* The time for the answer to the command that has started the successor. */
#define LINGER_MS 200

/* Reports the phase to the service manager, for `systemctl status`.  more_ms:
 * how long the phases may take that follow a phase that is entered. */
static void
report_phase(struct control *c, uint64_t now_ms, bool entered, uint64_t more_ms)
{
	static const char *const texts[] = {
	    [LEAVING] = "Stopping soon, still accepting",
	    [DRAINING] = "Draining",
	    [KILLING] = "Ending sessions",
	};
	_Static_assert(
	    sizeof(texts) / sizeof(texts[0]) == KILLING + 1, "phases");
	uint64_t left_ms =
	    now_ms < c->stop.phase_ends_ms ? c->stop.phase_ends_ms - now_ms : 0;
	uint32_t n = proxy_sessions(&c->instance.proxy) +
	             session_receiver_status(c->lineage.predecessor).left;
	char status[128];

	snprintf(status, sizeof(status), "%s: %u session%s, %lu s at most",
	    texts[c->stop.phase], n, text_s(n),
	    (unsigned long)(left_ms + 999) / 1000);
	if (entered)
		notify_stopping(left_ms + more_ms, status);
	else
		notify_status(status);
	c->stop.status_ms = now_ms + STATUS_MS;
}

static void
enter_phase(struct control *c, enum phase phase, uint64_t for_ms)
{
	const struct global_spec *global = &c->instance.model->spec->global;
	uint64_t now_ms = clock_now_ms();

	c->stop.phase = phase;
	c->stop.phase_ends_ms = now_ms + for_ms;
	report_phase(c, now_ms, true,
	    (phase == LEAVING ? global->drain_timeout_ms : 0) +
	        (phase == KILLING ? 0 : KILL_LIMIT_MS));
}

static void
enter_leaving(struct control *c, uint64_t delay_ms)
{
	char delay[TEXT_DURATION_SIZE];

	event_add(EVENT_STOP, LOG_LEVEL_INFO, NULL, NULL,
	    "stopping in %s (shutdown_delay): /readyz answers 503, clients are "
	    "still accepted; a second signal stops at once",
	    text_duration(delay_ms, delay));
	enter_phase(c, LEAVING, delay_ms);
}

/* Begins to drain: sessions may end by themselves, and idle ones are ended. */
static void
begin_stop_drain(struct control *c)
{
	const struct global_spec *global = &c->instance.model->spec->global;
	uint64_t drain_ms = global->drain_timeout_ms;
	uint64_t idle_ms = global->drain_idle_timeout_ms;
	uint32_t n = proxy_sessions(&c->instance.proxy);
	char limit[TEXT_DURATION_SIZE], idle[TEXT_DURATION_SIZE];

	event_add(EVENT_STOP, LOG_LEVEL_INFO, NULL, NULL,
	    "draining: %u session%s may end within %s, idle ones %s after "
	    "their last byte; a second signal stops at once",
	    n, text_s(n), text_duration(drain_ms, limit),
	    text_duration(idle_ms < drain_ms ? idle_ms : drain_ms, idle));
	proxy_end_idle(&c->instance.proxy, idle_ms, drain_ms);
	enter_phase(c, DRAINING, drain_ms);
}

static void
enter_draining(struct control *c)
{
	listeners_stop(c->listeners);
	begin_stop_drain(c);
}

static void
enter_killing(struct control *c)
{
	uint32_t n = proxy_sessions(&c->instance.proxy);

	listeners_stop(c->listeners);
	if (n > 0)
		event_add(EVENT_STOP, LOG_LEVEL_WARNING, NULL, NULL,
		    "stopping now: %u session%s %s closed", n, text_s(n),
		    text_are(n));
	else
		event_add(
		    EVENT_STOP, LOG_LEVEL_INFO, NULL, NULL, "stopping now");
	enter_phase(c, KILLING, KILL_LIMIT_MS);
}

static bool
has_finished(const struct control *c, uint64_t now_ms)
{
	if (c->stop.phase != KILLING && now_ms < c->stop.linger_ms)
		return false;
	/* Counters and sessions of a process before this one are passed on to
	 * the next one.  Without a next one, a service manager that saw its
	 * main process end would kill the sessions. */
	if (c->stop.phase != KILLING &&
	    session_receiver_is_open(c->lineage.predecessor))
		return false;
	if (c->stop.phase == KILLING && now_ms >= c->stop.phase_ends_ms)
		return true;
	return listeners_stopped(c->listeners) &&
	       proxy_sessions(&c->instance.proxy) == 0;
}

static void
run_stop_step(struct timed_task *task, uint64_t now_ms)
{
	struct control *c = container_of(task, struct control, stop.step);

	if (c->stop.phase == LEAVING && now_ms >= c->stop.phase_ends_ms)
		enter_draining(c);
	if (c->stop.phase == DRAINING && now_ms >= c->stop.phase_ends_ms) {
		log_warning("drain_timeout has passed");
		enter_killing(c);
	}
	if (c->stop.phase == KILLING)
		proxy_note_all(&c->instance.proxy, NOTE_KILL);
	if (has_finished(c, now_ms)) {
		ev_break(c->instance.loop, EVBREAK_ALL);
		return;
	}
	if (now_ms >= c->stop.status_ms)
		report_phase(c, now_ms, false, 0);
	timed_task_schedule(task, now_ms + STOP_TICK_MS);
}

void
stop_on_signal(struct ev_loop *loop, ev_signal *signal, int events)
{
	struct control *c = signal->data;
	uint64_t delay_ms = c->instance.model->spec->global.shutdown_delay_ms;

	(void)loop;
	(void)events;
	if (c->stop.phase == RUNNING) {
		if (c->lineage.upgrade)
			c->stop.linger_ms = clock_now_ms() + LINGER_MS;
		timed_task_init(
		    &c->stop.step, &c->instance.timer, run_stop_step);
		if (delay_ms > 0)
			enter_leaving(c, delay_ms);
		else
			enter_draining(c);
		upgrade_stop(&c->lineage);
	} else if (c->stop.phase != KILLING) {
		enter_killing(c);
	}
	run_stop_step(&c->stop.step, clock_now_ms());
}

void
stop_for_successor(struct control *control)
{
	struct control *c = control;

	listeners_leave(c->listeners);
	timed_task_init(&c->stop.step, &c->instance.timer, run_stop_step);
	c->stop.has_left = true;
	c->stop.linger_ms = UINT64_MAX;
	enter_phase(
	    c, DRAINING, c->instance.model->spec->global.drain_timeout_ms);
	timed_task_schedule(&c->stop.step, clock_now_ms() + STOP_TICK_MS);
}

void
stop_when_settled(struct control *control)
{
	struct control *c = control;

	c->stop.linger_ms = clock_now_ms() + LINGER_MS;
	if (proxy_sessions(&c->instance.proxy) > 0)
		begin_stop_drain(c);
}
