/* SPDX-License-Identifier: MIT
 * `show memory`, rendered.
 */
#include "commands/fixture.h"

#include <string.h>

#include "commands/show_memory.h"

static struct memory_report
report_of(uint64_t heap)
{
	struct memory_report r = {
	    .totals = {.heap = heap, .heap_idle = 50, .resident = 4096}};
	struct memory_use sessions = {.count = 2, .heap = 100, .mapped = 768};
	struct memory_use pipes = {.count = 1};

	memory_rows_add(&r.rows, "sessions", sessions, 0, "a note");
	memory_rows_add(&r.rows, "splice pipes", pipes, 65536, NULL);
	return r;
}

static void
what_has_no_name_is_what_is_left(void **state)
{
	struct memory_report r = report_of(125);
	struct fixture *f = *state;
	const char *text;

	memory_put_text(output(f), &r);
	text = written(f);
	assert_non_null(strstr(text,
	    "sessions                   2         100         768           -"
	    "  a note\n"));
	assert_non_null(strstr(text,
	    "splice pipes               1           -           -       65536"
	    "\n"));
	assert_non_null(strstr(text, "\nnamed   "));
	assert_non_null(strstr(text, "  100         768\n"));
	assert_non_null(strstr(text, " 25  20.0 % of the heap in use\n"));
	assert_non_null(strstr(text, " 125  and 50 free, kept by malloc"));
	assert_non_null(strstr(text, " 4096  with code"));
}

/* As under a sanitizer. */
static void
a_malloc_that_tells_nothing_leaves_nothing_to_explain(void **state)
{
	struct memory_report r = report_of(0);
	struct fixture *f = *state;

	memory_put_text(output(f), &r);
	assert_non_null(strstr(written(f), " 0  0.0 % of the heap in use\n"));
}

static void
json_has_the_same_numbers(void **state)
{
	struct memory_report r = report_of(125);
	struct fixture *f = *state;
	struct err err;
	const char *text;

	assert_true(memory_put_json(output(f), &r, &err));
	text = written(f);
	assert_non_null(strstr(text, "\"named_heap\": 100,"));
	assert_non_null(strstr(text, "\"unexplained_heap\": 25,"));
	assert_non_null(strstr(text, "\"kernel\": 65536,"));
	assert_non_null(strstr(text, "\"resident\": 4096"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(what_has_no_name_is_what_is_left),
	    TEST(a_malloc_that_tells_nothing_leaves_nothing_to_explain),
	    TEST(json_has_the_same_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
