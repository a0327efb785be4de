/* SPDX-License-Identifier: MIT
 * Fair shares of sessions.
 */
#include "orders/fair_share.h"

#include "unit.h"

static uint32_t
sum_of_fair(const struct share *shares, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += shares[i].fair;
	return sum;
}

static void
shares_follow_the_weights(void **state)
{
	struct share s[] = {{.sessions = 100, .weight = 100},
	    {.sessions = 0, .weight = 300}, {.sessions = 20, .weight = 200}};

	fair_shares(s, 3);
	assert_int_equal(s[0].fair, 20);
	assert_int_equal(s[1].fair, 60);
	assert_int_equal(s[2].fair, 40);
	assert_int_equal(s[0].excess, 80);
	assert_int_equal(s[1].excess, 0);
	assert_int_equal(s[2].excess, 0);
}

static void
nobody_is_over_a_share_by_less_than_the_tolerance(void **state)
{
	struct share s[] = {
	    {.sessions = 105, .weight = 1}, {.sessions = 95, .weight = 1}};
	struct share few[] = {
	    {.sessions = 2, .weight = 1}, {.sessions = 1, .weight = 1}};

	fair_shares(s, 2);
	assert_int_equal(s[0].fair, 100);
	assert_int_equal(s[0].excess, 0);
	s[0].sessions = 107;
	s[1].sessions = 93;
	fair_shares(s, 2);
	assert_int_equal(s[0].excess, 7);
	fair_shares(few, 2);
	assert_int_equal(few[0].excess + few[1].excess, 0);
	assert_int_equal(fair_tolerance(0), 1);
	assert_int_equal(fair_tolerance(1000), 50);
}

static void
full_servers_leave_the_rest_to_the_others(void **state)
{
	struct share s[] = {{.sessions = 90, .weight = 1},
	    {.sessions = 0, .weight = 1, .limit = 10},
	    {.sessions = 0, .weight = 1}};

	fair_shares(s, 3);
	assert_int_equal(s[0].fair, 40);
	assert_int_equal(s[1].fair, 10);
	assert_int_equal(s[2].fair, 40);
	/* Nowhere else: by weight then, so that nothing is closed in vain. */
	s[0].limit = s[2].limit = 20;
	fair_shares(s, 3);
	assert_int_equal(sum_of_fair(s, 3), 90);
	/* The second filling makes a third full. */
	s[0] = (struct share){.sessions = 0, .weight = 8, .limit = 4};
	s[1] = (struct share){.sessions = 0, .weight = 1, .limit = 12};
	s[2] = (struct share){.sessions = 30, .weight = 1};
	fair_shares(s, 3);
	assert_int_equal(s[0].fair, 4);
	assert_int_equal(s[1].fair, 12);
	assert_int_equal(s[2].fair, 14);
	assert_int_equal(s[2].excess, 16);
}

static void
no_server_and_no_session_are_nothing_special(void **state)
{
	struct share s[] = {{.sessions = 0, .weight = 7, .limit = 1}};

	fair_shares(s, 0);
	fair_shares(s, 1);
	assert_int_equal(s[0].fair + s[0].excess, 0);
}

/* Whatever the numbers: shares add up, are within 1 of the exact ones, and what
 * is to be closed is never more than others have too few, but for rounding. */
static void
shares_of_any_servers_add_up(void **state)
{
	uint32_t seed = 4711;

	for (unsigned round = 0; round < 2000; round++) {
		struct share s[12];
		size_t n = unit_random(&seed) % UNIT_N(s) + 1;
		uint64_t sum = 0, weight = 0;
		uint32_t excess = 0, lack = 0;

		for (size_t i = 0; i < n; i++) {
			s[i] = (struct share){
			    .sessions = unit_random(&seed) % 5000,
			    .weight = unit_random(&seed) % 256 + 1};
			sum += s[i].sessions;
			weight += s[i].weight;
		}
		fair_shares(s, n);
		assert_int_equal(sum_of_fair(s, n), sum);
		for (size_t i = 0; i < n; i++) {
			uint64_t exact = sum * s[i].weight / weight;

			assert_in_range(s[i].fair, exact, exact + 1);
			excess += s[i].excess;
			if (s[i].sessions < s[i].fair)
				lack += s[i].fair - s[i].sessions;
		}
		assert_true(excess <= lack);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(shares_follow_the_weights),
	    cmocka_unit_test(nobody_is_over_a_share_by_less_than_the_tolerance),
	    cmocka_unit_test(full_servers_leave_the_rest_to_the_others),
	    cmocka_unit_test(no_server_and_no_session_are_nothing_special),
	    cmocka_unit_test(shares_of_any_servers_add_up),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
