/* SPDX-License-Identifier: MIT
 * Buckets of bandwidth: their arithmetic, and the shares of those that wait,
 * in a time of the test's own.
 */
#include "model/bandwidth.h"

#include "unit.h"

#define MS         UINT64_C(1000000)
#define SECOND     (1000 * MS)
#define MiB        (UINT64_C(1) << 20)
#define START      (100 * SECOND)
#define TICK       (2 * MS)
#define TAKERS_MAX 40

static void
portion_is_10_ms_within_its_bounds(void **state)
{
	(void)state;
	assert_int_equal(bandwidth_portion(BANDWIDTH_MIN, 0), PORTION_MIN);
	assert_int_equal(bandwidth_portion(1000000, 0), 10000);
	assert_int_equal(bandwidth_portion(99 * MiB, 0), 99 * MiB / 100);
	assert_int_equal(bandwidth_portion(200 * MiB, 0), PORTION_LARGE);
	assert_int_equal(bandwidth_portion(625000000, 0), 2500000);
	assert_true(bandwidth_portion(BANDWIDTH_MAX, 0) < UINT32_MAX);
}

static void
portion_is_divided_among_those_that_wait(void **state)
{
	(void)state;
	assert_int_equal(bandwidth_portion(100 * MiB, 1), PORTION_LARGE / 2);
	assert_int_equal(bandwidth_portion(100 * MiB, 1000), PORTION_SHARE);
	assert_int_equal(bandwidth_portion(1000000, 1000), 10000);
	assert_int_equal(bandwidth_portion(100 * MiB, UINT32_MAX), 65536);
}

static void
bucket_spaces_portions_by_their_cost(void **state)
{
	struct bucket b = {.rate = 1000000};

	(void)state;
	/* The first may catch up with 5 ms, the next follow at 1 us a byte. */
	assert_int_equal(
	    bucket_take(&b, b.rate, 10000, START, CATCH_UP_NS), START - 5 * MS);
	assert_int_equal(
	    bucket_take(&b, b.rate, 20000, START, CATCH_UP_NS), START + 5 * MS);
	assert_int_equal(
	    bucket_take(&b, b.rate, 1, START, CATCH_UP_NS), START + 25 * MS);
	assert_int_equal(b.due_ns, START + 25 * MS + 1000);
}

static void
idle_bucket_does_not_save_up(void **state)
{
	struct bucket b = {.rate = 1000000};

	(void)state;
	(void)bucket_take(&b, b.rate, 1000, START, CATCH_UP_NS);
	assert_int_equal(
	    bucket_take(&b, b.rate, 1000, START + 60 * SECOND, CATCH_UP_NS),
	    START + 60 * SECOND - CATCH_UP_NS);
}

static void
bytes_given_back_can_be_taken_at_the_same_time(void **state)
{
	struct bucket b = {.rate = 1000000, .due_ns = START};

	(void)state;
	assert_int_equal(bucket_take(&b, b.rate, 5000, START, 0), START);
	bucket_give(&b, b.rate, 5000);
	assert_int_equal(bucket_take(&b, b.rate, 7000, START, 0), START);
	bucket_give(&b, b.rate, 3000);
	assert_int_equal(b.due_ns, START + 4 * MS);
}

static void
giving_back_more_than_was_taken_stops_at_zero(void **state)
{
	struct bucket b = {.rate = BANDWIDTH_MIN, .due_ns = 5};

	(void)state;
	bucket_give(&b, b.rate, PORTION_LARGE);
	assert_int_equal(b.due_ns, 0);
	/* Soon after boot there is nothing to catch up with. */
	assert_int_equal(
	    bucket_take(&b, b.rate, 1, CATCH_UP_NS / 2, CATCH_UP_NS), 0);
}

struct taker {
	uint64_t start_ns, bytes;
	uint32_t portion;
};

static void
take(struct taker *t, struct bucket *b, uint32_t waiting, uint64_t now_ns)
{
	t->portion = bandwidth_portion(b->rate, waiting);
	t->start_ns =
	    bucket_take(b, b->rate, t->portion, now_ns, CATCH_UP_WAITED_NS);
}

/* All want as much as they can get for ten seconds, and are looked at at every
 * tick, which comes up to late_ns late.  Expects the rate and equal shares. */
static void
expect_fair(uint64_t rate, unsigned n, uint64_t late_ns)
{
	struct bucket b = {.rate = rate, .due_ns = START};
	struct taker takers[TAKERS_MAX] = {{.start_ns = 0}};
	uint64_t sum = 0, fair = 10 * rate / n, now_ns = START;

	for (unsigned i = 0; i < n; i++)
		take(&takers[i], &b, n - 1, now_ns);
	for (unsigned tick = 0; now_ns < START + 10 * SECOND; tick++) {
		now_ns += TICK + late_ns * (tick % 3) / 2;
		/* The first of a tick is not always the same: nor is it there.
		 */
		for (unsigned i = 0; i < n; i++) {
			struct taker *t = &takers[(i + tick) % n];

			if (t->start_ns > now_ns)
				continue;
			t->bytes += t->portion;
			take(t, &b, n - 1, now_ns);
		}
	}
	for (unsigned i = 0; i < n; i++) {
		sum += takers[i].bytes;
		if (takers[i].bytes < fair * 95 / 100 ||
		    takers[i].bytes > fair * 105 / 100)
			fail_msg(
			    "%u of %u at %llu: %llu bytes in place of %llu", i,
			    n, (unsigned long long)rate,
			    (unsigned long long)takers[i].bytes,
			    (unsigned long long)fair);
	}
	assert_true(sum > 10 * rate * 98 / 100 && sum < 10 * rate * 102 / 100);
}

static void
shares_of_those_that_wait_are_equal(void **state)
{
	(void)state;
	expect_fair(256 * 1024, 3, 0);
	expect_fair(10 * MiB, 20, 0);
	expect_fair(100 * MiB, 20, 0);
	expect_fair(100 * MiB, 40, 3 * MS);
	expect_fair(625000000, 2, 0);
	expect_fair(625000000, 8, MS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(portion_is_10_ms_within_its_bounds),
	    cmocka_unit_test(portion_is_divided_among_those_that_wait),
	    cmocka_unit_test(bucket_spaces_portions_by_their_cost),
	    cmocka_unit_test(idle_bucket_does_not_save_up),
	    cmocka_unit_test(bytes_given_back_can_be_taken_at_the_same_time),
	    cmocka_unit_test(giving_back_more_than_was_taken_stops_at_zero),
	    cmocka_unit_test(shares_of_those_that_wait_are_equal),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
