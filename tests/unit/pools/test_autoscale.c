/* SPDX-License-Identifier: MIT
 * When a pool gets a thread more, and when one less.
 */
#include "pools/autoscale.h"

#include "unit.h"

/* A pool that does as it is told. */
struct model {
	struct autoscale a;
	struct autoscale_sample s;
	unsigned ups, downs;
};

static void
start(struct model *m, unsigned min, unsigned max, unsigned threads)
{
	*m = (struct model){.s = {.threads = threads}};
	autoscale_init(&m->a, min, max);
}

static void
of_threads_that_wait_one_is_asleep_and_the_others_count_as_parked(void **state)
{
	/* parked, waiting; asleep, parked by the sample */
	static const unsigned rows[][4] = {
	    {0, 0, 0, 0}, /* a leader in a turn, and no follower */
	    {0, 1, 1, 0}, /* a leader that sleeps, or a standby beside one in
	                     a turn */
	    {3, 0, 0, 3}, /* a leader in a turn, and followers */
	    {3, 1, 1, 3},
	    {2, 2, 1, 3}, /* a leader that sleeps, and a standby */
	    {0, 4, 1, 3}, /* POLICY_KERNEL */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct autoscale_sample s = {.asleep = 0};

		autoscale_add_shard(&s, rows[i][0], rows[i][1]);
		assert_int_equal(s.asleep, rows[i][2]);
		assert_int_equal(s.parked, rows[i][3]);
	}
}

static void
a_sample_is_the_sum_of_its_shards(void **state)
{
	struct autoscale_sample s = {.threads = 9, .late = 4};

	(void)state;
	autoscale_add_shard(&s, 1, 0);
	autoscale_add_shard(&s, 0, 3);
	autoscale_add_shard(&s, 2, 1);
	assert_int_equal(s.asleep, 2);
	assert_int_equal(s.parked, 5);
	assert_int_equal(s.threads, 9);
	assert_int_equal(s.late, 4);
}

/* For n samples: so many parked, so many leaders asleep, and per sample so many
 * promotions of which so many were late. */
static void
run(struct model *m, unsigned n, unsigned parked, unsigned asleep,
    unsigned promotions, unsigned late)
{
	for (unsigned i = 0; i < n; i++) {
		int step;

		m->s.parked = parked;
		m->s.asleep = asleep;
		m->s.promotions += promotions;
		m->s.late += late;
		step = autoscale_step(&m->a, &m->s);
		assert_in_range(step + 1, 0, 2);
		m->s.threads += (unsigned)step;
		m->ups += step > 0;
		m->downs += step < 0;
		assert_in_range(m->s.threads, m->a.min, m->a.max);
	}
}

#define GROW   (AUTOSCALE_GROW * AUTOSCALE_WINDOW)
#define SHRINK (AUTOSCALE_SHRINK * AUTOSCALE_WINDOW)

static void
two_seconds_without_a_follower_bring_a_thread(void **state)
{
	struct model m;

	(void)state;
	start(&m, 2, 8, 2);
	run(&m, GROW - 1, 0, 0, 0, 0);
	assert_int_equal(m.ups, 0);
	run(&m, 1, 0, 0, 0, 0);
	assert_int_equal(m.ups, 1);
	run(&m, GROW, 0, 0, 10, 0);
	assert_int_equal(m.s.threads, 4);
}

static void
a_leader_that_sleeps_means_that_nothing_lacks(void **state)
{
	struct model m;

	(void)state;
	start(&m, 1, 8, 1);
	run(&m, 10 * GROW, 0, 1, 0, 0);
	assert_int_equal(m.ups + m.downs, 0);
}

static void
it_lacks_when_it_does_so_most_of_the_time(void **state)
{
	struct model m;

	(void)state;
	start(&m, 2, 8, 2);
	for (int i = 0; i < AUTOSCALE_GROW; i++) {
		run(&m, AUTOSCALE_WINDOW * 8 / 10, 0, 0, 0, 0);
		run(&m, AUTOSCALE_WINDOW * 2 / 10, 1, 0, 0, 0);
	}
	assert_int_equal(m.ups, 1);
	start(&m, 2, 8, 2);
	for (int i = 0; i < 5 * AUTOSCALE_GROW; i++) {
		run(&m, AUTOSCALE_WINDOW * 7 / 10, 0, 0, 0, 0);
		run(&m, AUTOSCALE_WINDOW * 3 / 10, 1, 0, 0, 0);
	}
	assert_int_equal(m.ups, 0);
}

static void
one_good_second_in_between_starts_the_count_again(void **state)
{
	struct model m;

	(void)state;
	start(&m, 2, 8, 2);
	for (int i = 0; i < 6; i++) {
		run(&m, (AUTOSCALE_GROW - 1) * AUTOSCALE_WINDOW, 0, 0, 0, 0);
		run(&m, AUTOSCALE_WINDOW, 1, 0, 0, 0);
	}
	assert_int_equal(m.ups, 0);
}

static void
late_promotions_say_that_cpus_are_short(void **state)
{
	struct model m;

	(void)state;
	start(&m, 2, 8, 2);
	run(&m, 5 * GROW, 0, 0, 10, 6);
	assert_int_equal(m.ups, 0);
	/* Half of them are not most. */
	run(&m, GROW, 0, 0, 10, 5);
	assert_int_equal(m.ups, 1);
}

static void
ten_seconds_with_two_to_spare_take_one_away(void **state)
{
	struct model m;

	(void)state;
	start(&m, 2, 8, 5);
	run(&m, SHRINK - 1, 2, 1, 0, 0);
	assert_int_equal(m.downs, 0);
	run(&m, 1, 2, 1, 0, 0);
	assert_int_equal(m.downs, 1);
	run(&m, SHRINK, 4, 0, 0, 0);
	assert_int_equal(m.s.threads, 3);
}

static void
one_busy_moment_keeps_all_threads(void **state)
{
	struct model m;

	(void)state;
	start(&m, 2, 8, 5);
	for (int i = 0; i < 10; i++) {
		run(&m, SHRINK - 1, 3, 0, 0, 0);
		run(&m, 1, 1, 0, 0, 0);
	}
	assert_int_equal(m.downs, 0);
}

static void
it_stays_within_its_bounds(void **state)
{
	struct model m;

	(void)state;
	start(&m, 2, 4, 2);
	run(&m, 20 * GROW, 0, 0, 0, 0);
	assert_int_equal(m.s.threads, 4);
	run(&m, 20 * SHRINK, 3, 0, 0, 0);
	assert_int_equal(m.s.threads, 2);
}

/* The load that one thread more takes away must not bring the next change. */
static void
it_does_not_swing(void **state)
{
	struct model m;

	(void)state;
	start(&m, 1, 8, 3);
	for (unsigned i = 0; i < 50 * AUTOSCALE_WINDOW; i++)
		run(&m, 1, m.s.threads > 3, m.s.threads > 3, 1, 0);
	assert_int_equal(m.ups, 1);
	assert_int_equal(m.downs, 0);
	assert_int_equal(m.s.threads, 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
	        of_threads_that_wait_one_is_asleep_and_the_others_count_as_parked),
	    cmocka_unit_test(a_sample_is_the_sum_of_its_shards),
	    cmocka_unit_test(two_seconds_without_a_follower_bring_a_thread),
	    cmocka_unit_test(a_leader_that_sleeps_means_that_nothing_lacks),
	    cmocka_unit_test(it_lacks_when_it_does_so_most_of_the_time),
	    cmocka_unit_test(one_good_second_in_between_starts_the_count_again),
	    cmocka_unit_test(late_promotions_say_that_cpus_are_short),
	    cmocka_unit_test(ten_seconds_with_two_to_spare_take_one_away),
	    cmocka_unit_test(one_busy_moment_keeps_all_threads),
	    cmocka_unit_test(it_stays_within_its_bounds),
	    cmocka_unit_test(it_does_not_swing),
	};

	unit_watchdog();
	return cmocka_run_group_tests_name("autoscale", tests, NULL, NULL);
}
