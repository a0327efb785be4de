/* SPDX-License-Identifier: MIT
 * Objects in a stream of JSON, whatever pieces the stream arrives in.
 */
#include "resolve/json_split.h"

#include "unit.h"

struct found {
	char texts[512]; /* each with a `|` behind it */
	bool refuse;
};

static bool
find_object(void *arg, const char *text, size_t n, struct err *err)
{
	struct found *found = arg;

	assert_int_equal(strlen(text), n);
	strcat(strcat(found->texts, text), "|");
	return !found->refuse || err_set(err, "refused");
}

/* Feeds the text in pieces of that size; false: it was refused, or has ended
 * too early. */
static bool
split_text(enum json_split_kind kind, const char *text, size_t piece,
    struct found *found, struct err *err)
{
	struct json_split split = {.kind = kind,
	    .object_max = 64,
	    .on_object = find_object,
	    .arg = found};
	size_t n = strlen(text);
	bool ok = true;

	found->texts[0] = '\0';
	json_split_begin(&split);
	for (size_t i = 0; ok && i < n; i += piece)
		ok = json_split_feed(
		    &split, text + i, n - i < piece ? n - i : piece, err);
	ok = ok && json_split_ended(&split, err);
	json_split_fini(&split);
	return ok;
}

static void
check_split(enum json_split_kind kind, const char *text, const char *expected)
{
	struct found found = {.refuse = false};
	struct err err;

	for (size_t piece = 1; piece <= strlen(text) + 1; piece++) {
		assert_true(split_text(kind, text, piece, &found, &err));
		assert_string_equal(found.texts, expected);
	}
}

static void
objects_are_found_in_pieces_of_any_size(void **state)
{
	check_split(JSON_OBJECTS, "{\"a\":1}\n{\"b\":[{},{\"c\":2}]}  {}",
	    "{\"a\":1}|{\"b\":[{},{\"c\":2}]}|{}|");
	check_split(JSON_OBJECTS, "", "");
}

static void
braces_and_quotes_in_strings_do_not_count(void **state)
{
	check_split(JSON_OBJECTS, "{\"}\":\"{\\\"}\\\\\"}{}",
	    "{\"}\":\"{\\\"}\\\\\"}|{}|");
}

static void
elements_of_a_list_are_found(void **state)
{
	check_split(JSON_LIST, " [ {\"a\":[1]} ,\n{} ] \n", "{\"a\":[1]}|{}|");
	check_split(JSON_LIST, "[]", "");
}

static void
check_refused(enum json_split_kind kind, const char *text, const char *why)
{
	struct found found = {.refuse = false};
	struct err err;

	for (size_t piece = 1; piece <= strlen(text) + 1; piece++) {
		assert_false(split_text(kind, text, piece, &found, &err));
		assert_non_null(strstr(err.text, why));
	}
}

static void
what_is_not_of_the_kind_is_refused(void **state)
{
	check_refused(JSON_OBJECTS, "<html>", "not JSON objects, at '<");
	check_refused(JSON_OBJECTS, "[{}]", "not JSON objects");
	check_refused(JSON_LIST, "{}", "not a list");
	check_refused(JSON_LIST, "null", "not a list");
	check_refused(JSON_LIST, "[{}{}]", "not a list");
	check_refused(JSON_LIST, "[{},]", "not a list");
	check_refused(JSON_LIST, "[,{}]", "not a list");
	check_refused(JSON_LIST, "[1]", "not a list");
	check_refused(JSON_LIST, "[]]", "not a list");
	check_refused(JSON_LIST, "[{}]{}", "not a list");
}

static void
an_answer_that_was_cut_off_is_noticed(void **state)
{
	check_refused(JSON_OBJECTS, "{\"a\":1", "too early");
	check_refused(JSON_LIST, "[{}", "too early");
	check_refused(JSON_LIST, "[", "too early");
	check_refused(JSON_LIST, "", "too early");
}

static void
an_object_beyond_the_limit_is_refused(void **state)
{
	char text[80], expected[100];

	snprintf(text, sizeof(text), "{%62s}", "");
	snprintf(expected, sizeof(expected), "%s|", text);
	check_split(JSON_OBJECTS, text, expected);
	snprintf(text, sizeof(text), "{%63s}", "");
	check_refused(JSON_OBJECTS, text, "more than 64 bytes");
}

static void
a_reader_can_end_the_stream(void **state)
{
	struct found found = {.refuse = true};
	struct err err;

	assert_false(split_text(JSON_OBJECTS, "{}{}", 4, &found, &err));
	assert_string_equal(err.text, "refused");
	assert_string_equal(found.texts, "{}|");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(objects_are_found_in_pieces_of_any_size),
	    cmocka_unit_test(braces_and_quotes_in_strings_do_not_count),
	    cmocka_unit_test(elements_of_a_list_are_found),
	    cmocka_unit_test(what_is_not_of_the_kind_is_refused),
	    cmocka_unit_test(an_answer_that_was_cut_off_is_noticed),
	    cmocka_unit_test(an_object_beyond_the_limit_is_refused),
	    cmocka_unit_test(a_reader_can_end_the_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
