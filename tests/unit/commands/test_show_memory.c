/* SPDX-License-Identifier: MIT
 * `show memory`, rendered.
 */
#include "commands/fixture.h"

#include <string.h>

#include "commands/show.h"

static const char *
render(struct fixture *f, uint64_t heap, bool json)
{
	struct memory_totals totals = {
	    .heap = heap, .heap_idle = 50, .resident = 4096};
	struct memory_use sessions = {.count = 2, .heap = 100, .mapped = 768};
	struct memory_use pipes = {.count = 1};
	struct memory_rows rows = {.n = 0};
	struct report r;

	memory_rows_add(&rows, "sessions", sessions, 0, "a note");
	memory_rows_add(&rows, "splice pipes", pipes, 65536, NULL);
	report_begin(&r, json, output(f));
	show_memory_put(&r, &rows, &totals);
	report_end(&r);
	return written(f);
}

static void
what_has_no_name_is_what_is_left(void **state)
{
	const char *text = render(*state, 125, false);

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
	assert_non_null(
	    strstr(render(*state, 0, false), " 0  0.0 % of the heap in use\n"));
}

static void
json_has_the_same_numbers(void **state)
{
	const char *text = render(*state, 125, true);

	assert_non_null(strstr(text, "\"named_heap\":100,"));
	assert_non_null(strstr(text, "\"unexplained_heap\":25,"));
	assert_non_null(strstr(text, "\"kernel\":65536,"));
	assert_non_null(strstr(text, "\"resident\":4096"));
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
