/* SPDX-License-Identifier: MIT
 * Escaping for JSON: jansson, which is strict, must read it back.
 */
#include "base/escape.h"

#include <jansson.h>

#include "unit.h"

#define ROUNDS 100000

/* "..." as the parser reads it, or NULL. */
static json_t *
read_back(const char *s, char *quoted, size_t size)
{
	size_t len;

	quoted[0] = '"';
	len = escape_json(s, quoted + 1, size - 3);
	memcpy(quoted + 1 + len, "\"", 2);
	return json_loads(quoted, JSON_DECODE_ANY, NULL);
}

static void
assert_escapes(const char *s, const char *expected)
{
	char out[256];
	size_t len = escape_json(s, out, sizeof(out));

	assert_int_equal(len, strlen(expected));
	assert_memory_equal(out, expected, len);
}

static void
plain_text_and_utf8_stay(void **state)
{
	(void)state;
	assert_escapes("", "");
	assert_escapes("unix:/run/a b.sock", "unix:/run/a b.sock");
	assert_escapes("\u00e9 \u20ac \U0001f980", "\u00e9 \u20ac \U0001f980");
}

static void
quotes_backslashes_and_controls_are_escaped(void **state)
{
	(void)state;
	assert_escapes("a\"b\\c", "a\\\"b\\\\c");
	assert_escapes("\b\f\n\r\t", "\\b\\f\\n\\r\\t");
	assert_escapes("\x01\x1f\x7f", "\\u0001\\u001f\\u007f");
	assert_escapes("\xc2\x80\xc2\x9b", "\\u0080\\u009b");
	assert_escapes("\u202e\u2069\ufeff", "\\u202e\\u2069\\ufeff");
}

static void
bytes_that_are_no_utf8_are_replaced_one_by_one(void **state)
{
	(void)state;
	assert_escapes("\xff", "\\ufffd");
	assert_escapes("\xc3", "\\ufffd");
	assert_escapes("\xc3(", "\\ufffd(");
	assert_escapes("\xc0\xaf", "\\ufffd\\ufffd"); /* too long */
	assert_escapes("\xe0\x80\xaf", "\\ufffd\\ufffd\\ufffd");
	assert_escapes("\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"); /* surrogate */
	assert_escapes(
	    "\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"); /* too high */
	assert_escapes("\xe2\x82", "\\ufffd\\ufffd");
}

static void
what_does_not_fit_is_left_out_whole(void **state)
{
	char out[8] = "#######";

	(void)state;
	assert_int_equal(escape_json("a\x01"
	                             "b",
	                     out, 6),
	    1);
	assert_int_equal(escape_json("\u20ac", out, 2), 0);
	assert_int_equal(out[1], '#');
}

static void
any_bytes_are_read_back_by_a_strict_parser(void **state)
{
	uint32_t random = 20261121, wrong = 0, changed = 0;
	char s[64], quoted[64 * ESCAPE_JSON_MAX + 3];

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		size_t n = unit_random(&random) % (sizeof(s) - 1);
		bool ascii = true;
		json_t *back;

		for (size_t j = 0; j < n; j++) {
			s[j] = (char)(1 + unit_random(&random) % 255);
			ascii &= (unsigned char)s[j] < 0x80;
		}
		s[n] = '\0';
		back = read_back(s, quoted, sizeof(quoted));
		wrong += !back;
		if (back && ascii)
			changed += strcmp(json_string_value(back), s) != 0;
		json_decref(back);
	}
	assert_int_equal(wrong, 0);
	assert_int_equal(changed, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(plain_text_and_utf8_stay),
	    cmocka_unit_test(quotes_backslashes_and_controls_are_escaped),
	    cmocka_unit_test(bytes_that_are_no_utf8_are_replaced_one_by_one),
	    cmocka_unit_test(what_does_not_fit_is_left_out_whole),
	    cmocka_unit_test(any_bytes_are_read_back_by_a_strict_parser),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
