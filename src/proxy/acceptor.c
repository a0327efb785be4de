/* SPDX-License-Identifier: MIT
 * See acceptor.h.
 */
#include "proxy/acceptor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "proxy/session.h"

/* A turn's budget: accepting and connecting takes 20 to 30 us each. */
#define ACCEPTS_PER_TURN 4

struct acceptor {
	struct event_handler handler;
	struct proxy *proxy;
	struct frontend *frontend;
	int fd;
	uint32_t paused; /* it is, or is about to be, in proxy->paused */
	struct acceptor *next_paused;
	uint32_t closed; /* [P9] */
};

static struct acceptor *
acceptor_of(struct event_handler *handler)
{
	return container_of(handler, struct acceptor, handler);
}

static enum turn
stop(struct acceptor *a)
{
	claim_retire(&a->handler.claim);
	close(a->fd);
	a->fd = -1;
	atomic_store_release(&a->closed, 1u); /* [P9] */
	return TURN_RETIRED;
}

/* Connections wait in the kernel's backlog until a session has ended, or the
 * control thread has come by. */
static enum turn
pause_accepting(struct acceptor *a, const char *why)
{
	static struct log_limit limit;
	struct acceptor *top = atomic_load_relaxed(&a->proxy->paused);

	if (!atomic_swap_acq_rel(&a->paused, 1u)) {
		do
			a->next_paused = top;
		while (!atomic_cas_acq_rel(&a->proxy->paused, &top, a));
	}
	log_limited(&limit, LOG_LEVEL_WARNING,
	    "frontend %s accepts no connections for now: %s; they wait in the "
	    "backlog, raise the limit if this comes often",
	    a->frontend->spec->name, why);
	return TURN_DONE;
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
accept_one(struct acceptor *a, struct pool_thread *self)
{
	union {
		struct sockaddr sa;
		struct sockaddr_storage storage;
	} peer;
	socklen_t len = sizeof(peer);
	struct endpoint client;
	struct session *s;
	uint32_t index;
	int fd, error;

	s = slab_take(&a->proxy->sessions, &index);
	if (!s) {
		pause_accepting(a, "all sessions are in use");
		return false;
	}
	fd = accept4(a->fd, &peer.sa, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0) {
		endpoint_set(&client, &peer.sa, len);
		session_start(
		    s, a->handler.shard, a->frontend, fd, &client, self);
		return true;
	}
	error = errno;
	slab_give(&a->proxy->sessions, index);
	if (only_this_connection(error))
		return true;
	if (error != EAGAIN)
		pause_accepting(a, strerror(error));
	return false;
}

static enum turn
acceptor_turn(
    struct event_handler *handler, uint32_t pending, struct pool_thread *self)
{
	struct acceptor *a = acceptor_of(handler);

	if (a->fd < 0)
		return TURN_DONE; /* a note that came after the end */
	if (pending & NOTE_KILL)
		return stop(a);
	for (int i = 0; i < ACCEPTS_PER_TURN; i++)
		if (!accept_one(a, self))
			return TURN_DONE;
	return TURN_MORE;
}

static const struct event_handler_ops acceptor_ops = {.turn = acceptor_turn};

int
acceptor_new(struct proxy *proxy, struct frontend *frontend, int fd,
    struct acceptor **ret_acceptor)
{
	struct acceptor *a = calloc(1, sizeof(*a));

	if (!a ||
	    !event_handler_init(&a->handler, &acceptor_ops, HANDLE_LISTENER)) {
		free(a);
		close(fd);
		return -ENOMEM;
	}
	a->proxy = proxy;
	a->frontend = frontend;
	a->fd = fd;
	*ret_acceptor = a;
	return 0;
}

int
acceptor_open(struct acceptor *acceptor, struct shard *shard)
{
	struct event_handler *h = &acceptor->handler;
	int rc;

	claim_open(&h->claim);
	atomic_store_relaxed(&h->shard, shard);
	rc = handle_set_add(shard->set, acceptor->fd,
	    event_handler_handle(h, HANDLE_LISTENER), HANDLE_READABLE);
	/* Bits that have come already need a thread to look at them. */
	if (!claim_drop(&h->claim))
		shard_submit(h);
	return rc;
}

void
acceptor_stop(struct acceptor *acceptor)
{
	struct event_handler *h = &acceptor->handler;

	(void)shard_note(h, claim_generation(&h->claim), NOTE_KILL);
}

void
acceptors_resume(struct proxy *proxy)
{
	struct acceptor *a;

	if (!atomic_load_relaxed(&proxy->paused))
		return;
	a = atomic_swap_acq_rel(&proxy->paused, NULL);
	while (a) {
		struct acceptor *next = a->next_paused;
		struct claim *claim = &a->handler.claim;
		uint32_t generation = claim_generation(claim);

		/* From here on it may pause again, and be linked anew. */
		(void)atomic_swap_acq_rel(&a->paused, 0u);
		(void)shard_note(&a->handler, generation, NOTE_RESUME);
		a = next;
	}
}

bool
acceptor_closed(const struct acceptor *acceptor)
{
	return atomic_load_acquire(&acceptor->closed); /* [P9] */
}

void
acceptor_free(struct acceptor *acceptor)
{
	if (!acceptor)
		return;
	if (acceptor->fd >= 0)
		close(acceptor->fd);
	free(acceptor);
}
