/* SPDX-License-Identifier: MIT
 * Times as text.
 */
#include "base/time_text.h"

#include "unit.h"

/* 2026-11-02 09:05:07.123456 UTC */
#define THEN_US 1793610307123456ull

static void
check(enum time_form form, unsigned digits, const char *expected)
{
	char text[TIME_TEXT_SIZE];

	assert_string_equal(time_text(form, THEN_US, digits, text), expected);
}

static void
each_form_has_the_digits_that_were_asked_for(void **state)
{
	(void)state;
	check(TIME_RFC3339, 0, "2026-11-02T09:05:07Z");
	check(TIME_RFC3339, 3, "2026-11-02T09:05:07.123Z");
	check(TIME_RFC3339, 6, "2026-11-02T09:05:07.123456Z");
	check(TIME_HAPROXY, 3, "02/Nov/2026:11:05:07.123");
	check(TIME_HAPROXY, 6, "02/Nov/2026:11:05:07.123456");
	check(TIME_RFC3164, 0, "Nov  2 11:05:07");
}

static void
another_second_is_another_text(void **state)
{
	char text[TIME_TEXT_SIZE];

	(void)state;
	check(TIME_RFC3339, 0, "2026-11-02T09:05:07Z");
	assert_string_equal(time_text(TIME_RFC3339, THEN_US + 1000000, 3, text),
	    "2026-11-02T09:05:08.123Z");
	assert_string_equal(
	    time_text(TIME_RFC3339, 0, 3, text), "1970-01-01T00:00:00.000Z");
	check(TIME_RFC3339, 0, "2026-11-02T09:05:07Z");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_form_has_the_digits_that_were_asked_for),
	    cmocka_unit_test(another_second_is_another_text),
	};

	unit_watchdog();
	/* Two hours east of Greenwich. */
	setenv("TZ", "EET-2", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
