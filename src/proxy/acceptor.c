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
/* A refused connection costs less than a session, and a flood of these should
 * not have each of its turns begin with a wake-up. */
#define REFUSALS_PER_TURN 32

/* The fate of the next connection of the backlog. */
enum accept_end {
	ACCEPT_STOPPED, /* there is none, or no room for it */
	ACCEPT_REFUSED, /* it is gone */
	ACCEPT_STARTED  /* it has a session */
};

struct acceptor {
	struct event_handler handler;
	struct proxy *proxy;
	/* [P14] control releases; of a frontend that is present or is about to
	 * be freed after a grace period. */
	const struct frontend_listen *listen;
	struct shard *wanted; /* [P14] where to move, or NULL */
	int fd;
	/* A connection that the gate has admitted, as long as there is no
	 * session for it; fd -1: none.  kept_for: the listen that has admitted
	 * it, whose model is pinned; NULL if none is kept between turns. */
	struct accepted kept;
	const struct frontend_listen *kept_for;
	uint32_t held;   /* accepts nothing; written by control, relaxed */
	uint32_t paused; /* linked, or about to be, in proxy->paused */
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
	return atomic_load_acquire(&a->listen)->frontend->spec->name;
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

/* The end of a handshake resumes the acceptor. */
static void
pause_for_handshakes(struct acceptor *a, const struct frontend *f)
{
	acceptor_pause(a);
	if (atomic_load_seq(&f->state->handshakes.now) <
	    f->spec->handshakes_max)
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

/* acceptors_begin resumes the acceptor, unless it came before. */
static void
pause_for_takeover(struct acceptor *a)
{
	acceptor_pause(a);
	if (!atomic_load_seq(&a->proxy->takes_over))
		acceptors_resume(a->proxy);
}

void
acceptors_wait(struct proxy *proxy)
{
	atomic_store_relaxed(&proxy->takes_over, 1u);
}

void
acceptors_begin(struct proxy *proxy)
{
	(void)atomic_swap_seq(&proxy->takes_over, 0u);
	acceptors_resume(proxy);
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
	limit = frontend->spec->handshakes_max;
	if (limit > 0 &&
	    atomic_load_relaxed(&frontend->state->handshakes.now) >= limit)
		return ACCEPT_BLOCK_HANDSHAKES;
	return are_too_many(proxy, slab_used(&proxy->sessions) + 1)
	           ? ACCEPT_BLOCK_SESSIONS
	           : ACCEPT_BLOCK_NONE;
}

/* Counts a handshake in advance.  Returns false if there are too many. */
static bool
reserve_handshake(const struct frontend_listen *listen)
{
	const struct frontend *f = listen->frontend;
	struct gauge *handshakes = &f->state->handshakes;

	if (listen->tls && f->spec->handshakes_max > 0)
		return gauge_reserve(handshakes, f->spec->handshakes_max);
	if (listen->tls)
		gauge_up(handshakes);
	return true;
}

/* Takes back what reserve has counted. */
static void
unreserve(const struct frontend_listen *listen, uint32_t limit)
{
	if (limit != FRONTEND_NO_LIMIT)
		gauge_down(listen->frontend->sessions);
	if (listen->tls)
		gauge_down(&listen->frontend->state->handshakes);
}

/* Returns whether the limits leave room for a connection.  If so, and if the
 * frontend has a maxconn, returns it in *ret_limit and counts a session of the
 * frontend in advance; else *ret_limit is FRONTEND_NO_LIMIT.  Also counts a
 * handshake if there will be one.  If there is no room, the acceptor pauses. */
static bool
reserve(struct acceptor *a, const struct frontend_listen *listen,
    uint32_t *ret_limit)
{
	const struct frontend *f = listen->frontend;

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
	if (reserve_handshake(listen))
		return true;
	if (*ret_limit != FRONTEND_NO_LIMIT)
		gauge_down(f->sessions);
	pause_for_handshakes(a, f);
	return false;
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

/* The acceptor goes on with the kept connection, or drops it. */
static void
unpin_kept(struct acceptor *a)
{
	if (a->kept_for)
		model_unpin(a->kept_for->frontend->model);
	a->kept_for = NULL;
}

/* Pins the model whose limits count the connection. */
static void
pin_kept(struct acceptor *a, const struct frontend_listen *listen)
{
	if (!a->kept_for)
		model_pin(listen->frontend->model);
	a->kept_for = listen;
}

/* The kept connection counts in the limits no longer, and is not judged. */
static void
unjudge_kept(struct acceptor *a)
{
	if (a->kept_for)
		gate_cancel(a->kept_for->frontend, a->kept.answer.limits,
		    &a->kept.client);
	a->kept.answer = (struct gate_answer){.action = GATE_ADMIT};
	unpin_kept(a);
}

/* The connection was accepted already: like those of the backlog, it is reset.
 */
static void
drop_kept(struct acceptor *a)
{
	if (a->kept.fd < 0)
		return;
	sock_close_reset(a->kept.fd);
	a->kept.fd = -1;
	unjudge_kept(a);
}

void
acceptor_abandon(struct acceptor *a)
{
	drop_kept(a);
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
	/* Clients of a unix socket have no address; the number tells them
	 * apart. */
	if (accepted.client.family == AF_UNIX)
		accepted.client.port = (uint16_t)listen->number;
	*ret_accepted = accepted;
	return 0;
}

/* accept has failed. */
static enum accept_end
accept_failed(struct acceptor *a, int error)
{
	if (only_this_connection(error))
		return ACCEPT_REFUSED;
	/* EINVAL: it was shut, and is about to be told to close.  Another one
	 * may have paused for the place that was kept here. */
	if (error != EAGAIN && error != EINVAL)
		pause_for_error(a, error);
	else
		acceptors_resume(a->proxy);
	return ACCEPT_STOPPED;
}

/* Takes a session for the next connection of the listen, and counts it against
 * the limits; *ret_limit is that of reserve.  Returns NULL when there is no
 * room: the acceptor pauses. */
static struct session *
take_place(struct acceptor *a, const struct frontend_listen *listen,
    uint32_t *ret_index, uint32_t *ret_limit)
{
	struct session *s;

	if (!reserve(a, listen, ret_limit))
		return NULL;
	s = take_session(a, ret_index);
	if (s)
		return s;
	unreserve(listen, *ret_limit);
	pause_for_sessions(a);
	return NULL;
}

/* Takes a session first: a connection that could not be served is not taken
 * from the backlog. */
static enum accept_end
accept_any(struct acceptor *a, const struct frontend_listen *listen,
    struct pool_thread *self)
{
	struct accepted accepted;
	struct session *s;
	uint32_t index, limit;
	int rc;

	s = take_place(a, listen, &index, &limit);
	if (!s)
		return ACCEPT_STOPPED;
	rc = accept_connection(a, listen, &accepted);
	if (rc < 0) {
		slab_give(&a->proxy->sessions, index);
		unreserve(listen, limit);
		return accept_failed(a, -rc);
	}
	count_accept(a, listen->frontend, limit);
	session_start(s, a->handler.shard, listen, &accepted, self);
	return ACCEPT_STARTED;
}

/* Judges the client, unless a PROXY header will name another one.  Returns
 * whether it needs a session; if not, the connection is closed. */
static bool
admit(const struct frontend_listen *listen, struct accepted *accepted,
    struct pool_thread *self)
{
	const struct frontend *f = listen->frontend;
	bool tcp = accepted->client.family != AF_UNIX;
	enum gate_action action;

	if (listen->accept_proxy &&
	    frontend_spec_expects_proxy(f->spec, &accepted->client))
		return true;
	accepted->answer = gate_client(f, &accepted->client, self->now_ns);
	action = accepted->answer.action;
	gate_count(
	    f, &accepted->answer, COUNTER_DENIED_CONNECTIONS, self->index);
	if (!gate_refuses(action) || action == GATE_TARPIT)
		return true;
	gate_end(accepted->fd, tcp, action);
	return false;
}

/* The connection has to wait for a session.  A client in a tarpit would keep
 * the others waiting. */
static void
keep(struct acceptor *a, const struct frontend_listen *listen)
{
	if (a->kept.answer.action == GATE_TARPIT) {
		drop_kept(a);
		return;
	}
	pin_kept(a, listen);
}

/* Judges the client first, so that one that is turned away takes no place.  If
 * there is no place for one that is admitted, the acceptor keeps it and pauses.
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
	if (!judged && !admit(listen, kept, self)) {
		kept->fd = -1;
		return ACCEPT_REFUSED;
	}
	s = take_place(a, listen, &index, &limit);
	if (!s) {
		keep(a, listen);
		return ACCEPT_STOPPED;
	}
	count_accept(a, listen->frontend, limit);
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

/* Returns whether connections may be left. */
static bool
accept_some(struct acceptor *a, const struct frontend_listen *listen,
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
	    frontend_name(a));
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
		/* The set would go on to watch a socket that another process
		 * has as well. */
		(void)handle_set_remove(a->handler.shard->set, a->fd);
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
	if (atomic_load_relaxed(&a->proxy->takes_over)) {
		pause_for_takeover(a);
		return TURN_DONE;
	}
	listen = atomic_load_acquire(&a->listen); /* [P14] */
	return accept_some(a, listen, self) ? TURN_MORE : TURN_DONE;
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
