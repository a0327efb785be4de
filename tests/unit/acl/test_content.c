/* SPDX-License-Identifier: MIT
 * Contents of address lists: look-ups agree with a model that tries every
 * entry, for random lists, and entries are found with their places.
 */
#include "acl/content.h"

#include <endian.h>
#include <sys/socket.h>

#include "base/mix.h"
#include "unit.h"

static uint64_t random_state;

static uint64_t
draw(void)
{
	return random_state = mix64(random_state);
}

static struct cidr
range_of(const char *text)
{
	struct cidr r;

	assert_true(cidr_parse(text, &r, NULL));
	return r;
}

static struct endpoint
client_of(const char *text)
{
	struct endpoint e = {.family = AF_UNIX};
	struct addr addr;

	if (strcmp(text, "unix") != 0) {
		assert_true(addr_parse_ip(text, &addr));
		endpoint_set(&e, &addr.sa, addr.len);
	}
	return e;
}

/* Takes ranges, NULL at the end; line n is the n-th of them. */
static struct acl_content *
make(const char *const *texts)
{
	struct acl_content *c = acl_content_new();

	assert_non_null(c);
	assert_int_equal(acl_content_add_source(c, "test.list"), 0);
	for (unsigned line = 1; *texts; texts++, line++) {
		struct acl_entry e = {.range = range_of(*texts), .line = line};

		assert_true(acl_content_add(c, &e));
	}
	assert_true(acl_content_seal(c));
	return c;
}
#define MAKE(...) make((const char *const[]){__VA_ARGS__, NULL})

static bool
has(const struct acl_content *c, const char *client)
{
	struct endpoint e = client_of(client);

	return acl_table_has(acl_content_table(c), &e);
}

static void
an_empty_list_has_no_client(void **state)
{
	struct acl_content *c = make((const char *const[]){NULL});

	assert_false(has(c, "0.0.0.0"));
	assert_false(has(c, "255.255.255.255"));
	assert_false(has(c, "::"));
	assert_false(has(c, "unix"));
	assert_int_equal(acl_content_entries(c), 0);
	acl_content_free(c);
}

static void
ranges_may_reach_the_last_address(void **state)
{
	struct acl_content *c = MAKE("255.255.255.255", "128.0.0.0/1",
	    "ffff::/16", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");

	assert_false(has(c, "127.255.255.255"));
	assert_true(has(c, "128.0.0.0"));
	assert_true(has(c, "255.255.255.255"));
	assert_false(has(c, "fffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff"));
	assert_true(has(c, "ffff::"));
	assert_true(has(c, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"));
	acl_content_free(c);
	c = MAKE("0.0.0.0/0", "::/0", "1.2.3.4", "2001:db8::1", "unix");
	assert_true(has(c, "0.0.0.0"));
	assert_true(has(c, "255.255.255.255"));
	assert_true(has(c, "::"));
	assert_true(has(c, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"));
	assert_true(has(c, "unix"));
	acl_content_free(c);
}

static void
ipv6_ranges_within_one_upper_half_are_told_apart(void **state)
{
	struct acl_content *c = MAKE("2001:db8::4", "2001:db8::8/125",
	    "2001:db8:0:0:ffff:ffff:ffff:ffff",
	    "2001:db8:0:1::", "2001:db8:0:3::/64");

	assert_false(has(c, "2001:db8::3"));
	assert_true(has(c, "2001:db8::4"));
	assert_false(has(c, "2001:db8::5"));
	assert_false(has(c, "2001:db8::7"));
	assert_true(has(c, "2001:db8::8"));
	assert_true(has(c, "2001:db8::f"));
	assert_false(has(c, "2001:db8::10"));
	assert_true(has(c, "2001:db8:0:0:ffff:ffff:ffff:ffff"));
	assert_true(has(c, "2001:db8:0:1::"));
	assert_false(has(c, "2001:db8:0:1::1"));
	assert_false(has(c, "2001:db8:0:2:ffff:ffff:ffff:ffff"));
	assert_true(has(c, "2001:db8:0:3:8000::"));
	assert_false(has(c, "2001:db8:0:4::"));
	acl_content_free(c);
}

static void
the_longest_entry_is_found_with_its_line(void **state)
{
	struct acl_content *c = MAKE("10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24",
	    "10.1.0.0/16", "2001:db8::/32", "2001:db8::/48");
	struct endpoint client = client_of("10.1.3.4");
	struct acl_entry e;

	assert_int_equal(acl_content_entries(c), 5);
	assert_true(acl_content_find(c, &client, &e));
	assert_int_equal(e.line, 2);
	assert_int_equal(e.range.bits, 16);
	assert_string_equal(acl_content_source(c, e.source), "test.list");
	client = client_of("2001:db8:0:1::");
	assert_true(acl_content_find(c, &client, &e));
	assert_int_equal(e.line, 6);
	client = client_of("11.0.0.0");
	assert_false(acl_content_find(c, &client, &e));
	acl_content_free(c);
}

static void
remove_entry(struct acl_content *c, const char *text)
{
	struct cidr range = range_of(text);
	struct acl_table *table = acl_content_table_without(c, &range);

	assert_non_null(table);
	acl_table_free(acl_content_remove(c, &range, table));
}

static void
insert_entry(struct acl_content *c, const char *text)
{
	struct acl_entry entry = {.range = range_of(text), .line = 9};
	struct acl_table *former;

	assert_true(acl_content_insert(c, &entry, &former));
	acl_table_free(former);
}

static void
an_entry_that_was_removed_leaves_the_others(void **state)
{
	struct acl_content *c =
	    MAKE("10.0.0.0/8", "10.1.0.0/16", "10.1.0.0/24", "unix");

	remove_entry(c, "10.1.0.0/16");
	assert_true(has(c, "10.1.1.0"));
	remove_entry(c, "10.0.0.0/8");
	assert_false(has(c, "10.2.0.0"));
	assert_false(has(c, "10.1.1.0"));
	assert_true(has(c, "10.1.0.255"));
	assert_true(has(c, "unix"));
	remove_entry(c, "unix");
	assert_false(has(c, "unix"));
	insert_entry(c, "10.1.0.0/16");
	assert_true(has(c, "10.1.1.0"));
	assert_false(has(c, "10.2.0.0"));
	assert_int_equal(acl_content_entries(c), 2);
	insert_entry(c, "unix");
	assert_true(has(c, "unix"));
	acl_content_free(c);
}

static void
entries_are_in_order(void **state)
{
	struct acl_content *c =
	    MAKE("::1", "10.0.0.0/9", "unix", "10.0.0.0/8", "9.0.0.0/8");
	static const char *const order[] = {
	    "unix", "9.0.0.0/8", "10.0.0.0/8", "10.0.0.0/9", "::1"};
	char text[CIDR_TEXT_SIZE];
	struct acl_entry e;

	for (size_t i = 0; i < UNIT_N(order); i++) {
		struct cidr r = range_of(order[i]);

		assert_true(acl_content_at(c, i, &e));
		assert_string_equal(cidr_text(&e.range, text), order[i]);
		assert_true(acl_content_get(c, &r, &e));
	}
	assert_false(acl_content_at(c, UNIT_N(order), &e));
	acl_content_free(c);
}

/* -- random lists against trying every entry -- */

#define RANDOM_MAX 400

#define RANDOM_LISTS UNIT_TIMES(200u)
#define LARGE_LIST   UNIT_TIMES(300000u)

static struct cidr
draw_range(unsigned spread)
{
	struct cidr r = {.family = draw() % 2 ? AF_INET : AF_INET6};
	unsigned bits = r.family == AF_INET ? 32 : 128;

	r.bits = (uint8_t)(draw() % (bits + 1));
	for (unsigned i = 0; i < bits / 8; i++)
		r.ip[i] = draw() % spread ? 0xff : (uint8_t)draw();
	for (unsigned i = r.bits; i < bits; i++)
		r.ip[i / 8] &= (uint8_t) ~(0x80u >> i % 8);
	return r;
}

/* An address at a border of the range, or beside it, or anywhere. */
static struct endpoint
draw_client(const struct cidr *range)
{
	struct endpoint e = {.family = range->family};
	unsigned bytes = range->family == AF_INET ? 4 : 16;
	unsigned step = (unsigned)(draw() % 4);

	memcpy(e.ip, range->ip, bytes);
	for (unsigned i = range->bits; step < 2 && i < 8 * bytes; i++)
		e.ip[i / 8] |= (uint8_t)(0x80u >> i % 8);
	for (unsigned i = bytes; step == 1 && i-- > 0 && ++e.ip[i] == 0;)
		;
	for (unsigned i = bytes; step == 2 && i-- > 0 && e.ip[i]-- == 0;)
		;
	if (draw() % 8 == 0)
		e.ip[draw() % bytes] = (uint8_t)draw();
	return e;
}

static bool
any_has(const struct cidr *ranges, size_t n, const struct endpoint *client)
{
	for (size_t i = 0; i < n; i++)
		if (cidr_has(&ranges[i], client))
			return true;
	return false;
}

/* The first of several entries with the same range is not covered. */
static size_t
count_covered(const struct cidr *ranges, size_t n)
{
	size_t covered = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			if (j != i && cidr_covers(&ranges[j], &ranges[i]) &&
			    (ranges[j].bits < ranges[i].bits || j < i)) {
				covered++;
				break;
			}
	return covered;
}

static void
compare_random(uint64_t seed)
{
	struct acl_content *c = acl_content_new();
	static struct cidr ranges[RANDOM_MAX];
	size_t n;

	random_state = seed;
	n = draw() % RANDOM_MAX;
	assert_non_null(c);
	assert_int_equal(acl_content_add_source(c, "test.list"), 0);
	for (size_t i = 0; i < n; i++) {
		struct acl_entry e = {.range = draw_range(1 + seed % 7)};

		ranges[i] = e.range;
		assert_true(acl_content_add(c, &e));
	}
	assert_true(acl_content_seal(c));
	assert_int_equal(
	    acl_content_covered(c, 0)->n, count_covered(ranges, n));
	for (size_t i = 0; i < 20 * n; i++) {
		struct endpoint client = draw_client(&ranges[draw() % n]);
		struct acl_entry found;
		bool expected = any_has(ranges, n, &client);

		if (acl_table_has(acl_content_table(c), &client) != expected)
			fail_msg("seed %zu, client %zu", (size_t)seed, i);
		assert_int_equal(
		    acl_content_find(c, &client, &found), expected);
		if (expected)
			assert_true(cidr_has(&found.range, &client));
	}
	acl_content_free(c);
}

static void
random_lists_agree_with_trying_each_entry(void **state)
{
	for (uint64_t seed = 0; seed < RANDOM_LISTS; seed++)
		compare_random(seed);
}

/* With an index, which lists that can be tried entry by entry have not. */
static void
a_large_list_has_its_addresses_and_no_others(void **state)
{
	struct acl_content *c = acl_content_new();
	uint32_t n = LARGE_LIST;

	assert_non_null(c);
	for (uint32_t i = 0; i < n; i++) {
		struct acl_entry e = {.range = {.family = AF_INET, .bits = 32}};
		uint32_t ip = htobe32(3 * i + 1);

		memcpy(e.range.ip, &ip, sizeof(ip));
		assert_true(acl_content_add(c, &e));
		e.range = (struct cidr){.family = AF_INET6, .bits = 64};
		memcpy(e.range.ip + 4, &ip, sizeof(ip));
		assert_true(acl_content_add(c, &e));
	}
	assert_true(acl_content_seal(c));
	for (uint32_t i = 0; i < 3 * n + 3; i++) {
		struct endpoint v4 = {.family = AF_INET};
		struct endpoint v6 = {.family = AF_INET6};
		uint32_t ip = htobe32(i);
		bool expected = i % 3 == 1 && i < 3 * n;

		memcpy(v4.ip, &ip, sizeof(ip));
		memcpy(v6.ip + 4, &ip, sizeof(ip));
		v6.ip[15] = (uint8_t)i;
		if (acl_table_has(acl_content_table(c), &v4) != expected ||
		    acl_table_has(acl_content_table(c), &v6) != expected)
			fail_msg("address %u", i);
	}
	acl_content_free(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_empty_list_has_no_client),
	    cmocka_unit_test(ranges_may_reach_the_last_address),
	    cmocka_unit_test(ipv6_ranges_within_one_upper_half_are_told_apart),
	    cmocka_unit_test(the_longest_entry_is_found_with_its_line),
	    cmocka_unit_test(an_entry_that_was_removed_leaves_the_others),
	    cmocka_unit_test(entries_are_in_order),
	    cmocka_unit_test(random_lists_agree_with_trying_each_entry),
	    cmocka_unit_test(a_large_list_has_its_addresses_and_no_others),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
