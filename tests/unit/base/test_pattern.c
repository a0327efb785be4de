/* SPDX-License-Identifier: MIT
 * Patterns: bytes and regular expressions as operators write them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base/pattern.h"

static void
bytes_are_what_was_written(void **state)
{
	static const struct {
		const char *text, *bytes;
		size_t n;
	} good[] = {{"PONG", "PONG", 4}, {"\"PING\\r\\n\"", "PING\r\n", 6},
	    {"\"a b\"", "a b", 3}, {"\"\\x00\\xfF\\0\"", "\0\377\0", 3},
	    {"\"q\\\"\\\\\\t\"", "q\"\\\t", 4}, {"hex 00 1f", "\0\x1f", 2},
	    {"hex DEad", "\xde\xad", 2}, {"hexa", "hexa", 4},
	    {"regexp", "regexp", 6}};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct pattern p;
		struct err err;

		assert_true(pattern_parse(good[i].text, &p, &err));
		assert_int_equal(p.kind, PATTERN_BYTES);
		assert_string_equal(p.text, good[i].text);
		assert_int_equal(p.n, good[i].n);
		assert_memory_equal(p.bytes, good[i].bytes, p.n);
		pattern_fini(&p);
	}
}

static void
nonsense_is_refused_and_leaves_nothing(void **state)
{
	static const char *const bad[] = {"", "\"\"", "\"a", "\"a\"b",
	    "\"\\q\"", "\"\\x1\"", "\"\\", "hex", "hex ", "hex 1", "hex 0g",
	    "hex 1 1", "regex ", "regex \"(\"", "regex [", "regex \"a"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct pattern p;
		struct err err = {""};
		bool ok = pattern_parse(bad[i], &p, &err);

		if (strcmp(bad[i], "hex") == 0) {
			assert_true(ok); /* the word */
			pattern_fini(&p);
			continue;
		}
		if (ok)
			fail_msg("'%s' was taken", bad[i]);
		assert_true(err.text[0]);
		assert_null(p.text);
		assert_null(p.bytes);
	}
}

static bool
found(const char *pattern, const char *data, size_t n)
{
	struct pattern p;
	struct err err;
	bool yes;

	assert_true(pattern_parse(pattern, &p, &err));
	yes = pattern_found(&p, data, n);
	pattern_fini(&p);
	return yes;
}

static void
bytes_are_found_anywhere(void **state)
{
	(void)state;
	assert_true(found("b", "abc", 3));
	assert_true(found("\"c\\0d\"", "abc\0d", 5));
	assert_false(found("bd", "abc", 3));
	assert_false(found("abcd", "abc", 3));
	assert_false(found("a", NULL, 0));
}

static void
expressions_are_those_of_perl(void **state)
{
	(void)state;
	assert_true(found("regex ^b", "a\nb", 3));
	assert_true(found("regex \"^\\+(PONG|OK)\\r$\"", "+PONG\r\n", 7));
	assert_true(found("regex \"a\\x00b\"", "a\0b", 3));
	assert_true(found("regex \"\\\"a\\d\"", "\"a5", 3));
	assert_false(found("regex ^b$", "abc", 3));
	assert_false(found("regex a", NULL, 0));
	assert_true(found("regex ^$", NULL, 0));
}

/* It would take longer than the age of the universe. */
static void
explosive_expression_gives_up(void **state)
{
	char data[4096];
	clock_t began = clock();

	(void)state;
	memset(data, 'a', sizeof(data));
	assert_false(found("regex ^(a+)+$x", data, sizeof(data)));
	assert_false(found("regex (x+x+)+y|(a+a+)+b", data, sizeof(data)));
	assert_true(clock() - began < 5 * CLOCKS_PER_SEC);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bytes_are_what_was_written),
	    cmocka_unit_test(nonsense_is_refused_and_leaves_nothing),
	    cmocka_unit_test(bytes_are_found_anywhere),
	    cmocka_unit_test(expressions_are_those_of_perl),
	    cmocka_unit_test(explosive_expression_gives_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
