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
	    {"\n10.0.0.1:80\n10.0.0.1:80 weight=2\n",
	        "f: the address 10.0.0.1:80 is in line 2 and in line 3; keep "
	        "one"},
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
	    cmocka_unit_test(a_line_has_an_end),
	    cmocka_unit_test(what_cannot_be_read_has_a_reason),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
