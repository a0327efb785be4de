/* SPDX-License-Identifier: MIT
 * The words of agents.
 */
#include "check/agent_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static char unknown_words[AGENT_LINE_SIZE];

static void
note_unknown(void *arg, const char *word)
{
	size_t len = strlen(unknown_words);

	(void)arg;
	snprintf(unknown_words + len, sizeof(unknown_words) - len, "%s|", word);
}

static struct agent_orders
read_line(const char *text, unsigned weight)
{
	struct agent_orders orders;
	char line[AGENT_LINE_SIZE];

	unknown_words[0] = '\0';
	snprintf(line, sizeof(line), "%s", text);
	agent_words_read(line, weight, &orders, note_unknown, NULL);
	return orders;
}

static void
percent_is_of_the_configured_weight(void **state)
{
	static const struct {
		const char *word;
		unsigned weight, expected;
	} rows[] = {
	    {"100%", 100, 100},
	    {"75%", 100, 75},
	    {"50%", 5, 3},
	    {"0%", 100, 0},
	    {"1%", 1, 1}, /* not 0, which would be another word */
	    {"1%", 0, 0},
	    {"200%", 100, 200},
	    {"300%", 100, WEIGHT_MAX},
	    {"25600%", 1, WEIGHT_MAX},
	    {"weight:7", 100, 7},
	    {"WEIGHT:0", 100, 0},
	    {"weight:256", 1, 256},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct agent_orders o = read_line(rows[i].word, rows[i].weight);

		assert_true(o.understood && o.has_weight);
		assert_int_equal(o.weight, rows[i].expected);
		assert_false(o.has_admin || o.has_health || o.has_maxconn);
		assert_string_equal(unknown_words, "");
	}
}

static void
words_of_state_and_health(void **state)
{
	static const struct {
		const char *word;
		enum server_admin admin;
	} admins[] = {{"ready", SERVER_READY}, {"drain", SERVER_DRAIN},
	    {"MAINT", SERVER_MAINT}};
	static const struct {
		const char *word;
		bool up;
	} healths[] = {{"up", true}, {"down", false}, {"stopped", false},
	    {"fail", false}, {"Up", true}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct agent_orders o = read_line(admins[i].word, 1);

		assert_true(o.understood && o.has_admin && !o.has_health);
		assert_int_equal(o.admin, admins[i].admin);
		assert_true(o.up);
	}
	for (size_t i = 0; i < 5; i++) {
		struct agent_orders o = read_line(healths[i].word, 1);

		assert_true(o.understood && o.has_health && !o.has_admin);
		assert_int_equal(o.up, healths[i].up);
	}
}

static void
maxconn_is_a_number_and_0_no_limit(void **state)
{
	struct agent_orders o = read_line("maxconn:30", 1);

	(void)state;
	assert_true(o.understood && o.has_maxconn);
	assert_int_equal(o.maxconn, 30);
	o = read_line("MaxConn:0", 1);
	assert_true(o.has_maxconn);
	assert_int_equal(o.maxconn, 0);
	o = read_line("maxconn:4294967295", 1);
	assert_int_equal(o.maxconn, UINT32_MAX);
}

static void
several_words_in_any_order_the_last_of_a_kind_holds(void **state)
{
	struct agent_orders o = read_line(
	    "down, 10%\tready ,,maxconn:1 20% drain maxconn:2 up", 50);

	(void)state;
	assert_int_equal(o.weight, 10);
	assert_int_equal(o.admin, SERVER_DRAIN);
	assert_int_equal(o.maxconn, 2);
	assert_true(o.has_health && o.up);
	assert_string_equal(unknown_words, "");
}

static void
what_follows_a_sharp_is_the_reason(void **state)
{
	struct agent_orders o = read_line("down # \tdisk, 75% full # yes", 50);

	(void)state;
	assert_true(o.has_health && !o.up && !o.has_weight);
	assert_string_equal(o.why, "disk, 75% full # yes");
	o = read_line("up#", 50);
	assert_true(o.has_health && o.up);
	assert_string_equal(o.why, "");
	o = read_line("# up", 50);
	assert_false(o.understood);
}

static void
what_is_no_word_is_told_and_changes_nothing(void **state)
{
	static const char *const none[] = {"weight:257", "weight:-1",
	    "weight:", "weight", "%", "-5%", "5", "1.5%", "25601%",
	    "maxconn:", "maxconn:-1", "maxconn:4294967296", "maxconn:5x", "upp",
	    "HTTP/1.1"};

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct agent_orders o = read_line(none[i], 50);
		char told[AGENT_LINE_SIZE + 1];

		snprintf(told, sizeof(told), "%s|", none[i]);
		assert_string_equal(unknown_words, told);
		assert_false(o.understood || o.has_weight || o.has_maxconn ||
		             o.has_admin || o.has_health);
		assert_true(o.up);
	}
	assert_true(read_line("what drain ever", 1).understood);
	assert_string_equal(unknown_words, "what|ever|");
	assert_false(read_line("", 1).understood);
	assert_false(read_line(" ,\t", 1).understood);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(percent_is_of_the_configured_weight),
	    cmocka_unit_test(words_of_state_and_health),
	    cmocka_unit_test(maxconn_is_a_number_and_0_no_limit),
	    cmocka_unit_test(
	        several_words_in_any_order_the_last_of_a_kind_holds),
	    cmocka_unit_test(what_follows_a_sharp_is_the_reason),
	    cmocka_unit_test(what_is_no_word_is_told_and_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
