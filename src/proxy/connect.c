/* SPDX-License-Identifier: MIT
 * See connect.h.
 */
#include "proxy/connect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "lf/pool.h"
#include "net/sock.h"
#include "proxy/accesslog.h"
#include "proxy/connect_failure.h"
#include "proxy/send_proxy.h"
#include "proxy/upstream.h"
#include "proxy/inspect.h"
#include "proxy/relay.h"

#define NOTES (NOTE_TIMEOUT | NOTE_KILL | NOTE_MOVE | NOTE_RESUME | NOTE_EXPIRE)

/* Our own lack, not the server's fault: another server would not help.  But
 * ports run out for each server by itself. */
static bool
is_exhaustion(int error)
{
	return resource_of(error) != RESOURCES && error != EADDRNOTAVAIL;
}

static bool
was_tried(const struct session *s, const struct server *server)
{
	struct choice tried = {.tried = s->tried, .tried_n = s->tried_n};

	return choice_tried(&tried, server);
}

static void
use_server(struct session *s, struct server *server, struct pool_thread *self)
{
	struct backend *b = session_backend(s);

	s->waits = 0;
	s->was_reset = false;
	counters_add(server->counters, self->index, COUNTER_SESSIONS, 1);
	counters_add(server->counters, self->index, COUNTER_SELECTED, 1);
	counters_add(b->counters, self->index, COUNTER_SELECTED, 1);
	counters_add(server->counters, self->index, COUNTER_CONNECTS, 1);
	counters_add(b->counters, self->index, COUNTER_CONNECTS, 1);
	atomic_bump_own(&s->tries, 1);
	if (!was_tried(s, server) && s->tried_n < SESSION_TRIES_MAX)
		s->tried[s->tried_n++] = server;
}

/* The server's descriptor goes while the session goes on: its events that are
 * still under way must not be taken for the next one's, so the session gets a
 * new generation and the client is registered again under it. */
static int
drop_server_side(struct session *s)
{
	struct side *side = &s->side[HANDLE_SERVER];

	if (side->fd < 0)
		return 0;
	claim_renew(&s->handler.claim, NOTES);
	close(side->fd);
	upstream_closed(s);
	side_reset(side, -1, side->active_ms);
	return handle_set_reactivate(s->handler.shard->set,
	    s->side[HANDLE_CLIENT].fd,
	    event_handler_handle(&s->handler, HANDLE_CLIENT),
	    HANDLE_READABLE | HANDLE_WRITABLE | HANDLE_READ_CLOSED);
}

/* The session gets no server.  Attempts that were followed by another one are
 * counted as retries. */
static void
count_failure(struct session *s, struct pool_thread *self)
{
	if (s->server)
		counters_add(s->server->counters, self->index,
		    COUNTER_CONNECT_ERRORS, 1);
	counters_add(session_backend(s)->counters, self->index,
	    COUNTER_CONNECT_ERRORS, 1);
}

/* With a look at the clock for every connect, more exact than the turn's time,
 * which may be a batch of accepts old. */
static void
note_connect_time(const struct session *s, struct pool_thread *self)
{
	uint64_t ns = clock_now_ns() - s->connecting_ns;

	timings_add(session_backend(s)->state->timings, self->index,
	    TIMING_CONNECT, ns);
	connect_note_ewma(s, ns / 1000, self);
}

/* Nothing is left to be done before the client's bytes. */
static enum turn
connected(struct session *s, struct pool_thread *self)
{
	struct side *side = &s->side[HANDLE_SERVER];

	s->connected_ms = turn_now_ms(self);
	session_end_retry(s);
	note_connect_time(s, self);
	side->writable = true;
	side->active_ms = s->connected_ms;
	s->side[HANDLE_CLIENT].active_ms = s->connected_ms;
	session_set_state(s, SESSION_RELAYING, self);
	accesslog_connected(s, self);
	return relay_step(s, self);
}

/* 0, 1 if connected already, or -errno. */
static int
start_connect(struct session *s, struct pool_thread *self)
{
	struct side *side = &s->side[HANDLE_SERVER];
	bool done;
	int fd, rc;

	if (s->waits == 0)
		s->connecting_ms = turn_now_ms(self);
	s->connecting_ns = clock_now_ns();
	session_set_state(s, SESSION_CONNECTING, self);
	s->header_sent = 0;
	fd = upstream_connect(s, &done);
	if (fd < 0)
		return fd;
	atomic_store_relaxed(&side->fd, fd);
	side->tcp = server_addr(s->server)->sa.sa_family != AF_UNIX;
	rc = handle_set_add(s->handler.shard->set, fd,
	    event_handler_handle(&s->handler, HANDLE_SERVER),
	    HANDLE_READABLE | HANDLE_WRITABLE | HANDLE_READ_CLOSED);
	return rc < 0 ? rc : done;
}

static uint64_t
balance_key(const struct session *s)
{
	const struct backend *b = session_backend(s);
	struct endpoint local = {0};
	const char *name;

	if (backend_hashes_sni(b) && *(name = inspect_name(s)))
		return backend_key_of_name(name, strlen(name));
	if (backend_hashes_destination(b))
		session_destination(s, &local);
	return backend_key(b, session_client(s), &local);
}

/* A chosen server, NULL if there is none, and the number of its lineup. */
struct chosen {
	struct server *server;
	uint64_t lineup;
};

/* The first tried_n of those it has tried are passed over. */
static struct chosen
choose_but(const struct session *s, unsigned tried_n, struct pool_thread *self)
{
	struct backend *b = session_backend(s);
	struct choice choice = {.tried = s->tried, .tried_n = tried_n};
	struct chosen chosen = {.server = NULL};

	choice.key = balance_key(s);
	choice.random = pool_random(self);
	chosen.server = backend_choose(b, &choice, &chosen.lineup);
	return chosen;
}

static struct chosen
choose(const struct session *s, struct pool_thread *self)
{
	return choose_but(s, s->tried_n, self);
}

/* A retry counts for the server that is tried again, a redispatch for the one
 * that is left, as in HAProxy: from, NULL when that is not known any more. */
static void
count_retry(struct session *s, const struct server *next,
    const struct server *from, struct pool_thread *self)
{
	bool again = was_tried(s, next);
	enum counter which = again ? COUNTER_RETRIES : COUNTER_REDISPATCHES;
	const struct server *of = again ? next : from;

	if (!again)
		s->redispatched = true;
	counters_add(session_backend(s)->counters, self->index, which, 1);
	if (of)
		counters_add(of->counters, self->index, which, 1);
}

static void
waiter_choice(const struct waiter *waiter, struct choice *choice)
{
	const struct session *s =
	    (const void *)((const char *)waiter -
	                   offsetof(struct session, waiter));

	*choice = (struct choice){
	    .tried = s->tried, .tried_n = s->tried_n, .key = waiter->key};
}

static void
waiter_wake(struct waiter *waiter, uint32_t generation)
{
	struct session *s = container_of(waiter, struct session, waiter);

	(void)shard_note(&s->handler, generation, NOTE_RESUME);
}

static const struct waiter_ops waiter_ops = {
    .choice = waiter_choice, .wake = waiter_wake};

static enum turn failed(struct session *s, int error, struct pool_thread *self);
static enum turn try_next(
    struct session *s, enum close_reason reason, struct pool_thread *self);

/* The backlog of a unix socket is full.  A TCP server would say nothing and be
 * asked again by the kernel until timeout_connect; so is this one, by us. */
static enum turn
wait_for_room(struct session *s, struct pool_thread *self)
{
	if (turn_now_ms(self) >=
	    s->connecting_ms + session_backend(s)->spec->timeout_connect_ms)
		return failed(s, ETIMEDOUT, self);
	if (s->waits < SESSION_WAITS_MAX)
		s->waits++;
	session_set_state(s, SESSION_PAUSING, self);
	return TURN_DONE;
}

/* The server has accepted.  The connect is over when it has got its header,
 * which a server that has gone again refuses. */
static enum turn
accepted(struct session *s, struct pool_thread *self)
{
	int rc = send_proxy_wanted(s) ? send_proxy_header(s) : 1;

	if (rc < 0)
		return failed(s, -rc, self);
	return rc == 1 ? connected(s, self) : TURN_DONE;
}

static enum turn
ask_server(struct session *s, struct pool_thread *self)
{
	int rc = start_connect(s, self);

	if (rc == -EAGAIN)
		return wait_for_room(s, self);
	if (rc < 0)
		return failed(s, -rc, self);
	return rc == 1 ? accepted(s, self) : TURN_DONE;
}

/* False: the budget is used up. */
static bool
begin_retry(struct session *s, struct pool_thread *self)
{
	struct backend *b = session_backend(s);

	s->retrying = backend_begin_retry(b);
	if (!s->retrying)
		counters_add(
		    b->counters, self->index, COUNTER_RETRIES_REFUSED, 1);
	return s->retrying;
}

static enum close_reason
reason_of(int error)
{
	if (resource_of(error) != RESOURCES)
		return CLOSE_NO_RESOURCE_CONNECT;
	return error == ETIMEDOUT ? CLOSE_CONNECT_TIMEOUT
	                          : CLOSE_CONNECT_FAILED;
}

/* A client whose server has reset the connection gets a reset as well. */
static enum turn
end_without_server(
    struct session *s, enum close_reason reason, struct pool_thread *self)
{
	s->side[HANDLE_SERVER].reset |= reason == CLOSE_SERVER_RESET;
	return session_close(s, reason, self);
}

static enum turn
give_up(struct session *s, enum close_reason reason, struct pool_thread *self)
{
	count_failure(s, self);
	return end_without_server(s, reason, self);
}

/* The session has a slot at the server; from is the one that it had before,
 * NULL: none, or it is not known any more. */
static enum turn
try_server(struct session *s, struct chosen next, const struct server *from,
    struct pool_thread *self)
{
	session_use_server(s, next.server, next.lineup);
	if (s->tries > 0) {
		if (!begin_retry(s, self)) {
			session_leave_server(s);
			return give_up(s, CLOSE_RETRY_BUDGET, self);
		}
		count_retry(s, next.server, from, self);
	}
	use_server(s, next.server, self);
	return ask_server(s, self);
}

/* The queue has let it in.  That is no retry to the budget, whatever it has
 * tried before it waited: when a server comes back all that wait for it are let
 * in at once, and were then refused for their own number.  What a server is to
 * be spared says its maxconn. */
static enum turn
try_granted(struct session *s, struct pool_thread *self)
{
	/* The note to end may have come before the server's name did. */
	if (server_end_of(s->server->state, s->lineup) != SERVER_END_NONE)
		return try_next(s, CLOSE_SERVER_DOWN_CONNECT, self);
	if (s->tries > 0)
		count_retry(s, s->server, NULL, self);
	use_server(s, s->server, self);
	return ask_server(s, self);
}

/* A client that has finished before a server had room, and left nothing to be
 * sent, has gone; one that has sent something may only be half-closed. */
static bool
client_gone(const struct session *s)
{
	const struct side *side = &s->side[HANDLE_CLIENT];

	/* It may have been read before a server broke off. */
	if (s->pending[HANDLE_SERVER].buffer)
		return false;
	return (side->error && side->tcp) ||
	       (side->read_on && sock_at_end(side->fd));
}

/* The choice had no server, as all are full or none is usable; otherwise is why
 * it ends if it may not wait. */
static enum turn
wait_for_server(
    struct session *s, enum close_reason otherwise, struct pool_thread *self)
{
	s->waiter.key = balance_key(s);
	s->waiter.generation = claim_generation(&s->handler.claim);
	s->queued = true;
	switch (queue_wait(session_backend(s), &s->waiter, &waiter_ops)) {
	case WAIT_QUEUED:
		session_set_state(s, SESSION_QUEUED, self);
		return client_gone(s)
		           ? session_close(s, CLOSE_CLIENT_GONE_QUEUED, self)
		           : TURN_DONE;
	case WAIT_FULL:
		otherwise = CLOSE_QUEUE_FULL;
		counters_add(session_backend(s)->counters, self->index,
		    COUNTER_QUEUE_FULL, 1);
		break;
	case WAIT_NO_SERVER:
		break;
	}
	s->queued = false;
	return give_up(s, otherwise, self);
}

/* Woken, or the client has done something. */
static enum turn
queued_step(struct session *s, struct pool_thread *self)
{
	if (queue_granted(session_backend(s), &s->waiter)) {
		(void)session_leave_queue(s);
		return try_granted(s, self);
	}
	if (client_gone(s))
		return session_close(s, CLOSE_CLIENT_GONE_QUEUED, self);
	return TURN_DONE;
}

/* Its client could not be registered again. */
static enum turn
lost(struct session *s, int error, struct pool_thread *self)
{
	(void)exhaustion_note(&proxy_of(self)->exhaustion, error,
	    "a session that was to be retried is ended");
	return give_up(s, CLOSE_NO_RESOURCE_CONNECT, self);
}

/* A server that was tried already gets a moment before it is asked again.
 * False: another one has joined the lineup since the choice from that of this
 * number. */
static bool
begin_pause(struct session *s, uint64_t lineup)
{
	s->lineup = lineup;
	s->waiter.generation = claim_generation(&s->handler.claim);
	s->pausing =
	    queue_pause(session_backend(s), &s->waiter, &waiter_ops, lineup);
	return s->pausing;
}

/* Goes on with a server that was not tried so far, or pauses until there is
 * one.  from as for try_server; reason if the session may not wait. */
static enum turn
try_another(struct session *s, const struct server *from,
    enum close_reason reason, struct pool_thread *self)
{
	struct chosen next;

	for (;;) {
		next = choose(s, self);
		if (!next.server)
			return wait_for_server(s, reason, self);
		if (!was_tried(s, next.server))
			return try_server(s, next, from, self);
		backend_release(next.server);
		if (begin_pause(s, next.lineup))
			break;
	}
	/* A pause that goes on keeps its end. */
	if (s->state != SESSION_PAUSING)
		session_set_state(s, SESSION_PAUSING, self);
	return TURN_DONE;
}

/* A server has joined the lineup, or got another address. */
static enum turn
look_again(struct session *s, struct pool_thread *self)
{
	session_end_pause(s);
	s->tried_n = (uint8_t)backend_forgive(
	    session_backend(s), s->lineup, s->tried, s->tried_n, s->ejected_n);
	return try_another(s, NULL, CLOSE_CONNECT_FAILED, self);
}

/* All were tried, and the pause is over: now one that was tried will do, unless
 * it has reset an established connection, or the session itself got it ejected
 * and there is another. */
static enum turn
try_again(struct session *s, struct pool_thread *self)
{
	struct chosen next;

	session_end_pause(s);
	next = choose(s, self);
	if (next.server && s->was_reset && was_tried(s, next.server)) {
		backend_release(next.server);
		return end_without_server(s, CLOSE_SERVER_RESET, self);
	}
	if (next.server && s->ejected_n > 0 && was_tried(s, next.server)) {
		backend_release(next.server);
		next = choose_but(s, s->ejected_n, self);
	}
	if (!next.server)
		return wait_for_server(s, CLOSE_CONNECT_FAILED, self);
	return try_server(s, next, NULL, self);
}

/* The session leaves its server for the next one, or ends for that reason. */
static enum turn
try_next(struct session *s, enum close_reason reason, struct pool_thread *self)
{
	const struct server *from = s->server;
	int dropped;

	if (s->tries > session_backend(s)->spec->retries)
		return give_up(s, reason, self);
	dropped = drop_server_side(s);
	session_leave_server(s);
	if (dropped < 0)
		return lost(s, -dropped, self);
	return try_another(s, from, reason, self);
}

/* May a connection that was established be tried again on another server? */
static bool
may_connect_again(const struct session *s, bool reset)
{
	const struct backend_spec *spec = session_backend(s)->spec;

	return spec->retry_on >= (reset ? RETRY_ON_RESET : RETRY_ON_CLOSE) &&
	       s->tries <= spec->retries;
}

/* Leaves the server that broke off.  0, or -errno when the client could not be
 * registered again. */
static int
leave_broken(struct session *s)
{
	int rc = drop_server_side(s);

	s->reason = CLOSE_DONE;
	s->connected_ms = 0;
	session_leave_server(s);
	return rc;
}

/* Goes on with a server that the session has a slot at. */
static enum turn
connect_to_other(
    struct session *s, struct chosen next, struct pool_thread *self)
{
	const struct server *from = s->server;
	int rc = leave_broken(s);

	session_use_server(s, next.server, next.lineup);
	count_retry(s, next.server, from, self);
	use_server(s, next.server, self);
	return rc < 0 ? lost(s, -rc, self) : ask_server(s, self);
}

/* The reset gets the server ejected, and a backup follows: the session pauses
 * until the control thread has published it. */
static enum turn
wait_for_backup(struct session *s, struct pool_thread *self)
{
	const struct server *from = s->server;
	int rc = leave_broken(s);

	if (rc < 0)
		return lost(s, -rc, self);
	return try_another(s, from, CLOSE_SERVER_RESET, self);
}

bool
connect_again(
    struct session *session, struct pool_thread *self, enum turn *ret_turn)
{
	struct session *s = session;
	bool reset = s->side[HANDLE_SERVER].broken;
	struct chosen next;

	if (!may_connect_again(s, reset))
		return false;
	if (reset && !s->was_reset)
		connect_note_reset(s);
	next = choose(s, self);
	if (!next.server)
		return false;
	if (!was_tried(s, next.server) && begin_retry(s, self)) {
		*ret_turn = connect_to_other(s, next, self);
		return true;
	}
	backend_release(next.server);
	if (!was_tried(s, next.server) ||
	    !backend_awaits_backup(session_backend(s), s->ejected_n))
		return false;
	*ret_turn = wait_for_backup(s, self);
	return true;
}

/* The attempt has failed.  Recursion is bounded by retries. */
static enum turn
failed(struct session *s, int error, struct pool_thread *self)
{
	connect_note_failure(s, error, self);
	session_end_retry(s);
	if (is_exhaustion(error))
		return give_up(s, reason_of(error), self);
	return try_next(s, reason_of(error), self);
}

enum turn
connect_elsewhere(
    struct session *session, enum close_reason reason, struct pool_thread *self)
{
	session_end_retry(session);
	return try_next(session, reason, self);
}

enum turn
connect_start(struct session *session, struct pool_thread *self)
{
	struct chosen first = choose(session, self);

	if (!first.server)
		return wait_for_server(session, CLOSE_NO_SERVER, self);
	return try_server(session, first, NULL, self);
}

enum turn
connect_step(struct session *session, struct pool_thread *self)
{
	struct session *s = session;
	struct side *side = &s->side[HANDLE_SERVER];
	int error;

	if (s->state == SESSION_QUEUED)
		return queued_step(s, self);
	if (s->pausing && queue_is_called(session_backend(s), &s->waiter))
		return look_again(s, self);
	if (s->state == SESSION_CONNECTING && side->error) {
		side->error = false;
		error = sock_take_error(side->fd);
		if (error != 0)
			return failed(s, error, self);
	}
	/* A server that says something has accepted, and most that accept make
	 * the socket writable: no system call is needed to know it. */
	if (s->state == SESSION_CONNECTING && side->writable)
		return accepted(s, self);
	/* Once a server is there it gets what a client sent before its reset.
	 */
	if (s->side[HANDLE_CLIENT].error && s->side[HANDLE_CLIENT].tcp)
		return session_close(s, CLOSE_CLIENT_GONE, self);
	return TURN_DONE;
}

enum turn
connect_timeout(struct session *session, struct pool_thread *self)
{
	struct session *s = session;

	if (s->state == SESSION_QUEUED)
		return session_leave_queue(s)
		           ? try_granted(s, self)
		           : give_up(s, CLOSE_QUEUE_TIMEOUT, self);
	if (s->state == SESSION_PAUSING && s->server)
		return ask_server(s, self);
	if (s->state == SESSION_PAUSING)
		return try_again(s, self);
	return failed(s, ETIMEDOUT, self);
}
