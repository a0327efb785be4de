/* SPDX-License-Identifier: MIT
 * Lines that an admin client must not send.
 */
#include "unit.h"

#include <string.h>

#include "admin/client_input.h"

static struct client_input input;

/* What is found when these bytes and the end of a line are all of the input. */
static enum client_line
find_line(const char *line, size_t len)
{
	memset(&input, 0, sizeof(input));
	memcpy(input.bytes, line, len);
	input.bytes[len] = '\n';
	input.n = len + 1;
	return client_input_take(&input);
}

static bool
is_http(const char *line)
{
	return find_line(line, strlen(line)) == LINE_HTTP;
}

static void
request_lines_of_any_version_are_known(void **state)
{
	static const char *const lines[] = {"GET / HTTP/1.1", "POST / HTTP/1.1",
	    "GET /", "OPTIONS * HTTP/1.0", "PRI * HTTP/2.0",
	    "show%20info / HTTP/1.1", "x HTTP/1.0"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_true(is_http(lines[i]));
}

static void
host_headers_are_known_in_any_case(void **state)
{
	(void)state;
	assert_true(is_http("Host: a"));
	assert_true(is_http("host:"));
	assert_true(is_http("HOST:127.0.0.1:9999"));
}

static void
commands_are_no_requests(void **state)
{
	static const char *const lines[] = {"", "H", "GET", "get weight app/s1",
	    "show info", "Host", "hosts: a", "show HTTP/1.1x",
	    "GETS / HTTP/x.y", " HTTP/1.1"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_false(is_http(lines[i]));
}

static void
nul_is_found_anywhere_in_the_line(void **state)
{
	(void)state;
	assert_int_equal(find_line("\0", 1), LINE_NUL);
	assert_int_equal(find_line("ab\0c", 4), LINE_NUL);
	assert_int_equal(find_line("abc\0", 4), LINE_NUL);
	assert_int_equal(find_line("abc", 3), LINE_WHOLE);
	assert_int_equal(find_line("", 0), LINE_WHOLE);
}

/* Only the payload's lines are dropped, and the line keeps its place. */
static void
payload_ends_with_an_empty_line(void **state)
{
	static const char text[] = "a <<\r\nGET / HTTP/1.1\n\r\nb\nc";

	(void)state;
	memset(&input, 0, sizeof(input));
	memcpy(input.bytes, text, sizeof(text) - 1);
	input.n = sizeof(text) - 1;
	assert_int_equal(client_input_take(&input), LINE_BEGUN);
	assert_int_equal(client_input_take(&input), LINE_PAYLOAD);
	assert_int_equal(client_input_take(&input), LINE_WHOLE);
	assert_string_equal(input.bytes, "a");
	assert_null(input.kept);
	client_input_drop(&input);
	assert_int_equal(client_input_take(&input), LINE_WHOLE);
	assert_string_equal(input.bytes, "b");
	client_input_drop(&input);
	assert_int_equal(client_input_take(&input), LINE_PARTIAL);
	assert_int_equal(input.n, 1);
}

/* Keeps the lines of the payload, however many, without their carriage returns.
 */
static void
payload_is_kept_when_asked_for(void **state)
{
	static const char line[] = "0123456789\r\n";
	const size_t lines = 2000;

	(void)state;
	memset(&input, 0, sizeof(input));
	strcpy(input.bytes, "a <<\n");
	input.n = strlen(input.bytes);
	assert_int_equal(client_input_take(&input), LINE_BEGUN);
	input.keeps = true;
	for (size_t i = 0; i < lines; i++) {
		assert_int_equal(client_input_take(&input), LINE_PARTIAL);
		memcpy(input.bytes + input.n, line, strlen(line));
		input.n += strlen(line);
		assert_int_equal(client_input_take(&input), LINE_PAYLOAD);
	}
	memcpy(input.bytes + input.n, "\nnext\n", 6);
	input.n += 6;
	assert_int_equal(client_input_take(&input), LINE_WHOLE);
	assert_string_equal(input.bytes, "a");
	assert_int_equal(strlen(input.kept), lines * 11);
	assert_memory_equal(input.kept + (lines - 1) * 11, "0123456789\n", 12);
	client_input_drop(&input);
	assert_null(input.kept);
	assert_int_equal(client_input_take(&input), LINE_WHOLE);
	assert_string_equal(input.bytes, "next");
}

static void
payload_of_nothing_is_an_empty_text(void **state)
{
	(void)state;
	memset(&input, 0, sizeof(input));
	strcpy(input.bytes, "a <<\n\n");
	input.n = strlen(input.bytes);
	assert_int_equal(client_input_take(&input), LINE_BEGUN);
	input.keeps = true;
	assert_int_equal(client_input_take(&input), LINE_WHOLE);
	assert_string_equal(input.kept, "");
	client_input_fini(&input);
}

static void
payload_beyond_the_limit_is_refused(void **state)
{
	size_t kept = 0;

	(void)state;
	memset(&input, 0, sizeof(input));
	strcpy(input.bytes, "a <<\n");
	input.n = strlen(input.bytes);
	assert_int_equal(client_input_take(&input), LINE_BEGUN);
	input.keeps = true;
	for (;;) {
		enum client_line found;

		memset(input.bytes + input.n, 'x', 1024);
		input.n += 1024;
		input.bytes[input.n++] = '\n';
		found = client_input_take(&input);
		if (found == LINE_TOO_MUCH)
			break;
		assert_int_equal(found, LINE_PAYLOAD);
		kept += 1025;
	}
	assert_true(kept <= CLIENT_PAYLOAD_MAX);
	assert_true(kept > CLIENT_PAYLOAD_MAX - 1025);
	client_input_fini(&input);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(request_lines_of_any_version_are_known),
	    cmocka_unit_test(host_headers_are_known_in_any_case),
	    cmocka_unit_test(commands_are_no_requests),
	    cmocka_unit_test(nul_is_found_anywhere_in_the_line),
	    cmocka_unit_test(payload_ends_with_an_empty_line),
	    cmocka_unit_test(payload_is_kept_when_asked_for),
	    cmocka_unit_test(payload_of_nothing_is_an_empty_text),
	    cmocka_unit_test(payload_beyond_the_limit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
