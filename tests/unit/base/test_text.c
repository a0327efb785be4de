/* SPDX-License-Identifier: MIT
 * Durations, numbers and file modes as people write them.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"

#define DAY 86400000ull

static void
duration_is_number_and_unit(void **state)
{
	static const struct {
		const char *text;
		uint64_t ms;
	} good[] = {{"0", 0}, {"00", 0}, {"0s", 0}, {"0ms", 0}, {"250ms", 250},
	    {"5s", 5000}, {"5m", 300000}, {"2h", 7200000}, {"30d", 30 * DAY},
	    {"007s", 7000}};
	struct err err;
	uint64_t ms;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ms = 1;
		assert_true(
		    text_parse_duration(good[i].text, 0, 30 * DAY, &ms, &err));
		assert_int_equal(ms, good[i].ms);
	}
}

static void
duration_refuses_with_reason(void **state)
{
	static const struct {
		const char *text, *reason;
	} bad[] = {
	    {"", "'' is not a duration"},
	    {"s", "'s' is not a duration"},
	    {"-5s", "'-5s' is not a duration"},
	    {"+5s", "'+5s' is not a duration"},
	    {" 5s", "' 5s' is not a duration"},
	    {"1.5s", "'1.5s' is not a duration; write a whole number"},
	    {"30", "'30' has no unit; write 30s or 30ms (ms, s, m, h, d)"},
	    /* What is advised is in the range. */
	    {"5", "'5' has no unit; write 5s (ms, s, m, h, d)"},
	    {"86401", "'86401' has no unit; write 86401ms (ms, s, m, h, d)"},
	    {"86400001", "'86400001' has no unit (ms, s, m, h, d); allowed is "
	                 "10ms to 1d"},
	    {"0", "'0' is out of range; allowed is 10ms to 1d"},
	    {"0s", "'0s' is out of range; allowed is 10ms to 1d"},
	    {"5sec", "unknown unit 'sec'; allowed are ms, s, m, h, d"},
	    {"5S", "unknown unit 'S'"},
	    {"5 s", "unknown unit ' s'"},
	    {"5s ", "unknown unit 's '"},
	    {"9ms", "'9ms' is out of range; allowed is 10ms to 1d"},
	    {"25h", "'25h' is out of range; allowed is 10ms to 1d"},
	    /* 2^64 ms and more must not wrap around into the range. */
	    {"18446744073709551617ms", "is out of range"},
	    {"213503982335d", "is out of range"},
	    {"99999999999999999999999d", "is out of range"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err err = {""};
		uint64_t ms = 42;

		assert_false(
		    text_parse_duration(bad[i].text, 10, DAY, &ms, &err));
		assert_int_equal(ms, 42);
		if (!strstr(err.text, bad[i].reason))
			fail_msg("%s: %s", bad[i].text, err.text);
	}
}

static void
duration_range_includes_its_ends(void **state)
{
	uint64_t ms;

	(void)state;
	assert_true(text_parse_duration("10ms", 10, DAY, &ms, NULL));
	assert_int_equal(ms, 10);
	assert_true(text_parse_duration("1d", 10, DAY, &ms, NULL));
	assert_int_equal(ms, DAY);
	assert_false(text_parse_duration("86400001ms", 10, DAY, &ms, NULL));
	assert_int_equal(ms, DAY);
}

static void
duration_prints_shortest_exact_form(void **state)
{
	static const struct {
		uint64_t ms;
		const char *text;
	} pairs[] = {{0, "0ms"}, {1, "1ms"}, {1000, "1s"}, {1500, "1500ms"},
	    {90000, "90s"}, {300000, "5m"}, {5400000, "90m"}, {DAY, "1d"},
	    {36 * 3600000ull, "36h"}, {30 * DAY, "30d"},
	    {UINT64_MAX, "18446744073709551615ms"}};
	char out[TEXT_DURATION_SIZE];
	uint64_t ms;

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		assert_ptr_equal(text_duration(pairs[i].ms, out), out);
		assert_string_equal(out, pairs[i].text);
		assert_true(text_parse_duration(out, 0, UINT64_MAX, &ms, NULL));
		assert_true(ms == pairs[i].ms);
	}
}

static void
number_is_decimal_within_range(void **state)
{
	static const char *const bad[] = {"", "0", "257", "1x", "x", "-1", "+1",
	    " 1", "1 ", "0x10", "1.0", "18446744073709551617",
	    "99999999999999999999999999"};
	struct err err;
	uint64_t n = 42;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		if (text_parse_number(bad[i], 1, 256, &n, &err))
			fail_msg("'%s' was taken", bad[i]);
		assert_int_equal(n, 42);
		assert_non_null(
		    strstr(err.text, "is not a whole number from 1 to 256"));
	}
	assert_true(text_parse_number("1", 1, 256, &n, &err));
	assert_int_equal(n, 1);
	assert_true(text_parse_number("0256", 1, 256, &n, &err));
	assert_int_equal(n, 256);
	assert_false(text_parse_number("257", 1, 256, &n, NULL));
}

static void
percentage_takes_the_sign_or_leaves_it(void **state)
{
	static const char *const bad[] = {"", "%", "4", "101", "101%", "5%%",
	    "5 %", "-5%", "5.5%", "18446744073709551617%"};
	struct err err;
	uint64_t n = 42;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		if (text_parse_percent(bad[i], 5, 100, &n, &err))
			fail_msg("'%s' was taken", bad[i]);
		assert_int_equal(n, 42);
		assert_non_null(
		    strstr(err.text, "is not a percentage from 5% to 100%"));
	}
	assert_true(text_parse_percent("5", 5, 100, &n, &err));
	assert_int_equal(n, 5);
	assert_true(text_parse_percent("100%", 5, 100, &n, &err));
	assert_int_equal(n, 100);
}

static void
mode_is_octal(void **state)
{
	static const char *const bad[] = {
	    "", "8", "0668", "rw", "1777", "00660", "-1", "0x1", "66 "};
	struct err err;
	uint32_t mode = 42;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (text_parse_mode(bad[i], &mode, &err))
			fail_msg("'%s' was taken", bad[i]);
		assert_int_equal(mode, 42);
		assert_non_null(strstr(err.text, "write it in octal"));
	}
	assert_true(text_parse_mode("0660", &mode, &err));
	assert_int_equal(mode, 0660);
	assert_true(text_parse_mode("600", &mode, &err));
	assert_int_equal(mode, 0600);
	assert_true(text_parse_mode("0", &mode, &err));
	assert_int_equal(mode, 0);
	assert_true(text_parse_mode("0777", &mode, &err));
	assert_int_equal(mode, 0777);
}

static void
size_is_bytes_or_a_number_of_units(void **state)
{
	static const struct {
		const char *text, *shortest;
		uint64_t bytes;
	} rows[] = {{"1", "1", 1}, {"1024", "1k", 1024}, {"64k", "64k", 65536},
	    {"64K", "64k", 65536}, {"1536k", "1536k", 1536 * 1024},
	    {"1025", "1025", 1025}, {"2048m", "2g", 2ull << 30}};
	static const char *const bad[] = {"", "k", "1kb", "-1", "1.5k", "1 k",
	    "1t", "17179869184g", "99999999999999999999", "3g"};
	char out[TEXT_SIZE_SIZE];
	struct err err;
	uint64_t n = 42;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (text_parse_size(bad[i], 1, 2ull << 30, &n, &err))
			fail_msg("'%s' was taken", bad[i]);
		assert_int_equal(n, 42);
	}
	assert_non_null(strstr(err.text, "allowed is 1 to 2g"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(
		    text_parse_size(rows[i].text, 1, 2ull << 30, &n, &err));
		assert_int_equal(n, rows[i].bytes);
		assert_string_equal(text_size(n, out), rows[i].shortest);
	}
	assert_string_equal(text_size(0, out), "0");
}

static void
byte_rate_is_bytes_or_bits_per_second(void **state)
{
	static const struct {
		const char *text;
		uint64_t rate;
		const char *shortest;
	} rows[] = {
	    {"8KiB/s", 8192, "8KiB/s"},
	    {"10m", 10485760, "10MiB/s"},
	    {"10MB/s", 10000000, "80Mbit/s"},
	    {"5Gbit/s", 625000000, "5Gbit/s"},
	    {"5gbit", 625000000, "5Gbit/s"},
	    {"1001", 1001, "1001B/s"},
	    {"2048b/s", 2048, "2KiB/s"},
	    {"64kbit/s", 8000, "64kbit/s"},
	};
	static const char *const bad[] = {"", "KiB/s", "10 MiB/s", "10MiB/m",
	    "-1", "10Mibit/s", "1.5MiB/s", "100", "9999999GiB/s",
	    "99999999999999999999"};
	char out[TEXT_BYTE_RATE_SIZE];
	struct err err;
	uint64_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (text_parse_byte_rate(bad[i], 1000, 1ull << 40, &n, &err))
			fail_msg("'%s' is taken", bad[i]);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(text_parse_byte_rate(
		    rows[i].text, 1000, 1ull << 40, &n, &err));
		assert_int_equal(n, rows[i].rate);
		assert_string_equal(text_byte_rate(n, out), rows[i].shortest);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(duration_is_number_and_unit),
	    cmocka_unit_test(duration_refuses_with_reason),
	    cmocka_unit_test(duration_range_includes_its_ends),
	    cmocka_unit_test(duration_prints_shortest_exact_form),
	    cmocka_unit_test(number_is_decimal_within_range),
	    cmocka_unit_test(percentage_takes_the_sign_or_leaves_it),
	    cmocka_unit_test(mode_is_octal),
	    cmocka_unit_test(size_is_bytes_or_a_number_of_units),
	    cmocka_unit_test(byte_rate_is_bytes_or_bits_per_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
