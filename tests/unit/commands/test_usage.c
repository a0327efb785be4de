/* SPDX-License-Identifier: MIT
 * Arguments held against a usage.
 */
#include "commands/call.h"

#include <stddef.h>

#include "unit.h"

#define ARGS(...)        ((char *[]){__VA_ARGS__ __VA_OPT__(, ) NULL})
#define FITS(usage, ...) assert_null(usage_unexpected(usage, ARGS(__VA_ARGS__)))
#define REFUSED(what, usage, ...)                                              \
	assert_string_equal(usage_unexpected(usage, ARGS(__VA_ARGS__)), what)

static void
no_usage_takes_nothing(void **state)
{
	(void)state;
	FITS("");
	REFUSED("x", "", "x");
}

static void
literals_are_taken_as_written(void **state)
{
	(void)state;
	FITS("[json]");
	FITS("[json]", "json");
	REFUSED("jsno", "[json]", "jsno");
	REFUSED("json", "[json]", "json", "json");
	FITS("[a|bc]*", "bc", "a", "a");
	REFUSED("b", "[a|bc]*", "a", "b");
	REFUSED("|", "a|b", "|");
}

static void
a_name_is_any_text(void **state)
{
	(void)state;
	FITS("<pool>", "main");
	FITS("[<pool>] [json]", "main", "json");
	FITS("[<pool>] [json]");
	REFUSED("x", "[<pool>] [json]", "main", "x");
}

static void
a_group_is_taken_whole_or_not(void **state)
{
	(void)state;
	FITS("<s> [for <time>]", "app/a");
	FITS("<s> [for <time>]", "app/a", "for", "2h");
	REFUSED("2h", "<s> [for <time>]", "app/a", "2h");
	REFUSED("x", "<s> [for <time>]", "app/a", "for", "2h", "x");
	FITS("[<px>] [request|response] [json]", "web", "json");
	REFUSED("y", "[over <time>] [then <x|y>]", "y");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(no_usage_takes_nothing),
	    cmocka_unit_test(literals_are_taken_as_written),
	    cmocka_unit_test(a_name_is_any_text),
	    cmocka_unit_test(a_group_is_taken_whole_or_not),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
