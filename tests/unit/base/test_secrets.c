/* SPDX-License-Identifier: MIT
 * What is masked, and by what.
 */
#include "base/secrets.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

static void
assert_masked(const char *text, const char *expected)
{
	char *copy;

	assert_string_equal(secrets_mask(text, &copy), expected);
	assert_true((copy == NULL) == (strcmp(text, expected) == 0));
	free(copy);
}

static void
every_occurrence_is_masked_by_its_source(void **state)
{
	(void)state;
	assert_true(secrets_add("hunter2", "${PW}", NULL));
	assert_true(secrets_add("geheim", "${file:/x}", NULL));
	assert_masked(
	    "hunter2hunter2, geheim: hunter", "${PW}${PW}, ${file:/x}: hunter");
	assert_masked("nothing", "nothing");
	assert_masked("", "");
	secrets_forget();
	assert_masked("hunter2", "hunter2");
}

static void
the_longest_secret_is_masked(void **state)
{
	(void)state;
	assert_true(secrets_add("abcd", "${A}", NULL));
	assert_true(secrets_add("abcdef", "${B}", NULL));
	assert_true(secrets_add("abcde", "${C}", NULL));
	assert_masked("abcdefabcdeabcd", "${B}${C}${A}");
	secrets_forget();
}

static void
very_short_texts_are_not(void **state)
{
	(void)state;
	assert_true(secrets_add("abc", "${A}", NULL));
	assert_masked("xabcx", "xabcx");
	secrets_forget();
}

static void
count_open(void *arg, const char *path)
{
	assert_string_equal(path, "/p");
	++*(unsigned *)arg;
}

static void
open_files_of_the_last_configuration_are_told(void **state)
{
	unsigned n = 0;

	(void)state;
	assert_true(secrets_add("first", "${file:/p}", "/p"));
	assert_true(secrets_add("other", "${file:/q}", NULL));
	secrets_each_open(count_open, &n);
	assert_int_equal(n, 1);
	secrets_begin();
	secrets_each_open(count_open, &n);
	assert_int_equal(n, 1);
	assert_masked("first", "${file:/p}");
	assert_true(secrets_add("first", "${file:/p}", NULL));
	secrets_each_open(count_open, &n);
	assert_int_equal(n, 1);
	secrets_forget();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_occurrence_is_masked_by_its_source),
	    cmocka_unit_test(the_longest_secret_is_masked),
	    cmocka_unit_test(very_short_texts_are_not),
	    cmocka_unit_test(open_files_of_the_last_configuration_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
