/* SPDX-License-Identifier: MIT
 * Accepting: a connection of the backlog gets a session, or is refused by the
 * gate.
 */
#include <errno.h>
#include <sys/socket.h>

#include "base/fault.h"
#include "net/sock.h"
#include "proxy/accept_limits.h"
#include "proxy/acceptor_internal.h"

/* A turn's budget of new sessions: accepting and connecting takes 20 to 30 us
 * each. */
#define ACCEPTS_PER_TURN 4
/* A turn's budget of refused connections, which cost less than sessions.  With
 * a small budget a flood of them would cause a turn, and perhaps a wake-up, for
 * every few. */
#define REFUSALS_PER_TURN 32

/* The fate of the next connection of the backlog. */
enum accept_end {
	ACCEPT_STOPPED, /* there is none, or no session for it */
	ACCEPT_REFUSED, /* the connection is gone */
	ACCEPT_STARTED  /* the connection has a session */
};

/* -- the kept connection -- */

/* Unpins the model of the kept connection, which gets a session or is dropped.
 */
static void
unpin_kept(struct acceptor *a)
{
	if (a->kept_for)
		model_unpin(a->kept_for->frontend->model);
	a->kept_for = NULL;
}

/* Pins the model whose limits count the kept connection. */
static void
pin_kept(struct acceptor *a, const struct frontend_listen *listen)
{
	if (!a->kept_for)
		model_pin(listen->frontend->model);
	a->kept_for = listen;
}

/* Takes the kept connection out of the limits and of the held clients.  It is
 * not judged any more. */
static void
unjudge_kept(struct acceptor *a)
{
	const struct gate_answer *answer = &a->kept.answer;
	const struct frontend *f = a->kept_for ? a->kept_for->frontend : NULL;

	if (f)
		gate_cancel(f, answer->limits, &a->kept.client);
	if (f && answer->hold_ms > 0)
		held_room_give(a->proxy, f, &a->kept.client);
	a->kept.answer = (struct gate_answer){.action = GATE_ADMIT};
	unpin_kept(a);
}

void
acceptor_drop_kept(struct acceptor *a)
{
	if (a->kept.fd < 0)
		return;
	/* Closing a listening socket resets the connections of its backlog;
	 * this connection is treated like them. */
	sock_close_reset(a->kept.fd);
	a->kept.fd = -1;
	unjudge_kept(a);
}

/* -- the backlog -- */

/* Returns whether the error is of this connection only, which is gone; the next
 * one may be fine (accept(2), "Error handling"). */
static bool
only_this_connection(int error)
{
	return error == EINTR || error == ECONNABORTED || error == EPROTO ||
	       error == EPERM || error == ENETDOWN || error == ENOPROTOOPT ||
	       error == EHOSTDOWN || error == ENONET || error == EHOSTUNREACH ||
	       error == ENETUNREACH || error == EOPNOTSUPP;
}

/* Accepts a connection.  Returns 0 or -errno. */
static int
accept_connection(struct acceptor *a, const struct frontend_listen *listen,
    struct accepted *ret_accepted)
{
	union {
		struct sockaddr sa;
		struct sockaddr_storage storage;
	} peer;
	socklen_t len = sizeof(peer);
	struct accepted accepted = {.answer = {.action = GATE_ADMIT}};

	accepted.fd =
	    fault_fails(FAULT_ACCEPT)
	        ? -1
	        : accept4(a->fd, &peer.sa, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (accepted.fd < 0)
		return -errno;
	endpoint_set(&accepted.client, &peer.sa, len);
	/* Clients of a unix socket have no address; the listen's number stands
	 * in for the port. */
	if (accepted.client.family == AF_UNIX)
		accepted.client.port = (uint16_t)listen->number;
	*ret_accepted = accepted;
	return 0;
}

/* Handles the failure of an accept. */
static enum accept_end
accept_failed(struct acceptor *a, int error)
{
	if (only_this_connection(error))
		return ACCEPT_REFUSED;
	/* EINVAL: the socket was shut, and the acceptor is about to be told to
	 * close.  Another acceptor may have paused because of the place that
	 * was reserved here. */
	if (error != EAGAIN && error != EINVAL)
		acceptor_pause_for_error(a, error);
	else
		acceptors_resume(a->proxy);
	return ACCEPT_STOPPED;
}

/* Accepts a connection of a frontend whose gate admits every client.  Takes a
 * session first: a connection that could not be served stays in the backlog. */
static enum accept_end
accept_any(struct acceptor *a, const struct frontend_listen *listen,
    struct pool_thread *self)
{
	struct accepted accepted;
	struct session *s;
	uint32_t index, limit;
	int rc;

	s = acceptor_reserve_session(a, listen, &index, &limit);
	if (!s)
		return ACCEPT_STOPPED;
	rc = accept_connection(a, listen, &accepted);
	if (rc < 0) {
		acceptor_unreserve_session(a, listen, index, limit);
		return accept_failed(a, -rc);
	}
	acceptor_count(a, listen->frontend, limit, true);
	session_start(s, a->handler.shard, listen, &accepted, self);
	return ACCEPT_STARTED;
}

/* Judges the client, unless a PROXY header will name another one.  Returns
 * whether the connection needs a session; if not, it is closed. */
static bool
admit(struct proxy *proxy, const struct frontend_listen *listen,
    struct accepted *accepted, struct pool_thread *self)
{
	const struct frontend *f = listen->frontend;
	bool tcp = accepted->client.family != AF_UNIX;
	enum gate_action action;

	if (listen->accept_proxy &&
	    frontend_spec_expects_proxy(f->spec, &accepted->client))
		return true;
	accepted->answer =
	    gate_client(proxy, f, &accepted->client, self->now_ns);
	action = accepted->answer.action;
	gate_count(
	    f, &accepted->answer, COUNTER_DENIED_CONNECTIONS, self->index);
	if (!gate_refuses(action) || action == GATE_TARPIT)
		return true;
	talkers_add(
	    &proxy->talkers, &accepted->client, TALK_SESSIONS, 1, self->now_ns);
	talkers_add(
	    &proxy->talkers, &accepted->client, TALK_ERRORS, 1, self->now_ns);
	gate_end(accepted->fd, tcp, action);
	return false;
}

/* Keeps the connection, which has to wait for a session.  A client in a tarpit
 * is reset instead: it would keep the others waiting. */
static enum accept_end
keep(struct acceptor *a, const struct frontend_listen *listen)
{
	pin_kept(a, listen);
	if (a->kept.answer.action != GATE_TARPIT)
		return ACCEPT_STOPPED;
	acceptor_drop_kept(a);
	return ACCEPT_REFUSED;
}

/* Accepts a connection of a frontend with a gate.  Judges the client first, so
 * that a client that is turned away needs no session.  If there is no session
 * for a client that is admitted, the acceptor keeps the connection and pauses.
 */
static enum accept_end
accept_guarded(struct acceptor *a, const struct frontend_listen *listen,
    struct pool_thread *self)
{
	struct accepted *kept = &a->kept;
	bool judged = true;
	struct session *s;
	uint32_t index, limit;
	int rc;

	if (kept->fd < 0) {
		rc = accept_connection(a, listen, kept);
		if (rc < 0)
			return accept_failed(a, -rc);
		judged = false;
	} else if (a->kept_for != listen) {
		/* A reload has brought other rules and limits. */
		unjudge_kept(a);
		judged = false;
	}
	if (!judged && !admit(a->proxy, listen, kept, self)) {
		kept->fd = -1;
		return ACCEPT_REFUSED;
	}
	s = acceptor_reserve_session(a, listen, &index, &limit);
	if (!s)
		return keep(a, listen);
	acceptor_count(
	    a, listen->frontend, limit, kept->answer.action != GATE_TARPIT);
	session_start(s, a->handler.shard, listen, kept, self);
	unpin_kept(a);
	kept->fd = -1;
	return ACCEPT_STARTED;
}

static enum accept_end
accept_one(struct acceptor *a, const struct frontend_listen *listen,
    struct pool_thread *self)
{
	return gate_is_used(listen->frontend) || a->kept.fd >= 0
	           ? accept_guarded(a, listen, self)
	           : accept_any(a, listen, self);
}

bool
acceptor_accept(struct acceptor *a, const struct frontend_listen *listen,
    struct pool_thread *self)
{
	unsigned started = 0, refused = 0;

	while (started < ACCEPTS_PER_TURN && refused < REFUSALS_PER_TURN) {
		switch (accept_one(a, listen, self)) {
		case ACCEPT_STOPPED:
			return false;
		case ACCEPT_REFUSED:
			refused++;
			break;
		case ACCEPT_STARTED:
			started++;
			break;
		}
	}
	return true;
}
