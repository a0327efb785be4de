/* SPDX-License-Identifier: MIT
 * The Host header of requests to the HTTP port.
 */
#include "http/host.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

static void
loopback_port_without_list_accepts_only_this_host(void **state)
{
	static const char *const known[] = {"127.0.0.1", "127.0.0.1:8404",
	    "[::1]:8404", "[::1]", "10.1.2.3:1", "localhost", "LocalHost:8404",
	    "localhost.", ""};
	static const char *const foreign[] = {"evil.example",
	    "evil.example:8404", "localhost.evil.example",
	    "127.0.0.1.evil.example", "[evil.example]", ":8404", "."};

	(void)state;
	assert_true(http_host_is_known(NULL, NULL, true));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_true(http_host_is_known(known[i], NULL, true));
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		assert_false(http_host_is_known(foreign[i], NULL, true));
}

static void
host_name_is_accepted(void **state)
{
	char name[256] = "";

	(void)state;
	gethostname(name, sizeof(name) - 1);
	assert_true(http_host_is_known(name, NULL, true));
	strcat(name, ":80");
	assert_true(http_host_is_known(name, NULL, true));
}

/* Scrapers inside a cluster use the name of a service. */
static void
other_port_without_list_accepts_every_name(void **state)
{
	(void)state;
	assert_true(http_host_is_known("proxy.svc:8404", NULL, false));
}

static void
listed_names_are_accepted_as_well(void **state)
{
	static const char hosts[] = "a.example,B.example";

	(void)state;
	for (int loopback = 0; loopback < 2; loopback++) {
		assert_true(http_host_is_known("a.example:1", hosts, loopback));
		assert_true(http_host_is_known("b.EXAMPLE.", hosts, loopback));
		assert_true(http_host_is_known("192.0.2.1", hosts, loopback));
		assert_false(http_host_is_known("a.exampl", hosts, loopback));
		assert_false(
		    http_host_is_known("a.example,B.example", hosts, loopback));
		assert_true(http_host_is_known("c.example", "*", loopback));
	}
}

static void
too_long_host_is_refused(void **state)
{
	char header[1000];

	(void)state;
	memset(header, 'a', sizeof(header) - 1);
	header[sizeof(header) - 1] = '\0';
	assert_false(http_host_is_known(header, NULL, true));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(loopback_port_without_list_accepts_only_this_host),
	    cmocka_unit_test(host_name_is_accepted),
	    cmocka_unit_test(other_port_without_list_accepts_every_name),
	    cmocka_unit_test(listed_names_are_accepted_as_well),
	    cmocka_unit_test(too_long_host_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
