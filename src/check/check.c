/* SPDX-License-Identifier: MIT
 * See check.h.
 */
#include "check/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"
#include "base/mix.h"
#include "base/printable.h"
#include "base/secrets.h"

/* The time for starts of checks in one iteration of the loop.  Further starts
 * wait until the loop has handled everything else that is due.  An iteration
 * may take 50 ms, and then a tenth of them is enough for 5000 checks a
 * second. */
#define STARTS_NS (5 * NS_PER_MS)

uint64_t
check_interval_ms(const struct check *check)
{
	const struct server_state *state = check->server->state;
	const struct check_rules *spec = &check->server->check;

	if (!check->preset)
		return check->server->agent.interval_ms;
	if (state->streak > 0 && spec->fast_interval_ms > 0)
		return spec->fast_interval_ms;
	if (state->streak == 0 && !state->up && spec->down_interval_ms > 0)
		return spec->down_interval_ms;
	return spec->interval_ms;
}

void
check_start_in(struct check *check, double seconds)
{
	check->due_ns = clock_now_ns() + (uint64_t)(seconds * 1e9);
	ev_now_update(check->loop);
	list_remove(&check->node);
	ev_timer_stop(check->loop, &check->timer);
	ev_timer_set(&check->timer, seconds, 0.);
	ev_timer_start(check->loop, &check->timer);
}

static void
wait_for_next(struct check *check)
{
	double jitter = check->server->check.jitter / 100.0;
	double factor =
	    1 - jitter + 2 * jitter * mix64_share(&check->schedule->random);
	double interval = (double)check_interval_ms(check) / 1e3 * factor;
	double past = (double)(clock_now_ns() - check->started_ns) / 1e9;

	check_start_in(check, interval > past ? interval - past : 0.);
}

static void
note_delay(const struct check *check)
{
	struct check_delays *delays = &check->schedule->delays;
	uint64_t late_ns = check->started_ns > check->due_ns
	                       ? check->started_ns - check->due_ns
	                       : 0;

	delays->started++;
	if (late_ns > delays->longest_ns)
		delays->longest_ns = late_ns;
}

/* Returns whether another check may be started in this iteration of the loop.
 * When the loop was held up, many checks are due at once and would hold it up
 * again: a start is a connect, and takes curl some 100 us. */
static bool
may_start_now(struct check_schedule *schedule)
{
	unsigned turn = ev_iteration(schedule->loop);
	uint64_t now_ns = clock_now_ns();

	if (turn != schedule->turn) {
		schedule->turn = turn;
		schedule->turn_ends_ns = now_ns + STARTS_NS;
	}
	return now_ns < schedule->turn_ends_ns;
}

void
check_end_run(struct check *check)
{
	ENSURE(check->running);
	talk_cancel(check->talk);
	check->talk = NULL;
	if (check->run && check->ops->end)
		check->ops->end(check);
	free(check->run);
	check->run = NULL;
	check->running = false;
}

static void
check_start_run(struct check *check)
{
	size_t size = check->ops->run_size;

	check->running = true;
	check->run = size > 0 ? calloc(1, size) : NULL;
	if ((size > 0 && !check->run) || !check->ops->start(check))
		check_skip(check, ENOMEM);
}

/* Returns whether checks, or agents' questions, are left out at present.
 * Agents are asked during maintenance as well: the answer may end it. */
static bool
is_paused(const struct check *check)
{
	const struct server *s = check->server;

	if (!check->preset)
		return s->state->overrides.agent_paused ||
		       s->agent.addr.sa.sa_family == AF_UNSPEC;
	return s->state->overrides.check_paused ||
	       server_admin_of(s) == SERVER_MAINT;
}

static void
check_start(struct check *check)
{
	check->started_ns = clock_now_ns();
	note_delay(check);
	if (is_paused(check))
		wait_for_next(check);
	else
		check_start_run(check);
}

/* Starts the checks that are late, the first that was due first, and goes on in
 * the next iteration of the loop if there are too many. */
static void
on_late(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct check_schedule *schedule = timer->data;

	(void)events;
	while (!list_empty(&schedule->late) && may_start_now(schedule)) {
		struct check *check =
		    container_of(schedule->late.next, struct check, node);

		list_remove(&check->node);
		check_start(check);
	}
	if (list_empty(&schedule->late))
		return;
	ev_timer_set(timer, 0., 0.);
	ev_timer_start(loop, timer);
}

static void
on_start(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct check *check = timer->data;
	struct check_schedule *schedule = check->schedule;

	if (list_empty(&schedule->late) && may_start_now(schedule)) {
		check_start(check);
		return;
	}
	list_append(&schedule->late, &check->node);
	if (!ev_is_active(&schedule->again))
		on_late(loop, &schedule->again, events);
}

void
check_done(struct check *check, enum check_status status, unsigned code,
    const char *text)
{
	struct check_result result = {
	    .passed = check_status_passed(status),
	    .status = status,
	    .code = code,
	    .duration_ms = (clock_now_ns() - check->started_ns) / NS_PER_MS,
	};
	char *masked;

	/* Mask secrets: a server may repeat a password that it was sent. */
	printable_copy(
	    result.text, sizeof(result.text), secrets_mask(text, &masked), '?');
	free(masked);
	check_end_run(check);
	if (check->preset)
		server_report_check(check->server, &result);
	else
		check->server->state->agent_last = result;
	/* The interval depends on the state, which the report changes. */
	wait_for_next(check);
}

void
check_skip(struct check *check, int error)
{
	static struct log_limit limit;
	bool files = error == EMFILE || error == ENFILE;
	bool ports = error == EADDRNOTAVAIL;

	check_end_run(check);
	log_limited(&limit, LOG_LEVEL_WARNING,
	    "server %s/%s was not checked and keeps its state: %s%s",
	    check->server->backend->spec->name, check->server->spec->name,
	    strerror(error),
	    files   ? "; raise the limit on open files (LimitNOFILE= in the "
	              "unit)"
	    : ports ? "; raise the range of net.ipv4.ip_local_port_range"
	            : "; lfproxy needs more memory");
	wait_for_next(check);
}

void
check_connect_failed(struct check *check, int error)
{
	/* With a source, the error is that it is no address of this host, which
	 * sessions find as well. */
	bool ports = error == EADDRNOTAVAIL &&
	             server_source(check->server)->kind == SOURCE_NONE;

	if (ports) {
		check_skip(check, error);
		return;
	}
	switch (error) {
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		check_skip(check, error);
		return;
	case EACCES:
	case EADDRINUSE:
	case EADDRNOTAVAIL:
	case EAFNOSUPPORT:
	case ENETDOWN:
	case ENETUNREACH:
	case EPERM:
		check_done(check, CHECK_STATUS_SOCKERR, 0, strerror(error));
		return;
	default:
		check_done(check, CHECK_STATUS_L4CON, 0, strerror(error));
	}
}

void
check_schedule_init(struct check_schedule *schedule, struct ev_loop *loop)
{
	schedule->loop = loop;
	schedule->random = clock_now_ns() | 1;
	list_init(&schedule->late);
	ev_init(&schedule->again, on_late);
	schedule->again.data = schedule;
}

void
check_schedule_fini(struct check_schedule *schedule)
{
	ev_timer_stop(schedule->loop, &schedule->again);
	curl_loop_free(schedule->curl);
}

struct check *
check_new(struct check_schedule *schedule, struct server *server,
    const struct check_preset *preset, const struct check_ops *ops)
{
	struct check *check = calloc(1, sizeof(*check));

	if (!check)
		return NULL;
	list_init(&check->node);
	check->schedule = schedule;
	check->loop = schedule->loop;
	check->server = server;
	check->spec = &server->backend->spec->check;
	check->preset = preset;
	check->ops = ops;
	check->timer.data = check;
	ev_init(&check->timer, on_start);
	return check;
}

void
check_free(struct check *check)
{
	if (!check)
		return;
	list_remove(&check->node);
	ev_timer_stop(check->loop, &check->timer);
	if (check->running)
		check_end_run(check);
	free(check);
}
