/* SPDX-License-Identifier: MIT
 * Reports as text and as JSON.
 */
#include "commands/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

struct thing {
	const char *name; /* NULL: none */
	int number;
	double share;
};

static const struct thing things[] = {
    {"a \"quoted\"\n name \xff", -1, 0.25},
    {NULL, 7, NAN},
};

static void
put_thing(struct report *r, const struct thing *t)
{
	report_row(r);
	report_put(r, "name", "<%-6s", t->name);
	report_put(r, "number", "is %2d", t->number);
	report_put(r, "share", " of %*.1f %%", 5, t->share);
	report_json_bool(r, "odd", t->number % 2 != 0);
	report_json_known(r, "size", t->number > 0, UINT64_MAX);
	report_object(r, "inner");
	report_put(r, "bytes", ", %zu bytes", sizeof(char));
	report_close(r);
	report_text(r, ">");
	report_row_end(r);
}

/* All of them, the first n. */
static char *
render(bool json, size_t n)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct report r;

	report_begin(&r, json, out);
	report_head(&r, "# things\n");
	for (size_t i = 0; i < n; i++)
		put_thing(&r, &things[i]);
	report_end(&r);
	fclose(out);
	return text;
}

static void
assert_text(char *text, const char *expected)
{
	assert_string_equal(text, expected);
	free(text);
}

static void
text_has_the_head_and_no_line_breaks_in_values(void **state)
{
	(void)state;
	assert_text(render(false, 0), "# things\n");
	assert_text(render(false, 2),
	    "# things\n"
	    "<a \"quoted\"? name ?is -1 of   0.2 %, 1 bytes>\n"
	    "<-     is  7 of     - %, 1 bytes>\n");
}

static void
json_is_an_array_of_objects_with_null_for_nothing(void **state)
{
	(void)state;
	assert_text(render(true, 0), "[]\n");
	assert_text(render(true, 2),
	    "[{\"name\":\"a \\\"quoted\\\"\\n name \\ufffd\",\"number\":-1,"
	    "\"share\":0.25,\"odd\":true,\"size\":null,"
	    "\"inner\":{\"bytes\":1}},\n"
	    "{\"name\":null,\"number\":7,\"share\":null,\"odd\":true,"
	    "\"size\":18446744073709551615,\"inner\":{\"bytes\":1}}]\n");
}

static void
whole_numbers_stay_real_in_json(void **state)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct report r;

	(void)state;
	report_begin(&r, true, out);
	report_object(&r, NULL);
	report_put(&r, "two", "%f", 2.0);
	report_put(&r, "tenth", "%g", 0.1);
	report_list(&r, "list");
	report_put(&r, NULL, "%u", 1u);
	report_put(&r, NULL, "%u", 2u);
	report_end(&r);
	fclose(out);
	assert_text(text, "{\"two\":2.0,\"tenth\":0.1,\"list\":[1,2]}\n");
}

static void
spans_have_two_units(void **state)
{
	char text[SPAN_TEXT_SIZE];

	(void)state;
	assert_string_equal(span_text(59, text), "59s");
	assert_string_equal(span_text(92, text), "1m32s");
	assert_string_equal(span_text(3600, text), "1h0m");
	assert_string_equal(span_text(2 * 86400 + 3 * 3600, text), "2d3h");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(text_has_the_head_and_no_line_breaks_in_values),
	    cmocka_unit_test(json_is_an_array_of_objects_with_null_for_nothing),
	    cmocka_unit_test(whole_numbers_stay_real_in_json),
	    cmocka_unit_test(spans_have_two_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
