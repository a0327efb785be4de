/* SPDX-License-Identifier: MIT
 * resolv.conf(5): name servers, search domains, options, and the variables of
 * the environment that override them.
 */
#include "resolve/dns_system.h"

#include <limits.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* Writes `SERVER;... | DOMAIN;... | NDOTS OPTIONS`. */
static void
system_text(const struct dns_system *system, char *out, size_t size)
{
	char text[ADDR_TEXT_SIZE];
	FILE *f = fmemopen(out, size, "w");

	for (size_t i = 0; i < system->servers_n; i++)
		fprintf(f, "%s;", addr_text(&system->servers[i], text));
	fputs(" | ", f);
	for (size_t i = 0; i < system->domains_n; i++)
		fprintf(f, "%s;", system->domains[i]);
	fprintf(f, " | %u", system->ndots);
	if (system->timeout_s > 0)
		fprintf(f, " timeout:%u", system->timeout_s);
	if (system->attempts > 0)
		fprintf(f, " attempts:%u", system->attempts);
	if (system->rotate)
		fputs(" rotate", f);
	fclose(f);
}

static void
check_file(const char *lines, const char *expected)
{
	char path[] = "/tmp/lfproxy-dns-system-XXXXXX", found[1024];
	int fd = mkstemp(path);
	struct dns_system system;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, lines, strlen(lines)), strlen(lines));
	close(fd);
	assert_true(dns_system_read(&system, path));
	assert_false(dns_system_is_old(&system, path));
	unlink(path);
	assert_true(dns_system_is_old(&system, path));
	system_text(&system, found, sizeof(found));
	assert_string_equal(found, expected);
	dns_system_fini(&system);
}

static void
all_name_servers_and_domains_are_read(void **state)
{
	(void)state;
	check_file(
	    "# comment\n; comment\n\n"
	    "nameserver 10.0.0.1\n\tnameserver\t10.0.0.2 # why\n"
	    "nameserver 2001:db8::3\nnameserver 10.0.0.4:5353\n"
	    "nameserver [2001:db8::5]:5353\nnameserver 10.0.0.6,10.0.0.7\n"
	    "nameserver dns.test\nnameserver\nnameserver unix:/x\n"
	    "nameservers 10.0.0.9\n"
	    "search a.test b.test. c.test d.test e.test f.test g.test . "
	    "h.test",
	    "10.0.0.1:53;10.0.0.2:53;[2001:db8::3]:53;10.0.0.4:5353;"
	    "[2001:db8::5]:5353;10.0.0.6:53;10.0.0.7:53; | "
	    "a.test;b.test;c.test;d.test;e.test;f.test;g.test;h.test; | 1");
}

static void
a_link_local_name_server_has_its_scope(void **state)
{
	char expected[128];

	(void)state;
	snprintf(expected, sizeof(expected), "[fe80::1%%%u]:53; | x; | 1",
	    if_nametoindex("lo"));
	check_file("nameserver fe80::1%lo\ndomain x\n", expected);
}

static void
the_last_line_with_domains_counts(void **state)
{
	(void)state;
	check_file("search a.test b.test\ndomain c.test d.test\n",
	    "127.0.0.1:53; | c.test; | 1");
	check_file("domain c.test\nsearch a.test b.test ; why\n",
	    "127.0.0.1:53; | a.test;b.test; | 1");
	check_file("search a.test\nsearch .\n", "127.0.0.1:53; |  | 1");
}

static void
options_are_read(void **state)
{
	(void)state;
	check_file("search x\noptions edns0 ndots:3 trust-ad\n",
	    "127.0.0.1:53; | x; | 3");
	check_file("search x\noptions ndots:3\noptions ndots:0\n",
	    "127.0.0.1:53; | x; | 0");
	check_file("search x\noptions ndots:100\n", "127.0.0.1:53; | x; | 15");
	check_file("search x\noptions ndots: ndots:-2 ndots:x ndots\n",
	    "127.0.0.1:53; | x; | 1");
	check_file("search x\noptions timeout:3 rotate\noptions attempts:4\n",
	    "127.0.0.1:53; | x; | 1 timeout:3 attempts:4 rotate");
	check_file("search x\noptions timeout:100 attempts:100\n",
	    "127.0.0.1:53; | x; | 1 timeout:30 attempts:5");
	check_file("search x\noptions timeout:0 attempts:0\n",
	    "127.0.0.1:53; | x; | 1 timeout:1 attempts:1");
	check_file("search x\noptions timeout: attempts rotate:1 norotate\n",
	    "127.0.0.1:53; | x; | 1");
}

static void
the_environment_overrides_the_file(void **state)
{
	(void)state;
	setenv("LOCALDOMAIN", "a.test b.test", 1);
	setenv("RES_OPTIONS", "ndots:4 timeout:2 rotate", 1);
	check_file("search c.test\noptions ndots:2 timeout:9 attempts:3\n"
	           "nameserver 10.0.0.1\n",
	    "10.0.0.1:53; | a.test;b.test; | 4 timeout:2 attempts:3 rotate");
	setenv("LOCALDOMAIN", "", 1);
	setenv("RES_OPTIONS", "", 1);
	check_file("search c.test\noptions ndots:2\nnameserver 10.0.0.1\n",
	    "10.0.0.1:53; |  | 2");
	unsetenv("LOCALDOMAIN");
	unsetenv("RES_OPTIONS");
}

static void
a_missing_file_is_an_empty_one(void **state)
{
	char name[HOST_NAME_MAX + 1], expected[2 * HOST_NAME_MAX], found[1024];
	struct dns_system system;
	const char *dot;

	(void)state;
	assert_int_equal(gethostname(name, sizeof(name)), 0);
	dot = strchr(name, '.');
	snprintf(expected, sizeof(expected), "127.0.0.1:53; | %s%s | 1",
	    dot ? dot + 1 : "", dot ? ";" : "");
	assert_true(dns_system_read(&system, "/nonexistent/resolv.conf"));
	system_text(&system, found, sizeof(found));
	assert_string_equal(found, expected);
	dns_system_fini(&system);
	check_file("\n", expected);
}

static void
a_file_that_cannot_be_read_is_an_error(void **state)
{
	struct dns_system system;

	(void)state;
	assert_false(dns_system_read(&system, "/tmp"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_name_servers_and_domains_are_read),
	    cmocka_unit_test(a_link_local_name_server_has_its_scope),
	    cmocka_unit_test(the_last_line_with_domains_counts),
	    cmocka_unit_test(options_are_read),
	    cmocka_unit_test(the_environment_overrides_the_file),
	    cmocka_unit_test(a_missing_file_is_an_empty_one),
	    cmocka_unit_test(a_file_that_cannot_be_read_is_an_error),
	};

	unsetenv("LOCALDOMAIN");
	unsetenv("RES_OPTIONS");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
