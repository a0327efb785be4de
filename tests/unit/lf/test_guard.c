/* SPDX-License-Identifier: MIT
 * The guard: whatever moment it chooses to sleep, no turn that lasts goes
 * unwatched; and shards whose leaders are in such turns are served by the other
 * shards' threads.
 */
#include "lf/pool.h"

#include <unistd.h>

#include "base/clock.h"
#include "lf/admission.h"
#include "lf/pool_rig.h"
#include "unit.h"

/* The decision of the guard that a leader makes once, right before or after it
 * publishes the token. */
static struct {
	uint32_t armed;
	bool after;
	struct rig *rig;
	bool sleeps; /* the guard's answer */
	uint32_t turns;
} moment;

/* In the place of the control thread, which waits meanwhile. */
static bool
guard_falls_asleep(struct rig *rig)
{
	for (int i = 0; i < 1000; i++)
		if (!pool_guard(rig->pool, clock_now_ns(), UINT64_MAX / 2))
			return true;
	return false;
}

static uint64_t
busy(struct promotion *promotion)
{
	uint64_t ticket;

	if (!atomic_swap_acq_rel(&moment.armed, 0u))
		return promotion_futex.busy(promotion);
	if (!moment.after)
		moment.sleeps = guard_falls_asleep(moment.rig);
	ticket = promotion_futex.busy(promotion);
	if (moment.after)
		moment.sleeps = guard_falls_asleep(moment.rig);
	return ticket;
}

static struct promotion_ops staged;

static int
create(void (*kick)(void *arg), void *arg, struct promotion **ret_promotion)
{
	int rc = promotion_futex.create(kick, arg, ret_promotion);

	if (rc == 0)
		(*ret_promotion)->ops = &staged;
	return rc;
}

static enum turn
run(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	(void)fake;
	(void)pending;
	(void)self;
	atomic_add_acq_rel(&moment.turns, 1u);
	return TURN_DONE;
}

static bool
has_parked(struct rig *rig)
{
	struct pool_status s;

	pool_status(rig->pool, &s);
	return s.roles[ROLE_FOLLOWING] == 1 && s.roles[ROLE_LEADING] == 1;
}

/* A leader that sleeps and a parked follower, without a guard.  A new thread
 * stands by for a while, and would run a turn without a token. */
static void
start_resting(struct rig *rig)
{
	static const struct rig_setup setup = {
	    .promotion = &staged, .threads = 2, .shards = 1, .alarms = true};

	staged = promotion_futex;
	staged.create = create;
	staged.busy = busy;
	rig_start(rig, &setup);
	assert_true(unit_wait(has_parked(rig)));
	rig->guarding = false;
	atomic_store_relaxed(&rig->guard_called, 0u);
}

/* Runs a turn, with the guard's decision before or after the token is
 * published. */
static void
run_staged(struct rig *rig, bool after)
{
	rig_fake(rig, run);
	moment.after = after;
	moment.rig = rig;
	moment.turns = 0;
	atomic_store_release(&moment.armed, 1u);
	rig_feed_each(rig, 0, 1);
	assert_true(unit_wait(atomic_load_acquire(&moment.turns) == 1));
}

static void
run_one(struct rig *rig, bool after)
{
	start_resting(rig);
	run_staged(rig, after);
}

/* Symptom: a long turn right after a quiet time lasted although a follower was
 * parked. */
static void
a_guard_that_fell_asleep_before_the_turn_is_called(void **state)
{
	struct rig rig;

	(void)state;
	run_one(&rig, false);
	assert_true(moment.sleeps);
	assert_int_equal(atomic_load_relaxed(&rig.guard_called), 1);
	rig_finish(&rig);
}

static void
a_guard_does_not_fall_asleep_once_the_turn_is_to_begin(void **state)
{
	struct rig rig;

	(void)state;
	run_one(&rig, true);
	assert_false(moment.sleeps);
	rig_finish(&rig);
}

static struct {
	uint32_t begun, released;
} turns;

static enum turn
last_until_released(
    struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	(void)fake;
	(void)pending;
	(void)self;
	atomic_add_acq_rel(&turns.begun, 1u);
	while (!atomic_load_acquire(&turns.released))
		unit_nap();
	return TURN_DONE;
}

static bool
goes_off(int alarm)
{
	uint64_t times;

	return read(alarm, &times, sizeof(times)) == sizeof(times);
}

/* A turn that lasts, while the guard is asleep. */
static void
begin_unguarded(struct rig *rig)
{
	turns.begun = turns.released = 0;
	assert_true(guard_falls_asleep(rig));
	rig_fake(rig, last_until_released);
	rig_feed_each(rig, 0, 1);
	assert_true(unit_wait(atomic_load_acquire(&turns.begun) == 1));
}

static void
end_unguarded(struct rig *rig)
{
	atomic_store_release(&turns.released, 1u);
	rig_finish(rig);
}

/* Symptom: turns of a shard whose alarm the kernel refused to watch were not
 * guarded. */
static void
a_guard_that_watches_no_alarm_is_called(void **state)
{
	struct rig rig;

	(void)state;
	start_resting(&rig);
	begin_unguarded(&rig);
	assert_int_equal(atomic_load_relaxed(&rig.guard_called), 1);
	end_unguarded(&rig);
}

static void
an_alarm_that_is_watched_goes_off_and_nobody_is_called(void **state)
{
	struct rig rig;

	(void)state;
	start_resting(&rig);
	pool_alarm_watched(rig.pool, 0);
	begin_unguarded(&rig);
	assert_true(unit_wait(goes_off(pool_alarm(rig.pool, 0))));
	assert_int_equal(atomic_load_relaxed(&rig.guard_called), 0);
	end_unguarded(&rig);
}

/* Symptom: the leader set the alarm and lost its CPU before the turn began; the
 * alarm went off, and the guard, which met no turn, slept again. */
static void
an_alarm_that_went_off_before_its_turn_does_not_count(void **state)
{
	struct rig rig;

	(void)state;
	start_resting(&rig);
	pool_alarm_watched(rig.pool, 0);
	assert_true(guard_falls_asleep(&rig));
	run_staged(&rig, false);
	assert_true(moment.sleeps);
	assert_int_equal(atomic_load_relaxed(&rig.guard_called), 1);
	rig_finish(&rig);
}

/* Where all alarms are watched, and until it has met a long turn. */
static void
a_guard_sleeps_at_once_while_no_turn_is_long(void **state)
{
	struct rig rig;

	(void)state;
	start_resting(&rig);
	assert_true(pool_guard(rig.pool, clock_now_ns(), UINT64_MAX / 2));
	pool_alarm_watched(rig.pool, 0);
	assert_false(pool_guard(rig.pool, clock_now_ns(), UINT64_MAX / 2));
	begin_unguarded(&rig);
	assert_true(pool_guard(rig.pool, clock_now_ns(), 0));
	assert_true(pool_guard(rig.pool, clock_now_ns(), UINT64_MAX / 2));
	end_unguarded(&rig);
}

/* Symptom: a thread that stood by began a long turn while the guard fell
 * asleep, and was left in SCHED_IDLE: the leader beside it held the token. */
static void
a_guard_does_not_fall_asleep_once_a_long_turn_is_admitted(void **state)
{
	struct event_handler h = {.next_turn = NEXT_LONG};
	struct admission *a;
	struct rig rig;

	(void)state;
	start_resting(&rig);
	a = pool_admission(rig.pool);
	assert_true(admission_ask(a, &h, clock_now_ns()));
	assert_false(guard_falls_asleep(&rig));
	assert_null(admission_end(a, clock_now_ns()));
	assert_true(guard_falls_asleep(&rig));
	rig_finish(&rig);
}

/* All threads but one are in turns that last, at as many shards as possible;
 * that one serves what is ready at each shard, more than once. */
static void
block_all_but_one(const struct rig_setup *setup)
{
	struct fake *blocking[RIG_FAKES_MAX], *quick[RIG_FAKES_MAX];
	unsigned blocked = setup->threads - 1, rounds = 3;
	struct rig rig;

	turns.begun = turns.released = 0;
	rig_start(&rig, setup);
	for (unsigned i = 0; i < setup->shards; i++)
		quick[i] = rig_fake(&rig, rig_serve);
	for (unsigned i = 0; i < blocked; i++)
		blocking[i] = rig_fake(&rig, last_until_released);
	for (unsigned i = 0; i < blocked; i++) {
		rig_feed(&rig, blocking[i]);
		assert_true(unit_wait(rig_count_is(&rig, &turns.begun, i + 1)));
	}
	for (unsigned r = 1; r <= rounds; r++) {
		for (unsigned i = 0; i < setup->shards; i++)
			rig_feed(&rig, quick[i]);
		assert_true(unit_wait(
		    rig_count_is(&rig, &rig.served, r * setup->shards)));
	}
	assert_int_equal(atomic_load_acquire(&turns.begun), blocked);
	atomic_store_release(&turns.released, 1u);
	rig_finish(&rig);
}

/* Symptom: with several shards a turn of 50 ms delayed the sessions of its
 * shard by as much, while the threads of other shards had nothing to do. */
static void
a_thread_that_is_not_in_a_turn_serves_all_shards(void **state)
{
	(void)state;
	for (unsigned threads = 2; threads <= 4; threads++) {
		for (unsigned shards = 1; shards <= threads; shards++) {
			struct rig_setup setup = {
			    .threads = threads, .shards = shards};

			setup.policy = POLICY_ADAPTIVE;
			block_all_but_one(&setup);
			setup.policy = POLICY_ALWAYS;
			block_all_but_one(&setup);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_thread_that_is_not_in_a_turn_serves_all_shards),
	    cmocka_unit_test(
	        a_guard_that_fell_asleep_before_the_turn_is_called),
	    cmocka_unit_test(
	        a_guard_does_not_fall_asleep_once_a_long_turn_is_admitted),
	    cmocka_unit_test(
	        an_alarm_that_is_watched_goes_off_and_nobody_is_called),
	    cmocka_unit_test(
	        an_alarm_that_went_off_before_its_turn_does_not_count),
	    cmocka_unit_test(a_guard_sleeps_at_once_while_no_turn_is_long),
	    cmocka_unit_test(a_guard_that_watches_no_alarm_is_called),
	    cmocka_unit_test(
	        a_guard_does_not_fall_asleep_once_the_turn_is_to_begin),
	};

	unit_watchdog();
	return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
