/* SPDX-License-Identifier: MIT
 * Printable text: every character and every broken form is tried.
 */
#include "base/printable.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

static bool
all_printable(const char *s)
{
	size_t len;

	while ((len = printable_length(s)) > 0)
		s += len;
	return *s == '\0';
}

/* Writes c by the rule, surrogates included.  Returns the length. */
static size_t
encode(uint32_t c, char out[5])
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(first[n] | c);
	out[n] = '\0';
	return n;
}

static bool
is_bad(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c ||
	       c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x206f) || c == 0xfeff ||
	       (c >= 0xfff9 && c <= 0xfffb);
}

static void
every_character_is_kept_or_replaced(void **state)
{
	uint32_t wrong = 0;

	(void)state;
	for (uint32_t c = 1; c <= 0x10ffff; c++) {
		bool surrogate = c >= 0xd800 && c <= 0xdfff;
		char one[5], text[16], copy[16];
		size_t n = encode(c, one);

		snprintf(text, sizeof(text), "a%sb", one);
		strcpy(copy, text);
		printable_clean(copy, '?');
		if (surrogate)
			wrong += strcmp(copy, "a???b") != 0;
		else if (is_bad(c))
			wrong += strcmp(copy, "a?b") != 0 ||
			         printable_length(one) != 0 ||
			         all_printable(text);
		else
			wrong += strcmp(copy, text) != 0 ||
			         printable_length(one) != n ||
			         !all_printable(text);
	}
	assert_int_equal(wrong, 0);
}

static void
assert_cleaned(const char *text, const char *expected)
{
	char copy[64];

	printable_copy(copy, sizeof(copy), text, '?');
	assert_string_equal(copy, expected);
	strcpy(copy, text);
	printable_clean(copy, '?');
	assert_string_equal(copy, expected);
	assert_int_equal(all_printable(text), strcmp(text, expected) == 0);
}

static void
bytes_that_are_no_utf8_are_replaced_one_by_one(void **state)
{
	char byte[2] = "";

	(void)state;
	for (unsigned c = 0x80; c <= 0xff; c++) {
		byte[0] = (char)c;
		assert_cleaned(byte, "?");
	}
	assert_cleaned("\xc3", "?");
	assert_cleaned("\xc3(", "?(");
	assert_cleaned("\xe2\x82", "??");
	assert_cleaned("\xf0\x9f\xa6z", "???z");
	assert_cleaned("\xc0\xaf", "??");           /* too long */
	assert_cleaned("\xe0\x80\xaf", "???");      /* too long */
	assert_cleaned("\xf4\x90\x80\x80", "????"); /* too high */
	assert_cleaned("\xf8\x88\x80\x80\x80", "?????");
}

static void
terminal_sequences_lose_their_head(void **state)
{
	(void)state;
	assert_cleaned("\033[31mred", "?[31mred");
	assert_cleaned("\x9b"
	               "31mred",
	    "?31mred");
	assert_cleaned("\xc2\x9b"
	               "31mred",
	    "?31mred");
	assert_cleaned("user\u202egnp.exe\u2069", "user?gnp.exe?");
	assert_cleaned("one\r\ntwo\tthree", "one??two?three");
}

static void
text_of_any_script_stays(void **state)
{
	(void)state;
	assert_cleaned("", "");
	assert_cleaned("gr\u00fc\u00dfe \u20ac \u05d0\u05d1 \u0645 \U0001f980",
	    "gr\u00fc\u00dfe \u20ac \u05d0\u05d1 \u0645 \U0001f980");
	assert_cleaned("\u0915\u094d\u200d\u0937", /* with a joiner */
	    "\u0915\u094d\u200d\u0937");
}

static void
copy_that_is_cut_has_whole_characters(void **state)
{
	char out[8] = "#######";

	(void)state;
	printable_copy(out, 3, "a\u20ac", '?');
	assert_string_equal(out, "a");
	printable_copy(out, 4, "a\u20ac", '?');
	assert_string_equal(out, "a");
	printable_copy(out, 5, "a\u20acz", '?');
	assert_string_equal(out, "a\u20ac");
	printable_copy(out, 1, "a", '?');
	assert_string_equal(out, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_character_is_kept_or_replaced),
	    cmocka_unit_test(bytes_that_are_no_utf8_are_replaced_one_by_one),
	    cmocka_unit_test(terminal_sequences_lose_their_head),
	    cmocka_unit_test(text_of_any_script_stays),
	    cmocka_unit_test(copy_that_is_cut_has_whole_characters),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
