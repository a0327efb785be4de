/* SPDX-License-Identifier: MIT
 * See session.h.
 */
#include "proxy/session.h"

#include <errno.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/list.h"
#include "base/mix.h"
#include "lf/pool.h"
#include "proxy/accesslog.h"
#include "proxy/connect.h"
#include "proxy/first_byte.h"
#include "proxy/inspect.h"
#include "proxy/reaper.h"
#include "proxy/relay.h"
#include "proxy/relay_internal.h"

/* While the last bytes of a broken session are under way to the side that is
 * left, the kernel is asked this often whether they have arrived; it has no
 * event for that. */
#define FLUSH_POLL_MS 50

/* Looks at a session within the time that it may be idle while lfproxy drains.
 */
#define IDLE_LOOKS 8

static struct session *
session_of(struct event_handler *handler)
{
	return container_of(handler, struct session, handler);
}

static bool
connecting(const struct session *s)
{
	return s->state == SESSION_ACCEPTED || s->state == SESSION_QUEUED ||
	       s->state == SESSION_CONNECTING || s->state == SESSION_PAUSING;
}

static bool
inspecting(const struct session *s)
{
	return s->state == SESSION_INSPECTING ||
	       (s->state == SESSION_ACCEPTED && s->inspection);
}

static bool
relaying(const struct session *s)
{
	return s->state == SESSION_RELAYING || s->state == SESSION_CLIENT_EOF ||
	       s->state == SESSION_SERVER_EOF;
}

/* The peer's FIN has come, and nothing else that would end a read early: a read
 * that empties the queue is then the last one, which saves the read of 0.  On a
 * unix socket a read also ends where descriptors were sent along. */
static void
note_fin(struct side *side, uint32_t ready)
{
	if (ready & (HANDLE_ERROR | HANDLE_READ_ON))
		side->last = false;
	else if (ready & HANDLE_READ_CLOSED && side->tcp && !side->read_on)
		side->last = true;
}

/* The kernel's bits become what is known of each side.  A hang-up alone is no
 * error: both have ended, and a reset would show as one (tcp_poll). */
static void
note_events(struct session *s, uint32_t pending)
{
	for (int i = 0; i < 2; i++) {
		struct side *side = &s->side[i];
		uint32_t ready = pending >> i * HANDLE_SIDE_SHIFT & HANDLE_ALL;

		if (ready & ~HANDLE_WRITABLE)
			side->readable = true;
		note_fin(side, ready);
		if (ready & (HANDLE_READ_CLOSED | HANDLE_HUNG_UP |
		                HANDLE_ERROR | HANDLE_READ_ON))
			side->read_on = true;
		if (ready & HANDLE_READ_ON) {
			side->urgent = true;
			side->splicing = false;
			side->streak = 0;
		}
		if (ready & (HANDLE_WRITABLE | HANDLE_ERROR))
			side->writable = true;
		if (ready & HANDLE_ERROR)
			side->error = true;
	}
}

bool
session_deadline_passed(
    const struct session *session, const struct pool_thread *self)
{
	uint64_t deadline =
	    atomic_load_relaxed(&proxy_of(self)->deadlines[session->index]);

	return deadline != 0 && deadline <= turn_now_ms(self);
}

/* From one handle set to another.  Adding reports the present state, so nothing
 * that happens in between is missed; what the old shard still has in its batch
 * is of the same descriptors and as true as before. */
static int
move(struct session *s, struct shard *to)
{
	struct event_handler *h = &s->handler;
	int rc = 0;

	for (int i = 0; i < 2 && rc == 0; i++) {
		if (s->side[i].fd < 0)
			continue;
		rc = handle_set_remove(h->shard->set, s->side[i].fd);
		if (rc == 0)
			rc = handle_set_add(to->set, s->side[i].fd,
			    event_handler_handle(h, (enum handle_side)i),
			    HANDLE_READABLE | HANDLE_WRITABLE |
			        HANDLE_READ_CLOSED);
	}
	shard_leave(h);
	shard_enter(to, h);
	return rc;
}

/* True when the session has its place. */
static bool
find_place(struct session *s, struct pool_thread *self)
{
	struct shard *to = pool_home_of(self->pool, s->handler.slot);

	return to == s->handler.shard || move(s, to) == 0;
}

/* Its server was removed, and its timeout_drain has passed. */
static bool
expired(const struct session *s)
{
	return s->server && atomic_load_relaxed(&s->server->state->expired);
}

/* Its server has gone down since, or as a backup is needed no more, and that
 * ends its sessions.  One that is not connected so far gets another server. */
static bool
disowned(const struct session *s)
{
	return s->server && s->state != SESSION_FLUSHING &&
	       server_end_of(s->server->state, s->lineup) != SERVER_END_NONE;
}

static enum turn
leave_disowned(struct session *s, struct pool_thread *self)
{
	bool down =
	    server_end_of(s->server->state, s->lineup) == SERVER_END_DOWN;

	if (connecting(s))
		return connect_elsewhere(s,
		    down ? CLOSE_SERVER_DOWN_CONNECT : CLOSE_SERVER_UP_CONNECT,
		    self);
	return session_close(
	    s, down ? CLOSE_SERVER_DOWN : CLOSE_SERVER_UP, self);
}

/* Its server is drained, and the time is over.  As if it had gone down. */
static enum turn
leave_drained(struct session *s, struct pool_thread *self)
{
	if (connecting(s))
		return connect_elsewhere(s, CLOSE_KILLED_CONNECT, self);
	return session_close(s,
	    s->state == SESSION_FLUSHING ? (enum close_reason)s->reason
	                                 : CLOSE_DRAINED,
	    self);
}

/* The deadline has passed: that of the state, or that of the first byte. */
static enum turn
time_out(struct session *s, struct pool_thread *self)
{
	if (first_byte_is_late(s, self))
		return first_byte_close(s, self);
	if (!connecting(s)) {
		accesslog_ongoing(s, self);
		return relay_timeout(s, self);
	}
	/* The first byte is there; the state may have some time left. */
	session_set_deadline(s, self);
	return session_deadline_passed(s, self) ? connect_timeout(s, self)
	                                        : connect_step(s, self);
}

static enum turn
session_turn(
    struct event_handler *handler, uint32_t pending, struct pool_thread *self)
{
	struct session *s = session_of(handler);

	note_events(s, pending);
	if (pending & NOTE_KILL)
		return session_close(s,
		    s->state == SESSION_QUEUED ? CLOSE_KILLED_QUEUED
		    : inspecting(s)            ? CLOSE_KILLED_HELLO
		    : connecting(s)            ? CLOSE_KILLED_CONNECT
		                               : CLOSE_KILLED_DATA,
		    self);
	if (pending & NOTE_EXPIRE && expired(s))
		return session_close(s, CLOSE_DRAIN_TIMEOUT, self);
	if (pending & NOTE_EXPIRE && disowned(s))
		return leave_disowned(s, self);
	if (pending & NOTE_DRAIN && s->server)
		return leave_drained(s, self);
	if (pending & NOTE_LEVEL && s->state == SESSION_RELAYING)
		return session_close(s, CLOSE_REBALANCED, self);
	if (pending & NOTE_MOVE && !find_place(s, self))
		return session_close(s,
		    inspecting(s)   ? CLOSE_NO_RESOURCE_HELLO
		    : connecting(s) ? CLOSE_NO_RESOURCE_CONNECT
		                    : CLOSE_NO_RESOURCE_DATA,
		    self);
	if (pending & NOTE_EXPIRE && relaying(s))
		session_set_deadline(s, self);
	if (s->state == SESSION_ACCEPTED && !s->inspection)
		return connect_start(s, self);
	if (inspecting(s))
		return inspect_step(s, pending, self);
	if (pending & NOTE_TIMEOUT && session_deadline_passed(s, self))
		return time_out(s, self);
	if (connecting(s))
		return connect_step(s, self);
	return relay_step(s, self);
}

static const struct event_handler_ops session_ops = {.turn = session_turn};

bool
session_construct(void *object, uint32_t index, void *arg)
{
	struct session *s = object;

	(void)arg;
	s->index = index;
	return event_handler_init(&s->handler, &session_ops, HANDLE_CLIENT);
}

void
session_use_server(
    struct session *session, struct server *server, uint64_t lineup)
{
	struct session *s = session;

	atomic_store_release(&s->server, server); /* [P21] */
	s->lineup = lineup;
	if (server->backend->model != s->frontend->model)
		model_pin(server->backend->model);
}

void
session_leave_server(struct session *session)
{
	struct session *s = session;
	struct model *m = s->server->backend->model;

	backend_release(s->server);
	atomic_store_relaxed(&s->server, NULL);
	if (m != s->frontend->model)
		model_unpin(m);
}

void
session_end_retry(struct session *session)
{
	if (session->retrying)
		backend_end_retry(session_backend(session));
	session->retrying = false;
}

bool
session_leave_queue(struct session *session)
{
	struct session *s = session;
	struct server *server;

	if (!s->queued)
		return false;
	s->queued = false;
	server = queue_leave(session_backend(s), &s->waiter);
	if (!server)
		return false;
	atomic_store_release(&s->server, server); /* [P21] */
	s->lineup = s->waiter.lineup;
	/* Who granted it has pinned its model. */
	if (server->backend->model == s->frontend->model)
		model_unpin(server->backend->model);
	return true;
}

void
session_end_pause(struct session *session)
{
	if (session->pausing)
		queue_end_pause(session_backend(session), &session->waiter);
	session->pausing = false;
}

static void
count_open(struct session *s, struct pool_thread *self)
{
	struct frontend *f = s->frontend;

	model_pin(f->model);
	gauge_up(&f->model->state->sessions);
	counters_add(f->counters, self->index, COUNTER_SESSIONS, 1);
}

void
session_use_backend(
    struct session *session, unsigned route, struct pool_thread *self)
{
	struct backend *b;

	atomic_store_relaxed(&session->route, (uint16_t)route);
	b = session_backend(session);
	gauge_up(b->sessions);
	counters_add(b->counters, self->index, COUNTER_SESSIONS, 1);
}

/* Its backend, or what has to be known for that.  False when memory is short.
 */
static bool
begin(struct session *s, bool with_header, struct pool_thread *self)
{
	const struct frontend *f = s->frontend;

	unsigned steps = (f->inspects ? INSPECT_HELLO : 0) |
	                 (with_header ? INSPECT_PROXY : 0);

	if (steps == 0) {
		session_use_backend(s, frontend_route(f), self);
		return true;
	}
	atomic_store_relaxed(&s->route, f->backends_n);
	return inspect_begin(s, steps, self);
}

void
session_start(struct session *session, const struct shard *at,
    struct frontend *frontend, int fd, const struct endpoint *client,
    bool with_header, struct pool_thread *self)
{
	struct session *s = session;
	uint64_t now_ms = turn_now_ms(self);
	int rc;

	claim_open(&s->handler.claim);
	s->handler.bound = frontend->spec->bound ? self : NULL;
	shard_enter(
	    s->handler.bound ? pool_home(self) : pool_place(self->pool, self),
	    &s->handler);
	atomic_store_relaxed(&s->tries, 0);
	s->tried_n = 0;
	s->redispatched = false;
	s->waits = 0;
	s->queued = s->pausing = s->retrying = s->asked = s->spoke = false;
	s->was_reset = false;
	s->ejected_n = 0;
	s->waiter.position = 0;
	s->source_port = 0;
	s->reason = CLOSE_DONE;
	side_reset(&s->side[HANDLE_CLIENT], fd, now_ms);
	s->side[HANDLE_CLIENT].tcp = client->family != AF_UNIX;
	s->side[HANDLE_CLIENT].writable = true;
	side_reset(&s->side[HANDLE_SERVER], -1, now_ms);
	s->pending[0].buffer = s->pending[1].buffer = NULL;
	atomic_store_release(&s->frontend, frontend); /* [P21] */
	atomic_store_relaxed(&s->server, NULL);
	atomic_store_relaxed(&s->inspection, NULL);
	endpoint_put(&s->client, client);
	atomic_store_relaxed(&s->accepted_ms, now_ms);
	s->counted_ms = now_ms;
	s->connecting_ms = s->connected_ms = 0;
	atomic_store_relaxed(&s->accepted_wall_us, clock_wall_us());
	count_open(s, self);
	rc = begin(s, with_header, self) ? 0 : -ENOMEM;
	session_set_state(s, SESSION_ACCEPTED, self);

	if (rc == 0)
		rc = handle_set_add(s->handler.shard->set, fd,
		    event_handler_handle(&s->handler, HANDLE_CLIENT),
		    HANDLE_READABLE | HANDLE_WRITABLE | HANDLE_READ_CLOSED);
	if (rc < 0) {
		(void)exhaustion_note(&proxy_of(self)->exhaustion, -rc,
		    "a connection was accepted in vain");
		session_close(s,
		    session_backend(s) ? CLOSE_NO_RESOURCE_CONNECT
		                       : CLOSE_NO_RESOURCE_HELLO,
		    self);
		return;
	}
	/* Its own shard's threads connect it: else one shard would make the
	 * connections of all. */
	if (s->handler.shard != at)
		shard_submit(&s->handler);
	/* What came meanwhile was left to this thread, the owner. */
	else if (event_handler_run(&s->handler, self) == TURN_MORE)
		shard_submit(&s->handler);
}

void
session_set_state(
    struct session *session, enum session_state state, struct pool_thread *self)
{
	atomic_store_relaxed(&session->state, (uint8_t)state);
	session->state_ms = turn_now_ms(self);
	session_set_deadline(session, self);
}

static uint64_t
min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t
session_age_ends_ms(const struct session *session)
{
	const struct frontend_spec *f = session->frontend->spec;
	uint64_t life_ms = f->max_age_ms;

	if (life_ms == 0)
		return UINT64_MAX;
	if (f->max_age_jitter > 0)
		life_ms -= mix64(session->accepted_wall_us + session->index) %
		           (life_ms * f->max_age_jitter / 100 + 1);
	return session->accepted_ms + life_ms;
}

uint64_t
session_idle_ends_ms(const struct session *session, const struct proxy *proxy)
{
	const struct session *s = session;
	const struct side *client = &s->side[HANDLE_CLIENT];
	const struct side *server = &s->side[HANDLE_SERVER];
	uint64_t idle_ms = atomic_load_seq(&proxy->idle_ms); /* [P27] */
	bool busy = s->asked || has_pending(s, HANDLE_CLIENT) ||
	            has_pending(s, HANDLE_SERVER);

	if (idle_ms == 0)
		return UINT64_MAX;
	if (busy && idle_ms < atomic_load_relaxed(&proxy->idle_busy_ms))
		idle_ms = atomic_load_relaxed(&proxy->idle_busy_ms);
	return idle_ms + (client->active_ms > server->active_ms
	                         ? client->active_ms
	                         : server->active_ms);
}

/* While lfproxy drains: when to look whether the session is idle.  One that is
 * answered in between becomes idle without a new deadline, hence several looks
 * within the time. */
static uint64_t
idle_deadline(
    const struct session *s, const struct proxy *proxy, uint64_t now_ms)
{
	uint64_t idle_ms = atomic_load_seq(&proxy->idle_ms); /* [P27] */

	if (idle_ms == 0)
		return UINT64_MAX;
	return min_u64(
	    session_idle_ends_ms(s, proxy), now_ms + idle_ms / IDLE_LOOKS + 1);
}

/* After every server was tried, as HAProxy does. */
static uint64_t
pause_ms(const struct backend_spec *b)
{
	if (fault_is_on(FAULT_LONG_PAUSE))
		return 600000;
	return min_u64(1000, b->timeout_connect_ms);
}

/* While both sides are connected. */
static uint64_t
relay_ends_ms(
    const struct session *s, const struct proxy *proxy, uint64_t now_ms)
{
	uint64_t ends_ms = min_u64(relay_side_deadline(s, HANDLE_CLIENT),
	    relay_side_deadline(s, HANDLE_SERVER));

	ends_ms = min_u64(ends_ms, accesslog_deadline(s, now_ms));
	ends_ms = min_u64(ends_ms, session_age_ends_ms(s));
	return min_u64(ends_ms, idle_deadline(s, proxy, now_ms));
}

/* When the time of the state itself is over, 0: never.  The same however often
 * it is asked for while the state and the activity are the same, but for lines
 * of the log and a look whether the session is idle. */
static uint64_t
state_ends_ms(
    const struct session *s, const struct proxy *proxy, uint64_t now_ms)
{
	const struct backend *backend = session_backend(s);
	const struct backend_spec *b = backend ? backend->spec : NULL;

	switch ((enum session_state)s->state) {
	case SESSION_FREE:
		break;
	case SESSION_INSPECTING:
		return s->accepted_ms + s->frontend->spec->timeout_hello_ms;
	case SESSION_QUEUED:
		return s->state_ms + (b->timeout_queue_ms > 0
		                             ? b->timeout_queue_ms
		                             : b->timeout_connect_ms);
	case SESSION_ACCEPTED:
	case SESSION_CONNECTING:
		return (s->connecting_ms > 0 ? s->connecting_ms : s->state_ms) +
		       (b ? b->timeout_connect_ms
		          : s->frontend->spec->timeout_hello_ms);
	case SESSION_PAUSING:
		return s->state_ms +
		       (s->server ? 1ull << s->waits : pause_ms(b));
	case SESSION_RELAYING:
	case SESSION_CLIENT_EOF:
	case SESSION_SERVER_EOF:
		return relay_ends_ms(s, proxy, now_ms);
	case SESSION_FLUSHING:
		return s->state_ms + FLUSH_POLL_MS;
	}
	return 0;
}

void
session_set_deadline(struct session *session, struct pool_thread *self)
{
	const struct session *s = session;
	struct proxy *proxy = proxy_of(self);
	bool draining = atomic_load_seq(&proxy->idle_ms) > 0;
	uint64_t deadline = state_ends_ms(s, proxy, turn_now_ms(self));

	if (deadline > 0)
		deadline = min_u64(deadline, first_byte_ends_ms(s));
	proxy_set_deadline(proxy, s->index, deadline); /* [P27] */
	/* Draining has begun meanwhile and may not have seen this deadline. */
	if (!draining && relaying(s) && atomic_load_seq(&proxy->idle_ms) > 0)
		session_set_deadline(session, self);
}

void
session_count_bytes(struct session *session, struct pool_thread *self)
{
	static const enum counter which[2] = {
	    [HANDLE_CLIENT] = COUNTER_BYTES_IN,
	    [HANDLE_SERVER] = COUNTER_BYTES_OUT};
	struct session *s = session;

	for (int i = 0; i < 2; i++) {
		struct side *side = &s->side[i];
		uint64_t n = side->received - side->counted;

		if (n == 0)
			continue;
		side->counted = side->received;
		counters_add(s->frontend->counters, self->index, which[i], n);
		if (session_backend(s))
			counters_add(session_backend(s)->counters, self->index,
			    which[i], n);
		if (s->server)
			counters_add(
			    s->server->counters, self->index, which[i], n);
	}
	s->counted_ms = turn_now_ms(self);
}
