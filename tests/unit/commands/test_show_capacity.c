/* SPDX-License-Identifier: MIT
 * A line of `show capacity`.
 */
#include "commands/fixture.h"

#include <string.h>

#include "commands/show.h"

/* 2026-11-21T20:00:00Z */
#define NOW_S 1795291200

static const char *
render(struct fixture *f, const struct capacity_row *row, bool json)
{
	struct report r;

	report_begin(&r, json, output(f));
	show_capacity_row(&r, row, NOW_S);
	return written(f);
}

static const char *
line(struct fixture *f, const struct capacity_row *row)
{
	return render(f, row, false);
}

static const char *
object(struct fixture *f, const struct capacity_row *row)
{
	return render(f, row, true);
}

static const struct capacity_row rising = {.resource = "sessions",
    .of = "frontend web",
    .known = true,
    .used = 40,
    .limited = true,
    .limit = 100,
    .has_trend = true,
    .per_s = 0.5};

static void
what_rises_says_when_it_is_full(void **state)
{
	const char *text = line(*state, &rising);

	assert_non_null(
	    strstr(text, " 40       100   40.0 %  frontend web: +0.5/s, "
	                 "full in 2m0s at 2026-11-21T20:02:00Z\n"));
	text = object(*state, &rising);
	assert_non_null(strstr(text, "\"per_second\":0.5"));
	assert_non_null(strstr(text, "\"full_in_s\":120.0"));
	assert_non_null(strstr(text, "\"full_at\":\"2026-11-21T20:02:00Z\""));
}

static void
what_falls_or_rests_is_never_full(void **state)
{
	struct capacity_row row = rising;

	row.per_s = -2;
	assert_non_null(strstr(line(*state, &row), "web: -2/s\n"));
	row.per_s = 0;
	assert_non_null(strstr(line(*state, &row), "web: steady\n"));
	assert_non_null(strstr(object(*state, &row), "\"full_in_s\":null"));
	row.used = 100;
	assert_non_null(strstr(line(*state, &row), "web: steady, full\n"));
	/* In a year. */
	row = rising;
	row.per_s = 2e-6;
	assert_null(strstr(line(*state, &row), "full"));
}

static void
what_is_not_known_is_a_dash(void **state)
{
	struct capacity_row row = rising;

	row.limited = row.has_trend = false;
	assert_non_null(strstr(
	    line(*state, &row), " 40         -        -  frontend web: -\n"));
	row.known = false;
	row.note = "nobody knows";
	assert_non_null(strstr(line(*state, &row),
	    " -         -        -  frontend web: - (nobody knows)\n"));
	assert_non_null(strstr(object(*state, &row), "\"used\":null"));
	assert_non_null(strstr(object(*state, &row), "\"percent\":null"));
}

static void
bytes_have_prefixes_of_1024(void **state)
{
	struct capacity_row row = rising;

	row.unit = CAPACITY_BYTES;
	row.used = 1536;
	row.limit = 2048;
	row.per_s = 512;
	assert_non_null(strstr(line(*state, &row),
	    " 1.50k     2.00k   75.0 %  frontend web: +512/s, full in 1s at "));
	assert_non_null(strstr(object(*state, &row), "\"used\":1536.0"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(what_rises_says_when_it_is_full),
	    TEST(what_falls_or_rests_is_never_full),
	    TEST(what_is_not_known_is_a_dash),
	    TEST(bytes_have_prefixes_of_1024),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
