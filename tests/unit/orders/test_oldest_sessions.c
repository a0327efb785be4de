/* SPDX-License-Identifier: MIT
 * The oldest sessions of many.
 */
#include "orders/oldest_sessions.h"

#include "unit.h"

static void
oldest_keeps_the_oldest_sorted(void **state)
{
	struct oldest_sessions oldest = {NULL};
	uint32_t seed = 99;
	uint64_t all[500];

	(void)state;
	assert_true(oldest_sessions_reset(&oldest, 0));
	oldest_sessions_offer(&oldest, &(struct session_age){.born_ms = 1});
	assert_int_equal(oldest.n, 0);
	oldest_sessions_sort(&oldest);
	assert_true(oldest_sessions_reset(&oldest, 20));
	for (size_t i = 0; i < UNIT_N(all); i++)
		all[i] = i * 3;
	for (size_t i = UNIT_N(all) - 1; i > 0; i--) {
		size_t j = unit_random(&seed) % (i + 1);
		uint64_t t = all[i];

		all[i] = all[j];
		all[j] = t;
	}
	for (size_t i = 0; i < UNIT_N(all); i++)
		oldest_sessions_offer(&oldest,
		    &(struct session_age){.born_ms = all[i], .id = all[i] + 7});
	oldest_sessions_sort(&oldest);
	assert_int_equal(oldest.n, 20);
	for (size_t i = 0; i < oldest.n; i++) {
		assert_int_equal(oldest.all[i].born_ms, 3 * i);
		assert_int_equal(oldest.all[i].id, 3 * i + 7);
	}
	/* Fewer than there is room for. */
	assert_true(oldest_sessions_reset(&oldest, 5));
	assert_int_equal(oldest.n, 0);
	oldest_sessions_offer(&oldest, &(struct session_age){.born_ms = 9});
	assert_int_equal(oldest.n, 1);
	oldest_sessions_fini(&oldest);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(oldest_keeps_the_oldest_sorted),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
