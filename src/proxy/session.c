/* SPDX-License-Identifier: MIT
 * See session.h.
 */
#include "proxy/session.h"

#include "base/clock.h"
#include "base/ensure.h"
#include "lf/pool.h"
#include "proxy/server_tls.h"
#include "proxy/session_count.h"
#include "proxy/session_deadline.h"

static void
count_open(struct session *s, struct pool_thread *self)
{
	struct frontend *f = s->frontend;

	model_pin(f->model);
	gauge_up(&f->model->state->sessions);
	session_count(s, COUNT_FRONTEND, COUNTER_SESSIONS, 1, self);
}

void
session_clear(struct session *s, struct frontend *frontend, int fd,
    const struct endpoint *client, uint64_t now_ms)
{
	atomic_store_relaxed(&s->tries, 0);
	s->tried_n = 0;
	s->redispatched = false;
	s->waits = 0;
	s->queued = s->pausing = s->retrying = s->asked = s->spoke = false;
	s->was_reset = s->declared = s->handshaking = s->holding = false;
	s->ejected_n = 0;
	s->waiter.position = 0;
	s->waiter.since_us = WAITER_NEW;
	s->source_port = 0;
	atomic_store_relaxed(&s->server_port, (uint16_t)0);
	s->cause = CAUSE_DONE;
	s->gate = GATE_ADMIT;
	s->limits = 0;
	s->hold_ms = 0;
	s->closer = CLOSER_PROXY;
	side_reset(&s->side[HANDLE_CLIENT], fd, now_ms);
	s->side[HANDLE_CLIENT].tcp = client->family != AF_UNIX;
	s->side[HANDLE_CLIENT].writable = true;
	side_reset(&s->side[HANDLE_SERVER], -1, now_ms);
	s->pending[0].buffer = s->pending[1].buffer = NULL;
	atomic_store_release(&s->frontend, frontend); /* [P21] */
	atomic_store_relaxed(&s->route, frontend->backends_n);
	atomic_store_relaxed(&s->server, NULL);
	atomic_store_relaxed(&s->inspection, NULL);
	server_tls_clear(s);
	atomic_store_relaxed(&s->pacing, 0u);
	endpoint_put(&s->client, client);
	atomic_store_relaxed(&s->accepted_ms, now_ms);
	s->counted_ms = (uint32_t)now_ms;
	s->connecting_ms = s->connected_ms = 0;
}

void
session_open(struct session *s, struct frontend *frontend, int fd,
    const struct endpoint *client, struct pool_thread *self)
{
	claim_open(&s->handler.claim);
	shard_enter(pool_place(self->pool, self), &s->handler);
	session_clear(s, frontend, fd, client, turn_now_ms(self));
	atomic_store_relaxed(&s->accepted_wall_us, clock_wall_us());
	atomic_store_relaxed(
	    &s->number, proxy_number(proxy_of(self), s->index));
	count_open(s, self);
}

static const bool edges[SESSION_STATES][SESSION_STATES] = {
#define X(from, to, why) [SESSION_##from][SESSION_##to] = true,
    SESSION_EDGES_TABLE(X)
#undef X
};

void
session_set_state(
    struct session *s, enum session_state state, struct pool_thread *self)
{
	/* A session that has come from another process keeps the time that it
	 * has waited in the queue there. */
	bool waits_on = s->state == SESSION_ACCEPTED &&
	                state == SESSION_QUEUED &&
	                s->waiter.since_us != WAITER_NEW;

	ENSURE(edges[s->state][state]);
	if (session_awaits_client(s))
		newcomers_leave(s);
	atomic_store_relaxed(&s->state, (uint8_t)state);
	if (!waits_on)
		s->state_ms = turn_now_ms(self);
	if (session_awaits_client(s))
		newcomers_enter(s, turn_now_ms(self));
	session_set_deadline(s, self);
}

int
session_watch(struct session *s, enum handle_side side)
{
	return handle_set_add(s->handler.shard->set, s->side[side].fd,
	    event_handler_handle(&s->handler, side),
	    HANDLE_READABLE | HANDLE_WRITABLE | HANDLE_READ_CLOSED);
}

void
session_use_backend(struct session *s, unsigned route, struct pool_thread *self)
{
	struct backend *b;

	s->wanted_route = (uint16_t)route;
	route = frontend_usable_route(s->frontend, route);
	atomic_store_relaxed(&s->route, (uint16_t)route);
	b = session_backend(s);
	gauge_up(b->sessions);
	session_count(s, COUNT_BACKEND, COUNTER_SESSIONS, 1, self);
}

void
session_change_backend(
    struct session *s, unsigned route, struct pool_thread *self)
{
	gauge_down(session_backend(s)->sessions);
	atomic_store_relaxed(&s->route, (uint16_t)route);
	atomic_store_relaxed(&s->tries, (uint8_t)0);
	s->tried_n = 0;
	s->ejected_n = 0;
	s->was_reset = false;
	s->redispatched = true;
	gauge_up(session_backend(s)->sessions);
	session_count(s, COUNT_BACKEND, COUNTER_SESSIONS, 1, self);
}

void
session_use_server(struct session *s, struct server *server, uint64_t lineup)
{
	atomic_store_release(&s->server, server); /* [P21] */
	s->lineup = lineup;
	server_pin(server);
	if (server->backend->model != s->frontend->model)
		model_pin(server->backend->model);
}

static void
leave_server(struct session *s, void (*give_back)(struct server *server))
{
	struct server *server = s->server;

	give_back(server);
	atomic_store_relaxed(&s->server, NULL);
	server_tls_clear(s);
	if (server->backend->model != s->frontend->model)
		model_unpin(server->backend->model);
	server_unpin(server);
}

void
session_leave_server(struct session *s)
{
	leave_server(s, backend_release);
}

void
session_pass_server(struct session *s)
{
	leave_server(s, backend_pass);
}

void
session_end_retry(struct session *s)
{
	if (s->retrying)
		backend_end_retry(session_backend(s));
	s->retrying = false;
}

bool
session_leave_queue(struct session *s)
{
	struct server *server;

	if (!s->queued)
		return false;
	s->queued = false;
	server = queue_leave(session_backend(s), &s->waiter);
	s->waiter.since_us = WAITER_NEW;
	if (!server)
		return false;
	atomic_store_release(&s->server, server); /* [P21] */
	s->lineup = s->waiter.lineup;
	/* The thread that granted the server has pinned it and its model. */
	if (server->backend->model == s->frontend->model)
		model_unpin(server->backend->model);
	return true;
}

void
session_end_pause(struct session *s)
{
	if (s->pausing)
		queue_end_pause(session_backend(s), &s->waiter);
	s->pausing = false;
}
