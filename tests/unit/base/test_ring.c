/* SPDX-License-Identifier: MIT
 * The bounded ring: one thread, then many.
 */
#include "base/ring.h"

#include <sched.h>

#include "unit.h"

#define PRODUCERS 4
#define RECORDS   20000 /* of each producer */

/* An odd size, so that the cells' stride is not the record's size. */
struct record {
	uint32_t producer, number;
	uint8_t filling[13];
};

static void
fill(struct record *r, uint32_t producer, uint32_t number)
{
	r->producer = producer;
	r->number = number;
	memset(r->filling, (int)(producer * 31 + number), sizeof(r->filling));
}

static bool
is_whole(const struct record *r)
{
	struct record expected;

	fill(&expected, r->producer, r->number);
	return memcmp(r->filling, expected.filling, sizeof(r->filling)) == 0;
}

static void
an_empty_ring_has_nothing_to_take(void **state)
{
	struct ring *ring = ring_new(8, sizeof(struct record));
	struct record r = {.number = 77};

	(void)state;
	assert_non_null(ring);
	assert_false(ring_take(ring, &r));
	assert_int_equal(r.number, 77);
	ring_free(ring);
}

static void
a_full_ring_refuses_and_keeps_what_it_has(void **state)
{
	struct ring *ring = ring_new(4, sizeof(struct record));
	struct record r;

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		fill(&r, 1, i);
		assert_true(ring_put(ring, &r));
	}
	fill(&r, 1, 99);
	assert_false(ring_put(ring, &r));
	assert_false(ring_put(ring, &r));
	for (uint32_t i = 0; i < 4; i++) {
		assert_true(ring_take(ring, &r));
		assert_int_equal(r.number, i);
		assert_true(is_whole(&r));
	}
	assert_false(ring_take(ring, &r));
	ring_free(ring);
}

static void
one_take_makes_room_for_one_put_lap_after_lap(void **state)
{
	struct ring *ring = ring_new(2, sizeof(struct record));
	struct record r;

	(void)state;
	fill(&r, 0, 0);
	assert_true(ring_put(ring, &r));
	for (uint32_t i = 1; i < 1000; i++) {
		fill(&r, 0, i);
		assert_true(ring_put(ring, &r));
		assert_false(ring_put(ring, &r));
		assert_true(ring_take(ring, &r));
		assert_int_equal(r.number, i - 1);
	}
	ring_free(ring);
}

struct traffic {
	struct ring *ring;
	uint32_t ticket;
};

static void *
produce(void *arg)
{
	struct traffic *t = arg;
	uint32_t me = unit_ticket(&t->ticket);
	struct record r;

	for (uint32_t i = 0; i < RECORDS; i++) {
		fill(&r, me, i);
		while (!ring_put(t->ring, &r))
			sched_yield();
	}
	return NULL;
}

static void
four_producers_lose_nothing_and_keep_their_order(void **state)
{
	struct traffic t = {.ring = ring_new(64, sizeof(struct record))};
	uint32_t expected[PRODUCERS] = {0}, torn = 0, disordered = 0;
	struct unit_threads threads;
	struct record r;

	(void)state;
	unit_threads_start(&threads, PRODUCERS, produce, &t);
	for (uint32_t taken = 0; taken < PRODUCERS * RECORDS;) {
		if (!ring_take(t.ring, &r)) {
			sched_yield();
			continue;
		}
		taken++;
		torn += !is_whole(&r);
		disordered += r.number != expected[r.producer % PRODUCERS]++;
	}
	unit_threads_join(&threads);
	assert_int_equal(torn, 0);
	assert_int_equal(disordered, 0);
	assert_false(ring_take(t.ring, &r));
	ring_free(t.ring);
}

struct contest {
	struct ring *ring;
	uint32_t ticket, accepted;
};

static void *
put_until_refused(void *arg)
{
	struct contest *c = arg;
	uint32_t me = unit_ticket(&c->ticket), n = 0;
	struct record r;

	fill(&r, me, 0);
	while (ring_put(c->ring, &r))
		fill(&r, me, ++n);
	atomic_add_relaxed(&c->accepted, n);
	return NULL;
}

static void
producers_together_fill_exactly_the_cells(void **state)
{
	(void)state;
	for (int round = 0; round < 50; round++) {
		struct contest c = {
		    .ring = ring_new(256, sizeof(struct record))};
		struct unit_threads threads;
		struct record r;
		uint32_t taken = 0;

		unit_threads_start(&threads, PRODUCERS, put_until_refused, &c);
		unit_threads_join(&threads);
		while (ring_take(c.ring, &r))
			taken++;
		assert_int_equal(c.accepted, 256);
		assert_int_equal(taken, 256);
		ring_free(c.ring);
	}
}

static void
freeing_no_ring_is_fine(void **state)
{
	(void)state;
	ring_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_empty_ring_has_nothing_to_take),
	    cmocka_unit_test(a_full_ring_refuses_and_keeps_what_it_has),
	    cmocka_unit_test(one_take_makes_room_for_one_put_lap_after_lap),
	    cmocka_unit_test(four_producers_lose_nothing_and_keep_their_order),
	    cmocka_unit_test(producers_together_fill_exactly_the_cells),
	    cmocka_unit_test(freeing_no_ring_is_fine),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
