/* SPDX-License-Identifier: MIT
 * See accept_limits.h.
 */
#include "proxy/accept_limits.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "model/rate_limit.h"
#include "proxy/acceptor_internal.h"
#include "proxy/keeper.h"
#include "proxy/newcomers.h"

/* Pauses the acceptor: connections wait in the kernel's backlog until
 * acceptors_resume, which runs when a session ends and in the keeper's rounds.
 */
static void
acceptor_pause(struct acceptor *a)
{
	struct acceptor *top = atomic_load_relaxed(&a->proxy->paused);

	if (!atomic_swap_acq_rel(&a->paused, 1u)) {
		do
			a->next_paused = top;
		while (!atomic_cas_seq(&a->proxy->paused, &top, a)); /* [P12] */
	}
}

/* Pauses until the keeper resumes the acceptor: because of a rate, or of an
 * error that no session's end may mend. */
static void
pause_for_keeper(struct acceptor *a)
{
	acceptor_pause(a);
	keeper_call(a->proxy->keeper, KEEPER_ACCEPTOR);
}

const char *
acceptor_frontend_name(const struct acceptor *a)
{
	return atomic_load_acquire(&a->listen)->frontend->spec->name;
}

/* Returns whether a client waits for a session: in the backlog, or kept.  A
 * client in a tarpit does not count, because it is not let in. */
static bool
client_waits(const struct acceptor *a)
{
	struct pollfd backlog = {.fd = a->fd, .events = POLLIN};

	if (a->kept.fd >= 0)
		return !gate_refuses(a->kept.answer.action);
	return poll(&backlog, 1, 0) > 0;
}

/* How long an acceptor waits for the place of a newcomer that it evicts before
 * it evicts another one. */
#define EVICTING_MS 500

/* Evicts a newcomer for the client that waits, if one does.  The acceptor has
 * paused.  While no newcomer can be evicted yet, the keeper resumes the
 * acceptor soon. */
static void
make_room(struct acceptor *a, const struct newcomers *from)
{
	uint64_t now_ms = clock_now_ms();
	enum eviction eviction = EVICTION_LATER;

	if (!client_waits(a))
		return;
	if (now_ms >= a->evicting_ms)
		eviction = newcomers_evict(from, now_ms);
	if (eviction == EVICTION_BEGUN)
		a->evicting_ms = now_ms + EVICTING_MS;
	if (eviction == EVICTION_LATER)
		keeper_call(a->proxy->keeper, KEEPER_ACCEPTOR);
}

/* Evicts a newcomer of any frontend. */
static void
make_room_of_all(struct acceptor *a)
{
	const struct frontend *f = atomic_load_acquire(&a->listen)->frontend;

	make_room(a, &(struct newcomers){.model = f->model});
}

void
acceptor_pause_for_error(struct acceptor *a, int error)
{
	static struct log_limit limit;
	char where[128];

	snprintf(where, sizeof(where), "frontend %s accepts nothing for now",
	    acceptor_frontend_name(a));
	if (!exhaustion_note(&a->proxy->exhaustion, error, where))
		log_limited(&limit, LOG_LEVEL_WARNING, "%s: %s", where,
		    strerror(error));
	pause_for_keeper(a);
	make_room_of_all(a);
}

/* Returns whether so many sessions are more than a limit allows.  used:
 * sessions in use, with the one that is being taken. */
static bool
are_too_many(const struct proxy *proxy, uint32_t used)
{
	used += atomic_load_seq(&proxy->expected); /* [P12] */
	return used > proxy_sessions_max(proxy);
}

/* Pauses because there is no free session: all are in use, or memory for
 * another one is short.  The end of a session resumes the acceptor, and so do a
 * change of the limit and the arrival of a session that was expected.  What
 * came before the acceptor was linked has not, so all are read again. */
static void
pause_for_sessions(struct acceptor *a)
{
	static struct log_limit limit;
	struct slab *sessions = &a->proxy->sessions;
	uint32_t most = proxy_sessions_max(a->proxy);

	if (slab_used(sessions) < most &&
	    slab_made(sessions) < sessions->options.max) {
		acceptor_pause_for_error(a, ENOMEM);
		return;
	}
	atomic_add_relaxed(&a->proxy->exhaustion.maxconn_reached, UINT64_C(1));
	log_limited(&limit, LOG_LEVEL_WARNING,
	    "frontend %s accepts nothing for now: all %u session%s %s in use; "
	    "connections wait in the backlog, raise maxconn or the limit of "
	    "descriptors if this comes often",
	    acceptor_frontend_name(a), most, text_s(most), text_are(most));
	acceptor_pause(a);
	if (are_too_many(a->proxy, slab_used(sessions) + 1)) /* [P12] */
		make_room_of_all(a);
	else
		acceptors_resume(a->proxy);
}

/* Pauses because of the frontend's maxconn.  The end of a session of the
 * frontend resumes the acceptor, and so does a change of maxconn.  A session
 * that ended before the acceptor was linked has not resumed it, so the limit is
 * read again. */
static void
pause_for_frontend(struct acceptor *a, const struct frontend *f)
{
	uint32_t limit;

	acceptor_pause(a);
	limit = atomic_load_seq(&f->state->maxconn);    /* [P12] */
	if (atomic_load_seq(&f->sessions->now) < limit) /* [P12] */
		acceptors_resume(a->proxy);
	else
		make_room(a, &(struct newcomers){.frontend = f});
}

/* Pauses because of the frontend's limit on handshakes.  The end of a handshake
 * resumes the acceptor. */
static void
pause_for_handshakes(struct acceptor *a, const struct frontend *f)
{
	acceptor_pause(a);
	if (atomic_load_seq(&f->state->handshakes.now) < /* [P12] */
	    f->spec->handshakes_max)
		acceptors_resume(a->proxy);
	else
		make_room(
		    a, &(struct newcomers){.frontend = f, .handshakes = true});
}

bool
acceptor_waits_for_takeover(
    const struct acceptor *a, const struct frontend *frontend)
{
	uint32_t what = atomic_load_seq(&a->proxy->takes_over); /* [P12] */

	return what == TAKEOVER_OF_SOCKETS ||
	       (what == TAKEOVER_OF_SESSIONS && frontend->spec->limits_n > 0);
}

/* acceptors_begin resumes the acceptor.  If it ran before the acceptor was
 * linked, this function does so. */
void
acceptor_pause_for_takeover(struct acceptor *a, const struct frontend *frontend)
{
	acceptor_pause(a);
	if (!acceptor_waits_for_takeover(a, frontend))
		acceptors_resume(a->proxy);
}

void
acceptors_wait(struct proxy *proxy)
{
	atomic_store_relaxed(&proxy->takes_over, (uint32_t)TAKEOVER_OF_SOCKETS);
}

void
acceptors_begin(struct proxy *proxy, enum takeover then)
{
	(void)atomic_swap_seq(&proxy->takes_over, (uint32_t)then); /* [P12] */
	acceptors_resume(proxy);
}

static uint32_t
frontend_rate(const struct frontend *f)
{
	return atomic_load_relaxed(&f->state->rate_limit);
}

/* Returns whether the rate allows a connection now; rate 0: no limit. */
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

/* Counts a handshake in advance.  Returns false if the frontend has as many as
 * it may. */
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

/* Returns whether the limits leave room for a connection.  If they do, counts a
 * handshake in advance if there will be one, and a session of the frontend if
 * the frontend has a maxconn; *ret_limit is that maxconn then, else
 * FRONTEND_NO_LIMIT.  If there is no room, the acceptor pauses. */
static bool
reserve(struct acceptor *a, const struct frontend_listen *listen,
    uint32_t *ret_limit)
{
	const struct frontend *f = listen->frontend;

	*ret_limit = atomic_load_relaxed(&f->state->maxconn);
	if (!proxy_is_due(&a->proxy->limits) || !frontend_is_due(f)) {
		pause_for_keeper(a);
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

void
acceptor_count(
    struct acceptor *a, const struct frontend *f, uint32_t limit, bool let_in)
{
	struct proxy_limits *limits = &a->proxy->limits;

	if (let_in) {
		rate_count(&limits->due_ns, proxy_limits_rate(limits));
		rate_count(&f->state->rate_due_ns, frontend_rate(f));
	}
	if (limit != FRONTEND_NO_LIMIT)
		gauge_note_peak(
		    f->sessions, atomic_load_relaxed(&f->sessions->now));
	else
		gauge_up(f->sessions);
}

/* Returns a free session, or NULL when the limit on all sessions is reached or
 * memory is short. */
static struct session *
take_free_session(struct acceptor *a, uint32_t *ret_index)
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

	if (!atomic_load_seq(&proxy->paused)) /* [P12] */
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

struct session *
acceptor_reserve_session(struct acceptor *a,
    const struct frontend_listen *listen, uint32_t *ret_index,
    uint32_t *ret_limit)
{
	struct session *s;

	if (!reserve(a, listen, ret_limit))
		return NULL;
	s = take_free_session(a, ret_index);
	if (s) {
		a->evicting_ms = 0;
		return s;
	}
	unreserve(listen, *ret_limit);
	pause_for_sessions(a);
	return NULL;
}

void
acceptor_unreserve_session(struct acceptor *a,
    const struct frontend_listen *listen, uint32_t index, uint32_t limit)
{
	slab_give(&a->proxy->sessions, index);
	unreserve(listen, limit);
}
