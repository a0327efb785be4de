/* SPDX-License-Identifier: MIT
 * The command table: splitting, dispatch, modes, help.
 */
#include "commands/fixture.h"

#include <string.h>

#include "commands/command.h"

static struct command_mode mode;

static const char *
run(struct fixture *f, const char *text)
{
	static const struct command_env env = {NULL};
	char line[1024];

	snprintf(line, sizeof(line), "%s", text);
	command_run(&env, &mode, line, NULL, output(f));
	return written(f);
}

static int
setup(void **state)
{
	mode = (struct command_mode){.level = LEVEL_ADMIN, .timeout_s = 10};
	return fixture_setup(state);
}

static bool
starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static void
split_cuts_at_semicolons_that_are_not_escaped(void **state)
{
	char line[] = "a b; c\\;d;";
	char *second = command_split(line);
	char *third = command_split(second);

	(void)state;
	assert_string_equal(line, "a b");
	assert_string_equal(second, " c\\;d");
	assert_string_equal(third, "");
	assert_null(command_split(third));
}

static void
split_leaves_a_backslash_at_the_end_alone(void **state)
{
	char line[] = "a\\";

	(void)state;
	assert_null(command_split(line));
	assert_string_equal(line, "a\\");
}

static void
unknown_command_lists_those_that_begin_alike(void **state)
{
	const char *text = run(*state, "show inf");

	assert_true(starts(text,
	    "Unknown command: 'show', but maybe one of the following ones is "
	    "a better match:\n"));
	assert_non_null(
	    strstr(text, "\n  show info [desc|flat|json|typed|float]* : report "
	                 "information about the running process\n"));
	assert_non_null(strstr(text,
	    "\n  quit                                    : disconnect\n"));
	assert_null(strstr(text, "severity"));
}

static void
no_word_has_an_empty_answer(void **state)
{
	assert_string_equal(run(*state, ""), "");
	assert_string_equal(run(*state, "   "), "");
}

/* Five of them at most, and those that end every list. */
static void
slip_of_the_pen_lists_what_comes_near(void **state)
{
	const char *text = run(*state, "raload");
	unsigned lines = 0;

	assert_true(starts(text, "Unknown command: 'raload', but maybe "));
	assert_non_null(strstr(text, "\n  reload "));
	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, 1 + 5 + 3);
	assert_non_null(strstr(run(*state, "show inof"), "\n  show info "));
	assert_true(starts(
	    run(*state, "\001\377"), "Unknown command: '\001\377', but"));
}

static void
help_lists_all_or_those_that_match(void **state)
{
	const char *text = run(*state, "help");

	assert_true(
	    starts(text, "The following commands are valid at this level:\n"));
	assert_non_null(strstr(text, "\n  set timeout [cli] <delay> "));
	text = run(*state, "help show");
	assert_null(strstr(text, "\n  set timeout [cli] <delay> "));
	assert_non_null(strstr(text, "\n  show pool [<pool>] [json] "));
}

static void
blanks_around_words_and_backslashes_in_them_do_not_matter(void **state)
{
	assert_string_equal(run(*state, "  show \t cli  level  "), "admin\n");
	assert_string_equal(run(*state, "sh\\ow cli level"), "admin\n");
	assert_true(starts(run(*state, "show\\ cli level"), "Unknown"));
}

static void
severity_output_marks_messages_and_errors(void **state)
{
	assert_string_equal(run(*state, "set severity-output bla"),
	    "one of 'none', 'number', 'string' is a required argument\n");
	assert_string_equal(run(*state, "set severity-output number"), "");
	assert_true(starts(run(*state, "xyz"), "[3]: Unknown command"));
	assert_true(starts(run(*state, "help"), "[6]: The following"));
	assert_true(starts(run(*state, "set severity-output"), "[3]: one of"));
	run(*state, "set severity-output string");
	assert_true(starts(run(*state, "xyz"), "[err]: Unknown command"));
	run(*state, "set severity-output none");
	assert_true(starts(run(*state, "xyz"), "Unknown command"));
}

static void
prompt_toggles_and_quit_quits(void **state)
{
	assert_string_equal(run(*state, "prompt"), "");
	assert_true(mode.prompt);
	run(*state, "prompt");
	assert_false(mode.prompt);
	run(*state, "quit");
	assert_true(mode.quit);
}

static void
timeout_is_seconds_or_has_a_unit(void **state)
{
	assert_string_equal(run(*state, "set timeout cli 180"), "");
	assert_int_equal((int)mode.timeout_s, 180);
	run(*state, "set timeout cli 5m");
	assert_int_equal((int)mode.timeout_s, 300);
	assert_true(starts(run(*state, "set timeout cli 0"), "Invalid"));
	assert_true(starts(run(*state, "set timeout cli"), "Expects"));
	assert_int_equal((int)mode.timeout_s, 300);
}

static void
lowered_level_cannot_be_raised(void **state)
{
	run(*state, "operator");
	assert_string_equal(run(*state, "show cli level"), "operator\n");
	run(*state, "user");
	assert_string_equal(run(*state, "show cli level"), "user\n");
	assert_string_equal(run(*state, "operator"), "Permission denied\n");
	assert_string_equal(
	    run(*state, "set pool main threads 2"), "Permission denied\n");
	assert_non_null(strstr(run(*state, "help"), "\n  operator"));
}

static void
too_many_words_are_refused(void **state)
{
	char text[200];

	memset(text, 0, sizeof(text));
	for (int i = 0; i < 65; i++)
		strcat(text, "a ");
	assert_string_equal(
	    run(*state, text), "Too many words: 64 are allowed.\n");
}

static void
surplus_words_are_refused(void **state)
{
	assert_true(starts(run(*state, "show pool a b"), "Unexpected"));
	assert_true(starts(run(*state, "show pool a b json"), "Unexpected"));
	assert_true(starts(run(*state, "show pool json a"), "Unexpected"));
	assert_true(starts(run(*state, "show threads a b"), "Unexpected"));
}

static void
list_has_a_line_of_three_parts_per_command(void **state)
{
	struct fixture *f = *state;
	const char *text;

	admin_list_commands(output(f));
	text = written(f);
	assert_true(
	    starts(text, "admin\tabort ssl ca-file <cafile>\tabort a "));
	assert_non_null(strstr(text,
	    "\nadmin\tadd server <bk>/<srv> <address> [<option>]*\tcreate "));
	assert_non_null(
	    strstr(text, "\noperator\tclear counters [all]\tclear max"));
	assert_non_null(
	    strstr(text, "\nuser\tshow pool [<pool>] [json]\treport "));
}

#undef TEST
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(split_cuts_at_semicolons_that_are_not_escaped),
	    TEST(split_leaves_a_backslash_at_the_end_alone),
	    TEST(unknown_command_lists_those_that_begin_alike),
	    TEST(no_word_has_an_empty_answer),
	    TEST(slip_of_the_pen_lists_what_comes_near),
	    TEST(help_lists_all_or_those_that_match),
	    TEST(blanks_around_words_and_backslashes_in_them_do_not_matter),
	    TEST(severity_output_marks_messages_and_errors),
	    TEST(prompt_toggles_and_quit_quits),
	    TEST(timeout_is_seconds_or_has_a_unit),
	    TEST(lowered_level_cannot_be_raised),
	    TEST(too_many_words_are_refused),
	    TEST(surplus_words_are_refused),
	    TEST(list_has_a_line_of_three_parts_per_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
