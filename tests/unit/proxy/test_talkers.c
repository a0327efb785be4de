/* SPDX-License-Identifier: MIT
 * Top talkers: bounds against exact sums, windows of time, and who a client is.
 */
#include "proxy/talkers.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "unit.h"

#define S_NS    UINT64_C(1000000000)
#define CLIENTS 20000u

static struct talkers talkers;

static int
set_up(void **state)
{
	(void)state;
	assert_int_equal(talkers_init(&talkers), 0);
	talkers.began_ms = 0;
	/* The shares of the shards have to be the same in each run. */
	talkers.seed = 42;
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	talkers_fini(&talkers);
	return 0;
}

static struct endpoint
client_at(const char *text)
{
	struct endpoint e = {.family = strchr(text, ':') ? AF_INET6 : AF_INET};

	assert_int_equal(inet_pton(e.family, text, e.ip), 1);
	return e;
}

static void
add(const char *client, enum talkers_kind what, uint64_t n, uint64_t at_s)
{
	struct endpoint e = client_at(client);

	talkers_add(&talkers, &e, what, n, at_s * S_NS);
}

/* Returns the least sum of the client among the most `by`; 0: not there. */
static uint64_t
sum_of(const char *client, enum talkers_kind by, uint64_t last_s, uint64_t at_s)
{
	char text[TALKER_TEXT_SIZE];
	struct talkers_top top;

	talkers_find(&talkers, by, last_s * 1000, at_s * 1000, &top);
	for (size_t i = 0; i < top.n; i++)
		if (strcmp(talker_text(top.all[i].key, text), client) == 0)
			return top.all[i].sums[by].low;
	return 0;
}

static void
old_windows_count_no_more(void **state)
{
	struct talkers_top top;

	(void)state;
	add("10.0.0.1", TALK_BYTES, 5, 5);
	add("10.0.0.1", TALK_BYTES, 7, 65);
	assert_int_equal(sum_of("10.0.0.1", TALK_BYTES, 60, 69), 12);
	assert_int_equal(sum_of("10.0.0.1", TALK_BYTES, 60, 70), 7);
	assert_int_equal(sum_of("10.0.0.1", TALK_BYTES, 300, 70), 12);
	talkers_find(&talkers, TALK_BYTES, 60000, 74000, &top);
	assert_int_equal(top.span_ms, 64000);
	/* The first window's place is used again. */
	add("10.0.0.1", TALK_BYTES, 1, 10 * TALKERS_WINDOWS);
	assert_int_equal(
	    sum_of("10.0.0.1", TALK_BYTES, 300, 10 * TALKERS_WINDOWS), 8);
	assert_int_equal(sum_of("10.0.0.1", TALK_BYTES, 300, 10000), 0);
}

static void
kinds_are_counted_apart_and_told_together(void **state)
{
	struct talkers_top top;

	(void)state;
	add("10.0.0.1", TALK_BYTES, 1000, 1);
	add("10.0.0.2", TALK_SESSIONS, 3, 1);
	add("10.0.0.2", TALK_BYTES, 10, 1);
	add("10.0.0.3", TALK_ERRORS, 1, 1);
	talkers_find(&talkers, TALK_SESSIONS, 60000, 1000, &top);
	assert_int_equal(top.n, 1);
	assert_int_equal(top.all[0].sums[TALK_BYTES].low, 10);
	assert_int_equal(top.all[0].sums[TALK_BYTES].high, 10);
	assert_int_equal(top.all[0].sums[TALK_ERRORS].high, 0);
	assert_int_equal(top.others_high, 0);
	assert_int_equal(sum_of("10.0.0.1", TALK_BYTES, 60, 1), 1000);
	assert_int_equal(sum_of("10.0.0.3", TALK_ERRORS, 60, 1), 1);
}

static void
client_is_an_address_or_a_64(void **state)
{
	const struct endpoint unix_client = {.family = AF_UNIX};

	(void)state;
	add("2001:db8:0:1::5", TALK_BYTES, 1, 1);
	add("2001:db8:0:1:ff::", TALK_BYTES, 2, 1);
	add("2001:db8:0:2::5", TALK_BYTES, 4, 1);
	add("::1", TALK_BYTES, 8, 1);
	add("255.255.255.255", TALK_BYTES, 16, 1);
	add("0.0.0.0", TALK_BYTES, 32, 1);
	talkers_add(&talkers, &unix_client, TALK_BYTES, 64, S_NS);
	assert_int_equal(sum_of("2001:db8:0:1::/64", TALK_BYTES, 60, 1), 3);
	assert_int_equal(sum_of("2001:db8:0:2::/64", TALK_BYTES, 60, 1), 4);
	assert_int_equal(sum_of("::/64", TALK_BYTES, 60, 1), 8);
	assert_int_equal(sum_of("255.255.255.255", TALK_BYTES, 60, 1), 16);
	assert_int_equal(sum_of("0.0.0.0", TALK_BYTES, 60, 1), 32);
	assert_int_equal(sum_of("unix", TALK_BYTES, 60, 1), 64);
}

static uint64_t exact[CLIENTS];

static int
compare_falling(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

/* The number of the client whose address the key has. */
static uint64_t
number_of(const struct talker *t)
{
	return (uint32_t)t->key - 0x0a000000u;
}

/* Clients of a skewed stream of 40 s: few have most of the bytes. */
static void
fill_skewed(void)
{
	uint64_t random = 7;

	memset(exact, 0, sizeof(exact));
	for (unsigned i = 0; i < 300000; i++) {
		double share = mix64_share(&random);
		unsigned client =
		    (unsigned)(share * share * share * share * CLIENTS);
		uint32_t ip = htonl(0x0a000000u + client);
		struct endpoint e = {.family = AF_INET};
		uint64_t n = 1 + (mix64(random) & 0xffff);

		memcpy(e.ip, &ip, sizeof(ip));
		talkers_add(&talkers, &e, TALK_BYTES, n, i / 7500 * S_NS);
		exact[client] += n;
	}
}

static void
bounds_hold_for_a_skewed_stream(void **state)
{
	static uint64_t sorted[CLIENTS];
	struct talkers_top top;
	unsigned found = 0;

	(void)state;
	fill_skewed();
	memcpy(sorted, exact, sizeof(exact));
	qsort(sorted, CLIENTS, sizeof(sorted[0]), compare_falling);
	talkers_find(&talkers, TALK_BYTES, 60000, 39000, &top);
	assert_int_equal(top.n, 20);
	for (size_t i = 0; i < top.n; i++) {
		const struct talk_sum *sum = &top.all[i].sums[TALK_BYTES];
		uint64_t n = number_of(&top.all[i]);

		assert_true(n < CLIENTS);
		assert_true(sum->low <= exact[n] && exact[n] <= sum->high);
		/* The bounds are narrow enough to act on. */
		assert_true(sum->high - sum->low <= sorted[0] / 10);
		found += exact[n] >= sorted[9];
		exact[n] = 0;
	}
	assert_int_equal(found, 10);
	for (unsigned i = 0; i < CLIENTS; i++)
		assert_true(exact[i] <= top.others_high);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(old_windows_count_no_more),
	    TEST(kinds_are_counted_apart_and_told_together),
	    TEST(client_is_an_address_or_a_64),
	    TEST(bounds_hold_for_a_skewed_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
