/* SPDX-License-Identifier: MIT
 * Ranks in sorted keys agree with counting, for keys that are spread evenly,
 * close together, or so that each node has all keys but a few in one slot.
 */
#include "acl/rank.h"

#include "acl/keys.h"
#include "base/mix.h"
#include "unit.h"

#define KEYS_MAX 20000u

static uint64_t keys[KEYS_MAX];
static size_t keys_n;

static void
add_key(uint64_t key)
{
	assert_true(keys_n < KEYS_MAX);
	keys[keys_n++] = key;
}

static size_t
count(uint64_t key)
{
	size_t n = 0;

	while (n < keys_n && keys[n] <= key)
		n++;
	return n;
}

static void
check_key(const struct acl_rank *rank, uint64_t key, size_t expected)
{
	size_t found = acl_rank_of(rank, key);

	if (found != expected)
		fail_msg(
		    "key %#jx: %zu, not %zu", (uintmax_t)key, found, expected);
}

/* Tries each key and its neighbours, and some that are anywhere. */
static void
check_rank(const struct acl_rank *rank)
{
	uint64_t last = rank->wide ? UINT64_MAX : UINT32_MAX;

	for (size_t i = 0; i < keys_n; i++) {
		check_key(rank, keys[i], i + 1);
		if (keys[i] > 0 && (i == 0 || keys[i - 1] < keys[i] - 1))
			check_key(rank, keys[i] - 1, i);
		if (keys[i] < last &&
		    (i + 1 == keys_n || keys[i + 1] > keys[i] + 1))
			check_key(rank, keys[i] + 1, i + 1);
	}
	for (uint64_t i = 0; i < 200; i++) {
		uint64_t key = mix64(i) & last;

		check_key(rank, key, count(key));
		key >>= i % (rank->wide ? 64 : 32);
		check_key(rank, key, count(key));
	}
	check_key(rank, 0, count(0));
	check_key(rank, last, keys_n);
}

/* Checks the keys that were added, and begins with no keys again. */
static void
check(bool wide)
{
	struct acl_rank rank;

	keys_n = keys_sort(keys, keys_n);
	assert_true(acl_rank_init(&rank, keys_n, wide));
	for (size_t i = 0; i < keys_n; i++)
		if (wide)
			((uint64_t *)rank.keys)[i] = keys[i];
		else
			((uint32_t *)rank.keys)[i] = (uint32_t)keys[i];
	assert_true(acl_rank_index(&rank));
	check_rank(&rank);
	acl_rank_fini(&rank);
	keys_n = 0;
}

static void
few_keys_are_found(void **state)
{
	check(true);
	check(false);
	for (unsigned n = 1; n < 100; n++)
		for (unsigned wide = 0; wide < 2; wide++) {
			for (unsigned i = 0; i < n; i++)
				add_key(mix64(i + n) >> (wide ? 0 : 32));
			check(wide);
		}
	add_key(0);
	check(true);
	add_key(UINT32_MAX);
	check(false);
	add_key(0);
	add_key(UINT64_MAX);
	check(true);
}

static void
keys_that_are_spread_evenly_are_found(void **state)
{
	for (unsigned i = 0; i < KEYS_MAX; i++)
		add_key(mix64(i));
	check(true);
	for (unsigned i = 0; i < KEYS_MAX; i++)
		add_key(mix64(i) >> 32);
	check(false);
	for (unsigned i = 0; i < KEYS_MAX; i++)
		add_key(UINT64_MAX - i);
	check(true);
	for (unsigned i = 0; i < KEYS_MAX; i++)
		add_key(i);
	check(false);
}

/* Prefixes of a few providers: clusters at random places. */
static void
keys_in_clusters_are_found(void **state)
{
	for (unsigned i = 0; i < KEYS_MAX; i++)
		add_key((mix64(i % 7) >> 44 << 44) |
		        (mix64(i % 97) >> 52 << 32) |
		        (mix64(i) >> (50 + i % 14) << 16));
	check(true);
}

/* Each node skips the bits in common and has one slot with nearly all keys. */
static void
keys_that_need_many_nodes_are_found(void **state)
{
	for (unsigned bit = 0; bit < 64; bit++)
		for (unsigned i = 0; i < 33; i++)
			add_key((UINT64_C(1) << bit) + i);
	check(true);
	for (unsigned bit = 0; bit < 32; bit++)
		for (unsigned i = 0; i < 33 && i < UINT32_C(1) << bit; i++)
			add_key(UINT32_MAX - (UINT32_C(1) << bit) + 1 + i);
	check(false);
	for (unsigned bit = 0; bit < 64; bit++)
		for (unsigned low = 0; low < bit; low++)
			add_key((UINT64_C(1) << bit) | (UINT64_C(1) << low));
	check(true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(few_keys_are_found),
	    cmocka_unit_test(keys_that_are_spread_evenly_are_found),
	    cmocka_unit_test(keys_in_clusters_are_found),
	    cmocka_unit_test(keys_that_need_many_nodes_are_found),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
