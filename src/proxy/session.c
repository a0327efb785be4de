/* SPDX-License-Identifier: MIT
 * See session.h.
 */
#include "proxy/session.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "lf/pool.h"
#include "net/sock.h"
#include "proxy/acceptor.h"
#include "proxy/accesslog.h"
#include "proxy/connect.h"
#include "proxy/relay.h"

/* While the last bytes of a broken session are under way to the side that is
 * left, the kernel is asked this often whether they have arrived; it has no
 * event for that. */
#define FLUSH_POLL_MS 50

static struct session *
session_of(struct event_handler *handler)
{
	return container_of(handler, struct session, handler);
}

static bool
connecting(const struct session *s)
{
	return s->state == SESSION_ACCEPTED || s->state == SESSION_CONNECTING ||
	       s->state == SESSION_PAUSING;
}

/* The kernel's bits become what is known of each side. */
static void
note_events(struct session *s, uint32_t pending)
{
	for (int i = 0; i < 2; i++) {
		struct side *side = &s->side[i];
		uint32_t ready = pending >> i * HANDLE_SIDE_SHIFT & HANDLE_ALL;

		if (ready & ~HANDLE_WRITABLE)
			side->readable = true;
		if (ready & (HANDLE_READ_CLOSED | HANDLE_HUNG_UP |
		                HANDLE_ERROR | HANDLE_READ_ON))
			side->read_on = true;
		if (ready & (HANDLE_WRITABLE | HANDLE_ERROR))
			side->writable = true;
		if (ready & (HANDLE_ERROR | HANDLE_HUNG_UP))
			side->error = true;
	}
}

static bool
deadline_passed(const struct session *s, struct pool_thread *self)
{
	uint64_t deadline =
	    atomic_load_relaxed(&proxy_of(self)->deadlines[s->index]);

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

static enum turn
session_turn(
    struct event_handler *handler, uint32_t pending, struct pool_thread *self)
{
	struct session *s = session_of(handler);

	note_events(s, pending);
	if (pending & NOTE_KILL)
		return session_close(s,
		    connecting(s) ? CLOSE_KILLED_CONNECT : CLOSE_KILLED_DATA,
		    self);
	if (pending & NOTE_MOVE && !find_place(s, self))
		return session_close(s,
		    connecting(s) ? CLOSE_NO_RESOURCE_CONNECT
		                  : CLOSE_NO_RESOURCE_DATA,
		    self);
	if (s->state == SESSION_ACCEPTED)
		return connect_start(s, self);
	if (pending & NOTE_TIMEOUT && deadline_passed(s, self))
		return connecting(s) ? connect_timeout(s, self)
		                     : relay_timeout(s, self);
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

static void
count_open(struct session *s, struct pool_thread *self)
{
	struct frontend *f = s->frontend;

	gauge_up(&proxy_of(self)->model->sessions);
	gauge_up(&f->sessions);
	gauge_up(&f->backend->sessions);
	counters_add(f->counters, self->index, COUNTER_SESSIONS, 1);
	counters_add(f->backend->counters, self->index, COUNTER_SESSIONS, 1);
}

void
session_start(struct session *session, const struct shard *at,
    struct frontend *frontend, int fd, const struct endpoint *client,
    struct pool_thread *self)
{
	struct session *s = session;
	uint64_t now_ms = turn_now_ms(self);

	claim_open(&s->handler.claim);
	s->handler.bound = frontend->spec->bound ? self : NULL;
	shard_enter(
	    s->handler.bound ? pool_home(self) : pool_place(self->pool, self),
	    &s->handler);
	s->tries = s->tried_n = 0;
	s->redispatched = false;
	s->reason = CLOSE_DONE;
	s->side[HANDLE_CLIENT] =
	    (struct side){.fd = fd, .writable = true, .active_ms = now_ms};
	s->side[HANDLE_SERVER] = (struct side){.fd = -1, .active_ms = now_ms};
	s->spill[0] = s->spill[1] = NULL;
	s->frontend = frontend;
	s->server = NULL;
	s->client = *client;
	s->accepted_ms = s->counted_ms = now_ms;
	s->connecting_ms = s->connected_ms = 0;
	s->accepted_wall_us = clock_wall_us();
	count_open(s, self);
	session_set_state(s, SESSION_ACCEPTED, self);

	if (handle_set_add(s->handler.shard->set, fd,
	        event_handler_handle(&s->handler, HANDLE_CLIENT),
	        HANDLE_READABLE | HANDLE_WRITABLE | HANDLE_READ_CLOSED) < 0) {
		session_close(s, CLOSE_NO_RESOURCE_CONNECT, self);
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
	session->state = state;
	session_set_deadline(session, self);
}

static uint64_t
min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void
session_set_deadline(struct session *session, struct pool_thread *self)
{
	const struct session *s = session;
	const struct backend_spec *b = s->frontend->backend->spec;
	uint64_t now_ms = turn_now_ms(self), deadline = 0;

	switch ((enum session_state)s->state) {
	case SESSION_FREE:
		break;
	case SESSION_ACCEPTED:
	case SESSION_CONNECTING:
		deadline = (s->connecting_ms > 0 ? s->connecting_ms : now_ms) +
		           b->timeout_connect_ms;
		break;
	case SESSION_PAUSING:
		deadline = now_ms + min_u64(1000, b->timeout_connect_ms);
		break;
	case SESSION_RELAYING:
	case SESSION_CLIENT_EOF:
	case SESSION_SERVER_EOF:
		deadline = min_u64(relay_side_deadline(s, HANDLE_CLIENT),
		    relay_side_deadline(s, HANDLE_SERVER));
		break;
	case SESSION_FLUSHING:
		deadline = now_ms + FLUSH_POLL_MS;
		break;
	}
	atomic_store_release(/* [P13] */
	    &proxy_of(self)->deadlines[s->index], deadline);
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
		counters_add(
		    s->frontend->backend->counters, self->index, which[i], n);
		if (s->server)
			counters_add(
			    s->server->counters, self->index, which[i], n);
	}
	s->counted_ms = turn_now_ms(self);
}

static void
count_for_server(
    struct session *s, struct pool_thread *self, enum counter which)
{
	counters_add(s->frontend->backend->counters, self->index, which, 1);
	if (s->server)
		counters_add(s->server->counters, self->index, which, 1);
}

static void
count_end(struct session *s, enum close_reason reason, struct pool_thread *self)
{
	bool data = s->connected_ms > 0;

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
		break;
	}
}

static void
count_close(struct session *s, struct pool_thread *self)
{
	if (s->server)
		gauge_down(&s->server->sessions);
	gauge_down(&s->frontend->backend->sessions);
	gauge_down(&s->frontend->sessions);
	gauge_down(&proxy_of(self)->model->sessions);
}

/* A side whose opposite went with a reset gets a reset as well, and so does one
 * for which bytes were left: what it has got must not look complete. */
static void
close_side(struct session *s, enum handle_side which)
{
	struct side *side = &s->side[which];

	if (side->fd < 0)
		return;
	if ((s->side[!which].reset || s->spill[which]) && !side->broken)
		sock_close_reset(side->fd);
	else
		close(side->fd);
	side->fd = -1;
}

enum turn
session_close(
    struct session *session, enum close_reason reason, struct pool_thread *self)
{
	struct session *s = session;
	struct proxy *proxy = proxy_of(self);

	session_count_bytes(s, self);
	count_end(s, reason, self);
	accesslog_write(s, reason, self);
	count_close(s, self);
	session_set_state(s, SESSION_FREE, self);

	/* From here on events of these descriptors are stale. */
	claim_retire(&s->handler.claim);
	close_side(s, HANDLE_CLIENT);
	close_side(s, HANDLE_SERVER);
	for (int i = 0; i < 2; i++)
		if (s->spill[i])
			slab_give(&proxy->spills, s->spill[i]->index);
	shard_leave(&s->handler);
	slab_give(&proxy->sessions, s->index);
	acceptors_resume(proxy);
	return TURN_RETIRED;
}
