/* SPDX-License-Identifier: MIT
 * See turns.h.
 */
#include "lf/turns.h"

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

/* The time that the turn took. */
static uint64_t
measure_turn(struct pool_thread *self, enum turn_kind kind)
{
	struct service_time *times = &self->service_time;
	uint64_t now_ns = clock_now_ns(), took_ns = now_ns - self->now_ns;

	service_time_add(times, kind, took_ns);
	histogram_add(&self->stats.service, took_ns);
	self->now_ns = now_ns;
	atomic_store_relaxed(
	    &self->stats.turn_ns[kind], times->average_ns[kind]);
	return took_ns;
}

/* The handler may be anybody's by now, and so may its slot: what is written is
 * advice, and seldom. */
static void
note_length(struct event_handler *handler, uint64_t took_ns)
{
	uint8_t turns = atomic_load_relaxed(&handler->long_turns);

	if (took_ns < POLICY_LONG_NS && turns > 0)
		atomic_store_relaxed(&handler->long_turns, (uint8_t)0);
	else if (took_ns >= POLICY_LONG_NS && turns < POLICY_LONG_TURNS)
		atomic_store_relaxed(
		    &handler->long_turns, (uint8_t)(turns + 1));
}

enum turn
turns_run(struct event_handler *handler, struct pool_thread *self)
{
	enum turn_kind kind =
	    handler->first_side == HANDLE_LISTENER ? TURN_ACCEPT : TURN_RELAY;
	enum turn turn;

	grace_enter(pool_grace(self->pool), &self->reader);
	fault_turn(handler->slot, kind == TURN_RELAY);
	turn = event_handler_run(handler, self);
	grace_leave(&self->reader);
	atomic_bump_own(&self->stats.turns, 1u);
	note_length(handler, measure_turn(self, kind));
	return turn;
}

/* Note: a retiring thread's mailbox.
 * The thread closes (a swap), then takes what is there; a thread that hands off
 * pushes, then looks whether it is closed, and if so takes what is there.  One
 * of the two takes it.  [P12] The handlers stay bound to the closed thread
 * until a thread is about to run them: turns_hand_off then binds them again. */
static void
give_back(struct pool_thread *to)
{
	struct event_handler *newest;
	struct event_handler *h =
	    event_handler_take_all(&to->member.mailbox, &newest);

	while (h) {
		struct event_handler *following = h->next;

		shard_submit(h);
		h = following;
	}
}

bool
turns_hand_off(struct event_handler *handler, struct pool_thread *self)
{
	struct pool_thread *to = handler->bound;

	if (atomic_load_relaxed(&to->closed)) {
		handler->bound = self;
		return false;
	}
	event_handler_push(&to->member.mailbox, handler); /* [P10] [P12] */
	atomic_bump_own(&self->stats.hand_offs, 1u);
	if (atomic_load_seq(&to->closed)) /* [P12] */
		give_back(to);
	return true;
}

void
turns_work_mailbox(struct pool_thread *self)
{
	struct event_handler *h, *newest;

	if (!atomic_load_relaxed(&self->member.mailbox))
		return;
	turns_set_role(self, ROLE_PROCESSING);
	h = event_handler_take_all(&self->member.mailbox, &newest); /* [P10] */
	while (h) {
		struct event_handler *following = h->next;

		if (turns_run(h, self) == TURN_MORE)
			shard_submit(h);
		h = following;
	}
}

void
turns_close_mailbox(struct pool_thread *self)
{
	(void)atomic_swap_seq(&self->closed, 1u); /* [P12] */
	give_back(self);
}
