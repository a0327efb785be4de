/* SPDX-License-Identifier: MIT
 * A shard's leaders: what becomes of the events of a batch.
 */
#include "lf/shard.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "lf/alloc_count.h"
#include "lf/pool_rig.h"
#include "unit.h"

static void
every_event_reaches_its_handler(void **state)
{
	uint32_t random = 42, fed[32] = {0};
	struct handle_event batch[SHARD_BATCH];
	struct rig rig;

	rig_start(&rig, *state);
	for (int i = 0; i < 32; i++)
		rig_fake(&rig, NULL);
	for (int b = 0; b < 300; b++) {
		unsigned n = unit_random(&random) % SHARD_BATCH + 1;

		for (unsigned i = 0; i < n; i++) {
			uint32_t which = unit_random(&random) % 32;
			uint32_t ready = 1u << unit_random(&random) % 5;
			enum handle_side side = unit_random(&random) & 1
			                            ? HANDLE_CLIENT
			                            : HANDLE_SERVER;

			batch[i] = rig_event(rig.fakes[which], side, ready);
			fed[which] |= handle_pending(batch[i].handle, ready);
		}
		scripted_feed(rig_script(&rig), batch, n);
	}
	rig_finish(&rig);
	assert_int_equal(rig.status.sum.stale, 0);
	assert_true(rig.status.sum.dispatched > 0);
	assert_true(rig.status.sum.turns >= rig.status.sum.dispatched);
	for (int i = 0; i < 32; i++) {
		assert_int_equal(rig.fakes[i]->seen, rig.fakes[i]->want);
		assert_int_equal(rig.fakes[i]->bits, fed[i]);
	}
}

static void
a_batch_larger_than_the_shards_is_fetched_in_parts(void **state)
{
	struct handle_event events[3 * SHARD_BATCH];
	struct rig rig;

	rig_start(&rig, *state);
	rig_fake(&rig, NULL);
	for (size_t i = 0; i < UNIT_N(events); i++)
		events[i] =
		    rig_event(rig.fakes[0], HANDLE_CLIENT, HANDLE_READABLE);
	scripted_feed(rig_script(&rig), events, UNIT_N(events));
	rig_finish(&rig);
	assert_int_equal(rig.status.sum.fetched, UNIT_N(events));
	assert_int_equal(rig.fakes[0]->seen, UNIT_N(events));
}

static void
events_of_another_generation_are_not_dispatched(void **state)
{
	struct handle_event events[4];
	struct rig rig;

	rig_start(&rig, *state);
	for (int i = 0; i < 2; i++)
		rig_fake(&rig, NULL);
	for (int i = 0; i < 4; i++) {
		struct event_handler *h = &rig.fakes[i % 2]->handler;

		events[i] = (struct handle_event){
		    .handle =
		        handle_make(i < 2 ? 0 : 2, h->slot, HANDLE_SERVER),
		    .ready = HANDLE_ALL};
	}
	scripted_feed(rig_script(&rig), events, 4);
	rig_finish(&rig);
	assert_int_equal(rig.status.sum.stale, 4);
	assert_int_equal(rig.status.sum.dispatched, 0);
	assert_int_equal(rig.status.sum.turns, 0);
	assert_int_equal(rig.fakes[0]->turns + rig.fakes[1]->turns, 0);
}

static enum turn
retire_at_once(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	(void)pending;
	(void)self;
	return fake_retire(fake);
}

static void
a_handler_that_ended_gets_nothing_more(void **state)
{
	struct handle_event events[8];
	struct rig rig;

	rig_start(&rig, *state);
	rig_fake(&rig, retire_at_once);
	for (size_t i = 0; i < UNIT_N(events); i++)
		events[i] =
		    rig_event(rig.fakes[0], HANDLE_CLIENT, HANDLE_READABLE);
	scripted_feed(rig_script(&rig), events, UNIT_N(events));
	/* And those that were under way to the next batch. */
	scripted_feed(rig_script(&rig), events, UNIT_N(events));
	rig_finish(&rig);
	assert_int_equal(rig.fakes[0]->turns, 1);
	assert_int_equal(rig.status.sum.dispatched, 1);
	assert_int_equal(rig.status.sum.stale + rig.status.sum.merged, 15);
	assert_int_equal(claim_generation(&rig.fakes[0]->handler.claim), 2);
	if (rig.setup.threads == 1)
		assert_int_equal(rig.status.sum.merged, 0);
}

/* Wants to go on until its neighbour has had the event it fed itself. */
static enum turn
go_on_until_the_neighbour_ran(
    struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	struct fake *neighbour = fake->rig->fakes[1];
	struct handle_event e;

	(void)pending;
	(void)self;
	if (fake->turns == 1) {
		fake->left = 2000000;
		e = rig_event(neighbour, HANDLE_CLIENT, HANDLE_READABLE);
		/* Feeding takes memory; that is the test's, not the pool's. */
		alloc_count_thread(false);
		scripted_feed(rig_script(fake->rig), &e, 1);
		alloc_count_thread(true);
	}
	if (atomic_load_acquire(&neighbour->seen) == 1)
		return TURN_DONE;
	if (--fake->left > 0)
		return TURN_MORE;
	atomic_add_relaxed(&fake->rig->late, 1u);
	return TURN_DONE;
}

static void
a_handler_with_more_to_do_does_not_starve_new_events(void **state)
{
	struct rig rig;

	rig_start(&rig, *state);
	rig_fake(&rig, go_on_until_the_neighbour_ran);
	rig_fake(&rig, NULL);
	rig_feed_each(&rig, 0, 1);
	rig_finish(&rig);
	assert_int_equal(rig.late, 0);
	assert_int_equal(rig.fakes[1]->turns, 1);
	if (rig.setup.threads == 1)
		assert_true(rig.status.sum.resumed > 0);
}

static char order[64];

static enum turn
three_turns_each(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	size_t len = strlen(order);

	(void)pending;
	(void)self;
	order[len] = (char)('a' + fake->number);
	order[len + 1] = '\0';
	return fake->turns % 3 != 0 ? TURN_MORE : TURN_DONE;
}

static void
handlers_with_more_to_do_go_on_in_turn(void **state)
{
	struct rig rig;

	order[0] = '\0';
	rig_start(&rig, *state);
	for (int i = 0; i < 4; i++)
		rig_fake(&rig, three_turns_each);
	rig_feed_each(&rig, 0, 4);
	rig_finish(&rig);
	assert_string_equal(order, "abcdabcdabcd");
	assert_int_equal(rig.status.sum.resumed, 8);
	assert_int_equal(rig.status.sum.turns, 12);
}

/* The first one leaves a note with each of the others. */
static void
note_the_others(const struct fake *fake)
{
	for (unsigned i = 1; fake->number == 0 && i < fake->rig->fakes_n; i++) {
		atomic_add_relaxed(&fake->rig->fakes[i]->want, 1u);
		(void)fake_note(fake->rig->fakes[i], NOTE_TIMEOUT);
	}
}

static enum turn
short_turns(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	(void)pending;
	(void)self;
	note_the_others(fake);
	return TURN_DONE;
}

static enum turn
turns_as_long_as_the_share(
    struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	uint64_t until_ns = clock_now_ns() + POLICY_RESUMED_NS;

	(void)pending;
	(void)self;
	note_the_others(fake);
	while (clock_now_ns() < until_ns)
		;
	return TURN_DONE;
}

#define NOTED 16u

/* Returns how often the thread looked for events while it ran the turns of
 * NOTED handlers that a note has brought. */
static uint64_t
looks_for_noted(const struct rig_setup *setup, fake_turn turn)
{
	uint64_t before;
	struct rig rig;

	rig_start(&rig, setup);
	for (unsigned i = 0; i < 1 + NOTED; i++)
		rig_fake(&rig, turn);
	assert_true(rig_quiet(&rig));
	before = rig.status.sum.waits;
	rig_feed_each(&rig, 0, 1);
	rig_finish(&rig);
	assert_int_equal(rig.status.sum.resumed, NOTED);
	return rig.status.sum.waits - before;
}

static void
noted_handlers_with_long_turns_have_a_look_between_them(void **state)
{
	assert_true(
	    looks_for_noted(*state, turns_as_long_as_the_share) >= NOTED);
}

/* A thread that loses its CPU looks sooner. */
static void
noted_handlers_with_short_turns_share_a_look(void **state)
{
	for (int i = 0; i < 1000; i++)
		if (looks_for_noted(*state, short_turns) < NOTED / 2)
			return;
	fail_msg("a look for each turn");
}

/* The first one to run waits for ten others to have run. */
static enum turn
the_first_waits_for_the_others(
    struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	struct rig *rig = fake->rig;

	(void)pending;
	(void)self;
	if (unit_ticket(&rig->ticket) == 0 &&
	    !unit_wait(atomic_load_relaxed(&rig->ticket) > 10))
		atomic_add_relaxed(&rig->late, 1u);
	return TURN_DONE;
}

static void
the_rest_of_a_large_batch_goes_to_a_follower(void **state)
{
	struct rig rig;

	rig_start(&rig, *state);
	for (int i = 0; i < 60; i++)
		rig_fake(&rig, the_first_waits_for_the_others);
	rig_feed_each(&rig, 0, 60);
	rig_finish(&rig);
	assert_int_equal(rig.late, 0);
	assert_int_equal(rig.status.sum.dispatched, 60);
	/* With adaptive the other thread may have stood by. */
	if (rig.setup.policy == POLICY_ALWAYS)
		assert_true(rig.status.sum.wakes >= 1);
}

static enum turn
looks_at_its_thread(
    struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	(void)pending;
	if (atomic_load_relaxed(&self->stats.role) != ROLE_PROCESSING)
		atomic_add_relaxed(&fake->rig->late, 1u);
	return TURN_DONE;
}

static void
a_thread_in_a_turn_is_processing(void **state)
{
	struct rig rig;

	rig_start(&rig, *state);
	rig_fake(&rig, looks_at_its_thread);
	for (int i = 0; i < 50; i++) {
		rig_feed_each(&rig, 0, 1);
		assert_true(rig_quiet(&rig));
	}
	rig_finish(&rig);
	assert_int_equal(rig.status.sum.turns, 50);
	assert_int_equal(rig.late, 0);
}

static void
single_events_are_promoted_for_by_always_only(void **state)
{
	struct rig rig;

	rig_start(&rig, *state);
	rig_fake(&rig, NULL);
	for (int i = 0; i < 50; i++) {
		rig_feed_each(&rig, 0, 1);
		assert_true(rig_quiet(&rig));
	}
	rig_finish(&rig);
	assert_int_equal(rig.status.sum.dispatched, 50);
	assert_int_equal(rig.status.sum.turns, 50);
	if (rig.setup.policy == POLICY_ALWAYS) {
		assert_int_equal(rig.status.sum.promotions, 50);
		assert_int_equal(rig.status.sum.inline_turns, 0);
		assert_true(rig.setup.threads == 1 ? rig.status.sum.wakes == 0
		                                   : rig.status.sum.wakes > 0);
	} else {
		assert_int_equal(rig.status.sum.promotions, 0);
		assert_int_equal(rig.status.sum.wakes, 0);
	}
}

static uint64_t
count_wait_errors(struct rig *rig)
{
	struct pool_status s;

	pool_status(rig->pool, &s);
	return s.sum.wait_errors;
}

/* By the clock that turns are measured with. */
static enum turn
take_long(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	uint64_t end_ns = clock_now_ns() + 2 * POLICY_LONG_NS;

	(void)pending;
	(void)self;
	while (atomic_load_relaxed(&fake->rig->late) && clock_now_ns() < end_ns)
		sched_yield();
	return TURN_DONE;
}

/* The pool's counters for one event. */
static struct thread_stats
stats_of_one(struct rig *rig)
{
	struct pool_status before, after;

	pool_status(rig->pool, &before);
	rig_feed_each(rig, 0, 1);
	assert_true(rig_quiet(rig));
	pool_status(rig->pool, &after);
	return (struct thread_stats){
	    .promotions = after.sum.promotions - before.sum.promotions,
	    .inline_turns = after.sum.inline_turns - before.sum.inline_turns,
	};
}

/* Two long turns may be chance; a leader promotes before it runs the third,
 * until there was a short one.  (A thread that stands by need not.) */
static void
a_leader_promotes_before_turns_that_have_been_long(void **state)
{
	struct rig rig;

	rig_start(&rig, *state);
	if (rig.setup.policy == POLICY_ADAPTIVE) {
		rig_fake(&rig, take_long);
		atomic_store_relaxed(&rig.late, 1u);
		for (int i = 0; i < POLICY_LONG_TURNS; i++)
			assert_int_equal(stats_of_one(&rig).promotions, 0);
		for (int i = 0; i < 3; i++)
			assert_int_equal(stats_of_one(&rig).inline_turns, 0);
		atomic_store_relaxed(&rig.late, 0u);
		assert_true(unit_wait(stats_of_one(&rig).inline_turns == 1));
	}
	rig_finish(&rig);
}

/* Turns by class, and the class of the last one. */
static uint32_t turns_of_class[2], last_class;

static enum turn
count_class(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	(void)fake;
	(void)pending;
	atomic_add_relaxed(&turns_of_class[self->member.grade], 1u);
	atomic_store_relaxed(&last_class, (uint32_t)self->member.grade);
	return TURN_DONE;
}

static enum turn
wait_for_ticket(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	(void)pending;
	(void)self;
	while (!atomic_load_acquire(&fake->rig->ticket))
		sched_yield();
	return TURN_DONE;
}

static uint32_t
count_class_turns(struct rig *rig)
{
	rig_control(rig);
	return atomic_load_relaxed(&turns_of_class[0]) +
	       atomic_load_relaxed(&turns_of_class[1]);
}

static void
feed_one(struct rig *rig)
{
	rig_feed_each(rig, 0, 1);
	assert_true(rig_quiet(rig));
}

/* While each thread of the best class is in a long turn the guard lets another
 * class lead. */
static void
let_the_second_class_lead(struct rig *rig)
{
	do {
		uint32_t before = count_class_turns(rig);

		atomic_store_release(&rig->ticket, 0u);
		for (unsigned i = 1; i <= (rig->setup.threads + 1) / 2; i++)
			rig_feed_each(rig, i, 1);
		rig_feed_each(rig, 0, 1);
		assert_true(unit_wait(count_class_turns(rig) > before));
		atomic_store_release(&rig->ticket, 1u);
		assert_true(rig_quiet(rig));
	} while (atomic_load_relaxed(&last_class) == 0);
}

/* One event, which a thread of the best class gets that leads beside parked
 * ones. */
static bool
best_class_leads(struct rig *rig)
{
	struct pool_status s;

	feed_one(rig);
	pool_status(rig->pool, &s);
	return atomic_load_relaxed(&last_class) == 0 &&
	       s.roles[ROLE_FOLLOWING] == rig->setup.threads - 1;
}

/* A busy machine may keep the leader from its CPU during a turn: then another
 * thread leads for a while, and the next try shows it. */
static bool
best_class_runs_all_turns(struct rig *rig)
{
	/* The guard would take a turn that is interrupted by the kernel for a
	 * long one. */
	rig->guarding = false;
	turns_of_class[0] = turns_of_class[1] = 0;
	for (int i = 0; i < 200; i++)
		feed_one(rig);
	rig->guarding = true;
	return turns_of_class[0] == 200 && turns_of_class[1] == 0;
}

static void
the_best_class_leads_again_after_another_has(void **state)
{
	struct rig rig;

	rig_start(&rig, *state);
	pool_set_order(rig.pool, ORDER_PRIORITY);
	if (rig.setup.policy == POLICY_ADAPTIVE) {
		rig_fake(&rig, count_class);
		for (unsigned i = 0; i < (rig.setup.threads + 1) / 2; i++)
			rig_fake(&rig, wait_for_ticket);
		for (int round = 0; round < 3; round++) {
			let_the_second_class_lead(&rig);
			assert_true(unit_wait(best_class_leads(&rig) &&
			                      best_class_runs_all_turns(&rig)));
		}
	}
	rig_finish(&rig);
}

static void
a_wait_that_fails_is_counted_and_tried_again(void **state)
{
	struct unit_stderr s;
	struct rig rig;
	char text[1024];

	rig_start(&rig, *state);
	rig_fake(&rig, NULL);
	unit_stderr_begin(&s);
	scripted_fail_wait(rig_script(&rig), EBADF);
	assert_true(unit_wait(count_wait_errors(&rig) == 1));
	rig_feed_each(&rig, 0, 1);
	assert_true(rig_quiet(&rig));
	unit_stderr_end(&s, text, sizeof(text));
	rig_finish(&rig);
	assert_int_equal(rig.fakes[0]->turns, 1);
}

static void
a_note_to_a_handler_that_ended_is_refused(void **state)
{
	struct rig rig;
	unsigned wakes;

	rig_start(&rig, *state);
	rig_fake(&rig, NULL);
	wakes = scripted_counts(rig_script(&rig)).wakes;
	assert_false(shard_note(&rig.fakes[0]->handler, 0, NOTE_KILL));
	assert_false(shard_note(&rig.fakes[0]->handler, 2, NOTE_KILL));
	assert_int_equal(scripted_counts(rig_script(&rig)).wakes, wakes);
	rig_finish(&rig);
	assert_int_equal(rig.fakes[0]->turns, 0);
}

static void
a_note_reaches_a_handler_of_a_sleeping_leader(void **state)
{
	struct rig rig;
	struct fake *f;

	rig_start(&rig, *state);
	f = rig_fake(&rig, NULL);
	atomic_add_relaxed(&f->want, 1u);
	assert_true(shard_note(&f->handler, 1, NOTE_TIMEOUT));
	assert_true(unit_wait(atomic_load_acquire(&f->seen) == 1));
	rig_finish(&rig);
	assert_int_equal(f->bits, NOTE_TIMEOUT);
	assert_int_equal(f->turns, 1);
	assert_int_equal(rig.status.sum.resumed, 1);
	assert_int_equal(rig.status.sum.fetched, 0);
}

static enum turn
allocate_once(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	void *volatile memory = malloc(16);

	(void)fake;
	(void)pending;
	(void)self;
	free(memory);
	return TURN_DONE;
}

/* What every other test relies on when it ends with none. */
static void
an_allocation_on_a_pool_thread_is_counted(void **state)
{
	struct rig rig;

	rig_start(&rig, *state);
	rig_fake(&rig, allocate_once);
	for (int i = 0; i < 3; i++) {
		rig_feed_each(&rig, 0, 1);
		assert_true(rig_quiet(&rig));
	}
	assert_int_equal(alloc_count(), rig.allocations + 3);
	rig.allocations += 3;
	rig_finish(&rig);
}

int
main(void)
{
	static const struct rig_test tests[] = {
	    RIG_TEST(every_event_reaches_its_handler),
	    RIG_TEST(a_batch_larger_than_the_shards_is_fetched_in_parts),
	    RIG_TEST(events_of_another_generation_are_not_dispatched),
	    RIG_TEST(a_handler_that_ended_gets_nothing_more),
	    RIG_TEST(a_handler_with_more_to_do_does_not_starve_new_events),
	    RIG_TEST_FOR(handlers_with_more_to_do_go_on_in_turn, 1, 1),
	    RIG_TEST_FOR(
	        noted_handlers_with_long_turns_have_a_look_between_them, 1, 1),
	    RIG_TEST_FOR(noted_handlers_with_short_turns_share_a_look, 1, 1),
	    RIG_TEST_FOR(the_rest_of_a_large_batch_goes_to_a_follower, 2, 4),
	    RIG_TEST(a_thread_in_a_turn_is_processing),
	    RIG_TEST(single_events_are_promoted_for_by_always_only),
	    RIG_TEST_FOR(
	        a_leader_promotes_before_turns_that_have_been_long, 2, 4),
	    RIG_TEST_FOR(the_best_class_leads_again_after_another_has, 2, 4),
	    RIG_TEST(a_wait_that_fails_is_counted_and_tried_again),
	    RIG_TEST(a_note_to_a_handler_that_ended_is_refused),
	    RIG_TEST(a_note_reaches_a_handler_of_a_sleeping_leader),
	    RIG_TEST(an_allocation_on_a_pool_thread_is_counted),
	};

	return rig_run("shard", tests, UNIT_N(tests));
}
