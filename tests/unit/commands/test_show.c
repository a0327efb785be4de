/* SPDX-License-Identifier: MIT
 * `show info`, rendered.
 */
#include "commands/fixture.h"

#include <string.h>

#include "stats/info.h"
#include "watch/tls_upkeep.h"

static const char *
info(struct fixture *f)
{
	static const struct exhaustion none;
	static const struct tls_status no_tls;
	const struct info_facts facts = {.name = "HAProxy",
	    .threads = 6,
	    .waiting = 7,
	    .descriptors = 1024,
	    .sessions_max = 500,
	    .maxconn = 500,
	    .stopping = true,
	    .exhaustion = &none,
	    .tls = &no_tls};

	info_render(output(f), f->model, &facts, FIELD_PLAIN, false);
	return written(f);
}

static void
every_line_of_info_has_one_colon(void **state)
{
	const char *text = info(*state);

	while (*text) {
		unsigned colons = 0;

		for (; *text != '\n'; text++)
			colons += *text == ':';
		text++;
		assert_int_equal(colons, 1);
	}
}

/* hatop 0.8 gives up when one is missing. */
static void
info_has_the_keys_that_hatop_needs(void **state)
{
	static const char *const keys[] = {"Name: ", "Version: 2.",
	    "Release_date: ", "Nbproc: 1\n", "Process_num: 1\n",
	    "Pid: ", "Uptime: 0d 0h00m0", "Maxconn: 500\n", "CurrConns: 2\n",
	    "Maxpipes: ", "PipesUsed: ", "Tasks: 2\n", "Run_queue: 7\n",
	    "node: edge-1\n"};
	struct fixture *f = *state;
	const char *at;

	gauge_up(&f->model->state->sessions);
	gauge_up(&f->model->state->sessions);
	at = info(f);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		at = strstr(at, keys[i]);
		if (!at)
			fail_msg("no '%s', or not in HAProxy's order", keys[i]);
	}
}

static void
info_tells_facts_and_sums(void **state)
{
	struct fixture *f = *state;
	const char *text;

	counters_add(f->web->counters, 0, COUNTER_SESSIONS, 42);
	f->model->state->rate.per_second = 3;
	f->model->state->rate.peak = 5;
	text = info(f);
	assert_non_null(strstr(text, "\nNbthread: 6\n"));
	assert_non_null(strstr(text, "\nUlimit-n: 1024\n"));
	assert_non_null(strstr(text, "\nCumConns: 42\n"));
	assert_non_null(strstr(text, "\nConnRate: 3\n"));
	assert_non_null(strstr(text, "\nMaxConnRate: 5\n"));
	assert_non_null(strstr(text, "\nStopping: 1\n"));
	assert_non_null(
	    strstr(text, "\nLfproxy_version: " LFPROXY_VERSION "\n"));
}

static void
long_uptime_is_days_hours_minutes_seconds(void **state)
{
	struct fixture *f = *state;

	f->model->state->started_ms -=
	    (2 * 86400 + 3 * 3600 + 4 * 60 + 5) * 1000ull;
	assert_non_null(strstr(info(f), "\nUptime: 2d 3h04m05s\n"));
	assert_non_null(strstr(info(f), "\nUptime_sec: 183845\n"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(every_line_of_info_has_one_colon),
	    TEST(info_has_the_keys_that_hatop_needs),
	    TEST(info_tells_facts_and_sums),
	    TEST(long_uptime_is_days_hours_minutes_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
