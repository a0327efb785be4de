/* SPDX-License-Identifier: MIT
 * The clock, and its replacement.
 */
#include "base/clock.h"

#include "unit.h"

static uint64_t fake_ns;

static uint64_t
fake_now_ns(void)
{
	return fake_ns;
}

static int
put_real_clock_back(void **state)
{
	(void)state;
	clock_replace(NULL);
	return 0;
}

static void
the_real_clock_is_monotonic_and_moves(void **state)
{
	uint64_t first = clock_now_ns(), last = first;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		uint64_t now = clock_now_ns();

		assert_true(now >= last);
		last = now;
	}
	assert_true(unit_wait(clock_now_ns() >= first + NS_PER_MS));
}

static void
the_real_clock_counts_as_the_kernel_does(void **state)
{
	struct timespec before, after;
	uint64_t now;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &before);
	now = clock_now_ns();
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true(now >= (uint64_t)before.tv_sec * NS_PER_S +
	                       (uint64_t)before.tv_nsec);
	assert_true(
	    now <= (uint64_t)after.tv_sec * NS_PER_S + (uint64_t)after.tv_nsec);
}

static void
wall_is_microseconds_since_1970(void **state)
{
	/* time(2) may be a tick behind. */
	uint64_t before = (uint64_t)time(NULL);
	uint64_t seconds = clock_wall_us() / 1000000u;
	uint64_t after = (uint64_t)time(NULL) + 1;

	(void)state;
	assert_in_range(seconds, before, after);
}

static void
a_replacement_is_asked_for_ns_and_ms(void **state)
{
	(void)state;
	clock_replace(fake_now_ns);
	fake_ns = 5 * NS_PER_S + 999999;
	assert_int_equal(clock_now_ns(), 5 * NS_PER_S + 999999);
	assert_int_equal(clock_now_ms(), 5000);
	fake_ns++;
	assert_int_equal(clock_now_ms(), 5001);
}

static void
null_puts_the_real_clock_back(void **state)
{
	(void)state;
	fake_ns = 1;
	clock_replace(fake_now_ns);
	assert_int_equal(clock_now_ns(), 1);
	clock_replace(NULL);
	assert_true(clock_now_ns() > 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_real_clock_is_monotonic_and_moves),
	    cmocka_unit_test(the_real_clock_counts_as_the_kernel_does),
	    cmocka_unit_test(wall_is_microseconds_since_1970),
	    cmocka_unit_test_teardown(
	        a_replacement_is_asked_for_ns_and_ms, put_real_clock_back),
	    cmocka_unit_test_teardown(
	        null_puts_the_real_clock_back, put_real_clock_back),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
