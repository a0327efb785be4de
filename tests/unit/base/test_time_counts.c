/* SPDX-License-Identifier: MIT
 * Counts by time: a window begins at a slot, and its count is that of all
 * events since then, in any order, at any age, and after a merge.
 */
#include "base/time_counts.h"

#include "base/clock.h"
#include "base/mix.h"
#include "unit.h"

#define EVENTS 3000

/* Some time after the machine's start, and no whole number of anything. */
#define START_NS (5 * 86400 * NS_PER_S + 123456789)

struct event {
	uint64_t at_ns;
	uint32_t n;
};

/* Events over two days before START_NS, more of them late than early. */
static void
make_events(struct event *events)
{
	uint64_t state = 7;

	for (int i = 0; i < EVENTS; i++) {
		double share = mix64_share(&state);

		events[i] = (struct event){
		    .at_ns = START_NS - (uint64_t)(share * share * share * 2 *
		                                   86400 * NS_PER_S),
		    .n = 1 + (uint32_t)(mix64_share(&state) * 3)};
	}
}

static uint64_t
count_since(const struct event *events, uint64_t begin_ns)
{
	uint64_t n = 0;

	for (int i = 0; i < EVENTS; i++)
		n += events[i].at_ns >= begin_ns ? events[i].n : 0;
	return n;
}

static void
assert_counts(const struct time_counts *counts, const struct event *events)
{
	for (uint64_t ago_s = 1; ago_s <= TIME_COUNTS_SPAN_S;
	     ago_s += 1 + ago_s / 7) {
		struct time_window w;

		assert_true(time_window_of(START_NS, ago_s * NS_PER_S, &w));
		assert_int_equal(time_counts_in(counts, &w),
		    count_since(events, w.begin_ns));
	}
}

static void
every_window_has_the_count_of_its_events_in_any_order(void **state)
{
	struct time_counts counts = {.total = 0};
	struct event events[EVENTS];
	struct time_window all = {.begin_ns = 0};

	(void)state;
	make_events(events);
	for (int i = 0; i < EVENTS; i++)
		time_counts_add(&counts, events[i].at_ns, events[i].n);
	assert_counts(&counts, events);
	assert_int_equal(time_counts_in(&counts, &all), count_since(events, 0));
}

static void
merged_counts_are_those_of_all_events(void **state)
{
	struct time_counts parts[2] = {{.total = 0}, {.total = 0}};
	struct event events[EVENTS];

	(void)state;
	make_events(events);
	/* The first one has no event of the last hours. */
	for (int i = 0; i < EVENTS; i++)
		time_counts_add(
		    &parts[events[i].at_ns + 20000 * NS_PER_S > START_NS],
		    events[i].at_ns, events[i].n);
	for (int i = 0; i < 2; i++) {
		struct time_counts sum = parts[i];

		time_counts_merge(&sum, &parts[!i]);
		assert_counts(&sum, events);
		assert_int_equal(sum.total, count_since(events, 0));
	}
}

static void
a_window_begins_less_than_a_slot_earlier_than_asked(void **state)
{
	static const struct {
		unsigned ago_s, slot_s;
	} all[] = {{1, 10}, {300, 10}, {600, 10}, {601, 60}, {3600, 60},
	    {3601, 600}, {86400, 600}};

	(void)state;
	for (size_t i = 0; i < UNIT_N(all); i++) {
		uint64_t asked_ns = START_NS - all[i].ago_s * NS_PER_S;
		struct time_window w;

		assert_true(
		    time_window_of(START_NS, all[i].ago_s * NS_PER_S, &w));
		assert_int_equal(w.begin_ns % (all[i].slot_s * NS_PER_S), 0);
		assert_true(w.begin_ns <= asked_ns &&
		            asked_ns - w.begin_ns < all[i].slot_s * NS_PER_S);
	}
}

static void
a_window_of_more_than_a_day_is_refused(void **state)
{
	struct time_window w;

	(void)state;
	assert_false(
	    time_window_of(START_NS, TIME_COUNTS_SPAN_S * NS_PER_S + 1, &w));
}

static void
old_counts_leave_the_windows_when_nothing_else_is_counted(void **state)
{
	struct time_counts counts = {.total = 0};
	struct time_window w;

	(void)state;
	time_counts_add(&counts, START_NS, 5);
	for (uint64_t passed_s = 0; passed_s < 400; passed_s += 10) {
		assert_true(time_window_of(
		    START_NS + passed_s * NS_PER_S, 300 * NS_PER_S, &w));
		assert_int_equal(time_counts_in(&counts, &w),
		    w.begin_ns <= START_NS ? 5 : 0);
	}
	assert_int_equal(time_counts_in(&counts, &w), 0);
	assert_int_equal(counts.total, 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
	        every_window_has_the_count_of_its_events_in_any_order),
	    cmocka_unit_test(merged_counts_are_those_of_all_events),
	    cmocka_unit_test(
	        a_window_begins_less_than_a_slot_earlier_than_asked),
	    cmocka_unit_test(a_window_of_more_than_a_day_is_refused),
	    cmocka_unit_test(
	        old_counts_leave_the_windows_when_nothing_else_is_counted),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
