/* SPDX-License-Identifier: MIT
 * See acceptor.h.
 */
#include "proxy/acceptor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "base/fault.h"
#include "base/list.h"
#include "base/log.h"
#include "base/text.h"
#include "model/rate_limit.h"
#include "net/sock.h"
#include "proxy/session.h"

/* A turn's budget: accepting and connecting takes 20 to 30 us each. */
#define ACCEPTS_PER_TURN 4

struct acceptor {
	struct event_handler handler;
	struct proxy *proxy;
	struct frontend *frontend; /* [P14] control releases */
	uint32_t number;           /* [P14] before the frontend */
	struct shard *wanted;      /* [P14] where to move, or NULL */
	int fd;
	uint32_t proxied; /* accept_proxy; written by control, relaxed */
	uint32_t held;    /* accepts nothing; written by control, relaxed */
	uint32_t paused;  /* linked, or about to be, in proxy->paused */
	struct acceptor *next_paused;
	uint32_t closed; /* [P9] */
};

/* -- limits, and the acceptors that pause meanwhile -- */

/* Connections wait in the kernel's backlog until acceptors_resume, which runs
 * when a session ends and regularly on the control thread. */
static void
acceptor_pause(struct acceptor *a)
{
	struct acceptor *top = atomic_load_relaxed(&a->proxy->paused);

	if (!atomic_swap_acq_rel(&a->paused, 1u)) {
		do
			a->next_paused = top;
		while (!atomic_cas_acq_rel(&a->proxy->paused, &top, a));
	}
}

static const char *
frontend_name(const struct acceptor *a)
{
	return atomic_load_acquire(&a->frontend)->spec->name;
}

/* accept has failed with this errno. */
static void
pause_for_error(struct acceptor *a, int error)
{
	static struct log_limit limit;
	char where[128];

	snprintf(where, sizeof(where), "frontend %s accepts nothing for now",
	    frontend_name(a));
	if (!exhaustion_note(&a->proxy->exhaustion, error, where))
		log_limited(&limit, LOG_LEVEL_WARNING, "%s: %s", where,
		    strerror(error));
	acceptor_pause(a);
}

/* Either all sessions are in use, or memory for another one is short. */
static void
pause_for_sessions(struct acceptor *a)
{
	static struct log_limit limit;
	struct slab *sessions = &a->proxy->sessions;
	uint32_t most = atomic_load_relaxed(&a->proxy->limits.sessions);

	if (most == 0)
		most = sessions->options.max;
	if (slab_used(sessions) < most &&
	    slab_made(sessions) < sessions->options.max) {
		pause_for_error(a, ENOMEM);
		return;
	}
	atomic_add_relaxed(&a->proxy->exhaustion.maxconn_reached, UINT64_C(1));
	log_limited(&limit, LOG_LEVEL_WARNING,
	    "frontend %s accepts nothing for now: all %u session%s %s in use; "
	    "connections wait in the backlog, raise maxconn or the limit of "
	    "descriptors if this comes often",
	    frontend_name(a), most, text_s(most), text_are(most));
	acceptor_pause(a);
}

/* The end of a session of the frontend resumes the acceptor, and so does a
 * change of its maxconn.  A session that ended before the acceptor was linked
 * has not resumed it, so the limit is read again. */
static void
pause_for_frontend(struct acceptor *a, const struct frontend *f)
{
	uint32_t limit;

	acceptor_pause(a);
	limit = atomic_load_relaxed(&f->state->maxconn);
	if (atomic_load_seq(&f->sessions->now) < limit)
		acceptors_resume(a->proxy);
}

/* The control thread resumes the acceptor when the next connection is due. */
static void
pause_for_rate(struct acceptor *a)
{
	acceptor_pause(a);
	if (a->proxy->call_reaper)
		a->proxy->call_reaper(a->proxy->call_reaper_arg);
}

static uint32_t
frontend_rate(const struct frontend *f)
{
	return atomic_load_relaxed(&f->state->rate_limit);
}

/* rate: 0 for no limit. */
static bool
rate_is_due(const uint64_t *due_ns, uint32_t rate)
{
	return rate == 0 || rate_limit_is_due(due_ns, rate, clock_now_ns());
}

static void
rate_count(uint64_t *due_ns, uint32_t rate)
{
	if (rate > 0)
		rate_limit_count(due_ns, rate, clock_now_ns());
}

static bool
frontend_is_due(const struct frontend *f)
{
	return rate_is_due(&f->state->rate_due_ns, frontend_rate(f));
}

static bool
proxy_is_due(const struct proxy_limits *limits)
{
	return rate_is_due(&limits->due_ns, proxy_limits_rate(limits));
}

/* used: sessions in use, including the one being taken. */
static bool
are_too_many(const struct proxy *proxy, uint32_t used)
{
	uint32_t limit = atomic_load_relaxed(&proxy->limits.sessions);

	return used > proxy->sessions.options.max ||
	       (limit > 0 && used > limit);
}

enum accept_block
acceptor_block(const struct proxy *proxy, const struct frontend *frontend)
{
	uint32_t limit = atomic_load_relaxed(&frontend->state->maxconn);

	if (!proxy_is_due(&proxy->limits))
		return ACCEPT_BLOCK_RATE;
	if (!frontend_is_due(frontend))
		return ACCEPT_BLOCK_FRONTEND_RATE;
	if (atomic_load_relaxed(&frontend->sessions->now) >= limit)
		return ACCEPT_BLOCK_FRONTEND;
	return are_too_many(proxy, slab_used(&proxy->sessions) + 1)
	           ? ACCEPT_BLOCK_SESSIONS
	           : ACCEPT_BLOCK_NONE;
}

/* Returns whether the limits leave room for a connection.  If so, and if the
 * frontend has a maxconn, returns it in *ret_limit and counts a session of the
 * frontend in advance; else *ret_limit is FRONTEND_NO_LIMIT.  If not, the
 * acceptor pauses. */
static bool
reserve(struct acceptor *a, const struct frontend *f, uint32_t *ret_limit)
{
	*ret_limit = atomic_load_relaxed(&f->state->maxconn);
	if (!proxy_is_due(&a->proxy->limits) || !frontend_is_due(f)) {
		pause_for_rate(a);
		return false;
	}
	if (*ret_limit != FRONTEND_NO_LIMIT &&
	    !gauge_reserve(f->sessions, *ret_limit)) {
		pause_for_frontend(a, f);
		return false;
	}
	return true;
}

/* Counts an accepted connection.  limit is that of reserve. */
static void
count_accept(struct acceptor *a, const struct frontend *f, uint32_t limit)
{
	struct proxy_limits *limits = &a->proxy->limits;

	rate_count(&limits->due_ns, proxy_limits_rate(limits));
	rate_count(&f->state->rate_due_ns, frontend_rate(f));
	if (limit != FRONTEND_NO_LIMIT)
		gauge_note_peak(
		    f->sessions, atomic_load_relaxed(&f->sessions->now));
	else
		gauge_up(f->sessions);
}

/* Returns a free session, or NULL when the limit on all sessions is reached or
 * memory is short. */
static struct session *
take_session(struct acceptor *a, uint32_t *ret_index)
{
	struct slab *sessions = &a->proxy->sessions;
	struct session *s = slab_take(sessions, ret_index);

	if (!s || !are_too_many(a->proxy, slab_used(sessions)))
		return s;
	slab_give(sessions, *ret_index);
	return NULL;
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
		uint32_t generation = claim_generation(&a->handler.claim);

		/* From here on the acceptor may pause and be linked again. */
		(void)atomic_swap_acq_rel(&a->paused, 0u);
		/* A closed acceptor's shard may be freed. */
		if (!atomic_load_acquire(&a->closed)) /* [P9] */
			(void)shard_note(&a->handler, generation, NOTE_RESUME);
		a = next;
	}
}

/* -- turns -- */

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

	if (!reserve(a, frontend, &limit))
		return false;
	s = take_session(a, &index);
	if (!s) {
		if (limit != FRONTEND_NO_LIMIT)
			gauge_down(frontend->sessions);
		pause_for_sessions(a);
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
		count_accept(a, frontend, limit);
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
		pause_for_error(a, error);
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
