/* SPDX-License-Identifier: MIT
 * See connect.h.
 */
#include "proxy/connect.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "lf/pool.h"
#include "net/sock.h"
#include "proxy/relay.h"

#define NOTES (NOTE_TIMEOUT | NOTE_KILL | NOTE_MOVE | NOTE_RESUME)

/* Our own lack, not the server's fault: another server would not help.  ENOSPC
 * is the handle set's (fs.epoll.max_user_watches). */
static bool
is_lack_of_resources(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS ||
	       error == ENOMEM || error == ENOSPC;
}

static bool
was_tried(const struct session *s, const struct server *server)
{
	for (unsigned i = 0; i < s->tried_n; i++)
		if (s->tried[i] == server)
			return true;
	return false;
}

static void
use_server(struct session *s, struct server *server, struct pool_thread *self)
{
	struct backend *b = s->frontend->backend;

	s->server = server;
	gauge_up(&server->sessions);
	counters_add(server->counters, self->index, COUNTER_SESSIONS, 1);
	counters_add(server->counters, self->index, COUNTER_SELECTED, 1);
	counters_add(b->counters, self->index, COUNTER_SELECTED, 1);
	counters_add(server->counters, self->index, COUNTER_CONNECTS, 1);
	counters_add(b->counters, self->index, COUNTER_CONNECTS, 1);
	s->tries++;
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
	*side = (struct side){.fd = -1, .active_ms = side->active_ms};
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
	counters_add(s->frontend->backend->counters, self->index,
	    COUNTER_CONNECT_ERRORS, 1);
}

static void
leave_server(struct session *s)
{
	gauge_down(&s->server->sessions);
	s->server = NULL;
}

static enum turn
connected(struct session *s, struct pool_thread *self)
{
	struct side *side = &s->side[HANDLE_SERVER];

	s->connected_ms = turn_now_ms(self);
	side->writable = true;
	side->active_ms = s->connected_ms;
	s->side[HANDLE_CLIENT].active_ms = s->connected_ms;
	session_set_state(s, SESSION_RELAYING, self);
	return relay_step(s, self);
}

/* 0, 1 if connected already, or -errno. */
static int
start_connect(struct session *s, struct pool_thread *self)
{
	struct side *side = &s->side[HANDLE_SERVER];
	bool done;
	int fd, rc;

	s->connecting_ms = turn_now_ms(self);
	session_set_state(s, SESSION_CONNECTING, self);
	fd = sock_connect(&s->server->spec->addr, &done);
	if (fd < 0)
		return fd;
	side->fd = fd;
	rc = handle_set_add(s->handler.shard->set, fd,
	    event_handler_handle(&s->handler, HANDLE_SERVER),
	    HANDLE_READABLE | HANDLE_WRITABLE | HANDLE_READ_CLOSED);
	return rc < 0 ? rc : done;
}

/* A server that was tried already gets a moment before it is asked again. */
static enum turn
pause_before(struct session *s, struct pool_thread *self)
{
	session_set_state(s, SESSION_PAUSING, self);
	return TURN_DONE;
}

static struct server *
choose(const struct session *s)
{
	return backend_choose(s->frontend->backend, s->tried, s->tried_n);
}

static void
count_retry(
    struct session *s, const struct server *next, struct pool_thread *self)
{
	bool again = was_tried(s, next);

	s->redispatched = !again;
	counters_add(s->frontend->backend->counters, self->index,
	    again ? COUNTER_RETRIES : COUNTER_REDISPATCHES, 1);
	counters_add(next->counters, self->index,
	    again ? COUNTER_RETRIES : COUNTER_REDISPATCHES, 1);
}

static enum turn failed(struct session *s, int error, struct pool_thread *self);

static enum turn
try_server(struct session *s, struct server *server, struct pool_thread *self)
{
	int rc;

	if (s->tries > 0)
		count_retry(s, server, self);
	use_server(s, server, self);
	rc = start_connect(s, self);
	if (rc < 0)
		return failed(s, -rc, self);
	return rc == 1 ? connected(s, self) : TURN_DONE;
}

/* Ports run out for each server by itself, so EADDRNOTAVAIL is worth another
 * try, but it is not the server's fault. */
static enum close_reason
reason_of(int error)
{
	if (is_lack_of_resources(error) || error == EADDRNOTAVAIL)
		return CLOSE_NO_RESOURCE_CONNECT;
	return error == ETIMEDOUT ? CLOSE_CONNECT_TIMEOUT
	                          : CLOSE_CONNECT_FAILED;
}

static enum turn
give_up(struct session *s, enum close_reason reason, struct pool_thread *self)
{
	count_failure(s, self);
	return session_close(s, reason, self);
}

/* The attempt has failed.  Recursion is bounded by retries. */
static enum turn
failed(struct session *s, int error, struct pool_thread *self)
{
	static struct log_limit limit;
	struct server *next;

	log_limited(&limit, LOG_LEVEL_WARNING, "connect to %s/%s failed: %s",
	    s->frontend->backend->spec->name, s->server->spec->name,
	    strerror(error));
	if (is_lack_of_resources(error) ||
	    s->tries > s->frontend->backend->spec->retries)
		return give_up(s, reason_of(error), self);
	leave_server(s);
	if (drop_server_side(s) < 0)
		return give_up(s, CLOSE_NO_RESOURCE_CONNECT, self);
	next = choose(s);
	if (!next)
		return give_up(s, reason_of(error), self);
	if (was_tried(s, next))
		return pause_before(s, self);
	return try_server(s, next, self);
}

enum turn
connect_start(struct session *session, struct pool_thread *self)
{
	struct server *server = choose(session);

	if (!server)
		return give_up(session, CLOSE_NO_SERVER, self);
	return try_server(session, server, self);
}

enum turn
connect_step(struct session *session, struct pool_thread *self)
{
	struct session *s = session;
	struct side *side = &s->side[HANDLE_SERVER];
	int error;

	if (s->state == SESSION_CONNECTING && side->error) {
		side->error = false;
		error = sock_take_error(side->fd);
		if (error != 0)
			return failed(s, error, self);
	}
	/* A server that says something has accepted, and most that accept make
	 * the socket writable: no system call is needed to know it. */
	if (s->state == SESSION_CONNECTING && side->writable)
		return connected(s, self);
	/* Once a server is there it gets what a client sent before its reset.
	 */
	if (s->side[HANDLE_CLIENT].error && s->client.family != AF_UNIX)
		return session_close(s, CLOSE_CLIENT_GONE, self);
	return TURN_DONE;
}

enum turn
connect_timeout(struct session *session, struct pool_thread *self)
{
	struct session *s = session;

	if (s->state == SESSION_PAUSING) {
		struct server *next = choose(s);

		if (!next)
			return give_up(s, CLOSE_CONNECT_FAILED, self);
		return try_server(s, next, self);
	}
	return failed(s, ETIMEDOUT, self);
}
