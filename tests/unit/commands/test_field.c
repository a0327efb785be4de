/* SPDX-License-Identifier: MIT
 * Values in HAProxy's forms.
 */
#include "commands/fixture.h"

#include <string.h>

#include "stats/field.h"

static const struct field_name name = {
    .pos = 17, .name = "status", .tags = "SGP:str", .desc = "state"};
static const struct field_name count = {
    .pos = 7, .name = "stot", .tags = "MCP:u64", .desc = "sessions"};

static void
typed_has_place_name_tags_and_type(void **state)
{
	struct field field;

	field_text(&field, "UP 1/3");
	field_put_typed(output(*state), &name, &field, false);
	assert_string_equal(written(*state), "17.status.1:SGP:str:UP 1/3\n");
	field_put_typed(output(*state), &name, &field, true);
	assert_string_equal(
	    written(*state), "17.status.1:SGP:str:UP 1/3:\"state\"\n");
}

static void
json_spells_the_tags_and_quotes_text_alone(void **state)
{
	struct field field;

	field_number(&field, 18446744073709551615u);
	field_put_json(output(*state), &count, &field);
	assert_string_equal(written(*state),
	    "\"field\":{\"pos\":7,\"name\":\"stot\"},\"processNum\":1,"
	    "\"tags\":{\"origin\":\"Metric\",\"nature\":\"Counter\","
	    "\"scope\":\"Process\"},\"value\":{\"type\":\"u64\","
	    "\"value\":18446744073709551615}}");
	field_text(&field, "a \"b\" \\");
	field_put_json(output(*state), &name, &field);
	assert_non_null(strstr(written(*state),
	    "\"type\":\"str\",\"value\":\"a \\\"b\\\" \\\\\"}}"));
}

/* What a server said must not end the line. */
static void
text_is_cut_and_is_one_line(void **state)
{
	struct field field;
	char text[1000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text, "a\r\nb\tc", 6);
	field_text(&field, text);
	assert_memory_equal(field.text, "a  b cx", 7);
	assert_int_equal(strlen(field.text), sizeof(field.text) - 1);
}

static void
the_last_form_counts_and_other_words_do_not(void **state)
{
	(void)state;
	assert_int_equal(
	    field_form_parse((const char *const[]){NULL}), FIELD_PLAIN);
	assert_int_equal(
	    field_form_parse((const char *const[]){"bla", "desc", NULL}),
	    FIELD_DESC);
	assert_int_equal(field_form_parse((const char *const[]){
	                     "json", "desc", "typed", NULL}),
	    FIELD_TYPED_DESC);
	assert_int_equal(
	    field_form_parse((const char *const[]){"typed", "json", NULL}),
	    FIELD_JSON);
}

static const char *
float_text(double number)
{
	static struct field field;

	field_float(&field, number);
	assert_true(field.present);
	return field.text;
}

static void
floats_have_no_zeros_at_the_end(void **state)
{
	(void)state;
	assert_string_equal(float_text(0), "0");
	assert_string_equal(float_text(100), "100");
	assert_string_equal(float_text(1.13365), "1.13365");
	assert_string_equal(float_text(1795290352.898796), "1795290352.898796");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(floats_have_no_zeros_at_the_end),
	    TEST(typed_has_place_name_tags_and_type),
	    TEST(json_spells_the_tags_and_quotes_text_alone),
	    TEST(text_is_cut_and_is_one_line),
	    TEST(the_last_form_counts_and_other_words_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
