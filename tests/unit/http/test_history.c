/* SPDX-License-Identifier: MIT
 * The samples of the status page: a ring that is written oldest first.
 */
#include "http/history.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

static struct history history;

static void
add(uint32_t value)
{
	for (int i = 0; i < HISTORY_KINDS; i++)
		history.process[i][history.next] = value + (uint32_t)i;
	history.next = (history.next + 1) % HISTORY_SAMPLES;
	if (history.n < HISTORY_SAMPLES)
		history.n++;
}

static char *
put(void)
{
	char *got = NULL;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	history_put(&history, out);
	assert_int_equal(fclose(out), 0);
	return got;
}

static void
samples_are_written_oldest_first(void **state)
{
	char *got;

	(void)state;
	got = put();
	assert_string_equal(got,
	    "{\"step_s\":5,\"sessions\":[],\"rate\":[],\"kib_per_s\":[],"
	    "\"busy_percent\":[],\"proxies\":{}}");
	free(got);
	add(1);
	add(2);
	snprintf(history.proxies[3].name, HISTORY_NAME, "frontend %s", "a\"b");
	history.proxies[3].sessions[1] = 9;
	got = put();
	assert_string_equal(got,
	    "{\"step_s\":5,\"sessions\":[1,2],\"rate\":[2,3],"
	    "\"kib_per_s\":[3,4],\"busy_percent\":[4,5],"
	    "\"proxies\":{\"frontend a\\\"b\":[0,9]}}");
	free(got);
}

static void
the_oldest_sample_goes_first(void **state)
{
	char *got;

	(void)state;
	memset(&history, 0, sizeof(history));
	for (uint32_t i = 0; i < HISTORY_SAMPLES + 7; i++)
		add(i);
	got = put();
	assert_non_null(strstr(got, "\"sessions\":[7,8,9,"));
	assert_non_null(strstr(got, ",125,126],\"rate\":[8,"));
	free(got);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(samples_are_written_oldest_first),
	    cmocka_unit_test(the_oldest_sample_goes_first),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
