/* SPDX-License-Identifier: MIT
 * See manager.h.
 */
#include "live/manager.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/notify.h"
#include "base/text.h"
#include "handover/session_receiver.h"
#include "handover/takeover.h"
#include "live/control.h"
#include "proxy/keeper.h"

#define STATUS_EVERY_MS 5000

static void
report_pool(struct manager_reports *reports, const struct pool *pool)
{
	if (pool && !reports->stuck)
		event_add(EVENT_STUCK, LOG_LEVEL_ERROR, pool_name(pool), NULL,
		    "pool %s: no turn has ended for %llu ms; the service "
		    "manager's watchdog gets no sign of life until one does",
		    pool_name(pool), (unsigned long long)notify_alive_ms());
	else if (!pool && reports->stuck)
		event_add(EVENT_STUCK, LOG_LEVEL_INFO, NULL, NULL,
		    "turns end again; the service manager's watchdog gets its "
		    "signs of life");
	reports->stuck = pool != NULL;
}

static void
report_keeper(struct manager_reports *reports, bool moves)
{
	if (!moves && !reports->keeper_stuck)
		event_add(EVENT_STUCK, LOG_LEVEL_ERROR, NULL, NULL,
		    "thread lf-keeper has not answered for %llu ms: timeouts "
		    "and bandwidth limits do not work; the service manager's "
		    "watchdog gets no sign of life until the thread answers",
		    (unsigned long long)notify_alive_ms());
	else if (moves && reports->keeper_stuck)
		event_add(EVENT_STUCK, LOG_LEVEL_INFO, NULL, NULL,
		    "thread lf-keeper answers again; the service manager's "
		    "watchdog gets its signs of life");
	reports->keeper_stuck = !moves;
}

static void
run_alive(struct timed_task *task, uint64_t now_ms)
{
	struct manager_reports *reports =
	    container_of(task, struct manager_reports, alive);
	struct control *c = container_of(reports, struct control, reports);
	const struct pool *stuck = pools_stuck(c->pools);
	bool keeper_lives = keeper_moves(c->instance.proxy.keeper);

	report_pool(reports, stuck);
	report_keeper(reports, keeper_lives);
	if (!stuck && keeper_lives)
		notify_alive();
	timed_task_schedule(task, now_ms + notify_alive_ms());
}

void
manager_reports_start(struct manager_reports *reports)
{
	struct control *c = container_of(reports, struct control, reports);

	timed_task_init(&reports->alive, &c->instance.timer, run_alive);
	if (notify_alive_ms() > 0)
		timed_task_schedule(&reports->alive, clock_now_ms());
}

static void
write_status(const struct control *c, char *out, size_t size)
{
	uint32_t sessions = proxy_sessions(&c->instance.proxy);
	uint32_t left = session_receiver_status(c->lineage.predecessor).left;
	unsigned servers = 0, usable = 0;
	char former[64] = "";

	model_for_each_backend (b, c->instance.model) {
		servers += b->spec->servers_n;
		usable += backend_usable_n(b);
	}
	if (left > 0)
		snprintf(former, sizeof(former),
		    "; %u session%s with the former process", left,
		    text_s(left));
	snprintf(out, size,
	    "%u session%s, %u new a second, %u of %u server%s usable%s",
	    sessions, text_s(sessions),
	    c->instance.model->state->rate.per_second, usable, servers,
	    text_s(servers), former);
}

void
manager_reports_second(struct manager_reports *reports, uint64_t now_ms)
{
	const struct control *c =
	    container_of(reports, struct control, reports);
	char status[sizeof(reports->status)];

	if (c->stop.phase != RUNNING)
		return;
	if (notify_is_open() && !takeover_under_way())
		listeners_store(c->listeners);
	if (now_ms < reports->status_ms)
		return;
	reports->status_ms = now_ms + STATUS_EVERY_MS;
	write_status(c, status, sizeof(status));
	if (strcmp(status, reports->status) == 0)
		return;
	strcpy(reports->status, status);
	notify_figures(status);
}
