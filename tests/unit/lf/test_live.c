/* SPDX-License-Identifier: MIT
 * Live changes: what is refused, what moves, who is told.
 */
#include "lf/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "lf/pool_rig.h"
#include "unit.h"

static bool
set_threads(struct rig *rig, unsigned threads, struct err *err)
{
	struct pool_class class = {.threads = threads};

	return pool_set_threads(rig->pool, &class, 1, err);
}

static void
impossible_sizes_are_refused_and_change_nothing(void **state)
{
	static const struct rig_setup setup = {.threads = 4, .shards = 2};
	struct err err;
	struct rig rig;

	(void)state;
	rig_start(&rig, &setup);
	assert_false(set_threads(&rig, 0, &err));
	assert_non_null(strstr(err.text, "1 to 1024"));
	assert_false(set_threads(&rig, POOL_THREADS_MAX + 1, &err));
	assert_non_null(strstr(err.text, "1025"));
	assert_false(set_threads(&rig, 1, &err));
	assert_non_null(strstr(err.text, "2 shards"));
	assert_false(pool_set_shards(rig.pool, 0, &err));
	assert_false(pool_set_shards(rig.pool, 5, &err));
	assert_non_null(strstr(err.text, "4 threads"));
	assert_int_equal(pool_threads(rig.pool), 4);
	assert_int_equal(pool_shards_wanted(rig.pool), 2);
	assert_int_equal(pool_shards(rig.pool), 2);
	rig_finish(&rig);
	assert_int_equal(rig.status.threads, 4);
}

static void
cpus_that_do_not_exist_are_refused(void **state)
{
	static const struct rig_setup setup = {.threads = 2, .shards = 1};
	cpu_set_t none, all;
	struct err err;
	struct rig rig;

	(void)state;
	CPU_ZERO(&none);
	CPU_SET(CPU_SETSIZE - 1, &none);
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	rig_start(&rig, &setup);
	assert_false(pool_set_cpus(rig.pool, &none, &err));
	assert_non_null(strstr(err.text, "CPU"));
	assert_true(pool_set_cpus(rig.pool, &all, &err));
	rig_finish(&rig);
}

static unsigned
count_waiting(struct rig *rig)
{
	unsigned n = 0;

	for (unsigned i = 0; i < machine_sets(rig->machine); i++)
		n += scripted_counts(machine_set(rig->machine, i)).waiting;
	return n;
}

/* Those that were to retire have, and the others lead. */
static bool
all_lead(struct rig *rig)
{
	rig_control(rig);
	return !pool_tick(rig->pool) &&
	       count_waiting(rig) == pool_threads(rig->pool);
}

/* Symptom: with the guard asleep a shard that lost its leader by a change
 * stayed without one while threads were parked at another. */
static void
a_change_calls_the_guard(void **state)
{
	static const struct rig_setup setup = {.threads = 3, .shards = 2};
	struct rig rig;

	(void)state;
	rig_start(&rig, &setup);
	for (int i = 0; i < 1000 && rig.guarding; i++)
		rig.guarding = pool_guard(rig.pool, clock_now_ns(), NS_PER_MS);
	assert_false(rig.guarding);
	atomic_store_relaxed(&rig.guard_called, 0u);
	rig_set_threads(&rig, 2);
	assert_int_equal(atomic_load_relaxed(&rig.guard_called), 1);
	assert_true(pool_guard(rig.pool, clock_now_ns(), NS_PER_MS));
	assert_true(unit_wait(all_lead(&rig)));
	rig_finish(&rig);
	assert_int_equal(rig.status.roles[ROLE_LEADING], 2);
}

/* What a session is to the grace domain while it chooses a shard. */
static void
shards_stay_until_whoever_may_have_chosen_them_is_done(void **state)
{
	static const struct rig_setup setup = {.threads = 2, .shards = 2};
	struct grace_reader before = {0}, between = {0};
	struct rig rig;
	struct err err;

	(void)state;
	rig_start(&rig, &setup);
	grace_register(rig.grace, &before);
	grace_register(rig.grace, &between);
	grace_enter(rig.grace, &before);
	assert_true(pool_set_shards(rig.pool, 1, &err));
	grace_enter(rig.grace, &between);
	assert_true(pool_set_shards(rig.pool, 2, &err));
	assert_true(pool_set_shards(rig.pool, 1, &err));
	(void)pool_tick(rig.pool);
	assert_int_equal(pool_shards(rig.pool), 2);
	/* The first change's grace period ends here, the last one's does not.
	 */
	grace_leave(&before);
	(void)pool_tick(rig.pool);
	assert_int_equal(pool_shards(rig.pool), 2);
	grace_leave(&between);
	(void)pool_tick(rig.pool);
	assert_int_equal(pool_shards(rig.pool), 1);
	grace_unregister(rig.grace, &before);
	grace_unregister(rig.grace, &between);
	rig_finish(&rig);
}

struct stay {
	struct grace_reader reader;
	uint32_t end;
};

static void *
leave_later(void *arg)
{
	struct stay *s = arg;

	(void)unit_wait(atomic_load_acquire(&s->end));
	for (int i = 0; i < 50; i++)
		unit_nap();
	grace_leave(&s->reader);
	return NULL;
}

/* Symptom: a pool that ended right after its shards had changed was written to
 * when the grace period ended. */
static void
a_pool_can_end_while_its_shards_settle(void **state)
{
	static const struct rig_setup setup = {.threads = 2, .shards = 2};
	struct stay s = {.end = 0};
	struct rig rig;
	struct err err;
	pthread_t id;

	(void)state;
	rig_start(&rig, &setup);
	grace_register(rig.grace, &s.reader);
	grace_enter(rig.grace, &s.reader);
	assert_int_equal(pthread_create(&id, NULL, leave_later, &s), 0);
	assert_true(pool_set_shards(rig.pool, 1, &err));
	atomic_store_release(&s.end, 1u);
	pool_free(rig.pool);
	assert_int_equal(pthread_join(id, NULL), 0);
	grace_unregister(rig.grace, &s.reader);
	grace_free(rig.grace);
	machine_free(rig.machine);
}

static enum turn
read_all(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	(void)pending;
	(void)self;
	fake->read += machine_read(fake->rig->machine, (int)fake->number, 1000);
	return TURN_DONE;
}

static void
write_to_each(struct rig *rig)
{
	for (unsigned i = 0; i < rig->fakes_n; i++)
		machine_write(rig->machine, (int)i, 1);
}

static void
each_has_read(const struct rig *rig, uint64_t bytes)
{
	for (unsigned i = 0; i < rig->fakes_n; i++)
		assert_int_equal(rig->fakes[i]->read, bytes);
}

/* Symptom: sessions of shards that were closing stood still when the threads
 * went at the same time. */
static void
sessions_of_closing_shards_move_although_threads_go(void **state)
{
	static const enum policy_kind policies[] = {
	    POLICY_ADAPTIVE, POLICY_ALWAYS, POLICY_KERNEL};

	(void)state;
	for (size_t p = 0; p < UNIT_N(policies); p++) {
		const struct rig_setup setup = {
		    .policy = policies[p], .threads = 4, .shards = 4};
		struct rig rig;

		rig_start(&rig, &setup);
		for (int i = 0; i < 16; i++)
			rig_fake(&rig, read_all);
		rig_set_shards(&rig, 1);
		rig_set_threads(&rig, 1);
		write_to_each(&rig);
		assert_true(rig_quiet(&rig));
		each_has_read(&rig, 1);
		for (int i = 0; i < 16; i++)
			assert_int_equal(rig.fakes[i]->handler.shard->id, 0);
		rig_finish(&rig);
		assert_int_equal(rig.status.threads, 1);
		assert_int_equal(rig.status.handlers, 16);
	}
}

static void
threads_that_do_not_start_change_nothing(void **state)
{
	static const struct rig_setup setup = {.threads = 1, .shards = 1};
	struct rig rig;
	struct err err;

	(void)state;
	rig_start(&rig, &setup);
	for (int i = 0; i < 16; i++)
		rig_fake(&rig, read_all);
	rig.no_threads = true;
	assert_false(set_threads(&rig, 4, &err));
	assert_int_equal(pool_threads(rig.pool), 1);
	write_to_each(&rig);
	assert_true(rig_quiet(&rig));
	each_has_read(&rig, 1);
	rig.no_threads = false;
	assert_true(set_threads(&rig, 4, &err));
	write_to_each(&rig);
	assert_true(rig_quiet(&rig));
	each_has_read(&rig, 2);
	rig_finish(&rig);
	assert_int_equal(rig.status.threads, 4);
}

/* Symptom: events that a leader had fetched before the policy became kernel
 * were never looked at. */
static void
what_was_fetched_before_kernel_is_not_forgotten(void **state)
{
	static const struct rig_setup setup = {
	    .policy = POLICY_ALWAYS, .threads = 1, .shards = 1};

	(void)state;
	for (uint64_t round = 1; round <= 100; round++) {
		struct rig rig;

		rig_start(&rig, &setup);
		for (int i = 0; i < 16; i++)
			rig_fake(&rig, read_all);
		rig_feed_each(&rig, 0, 16);
		for (uint64_t spin = 0; spin < round * 10; spin++)
			sched_yield();
		pool_set_policy(rig.pool, POLICY_KERNEL);
		rig_finish(&rig);
		for (int i = 0; i < 16; i++)
			assert_int_equal(rig.fakes[i]->turns, 1);
	}
}

/* Symptom: when many threads with several shards changed to kernel, they took
 * each other's tokens for up to 30 ms, some hundred thousand times. */
static void
threads_that_stop_leading_leave_the_other_shards_alone(void **state)
{
	static const struct rig_setup setup = {
	    .policy = POLICY_ALWAYS, .threads = 16, .shards = 8};
	struct rig rig;

	(void)state;
	rig_start(&rig, &setup);
	for (int round = 0; round < 30; round++) {
		pool_set_policy(rig.pool, POLICY_KERNEL);
		assert_true(unit_wait(count_waiting(&rig) == 16));
		pool_set_policy(rig.pool, POLICY_ALWAYS);
		assert_true(unit_wait(count_waiting(&rig) == 8));
	}
	rig_finish(&rig);
	assert_in_range(rig.status.sum.adoptions, 0, 1000);
}

/* Each thread looks up every 50 ms, so on a busy machine with an emulator some
 * of 64 always do: at no moment all of them wait. */
static bool
waits_without_a_leader(struct rig *rig)
{
	struct pool_status status;

	pool_status(rig->pool, &status);
	return promotion_token(pool_shard(rig->pool, 0)->promotion) ==
	           TOKEN_FREE &&
	       status.roles[ROLE_STANDBY] == rig->setup.threads;
}

static bool
follows_a_leader(struct rig *rig)
{
	return promotion_parked(pool_shard(rig->pool, 0)->promotion) ==
	       rig->setup.threads - 1;
}

/* Symptom: after a change to kernel with many threads the token went round for
 * seconds among those who had been called and parked again. */
static void
on_the_way_to_kernel_the_token_does_not_go_round(void **state)
{
	static const struct rig_setup setup = {.threads = 64, .shards = 1};
	struct rig rig;

	(void)state;
	rig_start(&rig, &setup);
	for (uint64_t round = 1; round <= 5; round++) {
		struct pool_status status;

		pool_set_policy(rig.pool, POLICY_KERNEL);
		assert_true(unit_wait(waits_without_a_leader(&rig)));
		pool_status(rig.pool, &status);
		/* Each parked thread is called, and each thread may have been
		 * about to park.  In the first round fewer may be parked. */
		assert_in_range(status.sum.wakes,
		    (round - 1) * (rig.setup.threads - 1),
		    round * 2 * rig.setup.threads);
		pool_set_policy(rig.pool, POLICY_ADAPTIVE);
		assert_true(unit_wait(follows_a_leader(&rig)));
	}
	rig_finish(&rig);
}

/* Rounds of changes under traffic, each followed by rest, which includes that
 * exactly the shards in use have a handle set (rig_quiet). */
static void
close_and_open_shards(enum policy_kind policy)
{
	const struct rig_setup setup = {
	    .policy = policy, .threads = 8, .shards = 1};
	struct rig rig;
	uint64_t written = 0;

	rig_start(&rig, &setup);
	for (int i = 0; i < 16; i++)
		rig_fake(&rig, read_all);
	for (unsigned round = 0; round < 30; round++) {
		static const unsigned sizes[] = {8, 1, 4, 2, 8, 3};

		rig_set_shards(&rig, sizes[round % UNIT_N(sizes)]);
		for (unsigned n = 0; n < 20; n++, written++) {
			write_to_each(&rig);
			rig_control(&rig);
		}
		/* One in three changes comes while the last one goes on. */
		if (round % 3 != 0)
			assert_true(rig_quiet(&rig));
	}
	rig_set_shards(&rig, 1);
	assert_true(rig_quiet(&rig));
	assert_int_equal(machine_sets_open(rig.machine), 1);
	each_has_read(&rig, written);
	rig_finish(&rig);
}

/* Symptom: each shard that a pool ever had kept two descriptors open. */
static void
closed_shards_give_their_handle_sets_back(void **state)
{
	(void)state;
	close_and_open_shards(POLICY_ADAPTIVE);
	close_and_open_shards(POLICY_ALWAYS);
	close_and_open_shards(POLICY_KERNEL);
}

/* The set of a shard stays while a thread is inside, in a long turn. */
static enum turn
wait_for_the_test(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	enum turn turn = read_all(fake, pending, self);

	if (fake->number != 1 || !atomic_load_acquire(&fake->left))
		return turn;
	atomic_store_release(&fake->rig->ticket, 1u);
	while (atomic_load_acquire(&fake->left))
		sched_yield();
	return turn;
}

static void
a_handle_set_stays_while_a_thread_is_inside(void **state)
{
	static const struct rig_setup setup = {.threads = 2, .shards = 2};
	struct shard *closing;
	struct rig rig;
	struct err err;

	(void)state;
	rig_start(&rig, &setup);
	rig_fake(&rig, read_all);
	rig_fake(&rig, wait_for_the_test);
	closing = pool_shard(rig.pool, 1);
	assert_ptr_equal(rig.fakes[1]->handler.shard, closing);
	/* From shard 1, whose leader then stays in the turn: the handler moves
	 * at its beginning, and nothing is registered there any more. */
	assert_true(pool_set_shards(rig.pool, 1, &err));
	atomic_store_release(&rig.fakes[1]->left, 1u);
	assert_true(fake_note(rig.fakes[1], NOTE_MOVE));
	assert_true(unit_wait(atomic_load_acquire(&rig.ticket)));
	for (int i = 0; i < 20; i++) {
		assert_true(pool_tick(rig.pool));
		assert_true(shard_has_set(closing));
		unit_nap();
	}
	atomic_store_release(&rig.fakes[1]->left, 0u);
	assert_true(rig_quiet(&rig));
	assert_false(shard_has_set(closing));
	rig_finish(&rig);
}

/* Some of the handle sets were made when one could not be. */
static void
shards_without_descriptors_leave_the_pool_as_it_was(void **state)
{
	static const struct rig_setup setup = {.threads = 4, .shards = 1};
	struct rig rig;
	struct err err;

	(void)state;
	rig_start(&rig, &setup);
	for (int i = 0; i < 4; i++)
		rig_fake(&rig, read_all);
	for (unsigned round = 1; round <= 4; round++) {
		machine_limit_sets(rig.machine, 2);
		assert_false(pool_set_shards(rig.pool, 4, &err));
		assert_non_null(strstr(err.text, "Too many open files"));
		assert_non_null(strstr(err.text, "LimitNOFILE"));
		assert_int_equal(pool_shards(rig.pool), 1);
		assert_int_equal(pool_shards_wanted(rig.pool), 1);
		assert_int_equal(machine_sets_open(rig.machine), 1);
		write_to_each(&rig);
		assert_true(rig_quiet(&rig));
		each_has_read(&rig, 2 * round - 1);
		machine_limit_sets(rig.machine, 3);
		rig_set_shards(&rig, 4);
		assert_true(rig_quiet(&rig));
		assert_int_equal(machine_sets_open(rig.machine), 4);
		rig_set_shards(&rig, 1);
		write_to_each(&rig);
		assert_true(rig_quiet(&rig));
		each_has_read(&rig, 2 * round);
	}
	rig_finish(&rig);
}

/* Symptom: a descriptor for each shard that there had ever been stayed open. */
static void
closed_shards_give_their_alarms_back(void **state)
{
	static const struct rig_setup setup = {
	    .threads = 4, .shards = 1, .alarms = true};
	struct rig rig;

	(void)state;
	rig_start(&rig, &setup);
	for (int i = 0; i < 4; i++)
		rig_fake(&rig, read_all);
	for (unsigned round = 1; round <= 20; round++) {
		int alarm;

		rig_set_shards(&rig, 4);
		alarm = pool_alarm(rig.pool, 3);
		assert_true(alarm >= 0);
		pool_alarm_watched(rig.pool, 3);
		write_to_each(&rig);
		rig_set_shards(&rig, 1);
		assert_true(rig_quiet(&rig));
		assert_int_equal(pool_alarm(rig.pool, 3), -1);
		assert_int_equal(fcntl(alarm, F_GETFD), -1);
		assert_true(pool_alarm(rig.pool, 0) >= 0);
		each_has_read(&rig, round);
	}
	rig_finish(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(closed_shards_give_their_alarms_back),
	    cmocka_unit_test(impossible_sizes_are_refused_and_change_nothing),
	    cmocka_unit_test(cpus_that_do_not_exist_are_refused),
	    cmocka_unit_test(a_change_calls_the_guard),
	    cmocka_unit_test(
	        shards_stay_until_whoever_may_have_chosen_them_is_done),
	    cmocka_unit_test(a_pool_can_end_while_its_shards_settle),
	    cmocka_unit_test(
	        sessions_of_closing_shards_move_although_threads_go),
	    cmocka_unit_test(threads_that_do_not_start_change_nothing),
	    cmocka_unit_test(what_was_fetched_before_kernel_is_not_forgotten),
	    cmocka_unit_test(on_the_way_to_kernel_the_token_does_not_go_round),
	    cmocka_unit_test(
	        threads_that_stop_leading_leave_the_other_shards_alone),
	    cmocka_unit_test(closed_shards_give_their_handle_sets_back),
	    cmocka_unit_test(a_handle_set_stays_while_a_thread_is_inside),
	    cmocka_unit_test(
	        shards_without_descriptors_leave_the_pool_as_it_was),
	};

	unit_watchdog();
	return cmocka_run_group_tests_name("live changes", tests, NULL, NULL);
}
