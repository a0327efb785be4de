/* SPDX-License-Identifier: MIT
 * See turns.h.
 */
#include "lf/turns.h"

#include <sys/resource.h>

#include "base/clock.h"
#include "base/fault.h"

void
turns_set_role(struct pool_thread *self, enum thread_role role)
{
	struct thread_stats *s = &self->stats;
	uint32_t was = atomic_load_relaxed(&s->role);

	if (was == role)
		return;
	atomic_bump_own(&s->role_ns[was],
	    self->now_ns - atomic_load_relaxed(&s->role_since_ns));
	atomic_store_relaxed(&s->role_since_ns, self->now_ns);
	atomic_store_relaxed(&s->role, (uint32_t)role);
}

/* Notes how long the turn took.  A declared long turn does not change the
 * average of its kind, by which threads that wait beside others decide how many
 * events to fetch. */
static uint64_t
measure_turn(struct pool_thread *self, enum turn_kind kind, bool declared)
{
	uint64_t now_ns = clock_now_ns(), took_ns = now_ns - self->now_ns;
	uint64_t *average = &self->stats.turn_ns[kind];
	uint64_t was = atomic_load_relaxed(average);

	if (!declared)
		atomic_store_relaxed(
		    average, was > 0 ? was - was / 16 + took_ns / 16 : took_ns);
	histogram_add(&self->stats.service, took_ns);
	self->now_ns = now_ns;
	return took_ns;
}

/* Returns whether the calling thread has lost its CPU to another thread since a
 * turn of its own last took long.  While threads compete for CPUs, most turns
 * that look long were interrupted. */
static bool
was_preempted(struct pool_thread *self)
{
	struct rusage usage;
	bool was;

	if (getrusage(RUSAGE_THREAD, &usage) < 0)
		return false;
	was = self->preemptions != (uint64_t)usage.ru_nivcsw;
	self->preemptions = (uint64_t)usage.ru_nivcsw;
	return was;
}

/* Another thread may own the handler by now, and the slot may be in use again:
 * the words written here are hints, and are written seldom. */
static void
note_length(struct event_handler *handler, struct shard *shard,
    uint64_t took_ns, struct pool_thread *self)
{
	uint8_t turns = atomic_load_relaxed(&handler->long_turns);

	if (took_ns >= POLICY_LONG_NS && !was_preempted(self))
		atomic_store_relaxed(&shard->long_ns, self->now_ns);
	if (took_ns < POLICY_LONG_NS && turns > 0)
		atomic_store_relaxed(&handler->long_turns, (uint8_t)0);
	else if (took_ns >= POLICY_LONG_NS && turns < POLICY_LONG_TURNS)
		atomic_store_relaxed(
		    &handler->long_turns, (uint8_t)(turns + 1));
}

/* For the decision when sessions move to another shard.  The handler as in
 * note_length. */
static void
note_load(struct event_handler *handler, unsigned shard, uint64_t took_ns,
    struct pool_thread *self)
{
	atomic_bump_own(&handler->busy, (uint32_t)(took_ns / HANDLER_BUSY_NS));
	atomic_bump_own(&self->shard_ns[shard], took_ns);
}

enum turn
turns_run(struct event_handler *handler, struct pool_thread *self)
{
	enum turn_kind kind =
	    handler->first_side == HANDLE_LISTENER ? TURN_ACCEPT : TURN_RELAY;
	struct shard *shard = handler->shard;
	bool declared = handler->next_turn != NEXT_SHORT;
	uint64_t took_ns;
	enum turn turn;

	grace_enter(pool_grace(self->pool), &self->reader);
	fault_turn(handler->slot, kind == TURN_RELAY, declared);
	turn = event_handler_run(handler, self);
	grace_leave(&self->reader);
	atomic_bump_own(&self->stats.turns, 1u);
	took_ns = measure_turn(self, kind, declared);
	/* Other threads are prepared for a declared one. */
	if (!declared)
		note_length(handler, shard, took_ns, self);
	note_load(handler, shard->id, took_ns, self);
	return turn;
}
