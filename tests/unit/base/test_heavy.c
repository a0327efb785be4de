/* SPDX-License-Identifier: MIT
 * Heavy hitters: bounds that hold, compared with exact sums.
 */
#include "base/heavy.h"

#include <string.h>

#include "base/mix.h"
#include "unit.h"

#define KEYS 2000u

static void
few_keys_are_counted_exactly(void **state)
{
	struct heavy h = {.count = {0}};
	uint64_t low, high;

	(void)state;
	for (uint64_t round = 1; round <= 3; round++)
		for (uint64_t key = 0; key < HEAVY_WAYS; key++)
			heavy_add(&h, key, key + round);
	for (uint64_t key = 0; key < HEAVY_WAYS; key++) {
		heavy_sum(&h, key, &low, &high);
		assert_int_equal(low, 3 * key + 6);
		assert_int_equal(high, low);
	}
	assert_int_equal(heavy_least(&h), 6);
}

static void
key_without_a_place_has_at_most_the_least_count(void **state)
{
	struct heavy h = {.count = {0}};
	uint64_t low, high;

	(void)state;
	heavy_sum(&h, 7, &low, &high);
	assert_int_equal(high, 0);
	for (uint64_t key = 0; key < HEAVY_WAYS; key++)
		heavy_add(&h, key, 10 + key);
	heavy_sum(&h, 99, &low, &high);
	assert_int_equal(low, 0);
	assert_int_equal(high, 10);
	/* The new key takes the place of key 0. */
	heavy_add(&h, 99, 5);
	heavy_sum(&h, 99, &low, &high);
	assert_int_equal(low, 5);
	assert_int_equal(high, 15);
	heavy_sum(&h, 0, &low, &high);
	assert_true(low == 0 && high >= 10);
}

/* A skewed stream: key k comes with a weight of about 1/k. */
static void
bounds_hold_for_a_skewed_stream(void **state)
{
	static uint64_t exact[KEYS];
	struct heavy h = {.count = {0}};
	uint64_t random = 1, total = 0, low, high;

	(void)state;
	memset(exact, 0, sizeof(exact));
	for (unsigned i = 0; i < 200000; i++) {
		double share = mix64_share(&random);
		uint64_t key = (uint64_t)(share * share * share * KEYS);
		uint64_t n = 1 + (mix64(random) & 0xfff);

		heavy_add(&h, key, n);
		exact[key] += n;
		total += n;
	}
	for (uint64_t key = 0; key < KEYS; key++) {
		heavy_sum(&h, key, &low, &high);
		assert_true(low <= exact[key]);
		assert_true(exact[key] <= high);
		assert_true(high - low <= total / HEAVY_WAYS);
	}
	/* The heaviest key, with some 8 % of all, has kept its place. */
	heavy_sum(&h, 0, &low, &high);
	assert_true(low > 0);
	assert_true(heavy_least(&h) <= (total - exact[0]) / (HEAVY_WAYS - 1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(few_keys_are_counted_exactly),
	    cmocka_unit_test(key_without_a_place_has_at_most_the_least_count),
	    cmocka_unit_test(bounds_hold_for_a_skewed_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
