/* SPDX-License-Identifier: MIT
 * Files of servers.
 */
#include "resolve/file_members.h"
#include "unit.h"

static bool
parse(const char *text, struct file_members *ret, struct err *err)
{
	size_t len = strlen(text);
	char *copy = malloc(len + 1);

	assert_non_null(copy);
	memcpy(copy, text, len);
	return file_members_parse("f", copy, len, ret, err);
}

static void
lines_are_addresses_and_options(void **state)
{
	struct file_members m;
	struct err err;

	(void)state;
	assert_true(parse("# the east\n\n10.0.0.1:80 weight=5  backup\r\n"
	                  "  [::1]:80 ; a comment\n\tunix:/run/a=b # one\n"
	                  ";10.0.0.9:80\n10.0.0.2\n",
	    &m, &err));
	assert_true(m.whole);
	assert_int_equal(m.n, 4);
	assert_string_equal(m.all[0].address, "10.0.0.1:80");
	assert_string_equal(m.all[0].key, "10.0.0.1:80");
	assert_string_equal(m.all[0].options, "weight=5  backup");
	assert_string_equal(m.all[0].note, "line 3");
	assert_string_equal(m.all[1].address, "[::1]:80");
	assert_string_equal(m.all[1].options, "");
	assert_string_equal(m.all[2].address, "unix:/run/a=b");
	assert_string_equal(m.all[3].address, "10.0.0.2");
	file_members_fini(&m);
}

static void
a_file_without_its_last_line_end_is_not_whole(void **state)
{
	struct file_members m;
	struct err err;

	(void)state;
	assert_true(parse("10.0.0.1:80\n10.0.0.2:8", &m, &err));
	assert_false(m.whole);
	assert_int_equal(m.n, 2);
	file_members_fini(&m);
	assert_true(parse("", &m, &err));
	assert_false(m.whole);
	assert_int_equal(m.n, 0);
	file_members_fini(&m);
}

static void
errors_name_the_line(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
	    {"app1 10.0.0.1:80\n",
	        "f:1: 'app1' is not an address; a line begins with the "
	        "address, without a name, as in 10.0.0.1:80 weight=5"},
	    {"\nserver = app1 10.0.0.1:80\n",
	        "f:2: 'server' is not an address; a line begins with the "
	        "address, without a name, as in 10.0.0.1:80 weight=5"},
	    {"weight=5\n",
	        "f:1: 'weight=5' is not an address; a line begins with the "
	        "address, without a name, as in 10.0.0.1:80 weight=5"},
	    {"a\x01z\n", "f:1: the line has a control character; this is not "
	                 "a file of servers"},
	};
	struct file_members m;
	struct err err;

	(void)state;
	for (size_t i = 0; i < UNIT_N(cases); i++) {
		assert_false(parse(cases[i].text, &m, &err));
		assert_string_equal(err.text, cases[i].error);
	}
}

static void
a_wrong_line_is_left_out_alone(void **state)
{
	static const struct {
		const char *key, *note, *wrong;
	} found[] = {
	    {"10.0.0.1:80", "line 1", NULL},
	    {"app2 10.0.0.2:80 weight=3", "line 2",
	        "'app2' is not an address; a line begins with the address, "
	        "without a name, as in 10.0.0.1:80 weight=5"},
	    {"line 3", "line 3",
	        "the line has a control character; this is not a file of "
	        "servers"},
	    {"10.0.0.1:80 # line 4", "line 4",
	        "the address is in line 1 as well; keep one"},
	    {"10.0.0.4:80", "line 5", NULL},
	    {"app2 10.0.0.2:80 weight=3 # line 6", "line 6",
	        "'app2' is not an address; a line begins with the address, "
	        "without a name, as in 10.0.0.1:80 weight=5"},
	    /* U+202E, three bytes, becomes one. */
	    {"x? 10.0.0.5:80", "line 7",
	        "'x?' is not an address; a line begins with the address, "
	        "without a name, as in 10.0.0.1:80 weight=5"},
	};
	struct file_members m;
	struct err err;

	(void)state;
	assert_true(parse("10.0.0.1:80\napp2 10.0.0.2:80 weight=3\na\x01z\n"
	                  "10.0.0.1:80 weight=2\n10.0.0.4:80\n"
	                  "app2 10.0.0.2:80 weight=3\n"
	                  "x\xe2\x80\xae 10.0.0.5:80\n",
	    &m, &err));
	assert_int_equal(m.n, UNIT_N(found));
	assert_int_equal(m.wrong_n, 5);
	for (size_t i = 0; i < m.n; i++) {
		assert_string_equal(m.all[i].key, found[i].key);
		assert_string_equal(m.all[i].note, found[i].note);
		if (found[i].wrong)
			assert_string_equal(m.all[i].wrong, found[i].wrong);
		else
			assert_null(m.all[i].wrong);
	}
	file_members_fini(&m);
}

/* Also of a line that looks like the key of a repeated one. */
static void
keys_are_distinct(void **state)
{
	struct file_members m;
	struct err err;

	(void)state;
	assert_true(parse("10.0.0.1:80\nx=1\nx=1\nx=1\nx=1 (line 3)\n"
	                  "x=1 # line 3\nx=1 line 3\nx=1 line 3\n",
	    &m, &err));
	assert_int_equal(m.n, 8);
	for (size_t i = 0; i < m.n; i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(m.all[i].key, m.all[j].key);
	file_members_fini(&m);
}

static void
a_line_has_an_end(void **state)
{
	char line[FILE_MEMBERS_LINE_MAX + 8];
	struct file_members m;
	struct err err;

	(void)state;
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\0';
	assert_false(parse(line, &m, &err));
	assert_string_equal(
	    err.text, "f:1: the line has more than 4096 characters");
}

static void
what_cannot_be_read_has_a_reason(void **state)
{
	struct file_members m;
	struct err err;

	(void)state;
	assert_false(file_members_read("/nonexistent/f", &m, &err));
	assert_string_equal(err.text, "/nonexistent/f: cannot be opened: No "
	                              "such file or directory");
	assert_false(file_members_read("/", &m, &err));
	assert_string_equal(err.text, "/: this is not a regular file");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_are_addresses_and_options),
	    cmocka_unit_test(a_file_without_its_last_line_end_is_not_whole),
	    cmocka_unit_test(errors_name_the_line),
	    cmocka_unit_test(a_wrong_line_is_left_out_alone),
	    cmocka_unit_test(keys_are_distinct),
	    cmocka_unit_test(a_line_has_an_end),
	    cmocka_unit_test(what_cannot_be_read_has_a_reason),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
