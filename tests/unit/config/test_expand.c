/* SPDX-License-Identifier: MIT
 * Variables of the environment in values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "config/config.h"
#include "config/expand.h"
#include "config/support.h"

static int
set_variables(void **state)
{
	static char longer[2 * DRAFT_VALUE_MAX + 1];

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	unsetenv("NONE");
	setenv("ONE", "one", 1);
	setenv("EMPTY", "", 1);
	setenv("NESTED", "${ONE}", 1);
	setenv("BLANKS", "  a b\t", 1);
	setenv("LINE", "a\n[global]", 1);
	setenv("COMMENT", "a ;b", 1);
	setenv("SEMICOLON", ";b", 1);
	setenv("LONG", longer, 1);
	setenv("_n1", "n", 1);
	return 0;
}

static void
values_have_their_variables_filled_in(void **state)
{
	static const char *const table[][2] = {
	    {"plain", "plain"},
	    {"${ONE}", "one"},
	    {"a${ONE}b${ONE}c", "aonebonec"},
	    {"${_n1}", "n"},
	    {"x${EMPTY}y", "xy"},
	    {"${EMPTY}", ""},
	    {"${NONE:-text}", "text"},
	    {"${EMPTY:-text}", "text"},
	    {"${ONE:-text}", "one"},
	    {"x${NONE:-}y", "xy"},
	    {"${NONE:-a:-b $c}", "a:-b $c"},
	    {"$${", "${"},
	    {"$${ONE}", "${ONE}"},
	    {"$$${ONE}", "$${ONE}"},
	    {"^a$", "^a$"},
	    {"$ONE $$ {} $", "$ONE $$ {} $"},
	    {"${NESTED}", "${ONE}"},
	    {"${BLANKS}", "a b"},
	    {"x${BLANKS}y", "x  a b\ty"},
	    {"a${SEMICOLON}", "a;b"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char out[EXPAND_SIZE];
		struct err err;
		const char *found = expand_value("x", table[i][0], out, &err);

		if (!found)
			fail_msg("%s: %s", table[i][0], err.text);
		assert_string_equal(found, table[i][1]);
	}
}

static void
wrong_variables_are_errors_that_say_what_to_do(void **state)
{
	static const char *const table[][2] = {
	    {"${NONE}",
	        "the variable NONE is not set; set it in the environment of "
	        "lfproxy, or write ${NONE:-TEXT} for a TEXT without it"},
	    {"a ${ONE", "'${ONE' has no '}'; write ${NAME}, or write $${"},
	    {"${", "'${' has no '}'"},
	    {"${}", "'${}' has no name; write ${NAME}"},
	    {"${:-x}", "':-x' is not a variable; write ${NAME} or"},
	    {"${1ONE}", "'1ONE' is not a variable; write ${NAME} or"},
	    {"${A B}", "'A B' is not a variable"},
	    {"${ONE-x}", "'ONE-x' is not a variable"},
	    {"${ONE:x}", "'ONE:x' is not a variable"},
	    {"${NONE:-${ONE}}", "the text for a missing NONE has a ${ of its"},
	    {"${LINE}", "the variable LINE has the control character 0x0a"},
	    {"${COMMENT}", "'a ;b', with its variables filled in, has a ';'"},
	    {"${SEMICOLON}", "';b', with its variables filled in, has a ';'"},
	    {"${LONG}", "the value has 8192 characters with its variables"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char out[EXPAND_SIZE];
		struct err err = {.text = ""};

		if (expand_value("x", table[i][0], out, &err))
			fail_msg("%s was taken", table[i][0]);
		if (strncmp(err.text, table[i][1], strlen(table[i][1])) != 0)
			fail_msg("%s: %s", table[i][0], err.text);
	}
}

/* Each ${ counts as it is written. */
static void
length_is_that_of_what_is_written(void **state)
{
	char value[EXPAND_SIZE + 8], out[EXPAND_SIZE];
	struct err err;

	(void)state;
	assert_int_equal(expand_length("a${b$${"), 9);
	memset(value, 'x', DRAFT_VALUE_MAX);
	memcpy(value, "$${", 3);
	value[DRAFT_VALUE_MAX] = '\0';
	assert_non_null(expand_value("x", value, out, &err));
	assert_int_equal(expand_length(out), DRAFT_VALUE_MAX);
	strcat(value, "x");
	assert_null(expand_value("x", value, out, &err));
}

static void
errors_have_their_line_and_the_key_is_not_missing(void **state)
{
	(void)state;
	assert_errors("[frontend f]\nlisten = :80\nbackend = ${NONE}\n" BACKEND,
	    "3: backend: the variable NONE is not set");
	assert_line_error("defaults", "retries = ${NONE}", "retries: the var");
	assert_line_error("defaults", "retries = ${ONE}", "retries: 'one' is");
	assert_line_error("defaults", "retries = ${EMPTY}", "retries has no");
}

static void
names_and_comments_have_no_variables(void **state)
{
	(void)state;
	assert_errors(
	    "[${ONE}]\n" FRONTEND BACKEND, "1: unknown section [${ONE}]");
	assert_line_error("global", "${ONE} = 1", "unknown key '${ONE}'");
	spec_free(load("; ${\n" FRONTEND BACKEND "retries = 2 ; ${NONE}\n"));
}

static void
values_are_printed_so_that_they_are_read_again(void **state)
{
	(void)state;
	assert_prints(FRONTEND BACKEND "check = http path=/$${ONE}/${ONE}\n",
	    "check = http path=/$${ONE}/one ");
	assert_prints(FRONTEND BACKEND "check = http path=/${NESTED}\n",
	    "check = http path=/$${ONE} ");
	assert_prints(FRONTEND BACKEND "server = ${ONE} 10.0.0.${NONE:-2}:80\n",
	    "server = one 10.0.0.2:80 ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(values_have_their_variables_filled_in),
	    cmocka_unit_test(wrong_variables_are_errors_that_say_what_to_do),
	    cmocka_unit_test(length_is_that_of_what_is_written),
	    cmocka_unit_test(errors_have_their_line_and_the_key_is_not_missing),
	    cmocka_unit_test(names_and_comments_have_no_variables),
	    cmocka_unit_test(values_are_printed_so_that_they_are_read_again),
	};

	return cmocka_run_group_tests(tests, set_variables, NULL);
}
