/* SPDX-License-Identifier: MIT
 * The histogram: where a value goes, and what is said of all.
 */
#include "base/histogram.h"

#include "unit.h"

static void
every_value_is_in_the_bucket_that_begins_at_or_below_it(void **state)
{
	uint32_t random = 7;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint64_t ns = (uint64_t)unit_random(&random) << i % 9;
		unsigned b = histogram_bucket(ns);

		assert_in_range(b, 0, HISTOGRAM_BUCKETS - 1);
		assert_true(histogram_bucket_start_ns(b) <= ns);
		if (b < HISTOGRAM_BUCKETS - 1)
			assert_true(ns < histogram_bucket_start_ns(b + 1));
	}
}

static void
buckets_begin_where_the_one_before_ends(void **state)
{
	(void)state;
	for (unsigned b = 0; b < HISTOGRAM_BUCKETS; b++) {
		uint64_t start = histogram_bucket_start_ns(b);

		assert_int_equal(histogram_bucket(start), b);
		if (b > 0)
			assert_int_equal(histogram_bucket(start - 1), b - 1);
	}
}

static void
a_bucket_is_at_most_a_quarter_of_its_value_wide(void **state)
{
	(void)state;
	for (unsigned b = 4; b < HISTOGRAM_BUCKETS - 1; b++) {
		uint64_t start = histogram_bucket_start_ns(b);

		assert_true(
		    (histogram_bucket_start_ns(b + 1) - start) * 4 <= start);
	}
}

static void
values_beyond_the_last_bucket_count_in_it(void **state)
{
	struct histogram h = {.max_ns = 0};

	(void)state;
	histogram_add(&h, UINT64_MAX);
	histogram_add(&h, 1ull << 45);
	assert_int_equal(h.n[HISTOGRAM_BUCKETS - 1], 2);
	assert_true(h.max_ns == UINT64_MAX);
	assert_true(histogram_quantile_ns(&h, 0.5) > 1ull << 40);
}

static void
nothing_added_is_zero_everywhere(void **state)
{
	struct histogram h = {.max_ns = 0};

	(void)state;
	assert_int_equal(histogram_count(&h), 0);
	assert_int_equal(histogram_quantile_ns(&h, 0.5), 0);
	assert_int_equal(histogram_quantile_ns(&h, 1.0), 0);
}

static void
quantiles_are_right_to_within_a_quarter(void **state)
{
	static const double shares[] = {0.01, 0.25, 0.5, 0.9, 0.99, 0.999};
	struct histogram h = {.max_ns = 0};

	(void)state;
	for (uint64_t ns = 1; ns <= 10000; ns++)
		histogram_add(&h, ns);
	assert_int_equal(histogram_count(&h), 10000);
	for (size_t i = 0; i < UNIT_N(shares); i++) {
		uint64_t exact = (uint64_t)(shares[i] * 10000);
		uint64_t ns = histogram_quantile_ns(&h, shares[i]);

		assert_in_range(ns, exact, exact + exact / 4);
	}
}

static void
the_last_quantile_is_the_greatest_value_seen(void **state)
{
	struct histogram h = {.max_ns = 0};

	(void)state;
	for (int i = 0; i < 99; i++)
		histogram_add(&h, 100);
	histogram_add(&h, 4097);
	assert_int_equal(histogram_quantile_ns(&h, 1.0), 4097);
	assert_in_range(histogram_quantile_ns(&h, 0.99), 100, 125);
}

static void
merging_adds_counts_and_keeps_the_greatest(void **state)
{
	struct histogram a = {.max_ns = 0}, b = {.max_ns = 0};

	(void)state;
	for (int i = 0; i < 10; i++)
		histogram_add(&a, 1000);
	for (int i = 0; i < 30; i++)
		histogram_add(&b, 50);
	histogram_merge(&a, &b);
	assert_int_equal(histogram_count(&a), 40);
	assert_int_equal(a.max_ns, 1000);
	assert_int_equal(a.n[histogram_bucket(50)], 30);
	assert_int_equal(a.n[histogram_bucket(1000)], 10);
	assert_int_equal(histogram_count(&b), 30);
	histogram_merge(&b, &a);
	assert_int_equal(b.max_ns, 1000);
}

static struct histogram shared;

static void *
add_all(void *arg)
{
	(void)arg;
	for (uint64_t i = 1; i <= 200000; i++)
		histogram_add(&shared, i);
	return NULL;
}

static void
it_can_be_read_while_its_owner_adds(void **state)
{
	struct unit_threads threads;
	uint64_t before = 0;

	(void)state;
	unit_threads_start(&threads, 1, add_all, NULL);
	for (int i = 0; i < 1000; i++) {
		uint64_t now = histogram_count(&shared);

		assert_true(now >= before && now <= 200000);
		before = now;
	}
	unit_threads_join(&threads);
	assert_int_equal(histogram_count(&shared), 200000);
	assert_int_equal(shared.max_ns, 200000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
	        every_value_is_in_the_bucket_that_begins_at_or_below_it),
	    cmocka_unit_test(buckets_begin_where_the_one_before_ends),
	    cmocka_unit_test(a_bucket_is_at_most_a_quarter_of_its_value_wide),
	    cmocka_unit_test(values_beyond_the_last_bucket_count_in_it),
	    cmocka_unit_test(nothing_added_is_zero_everywhere),
	    cmocka_unit_test(quantiles_are_right_to_within_a_quarter),
	    cmocka_unit_test(the_last_quantile_is_the_greatest_value_seen),
	    cmocka_unit_test(merging_adds_counts_and_keeps_the_greatest),
	    cmocka_unit_test(it_can_be_read_while_its_owner_adds),
	};

	unit_watchdog();
	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
