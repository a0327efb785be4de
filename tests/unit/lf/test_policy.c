/* SPDX-License-Identifier: MIT
 * The names of policies, and the cost of a wake-up.
 */
#include "lf/policy.h"

#include "unit.h"

static void
the_wake_is_measured_within_bounds(void **state)
{
	uint64_t shortest_ms = UINT64_MAX;

	(void)state;
	for (int i = 0; i < 3; i++) {
		uint64_t from_ms = unit_now_ms();

		assert_in_range(policy_calibrate(), 5000, 200000);
		if (unit_now_ms() - from_ms < shortest_ms)
			shortest_ms = unit_now_ms() - from_ms;
	}
	unit_skip_unless_time_is_judged();
	/* A machine that stalls may make the others longer. */
	assert_true(shortest_ms < 2000);
}

static void
policies_have_the_names_of_the_configuration(void **state)
{
	(void)state;
	assert_string_equal(policy_name(POLICY_ALWAYS), "always");
	assert_string_equal(policy_name(POLICY_ADAPTIVE), "adaptive");
	assert_string_equal(policy_name(POLICY_KERNEL), "kernel");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_wake_is_measured_within_bounds),
	    cmocka_unit_test(policies_have_the_names_of_the_configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
