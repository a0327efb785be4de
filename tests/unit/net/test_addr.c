/* SPDX-License-Identifier: MIT
 * Addresses from text and back, and the short form of a peer.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "net/addr.h"

static struct addr
parsed(const char *text, enum addr_use use)
{
	struct addr a;
	struct err err;

	/* What is not set must not show in addr_equal. */
	memset(&a, 0xaa, sizeof(a));
	if (!addr_parse(text, use, &a, &err))
		fail_msg("%s: %s", text, err.text);
	return a;
}

static void
assert_text(const char *text, enum addr_use use, const char *expected)
{
	struct addr a = parsed(text, use);
	char out[ADDR_TEXT_SIZE];

	assert_string_equal(addr_text(&a, out), expected);
}

static void
assert_refused(const char *text, enum addr_use use, const char *reason)
{
	struct addr a = {.len = 77};
	struct err err = {""};

	if (addr_parse(text, use, &a, &err))
		fail_msg("'%s' was taken", text);
	assert_int_equal(a.len, 77);
	if (!strstr(err.text, reason))
		fail_msg("'%s': '%s' lacks '%s'", text, err.text, reason);
}

static void
both_uses_take_ip_and_port(void **state)
{
	(void)state;
	for (enum addr_use use = ADDR_CONNECT; use <= ADDR_LISTEN; use++) {
		assert_text("10.0.0.1:80", use, "10.0.0.1:80");
		assert_text("0.0.0.0:1", use, "0.0.0.0:1");
		assert_text("[::1]:65535", use, "[::1]:65535");
		assert_text("[2001:db8::1]:80", use, "[2001:db8::1]:80");
		assert_text("[::ffff:10.0.0.1]:80", use, "10.0.0.1:80");
	}
}

static void
ipv4_becomes_sockaddr_in(void **state)
{
	struct addr a = parsed("192.0.2.7:8080", ADDR_CONNECT);

	(void)state;
	assert_int_equal(a.len, sizeof(struct sockaddr_in));
	assert_int_equal(a.in.sin_family, AF_INET);
	assert_int_equal(ntohs(a.in.sin_port), 8080);
	assert_int_equal(ntohl(a.in.sin_addr.s_addr), 0xc0000207);
}

static void
listen_without_host_is_ipv6_wildcard(void **state)
{
	static const char *const texts[] = {":80", "*:80", "[::]:80"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct addr a = parsed(texts[i], ADDR_LISTEN);

		assert_int_equal(a.len, sizeof(struct sockaddr_in6));
		assert_int_equal(a.in6.sin6_family, AF_INET6);
		assert_int_equal(ntohs(a.in6.sin6_port), 80);
		assert_true(IN6_IS_ADDR_UNSPECIFIED(&a.in6.sin6_addr));
	}
	assert_refused(":80", ADDR_CONNECT, "names no host");
	assert_refused("*:80", ADDR_CONNECT, "names no host");
}

static void
port_zero_is_for_listening_only(void **state)
{
	(void)state;
	assert_text("127.0.0.1:0", ADDR_LISTEN, "127.0.0.1:0");
	assert_text(":0", ADDR_LISTEN, "[::]:0");
	assert_refused("127.0.0.1:0", ADDR_CONNECT, "no port from 1 to 65535");
}

static void
mapped_addresses_are_those_of_ipv4(void **state)
{
	struct addr mapped = parsed("[::ffff:10.0.0.1]:80", ADDR_CONNECT);
	struct addr plain = parsed("10.0.0.1:80", ADDR_CONNECT);

	(void)state;
	assert_int_equal(mapped.sa.sa_family, AF_INET);
	assert_int_equal(mapped.len, plain.len);
	assert_true(addr_equal(&mapped, &plain));
	assert_text("[::ffff:10.0.0.1]:80", ADDR_LISTEN, "10.0.0.1:80");
}

static void
bad_ports_are_refused(void **state)
{
	static const char *const texts[] = {"10.0.0.1:", "10.0.0.1:65536",
	    "10.0.0.1:-1", "10.0.0.1:http", "10.0.0.1: 80", "10.0.0.1:80 ",
	    "10.0.0.1:+80", "[::1]:", "[::1]:x", ":", "10.0.0.1:4294967376"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_refused(
		    texts[i], ADDR_LISTEN, "no port from 1 to 65535");
		assert_refused(
		    texts[i], ADDR_CONNECT, "no port from 1 to 65535");
	}
}

static void
missing_ports_are_refused(void **state)
{
	static const char *const texts[] = {
	    "", "10.0.0.1", "host", "[::1]", "[::1]80", "80", "*"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_refused(texts[i], ADDR_CONNECT, "has no port; write");
	assert_refused("[", ADDR_CONNECT, "'[': ']' expected behind");
	assert_refused("[::1:8081", ADDR_LISTEN,
	    "'[::1:8081': ']' expected behind the IPv6 address; write "
	    "[V6]:PORT, as in [::1]:80");
}

static void
ipv6_wants_brackets_and_brackets_want_ipv6(void **state)
{
	(void)state;
	assert_refused("::1", ADDR_LISTEN, "in brackets");
	assert_refused("::1:80", ADDR_LISTEN, "in brackets");
	assert_refused("fe80::1:80", ADDR_CONNECT, "in brackets");
	assert_refused("[]:80", ADDR_LISTEN, "is not an IPv6 address");
	assert_refused("[*]:80", ADDR_LISTEN, "is not an IPv6 address");
	assert_refused("[10.0.0.1]:80", ADDR_CONNECT, "is not an IPv6 address");
	assert_refused(
	    "[localhost]:80", ADDR_CONNECT, "is not an IPv6 address");
	assert_refused("[::g]:80", ADDR_CONNECT, "is not an IPv6 address");
	assert_refused("[::1::2]:80", ADDR_LISTEN, "is not an IPv6 address");
}

/* getaddrinfo alone takes these for 10.0.0.1, 8.0.0.1, 0.0.0.80, 127.0.0.1. */
static void
odd_forms_of_ipv4_are_refused(void **state)
{
	static const char *const texts[] = {"10.1:80", "010.0.0.1:80", "80:80",
	    "0x7f.1:80", "0x7f000001:80", "10.0.0.0x1:80", "10.0.0.256:80",
	    "1.2.3.4.5:80", "10.0.0:80"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_refused(
		    texts[i], ADDR_CONNECT, "is not an IPv4 address");
		assert_refused(texts[i], ADDR_LISTEN, "is not an IPv4 address");
	}
}

static void
names_are_not_looked_up(void **state)
{
	struct addr_name name;
	struct addr addr;
	struct err err;

	(void)state;
	assert_true(
	    addr_parse_name("db-1.example_x.org.:80", &addr, &name, &err));
	assert_string_equal(name.host, "db-1.example_x.org.");
	assert_int_equal(name.port, 80);
	assert_int_equal(addr.len, 0);
	assert_int_equal(addr.sa.sa_family, AF_UNSPEC);
	assert_true(addr_parse_name("[::1]:81", &addr, &name, &err));
	assert_string_equal(name.host, "");
	assert_int_equal(addr.sa.sa_family, AF_INET6);
	assert_int_equal(addr_port(&addr), 81);
	assert_refused("localhost:80", ADDR_LISTEN, "is not an IP address");
	assert_refused("localhost:80", ADDR_CONNECT, "is not an IP address");
}

static void
what_cannot_be_a_name_is_refused(void **state)
{
	static const char *const texts[] = {"no..where:80", ".x:80", "a b:80",
	    "a/b:80", "b\xc3\xbc:80",
	    "1234567890123456789012345678901234567890123456789012345678901234"
	    ".org:80"};
	struct addr_name name;
	struct addr addr;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_false(addr_parse_name(texts[i], &addr, &name, &err));
		assert_non_null(strstr(err.text, "cannot be a host's name"));
	}
}

static void
a_look_up_gives_an_address_of_the_family(void **state)
{
	struct addr addr;

	(void)state;
	assert_int_equal(addr_lookup("localhost", AF_INET, &addr), 0);
	assert_int_equal(addr.sa.sa_family, AF_INET);
	assert_int_equal(addr_port(&addr), 0);
	assert_int_not_equal(addr_lookup("no..where", AF_UNSPEC, &addr), 0);
	assert_string_equal(
	    addr_lookup_error(EAI_NONAME), "Name or service not known");
	assert_string_equal(addr_lookup_error(ENOMEM), strerror(ENOMEM));
}

static void
overlong_host_is_refused(void **state)
{
	char text[400];

	(void)state;
	memset(text, 'a', sizeof(text));
	strcpy(text + 300, ":80");
	assert_refused(text, ADDR_CONNECT, "is too long");
}

static void
unix_path_is_absolute_and_fits(void **state)
{
	char text[200] = "unix:/";
	struct addr a = parsed("unix:/run/a:b=c", ADDR_LISTEN);

	(void)state;
	assert_int_equal(a.un.sun_family, AF_UNIX);
	assert_string_equal(a.un.sun_path, "/run/a:b=c");
	assert_int_equal(
	    a.len, offsetof(struct sockaddr_un, sun_path) + 10 + 1);
	assert_text("unix:/run/x", ADDR_CONNECT, "unix:/run/x");
	assert_refused("unix:", ADDR_CONNECT, "no absolute path");
	assert_refused("unix:run/x", ADDR_LISTEN, "no absolute path");

	memset(text + 6, 'p', 106);
	text[5 + 107] = '\0';
	assert_text(text, ADDR_CONNECT, text);
	strcat(text, "p");
	assert_refused(text, ADDR_CONNECT, "longer than 107 bytes");
}

static void
scope_survives_text(void **state)
{
	struct addr a = parsed("[fe80::1%1]:80", ADDR_CONNECT), b;
	char out[ADDR_TEXT_SIZE];

	(void)state;
	assert_int_equal(a.in6.sin6_scope_id, 1);
	assert_string_equal(addr_text(&a, out), "[fe80::1%1]:80");
	b = parsed(out, ADDR_CONNECT);
	assert_true(addr_equal(&a, &b));
}

static void
equal_means_family_host_and_port(void **state)
{
	static const char *const texts[] = {"10.0.0.1:80", "10.0.0.1:81",
	    "10.0.0.2:80", "[::1]:80", "[::1]:81", "unix:/a", "unix:/ab"};
	const size_t n = sizeof(texts) / sizeof(texts[0]);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++) {
			struct addr a = parsed(texts[i], ADDR_CONNECT);
			struct addr b = parsed(texts[j], ADDR_CONNECT);

			assert_int_equal(addr_equal(&a, &b), i == j);
		}
	}
}

static void
endpoint_keeps_host_and_port(void **state)
{
	static const struct {
		const char *text, *host;
		unsigned family, port;
	} rows[] = {
	    {"10.0.0.1:80", "10.0.0.1", AF_INET, 80},
	    {"[2001:db8::1]:443", "2001:db8::1", AF_INET6, 443},
	    {"[::ffff:10.0.0.1]:80", "10.0.0.1", AF_INET, 80},
	    {"unix:/run/x", "unix", AF_UNIX, 0},
	};
	char host[INET6_ADDRSTRLEN];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct addr a = parsed(rows[i].text, ADDR_CONNECT);
		struct endpoint e;

		endpoint_set(&e, &a.sa, a.len);
		assert_int_equal(e.family, rows[i].family);
		assert_int_equal(e.port, rows[i].port);
		assert_string_equal(endpoint_host(&e, host), rows[i].host);
	}
}

static void
endpoint_of_nothing_is_unix_or_none(void **state)
{
	struct endpoint none = {.family = 0}, e;
	struct sockaddr sa = {.sa_family = AF_INET};
	char host[INET6_ADDRSTRLEN];

	(void)state;
	assert_string_equal(endpoint_host(&none, host), "-");
	/* accept(2) says length 0 for a unix client that is not bound. */
	endpoint_set(&e, &sa, 0);
	assert_int_equal(e.family, AF_UNIX);
	assert_string_equal(endpoint_host(&e, host), "unix");
	assert_int_equal(sizeof(struct endpoint), 24);
}

static struct addr
listen_addr(const char *text)
{
	struct addr addr;
	struct err err;

	if (!addr_parse(text, ADDR_LISTEN, &addr, &err))
		fail_msg("%s: %s", text, err.text);
	return addr;
}

static void
loopback_is_what_only_this_host_reaches(void **state)
{
	static const char *const inside[] = {
	    "127.0.0.1:1", "127.255.0.9:1", "[::1]:1", "unix:/x"};
	static const char *const outside[] = {
	    "128.0.0.1:1", "0.0.0.0:1", ":1", "[::]:1", "[::2]:1"};

	(void)state;
	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
		struct addr addr = listen_addr(inside[i]);

		assert_true(addr_is_loopback(&addr));
	}
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		struct addr addr = listen_addr(outside[i]);

		assert_false(addr_is_loopback(&addr));
	}
}

static void
private_is_what_is_not_routed(void **state)
{
	static const char *const inside[] = {"127.0.0.1:1", "10.255.0.1:1",
	    "172.16.0.1:1", "172.31.255.255:1", "192.168.7.7:1",
	    "169.254.169.254:1", "100.64.0.1:1", "100.127.255.255:1", "[::1]:1",
	    "[fe80::1]:1", "[fd00::1]:1", "[fc00::1]:1", "[::ffff:10.1.2.3]:1",
	    "unix:/x"};
	static const char *const outside[] = {":1", "*:1", "0.0.0.0:1",
	    "9.255.255.255:1", "11.0.0.1:1", "172.15.0.1:1", "172.32.0.1:1",
	    "192.169.0.1:1", "100.63.255.255:1", "100.128.0.1:1",
	    "[2001:db8::1]:1", "[fec0::1]:1", "[::ffff:8.8.8.8]:1"};

	(void)state;
	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
		struct addr addr = listen_addr(inside[i]);

		assert_true(addr_is_private(&addr));
	}
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		struct addr addr = listen_addr(outside[i]);

		assert_false(addr_is_private(&addr));
	}
}

static void
port_that_the_kernel_chooses_is_any(void **state)
{
	struct addr any = listen_addr("127.0.0.1:0"), any6 = listen_addr(":0");
	struct addr one = listen_addr("[::1]:1"), path = listen_addr("unix:/x");

	(void)state;
	assert_true(addr_has_any_port(&any));
	assert_true(addr_has_any_port(&any6));
	assert_false(addr_has_any_port(&one));
	assert_false(addr_has_any_port(&path));
}

static void
a_descriptor_has_a_name_and_nothing_else(void **state)
{
	const char *const refused[] = {"", "a b", "a:b", "\xc3\xa4", "a\n"};
	char longest[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1];
	char text[ADDR_TEXT_SIZE];
	struct addr web, other;
	struct err err;

	(void)state;
	assert_true(addr_set_descriptor("web", &web, &err));
	assert_true(addr_is_descriptor(&web));
	assert_string_equal(addr_text(&web, text), "fd:web");
	assert_string_equal(addr_host(&web, text), "web");
	assert_false(addr_has_any_port(&web));
	assert_int_equal(addr_port(&web), 0);
	assert_true(addr_set_descriptor("webs", &other, &err));
	assert_false(addr_equal(&web, &other));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_false(addr_set_descriptor(refused[i], &other, &err));
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_false(addr_set_descriptor(longest, &other, &err));
	longest[sizeof(longest) - 2] = '\0';
	assert_true(addr_set_descriptor(longest, &other, &err));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_descriptor_has_a_name_and_nothing_else),
	    cmocka_unit_test(both_uses_take_ip_and_port),
	    cmocka_unit_test(ipv4_becomes_sockaddr_in),
	    cmocka_unit_test(listen_without_host_is_ipv6_wildcard),
	    cmocka_unit_test(port_zero_is_for_listening_only),
	    cmocka_unit_test(mapped_addresses_are_those_of_ipv4),
	    cmocka_unit_test(bad_ports_are_refused),
	    cmocka_unit_test(missing_ports_are_refused),
	    cmocka_unit_test(ipv6_wants_brackets_and_brackets_want_ipv6),
	    cmocka_unit_test(odd_forms_of_ipv4_are_refused),
	    cmocka_unit_test(names_are_not_looked_up),
	    cmocka_unit_test(what_cannot_be_a_name_is_refused),
	    cmocka_unit_test(a_look_up_gives_an_address_of_the_family),
	    cmocka_unit_test(overlong_host_is_refused),
	    cmocka_unit_test(unix_path_is_absolute_and_fits),
	    cmocka_unit_test(scope_survives_text),
	    cmocka_unit_test(equal_means_family_host_and_port),
	    cmocka_unit_test(endpoint_keeps_host_and_port),
	    cmocka_unit_test(endpoint_of_nothing_is_unix_or_none),
	    cmocka_unit_test(loopback_is_what_only_this_host_reaches),
	    cmocka_unit_test(private_is_what_is_not_routed),
	    cmocka_unit_test(port_that_the_kernel_chooses_is_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
