/* SPDX-License-Identifier: MIT
 * `show memory`, rendered.
 */
#include "commands/fixture.h"

#include <string.h>

#include "commands/show.h"

static const char *
render(struct fixture *f, bool json)
{
	struct memory_facts facts = {
	    .rows = {{"sessions", 2, 768, 0, "a note"},
	        {"splice pipes", 1, 0, 65536, "another"}},
	    .totals = {.heap = 125,
	        .heap_idle = 50,
	        .kernel = {4096, 8192, 2048, 1024}},
	};
	struct report r;

	for (size_t i = 2; i < MEMORY_ROWS; i++)
		facts.rows[i] = (struct memory_row){"rest", 0, 0, 0, ""};
	report_begin(&r, json, output(f));
	show_memory_put(&r, &facts);
	report_end(&r);
	return written(f);
}

static void
text_has_rows_and_totals(void **state)
{
	const char *text = render(*state, false);

	assert_non_null(strstr(text,
	    "sessions                   2         768           -  a note\n"));
	assert_non_null(strstr(text,
	    "splice pipes               1           -       65536  another\n"));
	assert_non_null(strstr(text, " 125  and 50 free, kept by malloc\n"));
	assert_non_null(strstr(
	    text, " 4096  of which 2048 not of programs and libraries\n"));
	assert_non_null(strstr(text, "  at most so far        8192\n"));
	assert_non_null(strstr(text, "swapped out             1024\n"));
}

static void
json_has_the_same_numbers(void **state)
{
	const char *text = render(*state, true);

	assert_non_null(
	    strstr(text, "{\"what\":\"splice pipes\",\"count\":1,\"mapped\":0,"
	                 "\"kernel\":65536,\"note\":\"another\"}"));
	assert_non_null(
	    strstr(text, "\"heap\":125,\"heap_idle\":50,\"resident\":4096,"
	                 "\"anonymous\":2048,\"peak\":8192,\"swapped\":1024"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(text_has_rows_and_totals),
	    TEST(json_has_the_same_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
