/* SPDX-License-Identifier: MIT
 * Trends: the slope of the last minute, and when a limit is reached.
 */
#include "base/trend.h"

#include <math.h>

#include "unit.h"

static struct trend
trend_of(uint64_t from, int64_t step, unsigned n)
{
	struct trend t = {.n = 0};

	for (unsigned i = 0; i < n; i++)
		trend_add(&t, from + (uint64_t)(step * (int64_t)i));
	return t;
}

static double
slope_of(const struct trend *t)
{
	double per_s = NAN;

	assert_true(trend_slope(t, &per_s));
	return per_s;
}

static void
two_samples_are_no_trend(void **state)
{
	struct trend t = trend_of(10, 5, 2);
	double per_s = 42;

	(void)state;
	assert_false(trend_slope(&t, &per_s));
	assert_true(per_s == 42);
	trend_add(&t, 20);
	assert_true(trend_slope(&t, &per_s));
}

static void
a_straight_line_has_its_slope_however_long_it_is(void **state)
{
	(void)state;
	for (unsigned n = 3; n < 4 * TREND_SAMPLES; n++) {
		struct trend up = trend_of(1000, 10, n);
		struct trend down = trend_of(1000000, -10, n);

		assert_true(fabs(slope_of(&up) - 10.0 / TREND_STEP_S) < 1e-6);
		assert_true(fabs(slope_of(&down) + 10.0 / TREND_STEP_S) < 1e-6);
	}
}

static void
what_is_older_than_a_minute_counts_no_more(void **state)
{
	struct trend t = trend_of(0, 1000, 100);

	(void)state;
	for (unsigned i = 0; i < TREND_SAMPLES; i++)
		trend_add(&t, 5);
	assert_true(slope_of(&t) == 0);
}

static void
what_goes_up_and_down_goes_nowhere(void **state)
{
	struct trend t = {.n = 0};
	uint32_t random = 7;

	(void)state;
	for (unsigned i = 0; i < TREND_SAMPLES; i++)
		trend_add(&t, 1000 + unit_random(&random) % 100);
	assert_true(slope_of(&t) == 0);
	/* A rise of the same size as the scatter shows. */
	for (unsigned i = 0; i < TREND_SAMPLES; i++)
		trend_add(&t, 1000 + 10 * i + unit_random(&random) % 100);
	assert_true(fabs(slope_of(&t) - 5) < 1);
}

static void
values_beyond_32_bits_stay_at_the_end(void **state)
{
	struct trend t = trend_of(UINT64_C(1) << 40, 1, 5);

	(void)state;
	assert_true(slope_of(&t) == 0);
	assert_int_equal(t.at[0], UINT32_MAX);
}

static void
a_limit_is_reached_by_what_grows(void **state)
{
	(void)state;
	assert_true(trend_reaches_s(100, 200, 10) == 10);
	assert_true(trend_reaches_s(200, 200, -1) == 0);
	assert_true(isinf(trend_reaches_s(100, 200, 0)));
	assert_true(isinf(trend_reaches_s(100, 200, -3)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(two_samples_are_no_trend),
	    cmocka_unit_test(a_straight_line_has_its_slope_however_long_it_is),
	    cmocka_unit_test(what_is_older_than_a_minute_counts_no_more),
	    cmocka_unit_test(what_goes_up_and_down_goes_nowhere),
	    cmocka_unit_test(values_beyond_32_bits_stay_at_the_end),
	    cmocka_unit_test(a_limit_is_reached_by_what_grows),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
