/* SPDX-License-Identifier: MIT
 * See session_count.h.
 */
#include "proxy/session_count.h"

#include "lf/pool.h"
#include "model/limit.h"
#include "proxy/inspection.h"

void
session_count_at(const struct session *s, unsigned scopes,
    const struct server *server, enum counter which, uint64_t n,
    const struct pool_thread *self)
{
	const struct backend *b = session_backend(s);

	if (scopes & COUNT_FRONTEND)
		counters_add(s->frontend->counters, self->index, which, n);
	if (scopes & COUNT_BACKEND && b)
		counters_add(b->counters, self->index, which, n);
	if (scopes & COUNT_SERVER && server)
		counters_add(server->counters, self->index, which, n);
}

void
session_count_bytes(struct session *s, struct pool_thread *self)
{
	static const enum counter which[2] = {
	    [HANDLE_CLIENT] = COUNTER_BYTES_IN,
	    [HANDLE_SERVER] = COUNTER_BYTES_OUT};

	uint64_t bytes[2];

	for (int i = 0; i < 2; i++) {
		struct side *side = &s->side[i];

		bytes[i] = side->received - side->counted;
		if (bytes[i] == 0)
			continue;
		side->counted = side->received;
		session_count(s, COUNT_ALL, which[i], bytes[i], self);
	}
	talkers_add(&proxy_of(self)->talkers, session_client(s), TALK_BYTES,
	    bytes[0] + bytes[1], self->now_ns);
	if (s->limits != 0 && bytes[0] + bytes[1] > 0)
		limits_charge(s->frontend->limits, s->limits, session_client(s),
		    bytes, self->now_ns);
	s->counted_ms = (uint32_t)turn_now_ms(self);
}

/* Counts for the health of a server that has not answered: a reset against it,
 * an end in order for it. */
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
count_blame(
    const struct session *s, enum close_reason reason, struct pool_thread *self)
{
	unsigned server = COUNT_BACKEND | COUNT_SERVER;
	bool data = s->connected_ms > 0;

	switch (close_reason_blame(reason)) {
	case BLAME_NOBODY:
		break;
	case BLAME_CLIENT:
		session_count(s, server, COUNTER_CLIENT_ABORTS, 1, self);
		if (!data)
			session_count(
			    s, COUNT_FRONTEND, COUNTER_REQUEST_ERRORS, 1, self);
		break;
	case BLAME_SERVER:
		if (!data)
			break;
		session_count(s, server, COUNTER_SERVER_ABORTS, 1, self);
		session_count(s, server, COUNTER_RESPONSE_ERRORS, 1, self);
		break;
	case BLAME_US:
		session_count(s, COUNT_ALL, COUNTER_INTERNAL_ERRORS, 1, self);
		break;
	}
}

static void
average_times(struct timing_average *average, const uint64_t *times_ms)
{
	for (enum timing i = 0; i < TIMINGS_AVERAGED; i++)
		timing_average_add(&average[i], times_ms[i]);
}

/* Counts the session's times.  The averages are of sessions that got to a
 * server, as in HAProxy. */
static void
count_times(const struct session *s, const struct session_record *record,
    struct pool_thread *self)
{
	uint64_t times_ms[TIMINGS_AVERAGED];
	struct backend_state *b;

	if (!session_backend(s))
		return;
	b = session_backend(s)->state;
	times_ms[TIMING_SESSION] = (uint64_t)record->total_ms;
	timings_add(b->timings, self->index, TIMING_SESSION,
	    times_ms[TIMING_SESSION] * 1000000u);
	if (s->connecting_ms == 0)
		return;
	times_ms[TIMING_QUEUE] = (uint64_t)record->wait_ms;
	timings_add(b->timings, self->index, TIMING_QUEUE,
	    times_ms[TIMING_QUEUE] * 1000000u);
	if (s->connected_ms == 0 || !s->server)
		return;
	times_ms[TIMING_CONNECT] = (uint64_t)record->connect_ms;
	average_times(b->average, times_ms);
	average_times(s->server->state->average, times_ms);
}

void
session_count_client(const struct session *s, struct pool_thread *self)
{
	talkers_add(&proxy_of(self)->talkers, session_client(s), TALK_SESSIONS,
	    1, self->now_ns);
}

/* Counts a session against its client that has failed, or was refused. */
static void
count_client_error(
    const struct session *s, enum close_reason reason, struct pool_thread *self)
{
	if (close_reason_blame(reason) != BLAME_NOBODY ||
	    gate_refuses(s->gate) || reason == CLOSE_DENIED)
		talkers_add(&proxy_of(self)->talkers, session_client(s),
		    TALK_ERRORS, 1, self->now_ns);
}

void
session_count_end(struct session *s, const struct session_record *record,
    struct pool_thread *self)
{
	enum close_reason reason = (enum close_reason)record->reason;

	session_count_bytes(s, self);
	judge_server(s, reason);
	count_blame(s, reason, self);
	count_client_error(s, reason, self);
	count_times(s, record, self);
}
