/* SPDX-License-Identifier: MIT
 * See reaper.h.
 */
#include "proxy/reaper.h"

#include <stdlib.h>

#include "proxy/keeper.h"
#include "proxy/session.h"

/* A session that got a note is looked at again after this time. */
#define REAP_AGAIN_MS 40

/* Posts the note if the session has a deadline that is not after due_ms.
 *
 * A free slot must not get a note: no thread owns the slot, so the post would
 * take it.  Free slots have no deadline, and the generation is read first: a
 * session that ends in between clears its deadline, then changes its
 * generation, and the post is refused.  The slot may have a new session by the
 * time the note arrives.  The new session looks at its own deadline and finds
 * that the note is not meant for it.  [P13] */
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
 *
 * An owner writes its deadline, then reads when the reaper comes next.  The
 * reaper writes that it may come at any time, then reads the deadlines, and at
 * last writes when it comes next.  The first step of each is a
 * read-modify-write, and with the second they are in one total order, so the
 * owner of a deadline that the reaper has not seen calls the reaper.  [P17] */
void
proxy_set_deadline(struct proxy *proxy, uint32_t index, uint64_t deadline_ms)
{
	(void)atomic_swap_seq(
	    &proxy->deadlines[index], deadline_ms); /* [P13] [P17] */
	if (deadline_ms == 0 ||
	    deadline_ms >= atomic_load_seq(&proxy->next_reap_ms)) /* [P17] */
		return;
	atomic_store_relaxed(&proxy->called, 1u);
	keeper_call(proxy->keeper, KEEPER_DEADLINE);
}

/* Returns the longest time from one look to the next.  A new session calls the
 * reaper if its deadline is before the next look.  Where there are such
 * sessions, looks are more frequent, so that few sessions have to call. */
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

/* Returns when to look again: a little after the nearest deadline, so that the
 * same look finds those that follow it closely.  The delay is an eighth of the
 * time that is left, 25 ms at most. */
static uint64_t
when_to_look(uint64_t nearest_ms, uint64_t now_ms)
{
	uint64_t slack_ms = (nearest_ms - now_ms) / 8;

	return nearest_ms + (slack_ms < 25 ? slack_ms : 25);
}

uint64_t
proxy_reap(struct proxy *proxy, uint64_t now_ms)
{
	uint64_t pause_ms = pause_at_most(proxy);
	uint64_t nearest_ms = now_ms + pause_ms;
	uint32_t made = slab_made(&proxy->sessions);
	bool any = false;

	/* Until the end of this look, owners call the reaper for any deadline,
	 * because the look may have missed it. */
	(void)atomic_swap_seq(&proxy->next_reap_ms, UINT64_MAX); /* [P17] */
	for (uint32_t i = 0; i < made; i++) {
		uint64_t deadline =
		    atomic_load_seq(&proxy->deadlines[i]); /* [P17] */

		if (deadline == 0)
			continue;
		any = true;
		/* Most deadlines are not due: skip their sessions. */
		if (deadline <= now_ms) {
			note_session(proxy, i, now_ms, NOTE_TIMEOUT);
			/* The session may have begun its turn before the note.
			 */
			deadline = now_ms + REAP_AGAIN_MS;
		}
		if (deadline < nearest_ms)
			nearest_ms = deadline;
	}
	nearest_ms = any || pause_ms < REAP_MAX_MS
	                 ? when_to_look(nearest_ms, now_ms)
	                 : UINT64_MAX;
	(void)atomic_swap_seq(&proxy->next_reap_ms, nearest_ms); /* [P17] */
	return nearest_ms;
}

void
proxy_note_all(struct proxy *proxy, uint32_t note)
{
	uint32_t made = slab_made(&proxy->sessions);

	for (uint32_t i = 0; i < made; i++)
		if (atomic_load_seq(&proxy->deadlines[i]) != 0) /* [P27] */
			note_session(proxy, i, UINT64_MAX, note);
}

/* The most slots that one call looks at. */
#define NOTE_SOME_SLOTS 4096u

/* Returns the end of the slots that a call looks at, from that slot on. */
static uint32_t
end_of_some(const struct proxy *proxy, uint32_t from)
{
	uint32_t made = slab_made(&proxy->sessions);

	return made - from > NOTE_SOME_SLOTS ? from + NOTE_SOME_SLOTS : made;
}

uint32_t
proxy_note_some(struct proxy *proxy, uint32_t from, uint32_t *n, uint32_t note)
{
	uint32_t end = end_of_some(proxy, from);

	for (; from<end && * n> 0; from++) {
		if (atomic_load_relaxed(&proxy->deadlines[from]) == 0)
			continue;
		note_session(proxy, from, UINT64_MAX, note);
		--*n;
	}
	return from;
}

void
proxy_note_one(struct proxy *proxy, uint32_t index, uint32_t note)
{
	note_session(proxy, index, UINT64_MAX, note);
}

struct queued {
	uint64_t accepted_ms;
	uint32_t index;
};

static int
by_time(const void *a, const void *b)
{
	const struct queued *x = a, *y = b;

	return (x->accepted_ms > y->accepted_ms) -
	       (x->accepted_ms < y->accepted_ms);
}

uint32_t *
proxy_list_queued(struct proxy *proxy, size_t *ret_n)
{
	uint32_t made = slab_made(&proxy->sessions);
	struct queued *all = calloc(made + 1u, sizeof(*all));
	uint32_t *slots = calloc(made + 1u, sizeof(*slots));
	size_t n = 0;

	for (uint32_t i = 0; all && slots && i < made; i++) {
		const struct session *s = slab_at(&proxy->sessions, i);

		if (atomic_load_relaxed(&proxy->deadlines[i]) != 0 &&
		    atomic_load_relaxed(&s->state) == SESSION_QUEUED)
			all[n++] = (struct queued){
			    atomic_load_relaxed(&s->accepted_ms), i};
	}
	if (n > 0)
		qsort(all, n, sizeof(*all), by_time);
	for (size_t i = 0; i < n; i++)
		slots[i] = all[i].index;
	free(all);
	*ret_n = n;
	return slots;
}

void
proxy_end_idle(struct proxy *proxy, uint64_t idle_ms, uint64_t busy_ms)
{
	atomic_store_relaxed(&proxy->idle_busy_ms, busy_ms);
	(void)atomic_swap_seq(&proxy->idle_ms, idle_ms); /* [P27] */
	/* A deadline that is set after this look takes idle_ms into account. */
	proxy_note_all(proxy, NOTE_EXPIRE); /* [P27] */
}

/* Returns whether the session is at another shard of the pool than the one
 * where its slot belongs. */
static bool
has_to_move(struct proxy *proxy, struct pool *pool, uint32_t index)
{
	const struct session *s = slab_at(&proxy->sessions, index);
	const struct shard *at;

	/* A session that begins now finds the right shard by itself.  Read the
	 * deadline first: the shard of a free slot may belong to a pool that
	 * was freed.  [P13] */
	if (atomic_load_acquire(&proxy->deadlines[index]) == 0)
		return false;
	at = atomic_load_relaxed(&s->handler.shard);
	return at->pool == pool && at != pool_home_of(pool, s->handler.slot);
}

uint32_t
proxy_move_some(
    struct proxy *proxy, struct pool *pool, uint32_t from, uint32_t *n)
{
	uint32_t end = end_of_some(proxy, from);

	for (; from<end && * n> 0; from++) {
		if (!has_to_move(proxy, pool, from))
			continue;
		note_session(proxy, from, UINT64_MAX, NOTE_MOVE);
		--*n;
	}
	return from;
}
