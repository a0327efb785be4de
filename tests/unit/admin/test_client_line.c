/* SPDX-License-Identifier: MIT
 * Lines that an admin client must not send.
 */
#include "unit.h"

#include <string.h>

#include "admin/client_line.h"

static bool
is_http(const char *line)
{
	return client_line_is_http(line, strlen(line));
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
	assert_true(client_line_has_nul("\0", 1));
	assert_true(client_line_has_nul("ab\0c", 4));
	assert_true(client_line_has_nul("abc\0", 4));
	assert_false(client_line_has_nul("abc", 3));
	assert_false(client_line_has_nul("", 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(request_lines_of_any_version_are_known),
	    cmocka_unit_test(host_headers_are_known_in_any_case),
	    cmocka_unit_test(commands_are_no_requests),
	    cmocka_unit_test(nul_is_found_anywhere_in_the_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
