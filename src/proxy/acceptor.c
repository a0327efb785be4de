/* SPDX-License-Identifier: MIT
 * See acceptor.h.
 */
#include "proxy/acceptor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/fault.h"
#include "base/list.h"
#include "base/log.h"
#include "net/sock.h"
#include "proxy/acceptor_internal.h"
#include "proxy/session.h"

/* A turn's budget: accepting and connecting takes 20 to 30 us each. */
#define ACCEPTS_PER_TURN 4

static void
acceptor_note(struct acceptor *a, uint32_t note)
{
	(void)shard_note(
	    &a->handler, claim_generation(&a->handler.claim), note);
}

void
acceptor_abandon(struct acceptor *a)
{
	close(a->fd);
	a->fd = -1;
	atomic_store_release(&a->closed, 1u); /* [P9] */
}

/* Errors of the one connection, which is gone; the next one may be fine
 * (accept(2), "Error handling"). */
static bool
only_this_connection(int error)
{
	return error == EINTR || error == ECONNABORTED || error == EPROTO ||
	       error == EPERM || error == ENETDOWN || error == ENOPROTOOPT ||
	       error == EHOSTDOWN || error == ENONET || error == EHOSTUNREACH ||
	       error == ENETUNREACH || error == EOPNOTSUPP;
}

/* Takes a session first: a connection that could not be served is not taken
 * from the backlog.  True: go on. */
static bool
accept_one(
    struct acceptor *a, struct frontend *frontend, struct pool_thread *self)
{
	union {
		struct sockaddr sa;
		struct sockaddr_storage storage;
	} peer;
	socklen_t len = sizeof(peer);
	struct endpoint client;
	struct session *s;
	uint32_t index, limit;
	int fd, error;

	if (!acceptor_reserve(a, frontend, &limit))
		return false;
	s = acceptor_take_session(a, &index);
	if (!s) {
		if (limit != FRONTEND_NO_LIMIT)
			gauge_down(frontend->sessions);
		acceptor_pause_for_sessions(a);
		return false;
	}
	fd = fault_fails(FAULT_ACCEPT)
	         ? -1
	         : accept4(a->fd, &peer.sa, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0) {
		endpoint_set(&client, &peer.sa, len);
		/* Clients of a unix socket have no address; the number tells
		 * them apart. */
		if (client.family == AF_UNIX)
			client.port = (uint16_t)atomic_load_relaxed(&a->number);
		acceptor_count(a, frontend, limit);
		session_start(s, a->handler.shard, frontend, fd, &client,
		    atomic_load_relaxed(&a->proxied) &&
		        frontend_spec_expects_proxy(frontend->spec, &client),
		    self);
		return true;
	}
	error = errno;
	slab_give(&a->proxy->sessions, index);
	if (limit != FRONTEND_NO_LIMIT)
		gauge_down(frontend->sessions);
	if (only_this_connection(error))
		return true;
	/* EINVAL: it was shut, and is about to be told to close.  Another one
	 * may have paused for the place that was kept here. */
	if (error != EAGAIN && error != EINVAL)
		acceptor_pause_for_error(a, error);
	else
		acceptors_resume(a->proxy);
	return false;
}

/* Moves to another pool's handle set, whose threads accept from then on.
 * Adding the socket reports connections that wait in the backlog.  If the other
 * handle set refuses the socket, the acceptor stays. */
static void
change_shard(struct acceptor *a, struct shard *to)
{
	struct event_handler *h = &a->handler;
	struct shard *from = h->shard;
	handle_t handle = event_handler_handle(h, HANDLE_LISTENER);

	if (to == from || handle_set_remove(from->set, a->fd) < 0)
		return;
	if (handle_set_add(to->set, a->fd, handle, HANDLE_READABLE) == 0) {
		atomic_store_release(&h->shard, to); /* [P14] */
		return;
	}
	log_error("the pool of frontend %s could not be changed; its "
	          "connections are accepted by the former one",
	    atomic_load_acquire(&a->frontend)->spec->name);
	(void)handle_set_add(from->set, a->fd, handle, HANDLE_READABLE);
}

static enum turn
acceptor_turn(
    struct event_handler *handler, uint32_t pending, struct pool_thread *self)
{
	struct acceptor *a = container_of(handler, struct acceptor, handler);
	struct frontend *frontend;

	if (a->fd < 0)
		return TURN_DONE; /* a note that came after the end */
	if (pending & NOTE_KILL) {
		claim_retire(&a->handler.claim);
		acceptor_abandon(a);
		return TURN_RETIRED;
	}
	if (pending & NOTE_MOVE) {
		change_shard(a, atomic_load_acquire(&a->wanted)); /* [P14] */
		return TURN_MORE; /* on the shard where it is now */
	}
	if (atomic_load_relaxed(&a->held))
		return TURN_DONE;
	frontend = atomic_load_acquire(&a->frontend); /* [P14] */
	for (int i = 0; i < ACCEPTS_PER_TURN; i++)
		if (!accept_one(a, frontend, self))
			return TURN_DONE;
	return TURN_MORE;
}

static const struct event_handler_ops acceptor_ops = {.turn = acceptor_turn};

int
acceptor_new(struct proxy *proxy, struct frontend *frontend, unsigned number,
    int fd, struct acceptor **ret_acceptor)
{
	struct acceptor *a = calloc(1, sizeof(*a));

	if (!a ||
	    !event_handler_init(&a->handler, &acceptor_ops, HANDLE_LISTENER)) {
		free(a);
		close(fd);
		return -ENOMEM;
	}
	a->proxy = proxy;
	acceptor_renew(a, frontend, number, fd);
	*ret_acceptor = a;
	return 0;
}

void
acceptor_renew(
    struct acceptor *a, struct frontend *frontend, unsigned number, int fd)
{
	acceptor_set_frontend(a, frontend, number);
	a->fd = fd;
	atomic_store_relaxed(&a->held, 0u);
	atomic_store_relaxed(&a->closed, 0u);
}

bool
acceptor_busy(const struct acceptor *a)
{
	return claim_owned(&a->handler.claim);
}

void
acceptor_follow(struct acceptor *a, struct frontend *frontend)
{
	atomic_store_release(&a->frontend, frontend); /* [P14] */
}

void
acceptor_set_frontend(
    struct acceptor *a, struct frontend *frontend, unsigned number)
{
	const struct frontend_spec *f = frontend->spec;

	ENSURE(number >= 1 && number <= f->listens_n);
	atomic_store_relaxed(&a->number, number);
	/* A turn that still has the former frontend may take this value. */
	atomic_store_relaxed(
	    &a->proxied, f->listens[number - 1].accept_proxy ? 1u : 0u);
	atomic_store_release(&a->frontend, frontend); /* [P14] */
}

void
acceptor_move(struct acceptor *a, struct shard *shard)
{
	atomic_store_release(&a->wanted, shard); /* [P14] */
	acceptor_note(a, NOTE_MOVE);
}

int
acceptor_fd(const struct acceptor *a)
{
	return a->fd;
}

const struct shard *
acceptor_shard(const struct acceptor *a)
{
	return atomic_load_acquire(&a->handler.shard); /* [P14] */
}

int
acceptor_open(struct acceptor *a, struct shard *shard)
{
	struct event_handler *h = &a->handler;
	int rc;

	claim_open(&h->claim);
	atomic_store_relaxed(&h->shard, shard);
	rc = handle_set_add(shard->set, a->fd,
	    event_handler_handle(h, HANDLE_LISTENER), HANDLE_READABLE);
	/* Bits that were posted already need a thread to look at them. */
	if (!claim_drop(&h->claim))
		shard_submit(h);
	return rc;
}

void
acceptor_shut(struct acceptor *a)
{
	/* The descriptor stays open until acceptor_stop. */
	(void)shutdown(a->fd, SHUT_RDWR);
}

bool
acceptor_hold(struct acceptor *a, struct addr *ret_addr)
{
	if (!sock_local_addr(a->fd, ret_addr))
		return false;
	atomic_store_relaxed(&a->held, 1u);
	if (ret_addr->sa.sa_family != AF_UNIX)
		(void)shutdown(a->fd, SHUT_RDWR);
	return true;
}

int
acceptor_unhold(struct acceptor *a, const struct addr *addr, unsigned backlog)
{
	int rc = addr->sa.sa_family == AF_UNIX
	             ? 0
	             : sock_listen_again(a->fd, addr, backlog);

	if (rc < 0)
		return rc;
	atomic_store_relaxed(&a->held, 0u);
	acceptor_note(a, NOTE_RESUME);
	return 0;
}

void
acceptor_stop(struct acceptor *a)
{
	acceptor_note(a, NOTE_KILL);
}

bool
acceptor_closed(const struct acceptor *a)
{
	return atomic_load_acquire(&a->closed); /* [P9] */
}

void
acceptor_free(struct acceptor *a)
{
	if (!a)
		return;
	if (a->fd >= 0)
		close(a->fd);
	free(a);
}
