/* SPDX-License-Identifier: MIT
 * Turns by weight, and that members keep their place when a cycle follows
 * another one.
 */
#include <math.h>
#include <string.h>

#include "base/mix.h"
#include "base/clock.h"
#include "model/cycle.h"
#include "rig.h"

#define MEMBERS_MAX 64

static uint64_t seed;

static uint32_t
draw(uint32_t n)
{
	seed = mix64(seed);
	return (uint32_t)(seed % n);
}

/* Turns from `from` on, n of them, counted by member. */
static void
count_turns(const struct cycle *c, uint64_t from, uint64_t n, unsigned *counts)
{
	memset(counts, 0, c->members_n * sizeof(*counts));
	for (uint64_t i = from; i < from + n; i++)
		counts[cycle_turn(c, i)]++;
}

static void
equal_members_take_turns_in_order(void **state)
{
	static const uint32_t weights[] = {7, 7, 7, 7, 7};
	struct cycle *c = cycle_new(weights, 5);

	assert_int_equal(c->n, 5);
	for (unsigned i = 0; i < 50; i++)
		assert_int_equal(cycle_turn(c, i), i % 5);
	cycle_unref(c);
}

static void
any_cycle_of_turns_is_exactly_by_weight(void **state)
{
	unsigned counts[MEMBERS_MAX];

	for (seed = 1; seed < 300; seed++) {
		uint64_t saved = seed;
		uint32_t weights[MEMBERS_MAX], n = 1 + draw(12), all = 0;
		struct cycle *c;

		for (uint32_t i = 0; i < n; i++) {
			weights[i] = draw(4) > 0 ? draw(20) : 0;
			all += weights[i];
		}
		weights[0] += all == 0;
		c = cycle_new(weights, n);
		for (unsigned try = 0; try < 5; try++) {
			count_turns(c, draw(1000000), c->n, counts);
			for (uint32_t i = 0; i < n; i++)
				assert_int_equal(counts[i] * c->weight_sum,
				    weights[i] * c->n);
		}
		cycle_unref(c);
		seed = saved;
	}
}

/* Of the first turns each member has what it is entitled to, to within this. */
#define MOST_OFF 1.5

static double
most_off(const struct cycle *c)
{
	uint64_t n = c->n < 20000 ? c->n : 20000;
	unsigned had[MEMBERS_MAX] = {0};
	double most = 0;

	for (uint64_t t = 0; t < n; t++) {
		had[cycle_turn(c, t)]++;
		for (uint32_t i = 0; i < c->members_n; i++) {
			double due = (double)(t + 1) * c->weights[i] /
			             (double)c->weight_sum;

			most = fmax(most, fabs(due - had[i]));
		}
	}
	return most;
}

static void
turns_are_spread_evenly(void **state)
{
	static const uint32_t uneven[] = {10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	struct cycle *c = cycle_new(uneven, 11);
	double most = 0;

	/* The one of half the weight has every other turn. */
	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(cycle_turn(c, i) == 0, i % 2 == 0);
	cycle_unref(c);
	for (seed = 1; seed < 500; seed++) {
		uint64_t saved = seed;
		uint32_t weights[MEMBERS_MAX], n = 2 + draw(30);

		for (uint32_t i = 0; i < n; i++)
			weights[i] = 1 + draw(saved % 3 ? 256 : 6);
		c = cycle_new(weights, n);
		most = fmax(most, most_off(c));
		cycle_unref(c);
		seed = saved;
	}
	print_message("at most %.2f turns off\n", most);
	assert_true(most < MOST_OFF);
}

static void
who_waits_for_how_long_is_told_exactly(void **state)
{
	double until[MEMBERS_MAX];

	for (seed = 1; seed < 100; seed++) {
		uint64_t saved = seed, at;
		uint32_t weights[MEMBERS_MAX], n = 1 + draw(20);
		struct cycle *c;

		for (uint32_t i = 0; i < n; i++)
			weights[i] = i > 0 && draw(5) == 0 ? 0 : 1 + draw(9);
		c = cycle_new(weights, n);
		at = draw(5000);
		cycle_steps_until(c, at, until);
		for (uint32_t i = 0; i < n; i++) {
			uint64_t turns = 0;

			if (weights[i] == 0) {
				assert_true(until[i] < 0);
				continue;
			}
			while (cycle_turn(c, at + turns) != i)
				turns++;
			assert_true(until[i] == (double)turns);
		}
		cycle_unref(c);
		seed = saved;
	}
}

/* Lineups of some of the members, with other weights now and then, of few turns
 * each.  What each has had is held against the sum of what it was entitled to
 * in each of them. */
struct history {
	uint32_t members_n;
	uint32_t weights[MEMBERS_MAX];
	int64_t credits[MEMBERS_MAX];
	double due[MEMBERS_MAX], had[MEMBERS_MAX];
	double most;
};

static void
live_through_one(struct history *h, unsigned turns)
{
	uint32_t weights[MEMBERS_MAX], members[MEMBERS_MAX], n = 0;
	int64_t credits[MEMBERS_MAX];
	struct cycle *c;

	for (uint32_t i = 0; i < h->members_n; i++)
		if (draw(4) > 0 || (i == h->members_n - 1 && n == 0)) {
			members[n] = i;
			weights[n++] = h->weights[i];
		}
	c = cycle_new(weights, n);
	for (uint32_t i = 0; i < n; i++)
		c->credits[i] = h->credits[members[i]];
	cycle_begin(c);
	for (unsigned t = 0; t < turns; t++) {
		h->had[members[cycle_turn(c, c->taken++)]]++;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t m = members[i];

			h->due[m] += (double)weights[i] / (double)c->weight_sum;
			h->most = fmax(h->most, fabs(h->due[m] - h->had[m]));
		}
	}
	cycle_credits(c, cycle_taken(c), credits);
	for (uint32_t i = 0; i < n; i++)
		h->credits[members[i]] = credits[i];
	cycle_unref(c);
}

static double
most_off_in_history(uint32_t members_n, uint32_t weight_max, unsigned turns_max)
{
	struct history h = {.members_n = members_n};

	for (uint32_t i = 0; i < members_n; i++)
		h.weights[i] = 1 + draw(weight_max);
	for (unsigned i = 0; i < 20000; i++) {
		if (draw(3) == 0)
			h.weights[draw(members_n)] = 1 + draw(weight_max);
		live_through_one(&h, 1 + draw(turns_max));
	}
	return h.most;
}

static void
members_keep_their_place_through_any_changes(void **state)
{
	static const struct {
		uint32_t members_n, weight_max;
		unsigned turns_max;
		double most; /* turns off */
	} cases[] = {
	    {3, 1, 1, 1.25},
	    {4, 1, 5, 1.25},
	    {10, 1, 3, 1.25},
	    {50, 1, 60, 1.25},
	    {4, 10, 5, 2},
	    {10, 3, 7, 2},
	    {10, 256, 20, 2},
	    {40, 256, 10, 2},
	};

	seed = 42;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double most = most_off_in_history(cases[i].members_n,
		    cases[i].weight_max, cases[i].turns_max);

		print_message("%u members, weights to %u: %.2f turns off\n",
		    cases[i].members_n, cases[i].weight_max, most);
		assert_true(most < cases[i].most);
	}
}

/* One of four is in the lineup every other time, with a session in between. */
static void
a_server_that_comes_and_goes_moves_no_turns_between_the_others(void **state)
{
	unsigned had[4] = {0};
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 4, NULL, false);
	for (unsigned i = 0; i < 2400; i++) {
		rig_set_up(&rig, 3, i % 2 == 0);
		had[rig_number(rig_choose(&rig, 0, 0))]++;
	}
	/* A quarter of every other session, and a third of the rest. */
	assert_in_range(had[3], 299, 301);
	for (unsigned i = 0; i < 3; i++)
		assert_in_range(had[i], 699, 701);
	rig_fini(&rig);
}

static void
a_lineup_of_many_weights_takes_little_memory(void **state)
{
	static unsigned weights[5000];
	uint64_t best_ns = UINT64_MAX;
	struct rig rig;

	for (unsigned i = 0; i < 5000; i++)
		weights[i] = 1 + i * 7919 % 256;
	rig_init(&rig, &balance_roundrobin, 5000, weights, false);
	for (unsigned i = 0; i < 20; i++) {
		uint64_t from_ns = clock_now_ns(), took_ns;

		rig_set_up(&rig, 3, i % 2 == 0);
		took_ns = clock_now_ns() - from_ns;
		best_ns = took_ns < best_ns ? took_ns : best_ns;
	}
	/* By the number of servers, not by the sum of their weights. */
	assert_in_range(cycle_size(5000), 1, 5000 * 160);
	print_message("a lineup of 5000 servers: %llu us\n",
	    (unsigned long long)best_ns / 1000);
	rig_fini(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(equal_members_take_turns_in_order),
	    cmocka_unit_test(any_cycle_of_turns_is_exactly_by_weight),
	    cmocka_unit_test(turns_are_spread_evenly),
	    cmocka_unit_test(who_waits_for_how_long_is_told_exactly),
	    cmocka_unit_test(members_keep_their_place_through_any_changes),
	    cmocka_unit_test(
	        a_server_that_comes_and_goes_moves_no_turns_between_the_others),
	    cmocka_unit_test(a_lineup_of_many_weights_takes_little_memory),
	};

	unit_watchdog();
	counters_set_stripes(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
