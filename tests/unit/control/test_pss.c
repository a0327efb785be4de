/* SPDX-License-Identifier: MIT
 * The PSS is read by one thread at a time, and comes to all who asked.
 */
#include "control/pss.h"

#include "control/system_facts.h"
#include "unit.h"

static void
who_asks_gets_a_reading_that_has_ended(void **state)
{
	uint64_t rss, pss, us, number;
	struct pss got = {.bytes = 7};

	(void)state;
	number = pss_ask();
	assert_true(unit_wait(pss_read(number, &got)));
	if (!system_pss(&rss, &pss, &us)) {
		assert_int_equal(got.bytes, 0);
		print_message("this kernel has no smaps_rollup\n");
		skip();
	}
	assert_true(got.bytes > 100000);
	assert_true(got.bytes < 10 * pss);
}

static void
those_who_ask_meanwhile_share_it(void **state)
{
	struct pss got;

	(void)state;
	for (int i = 0; i < 100; i++) {
		uint64_t first = pss_ask(), second = pss_ask();

		assert_true(second == first || second == first + 1);
		assert_true(unit_wait(pss_read(second, &got)));
		/* It has not gone for being read. */
		assert_true(pss_read(first, &got));
		assert_false(pss_read(second + 1, &got));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(who_asks_gets_a_reading_that_has_ended),
	    cmocka_unit_test(those_who_ask_meanwhile_share_it),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
