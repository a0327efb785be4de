/* SPDX-License-Identifier: MIT
 * See session_close.h.
 */
#include "proxy/session_close.h"

#include <unistd.h>

#include "base/fault.h"
#include "lf/pool.h"
#include "net/sock.h"
#include "proxy/acceptor.h"
#include "proxy/accesslog.h"
#include "proxy/closed.h"
#include "proxy/upstream.h"
#include "proxy/inspect.h"
#include "proxy/relay.h"

static void
count_for_server(
    struct session *s, struct pool_thread *self, enum counter which)
{
	if (session_backend(s))
		counters_add(
		    session_backend(s)->counters, self->index, which, 1);
	if (s->server)
		counters_add(s->server->counters, self->index, which, 1);
}

/* What the end says of the server, if it has not answered before. */
static void
judge_server(const struct session *s, enum close_reason reason)
{
	if (!s->server || s->connected_ms == 0 ||
	    s->side[HANDLE_SERVER].received > 0)
		return;
	if (reason == CLOSE_SERVER_RESET && !s->was_reset)
		server_note_failure(s->server, FAILURE_RESET, 0);
	else if (reason == CLOSE_DONE)
		passive_note_answer(&s->server->state->passive);
}

static void
count_end(struct session *s, enum close_reason reason, struct pool_thread *self)
{
	bool data = s->connected_ms > 0;

	judge_server(s, reason);
	switch (close_reason_blame(reason)) {
	case BLAME_NOBODY:
		break;
	case BLAME_CLIENT:
		count_for_server(s, self, COUNTER_CLIENT_ABORTS);
		if (!data)
			counters_add(s->frontend->counters, self->index,
			    COUNTER_REQUEST_ERRORS, 1);
		break;
	case BLAME_SERVER:
		if (data) {
			count_for_server(s, self, COUNTER_SERVER_ABORTS);
			count_for_server(s, self, COUNTER_RESPONSE_ERRORS);
		}
		break;
	case BLAME_US:
		counters_add(s->frontend->counters, self->index,
		    COUNTER_INTERNAL_ERRORS, 1);
		count_for_server(s, self, COUNTER_INTERNAL_ERRORS);
		break;
	}
}

static void
average_times(struct timing_average *average, const uint64_t *times_ms)
{
	for (enum timing i = 0; i < TIMINGS_AVERAGED; i++)
		timing_average_add(&average[i], times_ms[i]);
}

/* A turn of another thread, with a later time than this one's, may have been
 * the first of the two. */
static uint64_t
passed_ms(uint64_t from_ms, uint64_t to_ms)
{
	return to_ms > from_ms ? to_ms - from_ms : 0;
}

static uint64_t
age_ms(const struct session *s, const struct pool_thread *self)
{
	return passed_ms(s->accepted_ms, turn_now_ms(self));
}

/* The averages are of sessions that got to a server, as in HAProxy. */
static void
count_times(const struct session *s, struct pool_thread *self)
{
	struct backend_state *b;
	uint64_t times_ms[TIMINGS_AVERAGED] = {
	    [TIMING_SESSION] = age_ms(s, self)};

	if (!session_backend(s))
		return;
	b = session_backend(s)->state;
	timings_add(b->timings, self->index, TIMING_SESSION,
	    times_ms[TIMING_SESSION] * 1000000u);
	if (s->connecting_ms == 0)
		return;
	times_ms[TIMING_QUEUE] = passed_ms(s->accepted_ms, s->connecting_ms);
	timings_add(b->timings, self->index, TIMING_QUEUE,
	    times_ms[TIMING_QUEUE] * 1000000u);
	if (s->connected_ms == 0 || !s->server)
		return;
	times_ms[TIMING_CONNECT] = passed_ms(s->connecting_ms, s->connected_ms);
	average_times(b->average, times_ms);
	average_times(s->server->state->average, times_ms);
}

static void
count_close(struct session *s)
{
	struct frontend *f = s->frontend;

	(void)session_leave_queue(s);
	session_end_pause(s);
	session_end_retry(s);
	if (s->server)
		session_leave_server(s);
	if (session_backend(s))
		gauge_down(session_backend(s)->sessions);
	gauge_down(f->sessions);
	gauge_down(&f->model->state->sessions);
	model_unpin(f->model);
}

/* A side whose opposite went with a reset gets a reset as well, and when bytes
 * are left both do: what the one has got must not look complete, nor what the
 * other has sent look taken. */
static void
close_side(struct session *s, enum handle_side which)
{
	struct side *side = &s->side[which];
	bool left = session_has_pending(s, HANDLE_CLIENT) ||
	            session_has_pending(s, HANDLE_SERVER);

	if (side->fd < 0)
		return;
	if ((side_is_broken(&s->side[!which]) || left) && !side_is_broken(side))
		sock_close_reset(side->fd);
	else
		close(side->fd);
	atomic_store_relaxed(&side->fd, -1);
}

void
session_close(
    struct session *session, enum close_reason reason, struct pool_thread *self)
{
	struct session *s = session;
	const struct frontend *frontend = s->frontend;
	struct proxy *proxy = proxy_of(self);
	struct accesslog_last last;

	session_count_bytes(s, self);
	count_end(s, reason, self);
	count_times(s, self);
	accesslog_last(s, reason, self, &last);
	closed_note(proxy_thread_of(self)->closed, s, reason, self);
	fault_leak();
	session_set_state(s, SESSION_FREE, self);

	/* From here on events of these descriptors are stale. */
	claim_retire(&s->handler.claim);
	close_side(s, HANDLE_CLIENT);
	close_side(s, HANDLE_SERVER);
	relay_drop_pending(s, self);
	upstream_closed(s);
	count_close(s);
	inspect_end(s, self);
	shard_leave(&s->handler);
	slab_give(&proxy->sessions, s->index);
	acceptors_resume(proxy);
	accesslog_write(frontend, &last);
}
