/* SPDX-License-Identifier: MIT
 * Rows as text and as JSON, out of one table.
 */
#include "commands/rows.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

struct thing {
	const char *name; /* NULL: none */
	int64_t number;
};

ROW_READ(read_number, struct thing, t, row_number(v, t->number))
ROW_READ(read_even, struct thing, t, row_bool(v, t->number % 2 == 0))

static void
read_time(const void *row, struct row_value *v)
{
	const struct thing *t = row;

	if (t->number > 0)
		row_time(v, (uint64_t)t->number);
}

static void
read_name(const void *row, struct row_value *v)
{
	const struct thing *t = row;

	if (t->name)
		row_text(v, t->name);
}

static const struct row_column columns[] = {
    {"<", "name", read_name, "nobody"},
    {" is ", "number", read_number, NULL},
    {NULL, "even", read_even, NULL},
    {" even=", NULL, read_even, NULL},
    {">", NULL, NULL, NULL},
    {NULL, "time", read_time, NULL},
};
static const struct row_table table = ROW_TABLE("# things\n", columns);

static const struct thing things[] = {
    {"a \"quoted\"\n name \xff", -1},
    {NULL, 1795266309123456},
};

/* All of them, the first n. */
static char *
render(bool json, size_t n)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct rows rows;

	rows_begin(&rows, &table, json, out);
	for (size_t i = 0; i < n; i++)
		rows_put(&rows, &things[i], out);
	rows_end(&rows, out);
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
text_has_the_head_and_what_stands_before_values(void **state)
{
	(void)state;
	assert_text(render(false, 0), "# things\n");
	assert_text(render(false, 2),
	    "# things\n"
	    "<a \"quoted\"? name ? is -1 even=false>\n"
	    "<nobody is 1795266309123456 even=true>\n");
}

static void
json_is_an_array_of_objects_with_null_for_nothing(void **state)
{
	(void)state;
	assert_text(render(true, 0), "[]\n");
	assert_text(render(true, 2),
	    "[{\"name\":\"a \\\"quoted\\\"\\n name \\ufffd\",\"number\":-1,"
	    "\"even\":false,\"time\":null},\n"
	    "{\"name\":null,\"number\":1795266309123456,\"even\":true,"
	    "\"time\":\"2026-11-21T13:05:09.123Z\"}]\n");
}

static void
one_by_itself_is_an_object(void **state)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	rows_put_single(&table, &things[1], true, out);
	rows_put_single(&table, &things[1], false, out);
	fclose(out);
	assert_text(text,
	    "{\"name\":null,\"number\":1795266309123456,\"even\":true,"
	    "\"time\":\"2026-11-21T13:05:09.123Z\"}\n"
	    "# things\n<nobody is 1795266309123456 even=true>\n");
}

static void
what_is_made_up_is_cut_to_fit(void **state)
{
	char longer[2 * ROW_SPACE];
	struct row_value v;

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	row_format(&v, "%s", longer);
	assert_int_equal(v.kind, ROW_TEXT);
	assert_int_equal(strlen(v.text), ROW_SPACE - 1);
	row_text(&v, longer);
	assert_ptr_equal(v.text, longer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(text_has_the_head_and_what_stands_before_values),
	    cmocka_unit_test(json_is_an_array_of_objects_with_null_for_nothing),
	    cmocka_unit_test(one_by_itself_is_an_object),
	    cmocka_unit_test(what_is_made_up_is_cut_to_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
