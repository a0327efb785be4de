/* SPDX-License-Identifier: MIT
 * What was meant instead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "config/hint.h"

static void
assert_near(const char *word, const char *expected)
{
	static const char *const words[] = {"listen", "backend", "pool",
	    "timeout_client", "timeout_client_fin"};
	struct hint h;

	hint_init(&h, word);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		hint_offer(&h, words[i]);
	if (!expected)
		assert_null(h.near);
	else if (!h.near)
		fail_msg("nothing near '%s'", word);
	else
		assert_string_equal(h.near, expected);
}

static void
slips_of_the_pen_are_recognized(void **state)
{
	(void)state;
	assert_near("listne", "listen");
	assert_near("lisen", "listen");
	assert_near("listten", "listen");
	assert_near("Listen", "listen");
	assert_near("bakcend", "backend");
	assert_near("backends", "backend");
	assert_near("timeout-client", "timeout_client");
	assert_near("timeout_client_fn", "timeout_client_fin");
	assert_near("pol", "pool");
}

static void
other_words_are_not(void **state)
{
	char lots[200];

	(void)state;
	assert_near("", NULL);
	assert_near("x", NULL);
	assert_near("maxconn", NULL);
	assert_near("threads", NULL);
	memset(lots, 'l', sizeof(lots) - 1);
	lots[sizeof(lots) - 1] = '\0';
	assert_near(lots, NULL);
}

static void
text_lists_what_is_allowed(void **state)
{
	struct hint h;

	(void)state;
	hint_init(&h, "x");
	assert_string_equal(hint_text(&h, "allowed"), "allowed are none");
	hint_offer(&h, "");
	hint_offer(&h, "alpha");
	assert_string_equal(hint_text(&h, "allowed"), "allowed is alpha");
	hint_offer(&h, "beta");
	assert_string_equal(hint_text(&h, "there"), "there are alpha, beta");
	hint_init(&h, "alpa");
	hint_offer(&h, "alpha");
	assert_string_equal(
	    hint_text(&h, "allowed"), "did you mean 'alpha'? allowed is alpha");
}

static void
long_lists_end_in_dots(void **state)
{
	struct hint h;
	char word[16];

	(void)state;
	for (size_t width = 1; width < 12; width++) {
		const char *text;

		hint_init(&h, "zzzzzzz");
		for (int i = 0; i < 1000; i++) {
			snprintf(word, sizeof(word), "%0*d", (int)width, i);
			hint_offer(&h, word);
		}
		text = hint_text(&h, "allowed");
		assert_true(strlen(text) < sizeof(h.text));
		assert_string_equal(text + strlen(text) - 5, ", ...");
		/* Also one that is no longer listed may be the one, and a long
		 * list says less than that. */
		hint_offer(&h, "zzzzzzzz");
		assert_string_equal(
		    hint_text(&h, "allowed"), "did you mean 'zzzzzzzz'?");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(slips_of_the_pen_are_recognized),
	    cmocka_unit_test(other_words_are_not),
	    cmocka_unit_test(text_lists_what_is_allowed),
	    cmocka_unit_test(long_lists_end_in_dots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
