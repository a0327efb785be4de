/* SPDX-License-Identifier: MIT
 * See proxy.h.
 */
#include "proxy/proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "proxy/inspect.h"
#include "proxy/relay.h"
#include "proxy/session.h"

/* A session that was told is looked at again after this time. */
#define REAP_AGAIN_MS 40

static size_t
deadlines_size(uint32_t sessions)
{
	/* The slab makes whole chunks. */
	return ((size_t)sessions + SLAB_CHUNK) * sizeof(uint64_t);
}

int
proxy_init(struct proxy *proxy, uint32_t sessions)
{
	struct slab_options options = {
	    .size = sizeof(struct session),
	    .max = sessions,
	    .construct = session_construct,
	};
	struct slab_options inspections = {
	    .size = sizeof(struct inspection),
	    .max = sessions,
	    .construct = inspect_construct,
	};
	int rc;

	*proxy = (struct proxy){
	    .next_reap_ms = UINT64_MAX, .reap_max_ms = REAP_MAX_MS};
	splice_pool_init(&proxy->pipes, 0);
	/* Pages that no session has used stay the kernel's zero page. */
	proxy->deadlines = mmap(NULL, deadlines_size(sessions),
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (proxy->deadlines == MAP_FAILED) {
		proxy->deadlines = NULL;
		return -ENOMEM;
	}
	rc = slab_init(&proxy->sessions, &options);
	if (rc == 0)
		rc = slab_init(&proxy->inspections, &inspections);
	if (rc < 0)
		return rc;
	/* One for each side, however many the trim is looking at. */
	return pending_pool_init(
	    &proxy->pending_pool, 2 * sessions + PENDING_TRIM_MAX);
}

void
proxy_allow_pipes(struct proxy *proxy, uint32_t pipes)
{
	splice_pool_fini(&proxy->pipes);
	splice_pool_init(&proxy->pipes, pipes);
}

void
proxy_keep_closed(struct proxy *proxy, uint32_t sessions)
{
	closed_rings_init(&proxy->closed, sessions);
}

void
proxy_fini(struct proxy *proxy)
{
	closed_rings_fini(&proxy->closed);
	splice_pool_fini(&proxy->pipes);
	pending_pool_fini(&proxy->pending_pool);
	if (proxy->deadlines)
		munmap(proxy->deadlines,
		    deadlines_size(proxy->sessions.options.max));
	slab_fini(&proxy->inspections);
	slab_fini(&proxy->sessions);
}

void
proxy_memory(const struct proxy *proxy, struct proxy_memory *ret_memory)
{
	struct proxy_memory *m = ret_memory;
	uint32_t made = slab_made(&proxy->sessions);
	uint64_t used = atomic_load_relaxed(&proxy->pending_pool.used);

	m->sessions = slab_memory(&proxy->sessions);
	m->inspections = slab_memory(&proxy->inspections);
	m->deadlines = (struct memory_use){
	    .count = made, .mapped = made * sizeof(uint64_t)};
	/* Touched no further than they were filled; at most. */
	m->pending_pool = slab_memory(&proxy->pending_pool.slab);
	m->pending_pool.mapped = used * proxy->pending_pool.slab.options.size;
	m->closed = closed_rings_memory(&proxy->closed);
}

bool
proxy_thread_init(struct pool_thread *self, void *proxy)
{
	struct proxy_thread *t =
	    aligned_alloc(4096, (sizeof(*t) + 4095) / 4096 * 4096);

	if (!t)
		return false;
	t->proxy = proxy;
	t->closed = closed_ring_take(&t->proxy->closed);
	if (!t->closed) {
		free(t);
		return false;
	}
	self->local = t;
	return true;
}

void
proxy_thread_fini(struct pool_thread *self)
{
	closed_ring_give(proxy_thread_of(self)->closed);
	free(self->local);
	self->local = NULL;
}

/* Leaves the note if the session has a deadline, due by then.
 *
 * A free slot must not get one: nobody owns it, so the post would.  Free slots
 * have no deadline, and the generation is read first: a session that ends in
 * between clears its deadline, then changes its generation, and the post is
 * refused.  The slot may have a new session by the time the note arrives; that
 * one looks at its own deadline and finds that it is not meant.  [P13] */
static void
note_session(
    struct proxy *proxy, uint32_t index, uint64_t due_ms, uint32_t note)
{
	struct session *s = slab_at(&proxy->sessions, index);
	uint32_t generation = claim_generation_acquire(&s->handler.claim);
	uint64_t deadline = atomic_load_acquire(&proxy->deadlines[index]);

	if (deadline != 0 && deadline <= due_ms)
		(void)shard_note(&s->handler, generation, note);
}

/* Note: deadlines and the reaper.
 * An owner writes its deadline, then looks when the reaper comes next; the
 * reaper writes that it may come at any time, then looks at the deadlines, and
 * at last writes when it comes next.  The two first steps are
 * read-modify-writes in one total order, so a deadline that the reaper has not
 * seen has an owner who calls it.  [P17] */
void
proxy_set_deadline(struct proxy *proxy, uint32_t session, uint64_t deadline_ms)
{
	(void)atomic_swap_seq(
	    &proxy->deadlines[session], deadline_ms); /* [P13] [P17] */
	if (deadline_ms == 0 || !proxy->call_reaper ||
	    deadline_ms >= atomic_load_seq(&proxy->next_reap_ms)) /* [P17] */
		return;
	atomic_store_relaxed(&proxy->called, 1u);
	proxy->call_reaper(proxy->call_reaper_arg);
}

/* From one look to the next, at most.  Each new session calls the reaper whose
 * deadline is before the next look: where there are such deadlines the looks
 * are more frequent, so that few sessions have to. */
static uint64_t
pause_at_most(struct proxy *proxy)
{
	uint64_t *max_ms = &proxy->reap_max_ms;

	if (atomic_load_relaxed(&proxy->called))
		*max_ms = REAP_MIN_MS;
	else
		*max_ms = *max_ms * 2 < REAP_MAX_MS ? *max_ms * 2 : REAP_MAX_MS;
	atomic_store_relaxed(&proxy->called, 0u);
	return *max_ms;
}

/* A little later, so that those about to come are met by the same look: an
 * eighth of the time that is left, 25 ms at most. */
static uint64_t
when_to_look(uint64_t nearest_ms, uint64_t now_ms)
{
	uint64_t slack_ms = (nearest_ms - now_ms) / 8;

	return nearest_ms + (slack_ms < 25 ? slack_ms : 25);
}

uint64_t
proxy_reap(struct proxy *proxy, uint64_t now_ms)
{
	uint64_t nearest_ms = now_ms + pause_at_most(proxy);
	uint32_t made = slab_made(&proxy->sessions);

	/* During the look: any deadline that is set may have been missed. */
	(void)atomic_swap_seq(&proxy->next_reap_ms, UINT64_MAX); /* [P17] */
	for (uint32_t i = 0; i < made; i++) {
		uint64_t deadline = atomic_load_relaxed(&proxy->deadlines[i]);

		if (deadline == 0)
			continue;
		/* Most are not due: their sessions are not looked at. */
		if (deadline <= now_ms) {
			note_session(proxy, i, now_ms, NOTE_TIMEOUT);
			/* In case that it began its turn before. */
			deadline = now_ms + REAP_AGAIN_MS;
		}
		if (deadline < nearest_ms)
			nearest_ms = deadline;
	}
	nearest_ms = when_to_look(nearest_ms, now_ms);
	(void)atomic_swap_seq(&proxy->next_reap_ms, nearest_ms); /* [P17] */
	return nearest_ms;
}

void
proxy_trim(struct proxy *proxy)
{
	pending_trim(&proxy->pending_pool);
	splice_pool_trim(&proxy->pipes);
}

static void
note_all(struct proxy *proxy, uint32_t note)
{
	uint32_t made = slab_made(&proxy->sessions);

	for (uint32_t i = 0; i < made; i++)
		if (atomic_load_relaxed(&proxy->deadlines[i]) != 0)
			note_session(proxy, i, UINT64_MAX, note);
}

void
proxy_kill_all(struct proxy *proxy)
{
	note_all(proxy, NOTE_KILL);
}

void
proxy_expire(struct proxy *proxy)
{
	note_all(proxy, NOTE_EXPIRE);
}

void
proxy_end_idle(struct proxy *proxy, uint64_t idle_ms, uint64_t busy_ms)
{
	atomic_store_relaxed(&proxy->idle_busy_ms, busy_ms);
	(void)atomic_swap_seq(&proxy->idle_ms, idle_ms); /* [P27] */
	/* A deadline that is set after this look takes idle_ms into account. */
	note_all(proxy, NOTE_EXPIRE); /* [P27] */
}

void
proxy_move_all(struct proxy *proxy, struct pool *pool)
{
	uint32_t made = slab_made(&proxy->sessions);

	for (uint32_t i = 0; i < made; i++) {
		const struct session *s = slab_at(&proxy->sessions, i);
		const struct shard *at;

		/* One that begins now finds the right place by itself.  The
		 * deadline first: that of a free slot may name a shard of a
		 * pool that is gone.  [P13] */
		if (atomic_load_acquire(&proxy->deadlines[i]) == 0)
			continue;
		at = atomic_load_relaxed(&s->handler.shard);
		if (at->pool == pool)
			note_session(proxy, i, UINT64_MAX, NOTE_MOVE);
	}
}
