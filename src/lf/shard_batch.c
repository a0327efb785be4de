/* SPDX-License-Identifier: MIT
 * Batches: waiting for what is ready, and claiming it.  See shard_internal.h,
 * and for asleep and sleepers the note in shard.c.
 */
#include "lf/shard_internal.h"

#include <sched.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "lf/pool.h"

void
batch_init(struct batch *batch)
{
	memset(batch, 0, sizeof(*batch));
	batch->resumed_end = &batch->resumed;
}

/* The stack becomes the tail of the backlog, oldest first. */
static void
drain_mailbox(struct shard *shard, struct batch *b)
{
	struct event_handler *h, *newest;

	if (!atomic_load_relaxed(&shard->mailbox))
		return;
	h = event_handler_take_all(&shard->mailbox, &newest); /* [P2] */
	if (!h)
		return;
	*b->resumed_end = h;
	b->resumed_end = &newest->next;
	for (; h; h = h->next)
		atomic_store_relaxed(&b->resumed_n, b->resumed_n + 1);
}

/* How many events to fetch beside others. */
static int
shared_batch(const struct shard *shard, const struct pool_thread *self)
{
	uint64_t long_ns = atomic_load_relaxed(&shard->long_ns);
	uint64_t turn_ns =
	    atomic_load_relaxed(&self->stats.turn_ns[TURN_RELAY]);

	if (turn_ns >= POLICY_SHARED_NS ||
	    (long_ns > 0 && self->now_ns < long_ns + POLICY_LONG_SEEN_NS))
		return 1;
	if (turn_ns == 0)
		return POLICY_SHARED_FIRST;
	if (turn_ns * SHARD_BATCH <= POLICY_SHARED_NS)
		return SHARD_BATCH;
	return (int)(POLICY_SHARED_NS / turn_ns);
}

/* Learns from a yield that lasted yield_ns and was followed by n events. */
static void
judge_yield(struct batch *b, uint64_t yield_ns, int n)
{
	if (yield_ns >= POLICY_YIELD_LONG_NS) {
		if (b->yields_long < POLICY_YIELD_LONG_MAX)
			b->yields_long++;
		b->yields_to_omit =
		    b->yields_long > 1 ? 1u << b->yields_long : 0;
		return;
	}
	b->yields_long = 0;
	if (n > 0) {
		b->yields_missed = 0;
		return;
	}
	b->yields_to_omit = b->yields_missed;
	if (b->yields_missed < POLICY_YIELD_MISSES)
		b->yields_missed++;
}

/* Looks for events before the leader sleeps, and if there are none again after
 * threads that are ready have had its CPU: while threads compete for CPUs these
 * are often the ones that send the next events, and to find them saves the way
 * into sleep and back.  Returns as handle_set_wait. */
static int
look_before_sleep(
    struct shard *shard, struct batch *b, int max, struct pool_thread *self)
{
	int n = handle_set_wait(shard->set, b->events, max, 0);
	uint64_t from_ns;

	if (n != 0)
		return n;
	if (b->yields_to_omit > 0) {
		b->yields_to_omit--;
		return 0;
	}
	from_ns = clock_now_ns();
	sched_yield();
	n = handle_set_wait(shard->set, b->events, max, 0);
	self->now_ns = clock_now_ns();
	judge_yield(b, self->now_ns - from_ns, n);
	return n;
}

static int
wait_as_leader(struct shard *shard, struct batch *b, struct pool_thread *self)
{
	int timeout_ms = 0, max = SHARD_BATCH, n;

	if (atomic_load_relaxed(&shard->standbys) > 0)
		max = shared_batch(shard, self);
	if (!b->resumed && !atomic_load_relaxed(&shard->mailbox)) {
		n = look_before_sleep(shard, b, max, self);
		if (n != 0)
			return n;
		(void)atomic_swap_seq(&shard->asleep, 1u); /* [P2] */
		if (!atomic_load_seq(&shard->mailbox) &&   /* [P2] */
		    !atomic_load_seq(&shard->orders)) {
			timeout_ms = -1;
			shard_stop_alarm(shard, self->now_ns);
			b->slept = true;
		}
	}
	n = handle_set_wait(shard->set, b->events, max, timeout_ms);
	if (atomic_load_relaxed(&shard->asleep))
		atomic_store_relaxed(&shard->asleep, 0u);
	return n;
}

/* How long a thread that waits beside others may not notice that something is
 * wanted of it: an eventfd wakes any one of those who wait, and a particular
 * one cannot be chosen. */
#define BESIDE_LOOK_MS 50

/* A thread that stands by takes a token that has come free or was published
 * before it could be counted among the sleepers.  [P2] */
static bool
may_sleep_beside(const struct shard *shard)
{
	if (atomic_load_seq(&shard->mailbox)) /* [P2] */
		return false;
	return atomic_load_relaxed(&shard->policy) == POLICY_KERNEL ||
	       promotion_token(shard->promotion) == TOKEN_HELD;
}

static int
wait_beside(struct shard *shard, struct batch *b, struct pool_thread *self)
{
	bool counted = !b->resumed;
	int timeout_ms = 0, n;

	if (counted) {
		(void)atomic_add_seq(&shard->sleepers, 1u); /* [P2] */
		if (may_sleep_beside(shard))
			timeout_ms = BESIDE_LOOK_MS;
	}
	n = handle_set_wait(
	    shard->set, b->events, shared_batch(shard, self), timeout_ms);
	if (counted)
		atomic_sub_relaxed(&shard->sleepers, 1u);
	return n;
}

/* Records the n fetched events in the batch and in the thread's statistics. */
static void
batch_enter(struct batch *b, int n, struct pool_thread *self)
{
	b->next = 0;
	b->end = (unsigned)n;
	atomic_bump_own(&self->stats.waits, 1u);
	atomic_bump_own(&self->stats.fetched, (unsigned)n);
	atomic_store_relaxed(&b->left, (unsigned)n);
	b->looked = true;
}

/* A longer sleep counts as this one. */
#define SLEEP_MAX_NS (16 * NS_PER_MS)

/* From here on a sleep is a long one. */
#define SLEEP_LONG_NS NS_PER_MS

/* A wait that is shorter than this, and a little more for each of its events,
 * has found events at once.  Taking an event costs some 110 ns. */
#define FOUND_NS       10000u
#define FOUND_EVENT_NS 250u

/* The poll gap is the time from the end of one wait for the shard's events to
 * the start of the next, on whatever threads.  Counted if the next one found
 * events at once: they may have been ready since the gap began.  There is no
 * gap while another thread waits, or over a change of the policy or a time when
 * the shard was closed. */
static void
measure_poll_gap(
    struct shard *shard, int n, uint64_t from_ns, struct pool_thread *self)
{
	uint64_t looked_ns = atomic_load_relaxed(&shard->looked_ns);

	if (n > 0 && looked_ns > 0 && looked_ns < from_ns &&
	    self->now_ns - from_ns < FOUND_NS + (unsigned)n * FOUND_EVENT_NS &&
	    !atomic_load_relaxed(&shard->asleep) &&
	    atomic_load_relaxed(&shard->sleepers) == 0 &&
	    looked_ns >= atomic_load_relaxed(&shard->changed_ns))
		histogram_add(&self->stats.poll_gap, from_ns - looked_ns);
	if (looked_ns < self->now_ns)
		atomic_store_relaxed(&shard->looked_ns, self->now_ns);
}

/* Averages over about 8 sleeps.  While a server answers the leader sleeps
 * shortly, until the next request often longer. */
static void
measure_sleep(struct batch *b, uint64_t from_ns, uint64_t now_ns)
{
	uint64_t ns = now_ns - from_ns;
	uint64_t *average = &b->sleep_ns[b->slept_long];

	b->slept = false;
	b->woke_ns = now_ns;
	if (ns > SLEEP_MAX_NS)
		ns = SLEEP_MAX_NS;
	*average += ns / 8 - *average / 8;
	b->slept_long = ns >= SLEEP_LONG_NS;
}

static int
wait_for_events(struct shard *shard, struct batch *b, enum batch_wait how,
    struct pool_thread *self)
{
	switch (how) {
	case BATCH_LEADING:
		return wait_as_leader(shard, b, self);
	case BATCH_BESIDE:
		return wait_beside(shard, b, self);
	case BATCH_LOOKING:
		break;
	}
	return handle_set_wait(shard->set, b->events, SHARD_BATCH, 0);
}

void
batch_fetch(struct shard *shard, struct batch *b, enum batch_wait how,
    struct pool_thread *self)
{
	static struct log_limit limit;
	uint64_t from_ns = self->now_ns;
	int n = wait_for_events(shard, b, how, self);

	if (n < 0) {
		atomic_bump_own(&self->stats.wait_errors, 1u);
		log_limited(&limit, LOG_LEVEL_ERROR,
		    "waiting for events failed: %s", strerror(-n));
		n = 0;
	}
	self->now_ns = clock_now_ns();
	if (b->slept)
		measure_sleep(b, from_ns, self->now_ns);
	batch_enter(b, n, self);
	measure_poll_gap(shard, n, from_ns, self);
	drain_mailbox(shard, b);
}

/* Claims the handler of the next event that is not stale.  Returns NULL when
 * the batch is used up. */
static struct event_handler *
claim_next(struct batch *b, struct pool_thread *self)
{
	while (b->next < b->end) {
		struct handle_event *e = &b->events[b->next++];
		struct event_handler *h =
		    event_handler_at(handle_slot(e->handle));

		atomic_store_relaxed(&b->left, b->end - b->next);
		switch (claim_post(&h->claim, handle_generation(e->handle),
		    handle_pending(e->handle, e->ready))) {
		case CLAIM_STALE:
			atomic_bump_own(&self->stats.stale, 1u);
			break;
		case CLAIM_LEFT:
			atomic_bump_own(&self->stats.merged, 1u);
			break;
		case CLAIM_TAKEN:
			atomic_bump_own(&self->stats.dispatched, 1u);
			return h;
		}
	}
	return NULL;
}

/* A handler that was brought by the mailbox.  The turns of these may be long,
 * and new events must not wait for all: POLICY_RESUMED_NS after the first one,
 * a look at the kernel comes before the next one. */
static struct event_handler *
resume_next(struct batch *b, struct pool_thread *self)
{
	struct event_handler *h = b->resumed;

	if (!h)
		return NULL;
	if (b->looked)
		b->resume_until_ns = self->now_ns + POLICY_RESUMED_NS;
	else if (self->now_ns >= b->resume_until_ns)
		return NULL;
	b->looked = false;
	atomic_store_relaxed(&b->resumed_n, b->resumed_n - 1);
	b->resumed = h->next;
	if (!b->resumed)
		b->resumed_end = &b->resumed;
	atomic_bump_own(&self->stats.resumed, 1u);
	return h;
}

struct event_handler *
batch_next(struct batch *b, struct pool_thread *self)
{
	struct event_handler *h = claim_next(b, self);

	return h ? h : resume_next(b, self);
}
