/* SPDX-License-Identifier: MIT
 * How long an address waits after wrong passwords.
 */
#include "http/failures.h"

#include <arpa/inet.h>
#include <string.h>

#include "unit.h"

static struct endpoint
from(const char *text)
{
	struct endpoint e = {
	    .family = strchr(text, ':') ? AF_INET6 : AF_INET, .port = 4711};

	assert_int_equal(inet_pton(e.family, text, e.ip), 1);
	return e;
}

static void
five_are_free_and_then_one_a_while(void **state)
{
	static struct http_failures f;
	struct endpoint a = from("10.0.0.1"), b = from("10.0.0.2");
	uint64_t now = 1000000;

	(void)state;
	for (unsigned i = 0; i < FAILURES_MAX; i++) {
		assert_int_equal(http_failures_wait_ms(&f, &a, now), 0);
		http_failures_add(&f, &a, now);
	}
	assert_int_equal(
	    http_failures_wait_ms(&f, &a, now), FAILURE_FORGIVEN_MS);
	a.port = 9; /* the port does not matter */
	assert_int_equal(
	    http_failures_wait_ms(&f, &a, now + 1), FAILURE_FORGIVEN_MS - 1);
	assert_int_equal(http_failures_wait_ms(&f, &b, now), 0);
	now += FAILURE_FORGIVEN_MS;
	assert_int_equal(http_failures_wait_ms(&f, &a, now), 0);
	http_failures_add(&f, &a, now);
	assert_int_equal(
	    http_failures_wait_ms(&f, &a, now), FAILURE_FORGIVEN_MS);
	now += FAILURES_MAX * FAILURE_FORGIVEN_MS;
	assert_int_equal(http_failures_wait_ms(&f, &a, now), 0);
	for (unsigned i = 0; i < FAILURES_MAX - 1; i++)
		http_failures_add(&f, &a, now);
	assert_int_equal(http_failures_wait_ms(&f, &a, now), 0);
}

static void
signing_in_forgives(void **state)
{
	static struct http_failures f;
	struct endpoint a = from("10.0.0.1");

	(void)state;
	for (unsigned i = 0; i < 2 * FAILURES_MAX; i++)
		http_failures_add(&f, &a, 5);
	assert_true(http_failures_wait_ms(&f, &a, 5) > 0);
	http_failures_forget(&f, &a);
	assert_int_equal(http_failures_wait_ms(&f, &a, 5), 0);
}

static void
ipv6_counts_by_its_network(void **state)
{
	static struct http_failures f;
	struct endpoint a = from("2001:db8::1"), b = from("2001:db8::2:3"),
	                c = from("2001:db8:0:1::1");

	(void)state;
	for (unsigned i = 0; i < FAILURES_MAX; i++)
		http_failures_add(&f, &a, 5);
	assert_true(http_failures_wait_ms(&f, &b, 5) > 0);
	assert_int_equal(http_failures_wait_ms(&f, &c, 5), 0);
}

static void
the_oldest_makes_room(void **state)
{
	static struct http_failures f;
	struct endpoint first = from("10.0.0.1"), e = first;

	(void)state;
	for (unsigned i = 0; i < FAILURES_MAX; i++)
		http_failures_add(&f, &first, 5);
	for (unsigned i = 0; i < FAILURES_ADDRESSES - 1; i++) {
		e.ip[2] = (uint8_t)(1 + i / 200);
		e.ip[3] = (uint8_t)(i % 200);
		http_failures_add(&f, &e, 6 + i);
	}
	assert_true(http_failures_wait_ms(&f, &first, 600) > 0);
	e.ip[2] = 77;
	http_failures_add(&f, &e, 700);
	assert_int_equal(http_failures_wait_ms(&f, &first, 700), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(five_are_free_and_then_one_a_while),
	    cmocka_unit_test(signing_in_forgives),
	    cmocka_unit_test(ipv6_counts_by_its_network),
	    cmocka_unit_test(the_oldest_makes_room),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
