/* SPDX-License-Identifier: MIT
 * What is masked, and by what.
 */
#include "base/secrets.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomics.h"
#include "base/err.h"
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
	assert_masked("hunter2hunter2, geheim: hunter.",
	    "${PW}${PW}, ${file:/x}: hunter.");
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
what_the_end_cuts_off_is_masked(void **state)
{
	(void)state;
	assert_true(secrets_add("hunter2hunter2", "${PW}", NULL));
	assert_masked("no \"OK\": AUTH hunter2hunt", "no \"OK\": AUTH ${PW}");
	assert_masked("AUTH hunt", "AUTH ${PW}");
	assert_masked("AUTH hun", "AUTH hun");
	assert_masked("hunter2 is no part", "hunter2 is no part");
	secrets_forget();
}

static void
only_the_name_of_a_variable_is_shown(void **state)
{
	(void)state;
	assert_true(secrets_add("hunter2", "${PW:-other}", NULL));
	assert_true(secrets_add("geheim", "${file:/a:-b}", NULL));
	assert_masked("hunter2 geheim", "${PW} ${file:/a:-b}");
	secrets_forget();
}

static void
assert_variable(const char *name, const char *value, const char *expected)
{
	char *copy;

	assert_string_equal(
	    secrets_mask_variable(name, value, &copy), expected);
	free(copy);
}

static void
variables_are_masked_by_name_and_by_value(void **state)
{
	(void)state;
	assert_true(secrets_add("user:hunter2", "${file:/x}", NULL));
	assert_true(secrets_add("abc", "${PIN}", NULL));
	assert_true(secrets_add_variable("PIN"));
	assert_true(secrets_add_variable("PIN"));
	assert_variable("PIN", "abc", "${PIN}");
	assert_variable("PIN", "", "");
	assert_variable("PINS", "abc", "abc");
	assert_variable("PART", "hunter2", "${PART}");
	assert_variable("PART", "er2", "er2");
	assert_variable("URL", "a//user:hunter2@b", "a//${file:/x}@b");
	secrets_forget();
	assert_variable("PIN", "abc", "abc");
}

static void
names_are_inherited_once(void **state)
{
	char *variable;

	(void)state;
	assert_true(secrets_add_variable("ONE"));
	assert_true(secrets_add_variable("TWO"));
	assert_true(secrets_variable(&variable));
	secrets_forget();
	assert_int_equal(putenv(variable), 0);
	assert_int_equal(setenv("TWO", "hunter2", 1), 0);
	secrets_inherit();
	assert_masked("hunter2", "${TWO}");
	assert_int_equal(unsetenv("TWO"), 0);
	assert_null(getenv("LFPROXY_SECRETS"));
	assert_variable("ONE", "a", "${ONE}");
	assert_variable("TWO", "b", "${TWO}");
	assert_variable("ONE TWO", "c", "c");
	free(variable);
	secrets_forget();
	secrets_inherit();
	assert_variable("ONE", "a", "a");
	assert_true(secrets_variable(&variable));
	assert_string_equal(variable, "LFPROXY_SECRETS=");
	free(variable);
}

struct flawed {
	unsigned open, too_short;
};

static void
count_flaws(void *arg, const struct secret_flaws *flaws)
{
	struct flawed *f = arg;

	if (flaws->open_path) {
		assert_string_equal(flaws->open_path, "/p");
		f->open++;
	}
	if (flaws->too_short) {
		assert_string_equal(flaws->source, "${SHORT}");
		f->too_short++;
	}
}

static void
assert_flawed(unsigned open, unsigned too_short)
{
	struct flawed f = {0};

	secrets_each_flawed(count_flaws, &f);
	assert_int_equal(f.open, open);
	assert_int_equal(f.too_short, too_short);
}

static void
flaws_of_the_last_configuration_are_told(void **state)
{
	(void)state;
	assert_true(secrets_add("first", "${file:/p}", "/p"));
	assert_true(secrets_add("other", "${file:/q}", NULL));
	assert_true(secrets_add("abc", "${SHORT}", NULL));
	assert_true(secrets_add("abcd", "${LONG}", NULL));
	assert_flawed(1, 1);
	secrets_begin();
	assert_flawed(0, 0);
	assert_masked("first", "${file:/p}");
	assert_true(secrets_add("first", "${file:/p}", NULL));
	assert_flawed(0, 0);
	secrets_forget();
}

static bool adding;

/* Reports an error as a thread does that reads files. */
static void *
report_errors(void *arg)
{
	struct err_list *errors = arg;

	do {
		err_list_fini(errors);
		err_list_add(errors, "f", 1, "the word hunter2-0 is wrong");
	} while (atomic_load_relaxed(&adding));
	return NULL;
}

/* ThreadSanitizer sees whether the threads disturb each other. */
static void
a_thread_masks_while_secrets_are_added(void **state)
{
	struct err_list errors;
	char text[32];
	pthread_t thread;

	(void)state;
	err_list_init(&errors);
	assert_true(secrets_add("hunter2-0", "${PW}", NULL));
	adding = true;
	assert_int_equal(
	    pthread_create(&thread, NULL, report_errors, &errors), 0);
	for (int i = 1; i < 500; i++) {
		snprintf(text, sizeof(text), "hunter2-%d", i);
		assert_true(secrets_add(text, "${OTHER}", "/p"));
		secrets_begin();
	}
	atomic_store_relaxed(&adding, false);
	pthread_join(thread, NULL);
	assert_string_equal(errors.entries[0].text, "the word ${PW} is wrong");
	err_list_fini(&errors);
	secrets_forget();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_occurrence_is_masked_by_its_source),
	    cmocka_unit_test(the_longest_secret_is_masked),
	    cmocka_unit_test(very_short_texts_are_not),
	    cmocka_unit_test(what_the_end_cuts_off_is_masked),
	    cmocka_unit_test(only_the_name_of_a_variable_is_shown),
	    cmocka_unit_test(variables_are_masked_by_name_and_by_value),
	    cmocka_unit_test(names_are_inherited_once),
	    cmocka_unit_test(flaws_of_the_last_configuration_are_told),
	    cmocka_unit_test(a_thread_masks_while_secrets_are_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
