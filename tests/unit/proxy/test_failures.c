/* SPDX-License-Identifier: MIT
 * The table of failures: exact counts, the last records of each combination,
 * and a sum that stays exact when the table is full.
 */
#include "proxy/failures_image.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "unit.h"

#define THREADS 4
#define EACH    3000

static uint64_t now_ns;

static uint64_t
stopped_clock(void)
{
	return now_ns;
}

static struct closed_session
make(enum close_reason reason, unsigned server, uint64_t id)
{
	struct closed_session c = {.id = id,
	    .ended_ns = now_ns,
	    .session.accepted_wall_us = now_ns / NS_PER_US,
	    .session.reason = (uint8_t)reason};
	int len = snprintf(
	    c.names, sizeof(c.names), "web%capp%cs%u", '\0', '\0', server);

	/* The other names are empty. */
	c.names_len = (uint16_t)(len + 1 + CLOSED_SANS - CLOSED_SERVER);
	return c;
}

static void
add(struct failures *f, enum close_reason reason, unsigned server, uint64_t id)
{
	struct closed_session c = make(reason, server, id);

	failures_add(f, &c);
}

/* Returns the number of failures in the window, and of cells that have some. */
static uint64_t
sum_in(struct failures *f, uint64_t ago_s, uint32_t *ret_cells)
{
	static struct failure_kind kind;
	struct time_window w = {.begin_ns = 0};
	struct failures_known known;
	uint64_t sum;

	if (ago_s > 0)
		assert_true(time_window_of(now_ns, ago_s * NS_PER_S, &w));
	failures_know(f, &w, &known);
	sum = known.others;
	*ret_cells = 0;
	for (uint32_t i = 0; failures_read(f, i, &kind); i++) {
		sum += time_counts_in(&kind.counts, &w);
		*ret_cells += time_counts_in(&kind.counts, &w) > 0;
	}
	return sum;
}

static struct failures_known
known_of(struct failures *f)
{
	struct time_window all = {.begin_ns = 0};
	struct failures_known known;

	failures_know(f, &all, &known);
	return known;
}

static int
setup(void **state)
{
	static struct failures f;

	now_ns = 1000 * 3600 * NS_PER_S;
	clock_replace(stopped_clock);
	assert_true(failures_init(&f));
	/* The records' times are those of the replaced clock. */
	f.begun_us = now_ns / NS_PER_US;
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	failures_fini(*state);
	clock_replace(NULL);
	return 0;
}

static void
a_cell_has_its_names_times_and_last_records(void **state)
{
	static struct failure_kind kind;
	struct failures *f = *state;
	uint64_t began_ns = now_ns;

	for (uint64_t id = 1; id <= 10; id++) {
		add(f, CLOSE_CONNECT_FAILED, 7, id);
		now_ns += NS_PER_S;
	}
	assert_true(failures_read(f, 0, &kind));
	assert_false(failures_read(f, 1, &(struct failure_kind){.reason = 0}));
	assert_int_equal(kind.reason, CLOSE_CONNECT_FAILED);
	assert_string_equal(failure_kind_name(&kind, CLOSED_FRONTEND), "web");
	assert_string_equal(failure_kind_name(&kind, CLOSED_BACKEND), "app");
	assert_string_equal(failure_kind_name(&kind, CLOSED_SERVER), "s7");
	assert_int_equal(kind.first_us, began_ns / NS_PER_US);
	assert_int_equal(kind.last_us, (now_ns - NS_PER_S) / NS_PER_US);
	for (unsigned i = 0; i < FAILURES_EXAMPLES; i++)
		assert_int_equal(failure_kind_example(&kind, i)->id, 10 - i);
	assert_null(failure_kind_example(&kind, FAILURES_EXAMPLES));
}

static void
causes_and_servers_are_counted_apart(void **state)
{
	static struct failure_kind kind;
	struct failures *f = *state;
	uint32_t cells;

	for (unsigned server = 0; server < 30; server++)
		for (unsigned n = 0; n <= server; n++) {
			add(f, CLOSE_CONNECT_FAILED, server, 1);
			add(f, CLOSE_SERVER_RESET, server, 1);
		}
	assert_int_equal(sum_in(f, 0, &cells), 30 * 31);
	assert_int_equal(cells, 60);
	for (uint32_t i = 0; failures_read(f, i, &kind); i++)
		assert_int_equal(kind.counts.total,
		    1 + strtoul(failure_kind_name(&kind, CLOSED_SERVER) + 1,
		            NULL, 10));
}

/* How a session at a second of the bad day ends: 297 of 300 well, the others by
 * six causes, whose shares change over the day. */
static enum close_reason
ending(unsigned second, unsigned session)
{
	static const enum close_reason causes[6] = {CLOSE_CONNECT_FAILED,
	    CLOSE_SERVER_RESET, CLOSE_SERVER_TIMEOUT, CLOSE_QUEUE_TIMEOUT,
	    CLOSE_CLIENT_RESET, CLOSE_CLIENT_GONE_HELLO};

	if (session % 100 != 42)
		return CLOSE_DONE;
	return causes[(second * second / 60 + session / 100) % 6];
}

/* Notes only failures, like a thread: a session that ends well is left out. */
static void
end_session(struct failures *f, enum close_reason reason, uint64_t id,
    uint64_t counts[CLOSE_REASONS])
{
	counts[reason]++;
	if (reason != CLOSE_DONE)
		add(f, reason, (unsigned)(id % 7), id);
}

/* Failures by cause in the last ago_s. */
static void
assert_causes(
    struct failures *f, uint64_t ago_s, const uint64_t expected[CLOSE_REASONS])
{
	static struct failure_kind kind;
	uint64_t counts[CLOSE_REASONS] = {0};
	struct time_window w;

	assert_true(time_window_of(now_ns, ago_s * NS_PER_S, &w));
	for (uint32_t i = 0; failures_read(f, i, &kind); i++)
		counts[kind.reason] += time_counts_in(&kind.counts, &w);
	for (enum close_reason i = CLOSE_DONE + 1; i < CLOSE_REASONS; i++)
		assert_int_equal(counts[i], expected[i]);
}

static void
a_bad_day_of_40_minutes_is_counted_by_cause(void **state)
{
	uint64_t day[CLOSE_REASONS] = {0}, last[CLOSE_REASONS] = {0}, id = 0;
	struct failures *f = *state;

	/* The day before. */
	add(f, CLOSE_CONNECT_FAILED, 0, ++id);
	now_ns += 7200 * NS_PER_S;
	for (unsigned second = 0; second < 2400; second++) {
		for (unsigned i = 0; i < 300; i++, now_ns += NS_PER_S / 300) {
			enum close_reason reason = ending(second, i);

			end_session(f, reason, ++id, day);
			last[reason] += second >= 2100;
		}
		now_ns += NS_PER_S % (NS_PER_S / 300);
	}
	assert_int_equal(day[CLOSE_DONE], 297 * 2400);
	assert_causes(f, 2400, day);
	assert_causes(f, 300, last);
	assert_int_equal(known_of(f).complete_us, f->begun_us);
	day[CLOSE_CONNECT_FAILED]++;
	assert_causes(f, 86400, day);
}

static void
a_full_table_counts_the_rest_and_says_so(void **state)
{
	struct failures *f = *state;
	uint32_t cells;

	assert_int_equal(known_of(f).complete_us, known_of(f).begun_us);
	for (unsigned i = 0; i < FAILURES_CELLS; i++)
		add(f, CLOSE_CONNECT_FAILED, i, 1);
	assert_int_equal(known_of(f).others, 0);
	now_ns += 600 * NS_PER_S;
	for (unsigned i = 0; i < 5; i++)
		add(f, CLOSE_SERVER_RESET, i, 1);
	add(f, CLOSE_CONNECT_FAILED, 3, 1);
	assert_int_equal(known_of(f).others, 5);
	assert_int_equal(known_of(f).complete_us, now_ns / NS_PER_US);
	assert_int_equal(sum_in(f, 0, &cells), FAILURES_CELLS + 6);
	assert_int_equal(cells, FAILURES_CELLS);
	assert_int_equal(sum_in(f, 300, &cells), 6);
	assert_int_equal(cells, 1);
}

static void
a_cell_without_failures_for_an_hour_makes_room(void **state)
{
	static struct failure_kind kind;
	struct failures *f = *state;
	uint64_t oldest_us = now_ns / NS_PER_US;
	uint32_t cells;

	for (unsigned i = 0; i < FAILURES_CELLS; i++)
		add(f, CLOSE_CONNECT_FAILED, i, 1);
	now_ns += FAILURES_IDLE_NS - 1;
	add(f, CLOSE_CONNECT_FAILED, 0, 1); /* the first one is in use */
	now_ns += 1;
	add(f, CLOSE_SERVER_RESET, 0, 42);
	assert_int_equal(known_of(f).others, 1);
	assert_int_equal(known_of(f).complete_us, oldest_us);
	assert_int_equal(sum_in(f, 0, &cells), FAILURES_CELLS + 2);
	assert_int_equal(cells, FAILURES_CELLS);
	assert_true(failures_read(f, 0, &kind));
	assert_int_equal(kind.counts.total, 2);
	assert_true(failures_read(f, 1, &kind));
	assert_int_equal(kind.reason, CLOSE_SERVER_RESET);
	assert_int_equal(kind.counts.total, 1);
	assert_int_equal(failure_kind_example(&kind, 0)->id, 42);
	assert_null(failure_kind_example(&kind, 1));
	/* The combination that has made room is found no more, and comes back.
	 */
	add(f, CLOSE_CONNECT_FAILED, 1, 1);
	assert_int_equal(known_of(f).others, 2);
	assert_int_equal(sum_in(f, 0, &cells), FAILURES_CELLS + 3);
}

static void
a_round_moves_all_to_another_process_and_the_next_one_the_rest(void **state)
{
	static uint8_t image[FAILURES_IMAGE_MAX];
	static struct failure_kind kind, same;
	static struct failures to;
	struct failures *f = *state;
	uint64_t begun_us = f->begun_us;
	uint32_t cells;

	assert_true(failures_init(&to));
	now_ns += 3600 * NS_PER_S;
	to.begun_us = now_ns / NS_PER_US;
	for (unsigned i = 0; i < FAILURES_CELLS + 7; i++)
		add(f, CLOSE_CONNECT_FAILED, i, i + 1);
	now_ns += 30 * NS_PER_S;
	add(f, CLOSE_CONNECT_FAILED, 3, 4000);
	now_ns += NS_PER_MS;
	add(&to, CLOSE_CONNECT_FAILED, 3, 5000);
	now_ns += NS_PER_MS;
	for (unsigned round = 0; round < 2; round++) {
		uint32_t at = 0;

		if (round > 0)
			add(f, CLOSE_CONNECT_FAILED, 3, 4001);
		while (failures_take(f, &at, &kind)) {
			size_t n = failures_image_encode(&kind, image);

			assert_true(failures_image_decode(image, n, &same));
			failures_merge(&to, &same);
		}
		assert_int_equal(sum_in(f, 0, &cells), 0);
		assert_int_equal(
		    sum_in(&to, 0, &cells), FAILURES_CELLS + 9 + round);
		assert_int_equal(cells, FAILURES_CELLS);
		assert_int_equal(sum_in(&to, 20, &cells), 2 + round);
	}
	assert_int_equal(known_of(&to).begun_us, begun_us);
	assert_int_equal(known_of(&to).others, 7);
	for (uint32_t i = 0; failures_read(&to, i, &kind); i++)
		if (strcmp(failure_kind_name(&kind, CLOSED_SERVER), "s3") == 0)
			break;
	assert_int_equal(kind.counts.total, 4);
	/* In the order of their ends. */
	assert_int_equal(failure_kind_example(&kind, 0)->id, 4001);
	assert_int_equal(failure_kind_example(&kind, 1)->id, 5000);
	assert_int_equal(failure_kind_example(&kind, 2)->id, 4000);
	failures_fini(&to);
}

static void
an_incomplete_image_is_refused_or_has_less(void **state)
{
	static uint8_t image[FAILURES_IMAGE_MAX];
	static struct failure_kind kind, less;
	struct failures *f = *state;
	uint32_t at = 0;
	size_t n;

	for (uint64_t id = 1; id <= 5; id++)
		add(f, CLOSE_CONNECT_FAILED, 1, id);
	assert_true(failures_take(f, &at, &kind));
	n = failures_image_encode(&kind, image);
	for (size_t i = 0; i < n; i++)
		if (failures_image_decode(image, i, &less))
			assert_true(less.examples_n < kind.examples_n);
	assert_true(failures_image_decode(image, n, &less));
	assert_int_equal(less.counts.total, 5);
	assert_int_equal(failure_kind_example(&less, 0)->id, 5);
}

static void *
fail_often(void *arg)
{
	struct failures *f = arg;

	for (uint64_t i = 0; i < EACH; i++)
		add(f, i % 2 ? CLOSE_CONNECT_FAILED : CLOSE_SERVER_RESET,
		    (unsigned)(i % 700), i + 1);
	return NULL;
}

static void
threads_lose_no_failure(void **state)
{
	struct failures *f = *state;
	pthread_t threads[THREADS];
	uint32_t cells;

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, fail_often, f), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(sum_in(f, 0, &cells), THREADS * EACH);
	assert_int_equal(cells, 700);
	assert_int_equal(known_of(f).others, 0);
}

static void
names_of_reasons_differ_and_are_in_lower_case(void **state)
{
	char a[CLOSE_NAME_SIZE], b[CLOSE_NAME_SIZE];

	(void)state;
	assert_string_equal(
	    close_reason_name(CLOSE_CONNECT_FAILED, a), "connect_failed");
	for (enum close_reason i = 0; i < CLOSE_REASONS; i++)
		for (enum close_reason j = 0; j < i; j++)
			assert_string_not_equal(
			    close_reason_name(i, a), close_reason_name(j, b));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
	        a_cell_has_its_names_times_and_last_records, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        causes_and_servers_are_counted_apart, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        a_bad_day_of_40_minutes_is_counted_by_cause, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        a_full_table_counts_the_rest_and_says_so, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        a_cell_without_failures_for_an_hour_makes_room, setup,
	        teardown),
	    cmocka_unit_test_setup_teardown(
	        a_round_moves_all_to_another_process_and_the_next_one_the_rest,
	        setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        an_incomplete_image_is_refused_or_has_less, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        threads_lose_no_failure, setup, teardown),
	    cmocka_unit_test(names_of_reasons_differ_and_are_in_lower_case),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
