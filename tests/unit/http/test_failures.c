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
a_site_cannot_try_for_each_of_its_networks(void **state)
{
	static struct http_failures f;
	struct endpoint other = from("2001:db8:1::1"), v4 = from("10.0.0.1"),
	                e = from("2001:db8::1");
	unsigned tried = 0;

	(void)state;
	for (unsigned i = 0; i < FAILURES_MAX; i++) {
		http_failures_add(&f, &other, 5);
		http_failures_add(&f, &v4, 5);
	}
	for (unsigned i = 0; i < 4 * FAILURES_ADDRESSES; i++) {
		e.ip[6] = (uint8_t)(i >> 8);
		e.ip[7] = (uint8_t)i;
		if (http_failures_wait_ms(&f, &e, 6) > 0)
			continue;
		http_failures_add(&f, &e, 6);
		tried++;
	}
	assert_int_equal(tried, SITE_FACTOR * FAILURES_MAX);
	assert_int_equal(http_failures_wait_ms(&f, &e, 6),
	    FAILURE_FORGIVEN_MS / SITE_FACTOR);
	assert_true(http_failures_wait_ms(&f, &other, 6) > 0);
	assert_true(http_failures_wait_ms(&f, &v4, 6) > 0);
	assert_int_equal(http_failures_wait_ms(
	                     &f, &e, 6 + FAILURE_FORGIVEN_MS / SITE_FACTOR),
	    0);
}

static void
an_attempt_without_a_verdict_does_not_count(void **state)
{
	static struct http_failures f;
	struct endpoint a = from("2001:db8::1"), b = from("10.0.0.1");

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		http_failures_add(&f, &a, 5);
		http_failures_take_back(&f, &a);
		http_failures_add(&f, &b, 5);
		http_failures_take_back(&f, &b);
	}
	assert_int_equal(http_failures_wait_ms(&f, &a, 5), 0);
	assert_int_equal(http_failures_wait_ms(&f, &b, 5), 0);
}

static void
networks_of_users_are_known(void **state)
{
	static struct http_failures f;
	struct endpoint a = from("2001:db8::1"), b = from("2001:db8::7"),
	                e = from("10.0.0.1"), last = e;

	(void)state;
	assert_false(http_failures_knows(&f, &a));
	http_failures_forget(&f, &a);
	assert_true(http_failures_knows(&f, &b));
	for (unsigned i = 1; i < FAILURES_KNOWN; i++) {
		last.ip[3] = (uint8_t)i;
		http_failures_forget(&f, &last);
		http_failures_forget(&f, &last);
	}
	assert_true(http_failures_knows(&f, &e));
	assert_true(http_failures_knows(&f, &a));
	http_failures_forget(&f, &a);
	last.ip[3] = 200;
	http_failures_forget(&f, &last);
	assert_true(http_failures_knows(&f, &a));
	assert_true(http_failures_knows(&f, &last));
	assert_false(http_failures_knows(&f, &e));
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
	    cmocka_unit_test(a_site_cannot_try_for_each_of_its_networks),
	    cmocka_unit_test(an_attempt_without_a_verdict_does_not_count),
	    cmocka_unit_test(networks_of_users_are_known),
	    cmocka_unit_test(the_oldest_makes_room),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
