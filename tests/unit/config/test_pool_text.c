/* SPDX-License-Identifier: MIT
 * What the file and the admin socket say of a pool.
 */
#include "unit.h"

#include "config/cpus.h"
#include "config/pool_text.h"

static void
assert_refused(const char *text, const char *why)
{
	struct threads_wish wish = {.classes_n = 77};
	struct err err;

	assert_false(threads_parse(text, &wish, &err));
	assert_int_equal(wish.classes_n, 77);
	if (strncmp(err.text, why, strlen(why)) != 0)
		fail_msg("expected '%s', got '%s'", why, err.text);
}

static void
assert_same(const char *text, const char *shortest)
{
	char again[THREADS_TEXT_SIZE];
	struct threads_wish wish;

	assert_true(threads_parse(text, &wish, NULL));
	assert_false(wish.is_auto);
	assert_int_equal(wish.max, 0);
	assert_string_equal(
	    threads_text(wish.classes, wish.classes_n, again), shortest);
}

static void
threads_come_in_up_to_four_classes(void **state)
{
	(void)state;
	assert_same("1", "1");
	assert_same("1024", "1024");
	assert_same(" 4 \t nice=0 ", "4");
	assert_same("4 nice=19", "4 nice=19");
	assert_same("4,2", "4 nice=0, 2 nice=0");
	assert_same("1000 nice=-20,8 nice=-19, 8 nice=-18 ,8 nice=-17",
	    "1000 nice=-20, 8 nice=-19, 8 nice=-18, 8 nice=-17");
}

static void
threads_may_be_automatic_or_a_range(void **state)
{
	struct threads_wish wish;

	(void)state;
	assert_true(threads_parse("auto", &wish, NULL));
	assert_true(wish.is_auto);
	assert_true(threads_parse("2..1024", &wish, NULL));
	assert_false(wish.is_auto);
	assert_int_equal(wish.min, 2);
	assert_int_equal(wish.max, 1024);
	assert_int_equal(wish.classes_n, 1);
	assert_int_equal(wish.classes[0].threads, 2);
	assert_same("3..3", "3");
}

static void
no_number_of_threads_says_what_is_allowed(void **state)
{
	static const char *const texts[] = {"", " ", "0", "-1", "1025", "four",
	    "4 5", "4 nice", "4 nice=1 2", "4,", ",4", "4,,4", "4 Nice=1",
	    "nice=1", "auto, 2", "4x", "99999999999999999999", "1.5",
	    "1 nice=0, 0 nice=1"};
	char long_text[400], expected[400];

	(void)state;
	for (size_t i = 0; i < UNIT_N(texts); i++) {
		snprintf(expected, sizeof(expected),
		    "'%s' is not a number of threads; allowed are auto, 1 to "
		    "1024, "
		    "a range as in 2..8, or classes",
		    texts[i]);
		assert_refused(texts[i], expected);
	}
	memset(long_text, '4', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '\0';
	assert_refused(long_text, "'4444");
	assert_refused("1,1,1,1,1", "'1,1,1,1,1' has too many classes; at most "
	                            "4 are allowed");
	assert_refused("1000, 25", "'1000, 25' makes 1025 threads; allowed are "
	                           "1 to 1024 in total");
}

static void
no_range_and_no_nice_say_what_is_allowed(void **state)
{
	static const char *const ranges[] = {
	    "8..2", "0..2", "1..1025", "..", "2..", "..2", "1..2..3", "2 ..4"};
	static const char *const nices[] = {
	    "20", "-21", "", "-", "x", "+1", "--1"};
	char text[100], expected[200];

	(void)state;
	for (size_t i = 0; i < UNIT_N(ranges); i++) {
		snprintf(expected, sizeof(expected),
		    "'%s' is not a range of threads; write the smaller number "
		    "first, as in 2..8, both from 1 to 1024",
		    ranges[i]);
		assert_refused(ranges[i], expected);
	}
	for (size_t i = 0; i < UNIT_N(nices); i++) {
		snprintf(text, sizeof(text), "2 nice=%s", nices[i]);
		snprintf(expected, sizeof(expected),
		    "'nice=%s' is not possible; allowed are nice=-20 (runs "
		    "first) to nice=19",
		    nices[i]);
		assert_refused(text, expected);
	}
}

static void
automatic_threads_are_no_more_than_the_cpus(void **state)
{
	cpu_set_t one;

	(void)state;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	assert_int_equal(threads_auto(&one), 1);
	assert_int_equal(threads_auto(NULL), cpus_usable(""));
}

static void
tls_takes_a_spare_thread_for_each_cpu(void **state)
{
	(void)state;
	assert_int_equal(threads_for_cpus(1, false), 1);
	assert_int_equal(threads_for_cpus(1, true), 2);
	assert_int_equal(threads_for_cpus(64, false), 64);
	assert_int_equal(threads_for_cpus(64, true), 128);
	assert_int_equal(
	    threads_for_cpus(POOL_THREADS_MAX, true), POOL_THREADS_MAX);
}

static void
shards_are_automatic_or_as_many_as_threads_at_most(void **state)
{
	unsigned shards = 77;
	struct err err;

	(void)state;
	assert_false(shards_parse("0", &shards, &err));
	assert_string_equal(err.text, "'0' is not a number of shards; allowed "
	                              "are auto, or 1 to the number "
	                              "of threads");
	assert_false(shards_parse("1025", &shards, &err));
	assert_false(shards_parse("", &shards, &err));
	assert_false(shards_parse("2..3", &shards, &err));
	assert_int_equal(shards, 77);
	assert_true(shards_parse("1024", &shards, &err));
	assert_int_equal(shards, 1024);
	assert_true(shards_parse("auto", &shards, &err));
	assert_int_equal(shards, 0);

	assert_int_equal(shards_auto(1), 1);
	assert_int_equal(shards_auto(2), 1);
	assert_int_equal(shards_auto(3), 2);
	assert_int_equal(shards_auto(4), 2);
	assert_int_equal(shards_auto(1023), 512);
	assert_int_equal(shards_auto(1024), 512);

	assert_true(shards_fit(4, 4, false, &err));
	assert_false(shards_fit(5, 4, false, &err));
	assert_string_equal(err.text,
	    "5 shards need at least 5 threads, and there are 4; allowed are 1 "
	    "to 4, or use more threads");
	assert_false(shards_fit(5, 4, true, &err));
	assert_non_null(strstr(err.text, "autoscaling may leave 4"));
}

static cpu_set_t
eight_but_4(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < 8; i++)
		if (i != 4)
			CPU_SET(i, &set);
	return set;
}

static void
assert_cpus(const char *text, const char *shortest)
{
	const cpu_set_t usable = eight_but_4();
	char again[CPU_LIST_TEXT_SIZE];
	cpu_set_t cpus;

	assert_true(cpu_list_parse(text, &usable, &cpus, NULL));
	assert_string_equal(cpu_list_text(&cpus, again), shortest);
}

static void
assert_no_cpus(const char *text, const char *why)
{
	const cpu_set_t usable = eight_but_4();
	cpu_set_t cpus, before;
	struct err err;

	memset(&before, 0x5a, sizeof(before));
	cpus = before;
	assert_false(cpu_list_parse(text, &usable, &cpus, &err));
	assert_memory_equal(&cpus, &before, sizeof(cpus));
	assert_string_equal(err.text, why);
}

static void
cpus_are_numbers_and_ranges(void **state)
{
	(void)state;
	assert_cpus("0", "0");
	assert_cpus("0-3,5", "0-3,5");
	assert_cpus("7, 5 ,3,2,1,0", "0-3,5,7");
	assert_cpus(" 1-1,1-2,2-3 ", "1-3");
	assert_cpus("all", "0-3,5-7");
}

static void
cpus_that_are_not_there_are_refused_with_those_that_are(void **state)
{
	(void)state;
	assert_no_cpus("4", "CPU 4 does not exist or may not be used here; "
	                    "allowed are 0-3,5-7, or all");
	assert_no_cpus("0-7", "CPU 4 does not exist or may not be used here; "
	                      "allowed are 0-3,5-7, or all");
	assert_no_cpus("0,999999",
	    "CPU 999999 does not exist or may not be used here; allowed are "
	    "0-3,5-7, or all");
}

static void
no_list_of_cpus_is_refused(void **state)
{
	static const char *const texts[] = {"", ",", "0,", ",0", "0,,1", "1-0",
	    "-1", "0-", "a", "0x1", "0 1", "1000000", "0-1-2", "all,1",
	    "18446744073709551616"};
	char expected[300];

	(void)state;
	for (size_t i = 0; i < UNIT_N(texts); i++) {
		snprintf(expected, sizeof(expected),
		    "'%s' is not a list of CPUs; write numbers and ranges, as "
		    "in "
		    "0-3,5; allowed are 0-3,5-7, or all",
		    texts[i]);
		assert_no_cpus(texts[i], expected);
	}
}

static void
longest_list_of_cpus_has_room(void **state)
{
	char text[CPU_LIST_TEXT_SIZE];
	cpu_set_t set, again;

	(void)state;
	CPU_ZERO(&set);
	for (int i = 1; i < CPU_SETSIZE; i += 2)
		CPU_SET(i, &set);
	cpu_list_text(&set, text);
	assert_true(strlen(text) + 1 < sizeof(text));
	assert_true(cpu_list_parse(text, &set, &again, NULL));
	assert_true(CPU_EQUAL(&set, &again));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(threads_come_in_up_to_four_classes),
	    cmocka_unit_test(threads_may_be_automatic_or_a_range),
	    cmocka_unit_test(no_number_of_threads_says_what_is_allowed),
	    cmocka_unit_test(no_range_and_no_nice_say_what_is_allowed),
	    cmocka_unit_test(automatic_threads_are_no_more_than_the_cpus),
	    cmocka_unit_test(tls_takes_a_spare_thread_for_each_cpu),
	    cmocka_unit_test(
	        shards_are_automatic_or_as_many_as_threads_at_most),
	    cmocka_unit_test(cpus_are_numbers_and_ranges),
	    cmocka_unit_test(
	        cpus_that_are_not_there_are_refused_with_those_that_are),
	    cmocka_unit_test(no_list_of_cpus_is_refused),
	    cmocka_unit_test(longest_list_of_cpus_has_room),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
