/* SPDX-License-Identifier: MIT
 * Times: no thread's is lost, and the averages are what they say.
 */
#include "model/timings.h"

#include "model/counters.h"
#include "unit.h"

#define THREADS 6 /* more than there are stripes */
#define ADDS    20000u

struct adder {
	struct timings *timings;
	unsigned index;
};

static void *
add_many(void *arg)
{
	const struct adder *a = arg;

	for (unsigned i = 0; i < ADDS; i++)
		timings_add(a->timings, a->index, TIMING_CONNECT,
		    1000u * (a->index + 1));
	return NULL;
}

static void
times_of_all_threads_are_there(void **state)
{
	struct adder adders[THREADS];
	pthread_t threads[THREADS];
	struct histogram histogram;
	struct timings *t;

	counters_set_stripes(4);
	t = timings_new();
	assert_non_null(t);
	for (unsigned i = 0; i < THREADS; i++) {
		adders[i] = (struct adder){t, i};
		assert_int_equal(
		    pthread_create(&threads[i], NULL, add_many, &adders[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	timings_read(t, TIMING_CONNECT, &histogram);
	assert_int_equal(histogram_count(&histogram), THREADS * ADDS);
	assert_int_equal(
	    histogram.sum_ns, 1000ull * ADDS * THREADS * (THREADS + 1) / 2);
	assert_int_equal(histogram.max_ns, 1000 * THREADS);
	timings_read(t, TIMING_QUEUE, &histogram);
	assert_int_equal(histogram_count(&histogram), 0);
	assert_int_equal(histogram.sum_ns, 0);
	timings_clear(t);
	timings_read(t, TIMING_CONNECT, &histogram);
	assert_int_equal(histogram_count(&histogram), 0);
	assert_int_equal(histogram.max_ns, 0);
	assert_int_equal(histogram.sum_ns, 0);
	free(t);
	counters_set_stripes(1);
}

static void
an_average_follows_the_last_sessions(void **state)
{
	struct timing_average average = {0};

	assert_int_equal(timing_average_ms(&average), 0);
	for (int i = 0; i < 20 * TIMING_WINDOW; i++)
		timing_average_add(&average, 40);
	assert_in_range(timing_average_ms(&average), 39, 41);
	/* After a window's worth of others 1/e of the old is left. */
	for (int i = 0; i < TIMING_WINDOW; i++)
		timing_average_add(&average, 0);
	assert_in_range(timing_average_ms(&average), 14, 16);
	assert_int_equal(average.max_ms, 40);
	for (int i = 0; i < 20 * TIMING_WINDOW; i++)
		timing_average_add(&average, 0);
	assert_int_equal(timing_average_ms(&average), 0);
	timing_average_add(&average, 1000000);
	assert_int_equal(average.max_ms, 1000000);
}

static void
averages_are_cleared_in_part_or_whole(void **state)
{
	struct timing_average averages[TIMINGS_AVERAGED] = {{0}};

	for (unsigned i = 0; i < TIMINGS_AVERAGED; i++)
		timing_average_add(&averages[i], 5000);
	timing_averages_clear(averages, false);
	for (unsigned i = 0; i < TIMINGS_AVERAGED; i++) {
		assert_int_equal(averages[i].max_ms, 0);
		assert_int_equal(timing_average_ms(&averages[i]), 10);
	}
	timing_averages_clear(averages, true);
	for (unsigned i = 0; i < TIMINGS_AVERAGED; i++)
		assert_int_equal(timing_average_ms(&averages[i]), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(times_of_all_threads_are_there),
	    cmocka_unit_test(an_average_follows_the_last_sessions),
	    cmocka_unit_test(averages_are_cleared_in_part_or_whole),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
