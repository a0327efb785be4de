/* SPDX-License-Identifier: MIT
 * See acceptor.h.
 */
#include "proxy/acceptor.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/fault.h"
#include "base/list.h"
#include "base/log.h"
#include "net/sock.h"
#include "proxy/accept_limits.h"
#include "proxy/acceptor_internal.h"

static void
acceptor_note(struct acceptor *a, uint32_t note)
{
	(void)shard_note(
	    &a->handler, claim_generation(&a->handler.claim), note);
}

static void
close_socket(struct acceptor *a)
{
	acceptor_drop_kept(a);
	close(a->fd);
	a->fd = -1;
	atomic_store_release(&a->closed, 1u); /* [P9] */
}

/* Ends the acceptor, which the caller owns. */
static void
retire_acceptor(struct acceptor *a)
{
	/* Without this the handle set would go on to watch a socket that
	 * another process has as well. */
	(void)handle_set_remove(a->handler.shard->set, a->fd);
	claim_retire(&a->handler.claim);
	close_socket(a);
}

void
acceptor_abandon(struct acceptor *a)
{
	if (claim_owned(&a->handler.claim))
		retire_acceptor(a);
	else
		close_socket(a);
}

/* Moves the acceptor to another pool's handle set, whose threads accept from
 * then on.  Adding the socket reports connections that wait in the backlog.  If
 * the other handle set refuses the socket, the acceptor stays. */
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
	    acceptor_frontend_name(a));
	(void)handle_set_add(from->set, a->fd, handle, HANDLE_READABLE);
}

static enum turn
acceptor_turn(
    struct event_handler *handler, uint32_t pending, struct pool_thread *self)
{
	struct acceptor *a = container_of(handler, struct acceptor, handler);
	const struct frontend_listen *listen;

	if (a->fd < 0)
		return TURN_DONE; /* a note that came after the end */
	if (pending & NOTE_KILL) {
		retire_acceptor(a);
		return TURN_RETIRED;
	}
	if (pending & NOTE_MOVE) {
		change_shard(a, atomic_load_acquire(&a->wanted)); /* [P14] */
		return TURN_MORE; /* on the shard where it is now */
	}
	if (atomic_load_relaxed(&a->held))
		return TURN_DONE;
	listen = atomic_load_acquire(&a->listen); /* [P14] */
	if (acceptor_waits_for_takeover(a, listen->frontend)) {
		acceptor_pause_for_takeover(a, listen->frontend);
		return TURN_DONE;
	}
	return acceptor_accept(a, listen, self) ? TURN_MORE : TURN_DONE;
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
	a->kept.fd = -1;
	a->evicting_ms = 0;
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
	acceptor_set_frontend(a, frontend, a->listen->number);
}

void
acceptor_set_frontend(
    struct acceptor *a, struct frontend *frontend, unsigned number)
{
	ENSURE(number >= 1 && number <= frontend->spec->listens_n);
	atomic_store_release(
	    &a->listen, &frontend->listens[number - 1]); /* [P14] */
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
acceptor_register(struct acceptor *a, struct shard *shard)
{
	struct event_handler *h = &a->handler;
	int rc;

	if (fault_fails(FAULT_REGISTER))
		return -errno;
	claim_open(&h->claim);
	atomic_store_relaxed(&h->shard, shard);
	rc = handle_set_add(shard->set, a->fd,
	    event_handler_handle(h, HANDLE_LISTENER), HANDLE_READABLE);
	if (rc < 0)
		claim_retire(&h->claim);
	return rc;
}

void
acceptor_start(struct acceptor *a)
{
	/* Bits that were posted already need a thread to look at them. */
	if (!claim_drop(&a->handler.claim))
		shard_submit(&a->handler);
}

void
acceptor_shut(struct acceptor *a)
{
	/* The descriptor stays open until acceptor_stop. */
	(void)shutdown(a->fd, SHUT_RDWR);
}

bool
acceptor_hold(struct acceptor *a, bool refuse, struct addr *ret_addr)
{
	if (!sock_local_addr(a->fd, ret_addr))
		return false;
	atomic_store_relaxed(&a->held, 1u);
	if (refuse && ret_addr->sa.sa_family != AF_UNIX)
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
	/* The models may be gone. */
	if (a->kept.fd >= 0)
		sock_close_reset(a->kept.fd);
	if (a->fd >= 0)
		close(a->fd);
	free(a);
}
