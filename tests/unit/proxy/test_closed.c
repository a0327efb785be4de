/* SPDX-License-Identifier: MIT
 * The rings of sessions that have ended: they wrap, are merged by time, outlive
 * their threads, and are read whole while they are written.
 */
#include "proxy/closed.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/grace.h"
#include "unit.h"

/* A record of which every word follows from n, with names of several
 * lengths. */
static struct closed_session
make(uint64_t n, uint64_t ended_ns)
{
	struct closed_session c = {
	    .id = n,
	    .session.accepted_wall_us = n * 3,
	    .ended_ns = ended_ns,
	    .session.bytes_in = ~n,
	    .session.bytes_out = n * 7,
	    .tcp_known = {n % 2 == 0, n % 3 == 0},
	    .tcp = {{.delivery_rate = n, .mss = (uint32_t)n},
	        {.delivery_rate = n + 1, .mss = (uint32_t)n + 1}},
	};
	int len = 0;

	for (int i = 0; i < 3; i++)
		len += 1 + snprintf(c.names + len, CLOSED_NAME_SIZE, "%c%0*d",
		               'a' + i, (int)(n % 30) + 1, (int)(n % 10));
	/* Of every length that a name can have. */
	len += 1 + snprintf(c.names + len, TLS_NAME_MAX + 1, "%0*d",
	               (int)(n % TLS_NAME_MAX) + 1, (int)(n % 10));
	c.names_len = (uint16_t)len;
	c.session.peer.port = (uint16_t)n;
	return c;
}

static void
assert_whole(const struct closed_session *c)
{
	struct closed_session same = make(c->id, c->ended_ns);

	assert_int_equal(
	    c->session.accepted_wall_us, same.session.accepted_wall_us);
	assert_int_equal(c->session.bytes_in, same.session.bytes_in);
	assert_int_equal(c->session.bytes_out, same.session.bytes_out);
	for (enum closed_name i = 0; i <= CLOSED_SNI; i++)
		assert_string_equal(closed_name(c, i), closed_name(&same, i));
	assert_int_equal(c->session.peer.port, same.session.peer.port);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(c->tcp_known[i], same.tcp_known[i]);
		if (c->tcp_known[i])
			assert_memory_equal(
			    &c->tcp[i], &same.tcp[i], sizeof(same.tcp[i]));
	}
}

/* The ids that a walk sees. */
static size_t
walk(const struct closed_rings *rings, uint64_t *ret_ids, size_t max)
{
	struct closed_walk *w = closed_walk_new(rings);
	const struct closed_session *c;
	size_t n = 0;

	assert_non_null(w);
	while ((c = closed_walk_next(w))) {
		assert_true(n < max);
		assert_whole(c);
		ret_ids[n++] = c->id;
	}
	assert_null(closed_walk_next(w));
	closed_walk_free(w);
	return n;
}

static void
put(struct closed_ring *ring, uint64_t n, uint64_t ended_ns)
{
	struct closed_session c = make(n, ended_ns);

	closed_ring_put(ring, &c);
}

static void
a_ring_keeps_the_last_and_shows_them_latest_first(void **state)
{
	struct closed_rings rings = {.keep = 3};
	struct closed_ring *ring;
	uint64_t ids[3];

	(void)state;
	ring = closed_ring_take(&rings);
	assert_int_equal(walk(&rings, ids, 3), 0);
	put(ring, 1, 1);
	put(ring, 2, 2);
	assert_int_equal(walk(&rings, ids, 3), 2);
	assert_int_equal(ids[0], 2);
	assert_int_equal(ids[1], 1);
	for (uint64_t n = 3; n <= 100; n++) {
		put(ring, n, n);
		assert_int_equal(walk(&rings, ids, 3), 3);
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(ids[i], n - i);
	}
	closed_rings_fini(&rings);
}

static void
rings_are_merged_by_time_and_as_many_are_shown_as_are_kept(void **state)
{
	struct closed_rings rings = {.keep = 4};
	struct closed_ring *a, *b;
	uint64_t ids[4];

	(void)state;
	a = closed_ring_take(&rings);
	b = closed_ring_take(&rings);
	assert_ptr_not_equal(a, b);
	put(a, 10, 10);
	put(a, 30, 30);
	put(b, 20, 20);
	put(b, 25, 25);
	put(b, 40, 40);
	assert_int_equal(walk(&rings, ids, 4), 4);
	assert_int_equal(ids[0], 40);
	assert_int_equal(ids[1], 30);
	assert_int_equal(ids[2], 25);
	assert_int_equal(ids[3], 20);
	closed_rings_fini(&rings);
}

/* Walks to the end. */
static uint64_t
lost_ns(const struct closed_rings *rings)
{
	struct closed_walk *w = closed_walk_new(rings);
	uint64_t at_ns;

	assert_non_null(w);
	while (closed_walk_next(w))
		continue;
	at_ns = closed_walk_lost_ns(w);
	closed_walk_free(w);
	return at_ns;
}

static void
a_walk_tells_since_when_it_is_complete(void **state)
{
	struct closed_rings rings = {.keep = 3};
	struct closed_ring *a, *b;
	struct grace *grace = grace_new();

	(void)state;
	a = closed_ring_take(&rings);
	b = closed_ring_take(&rings);
	assert_int_equal(lost_ns(&rings), 0);
	put(a, 1, 10);
	put(a, 2, 20);
	put(b, 3, 15);
	assert_int_equal(lost_ns(&rings), 0);
	put(a, 4, 30); /* as many as are shown: 30, 20, 15 */
	assert_int_equal(lost_ns(&rings), 10);
	put(a, 5, 40); /* overwrites 10 */
	assert_int_equal(lost_ns(&rings), 20);
	assert_true(closed_rings_resize(&rings, 4, grace));
	assert_true(lost_ns(&rings) > 40);
	grace_free(grace);
	closed_rings_fini(&rings);
}

static void
a_ring_outlives_its_thread_and_is_taken_again(void **state)
{
	struct closed_rings rings = {.keep = 4};
	struct closed_ring *ring;
	uint64_t ids[4];

	(void)state;
	ring = closed_ring_take(&rings);
	put(ring, 1, 1);
	closed_ring_give(ring);
	assert_int_equal(walk(&rings, ids, 4), 1);
	assert_ptr_equal(closed_ring_take(&rings), ring);
	put(ring, 2, 2);
	assert_int_equal(walk(&rings, ids, 4), 2);
	closed_rings_fini(&rings);
}

static void
a_record_that_is_overwritten_under_way_is_missed_not_mixed_up(void **state)
{
	const struct closed_session *c;
	struct closed_rings rings = {.keep = 4};
	struct closed_ring *ring;
	struct closed_walk *w;

	(void)state;
	ring = closed_ring_take(&rings);
	for (uint64_t n = 1; n <= 4; n++)
		put(ring, n, n);
	w = closed_walk_new(&rings);
	c = closed_walk_next(w);
	assert_int_equal(c->id, 4);
	put(ring, 5, 5);
	put(ring, 6, 6);
	c = closed_walk_next(w);
	assert_int_equal(c->id, 3);
	assert_null(closed_walk_next(w));
	closed_walk_free(w);
	closed_rings_fini(&rings);
}

static void
another_number_forgets_and_goes_on_and_none_keeps_none(void **state)
{
	struct grace *grace = grace_new();
	struct closed_rings rings = {.keep = 2};
	struct closed_ring *ring;
	uint64_t ids[8];

	(void)state;
	ring = closed_ring_take(&rings);
	for (uint64_t n = 1; n <= 5; n++)
		put(ring, n, n);
	assert_true(closed_rings_resize(&rings, 8, grace));
	assert_int_equal(walk(&rings, ids, 8), 0);
	for (uint64_t n = 6; n <= 8; n++)
		put(ring, n, n);
	assert_int_equal(walk(&rings, ids, 8), 3);
	assert_int_equal(ids[0], 8);
	assert_true(closed_rings_resize(&rings, 0, grace));
	put(ring, 9, 9);
	assert_int_equal(walk(&rings, ids, 8), 0);
	assert_non_null(closed_ring_take(&rings));
	grace_free(grace);
	closed_rings_fini(&rings);
}

static void
who_closed_first_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(closer_name(CLOSER_PROXY), "proxy");
	assert_string_equal(closer_name(CLOSER_BOTH), "both");
}

struct writer {
	struct closed_rings *rings;
	uint32_t *stop;
	uint64_t first;
};

static void *
write_on(void *arg)
{
	const struct writer *w = arg;
	struct closed_ring *ring = closed_ring_take(w->rings);

	for (uint64_t n = w->first; !atomic_load_relaxed(w->stop); n += 2)
		put(ring, n, clock_now_ns());
	closed_ring_give(ring);
	return NULL;
}

/* ThreadSanitizer's and the seqlock's case. */
static void
what_is_read_while_two_threads_write_is_whole_and_in_order(void **state)
{
	struct closed_rings rings = {.keep = 16};
	uint32_t stop = 0;
	struct writer writers[2] = {{&rings, &stop, 2}, {&rings, &stop, 3}};
	uint64_t end = clock_now_ns() + NS_PER_S / 2, seen = 0;
	pthread_t threads[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, write_on, &writers[i]),
		    0);
	while (clock_now_ns() < end || seen == 0) {
		struct closed_walk *w = closed_walk_new(&rings);
		const struct closed_session *c;
		uint64_t before_ns = UINT64_MAX;

		while ((c = closed_walk_next(w))) {
			assert_whole(c);
			assert_true(c->ended_ns <= before_ns);
			before_ns = c->ended_ns;
			seen++;
		}
		closed_walk_free(w);
	}
	atomic_store_relaxed(&stop, 1u);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	closed_rings_fini(&rings);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_ring_keeps_the_last_and_shows_them_latest_first),
	    cmocka_unit_test(a_walk_tells_since_when_it_is_complete),
	    cmocka_unit_test(
	        rings_are_merged_by_time_and_as_many_are_shown_as_are_kept),
	    cmocka_unit_test(a_ring_outlives_its_thread_and_is_taken_again),
	    cmocka_unit_test(
	        a_record_that_is_overwritten_under_way_is_missed_not_mixed_up),
	    cmocka_unit_test(
	        another_number_forgets_and_goes_on_and_none_keeps_none),
	    cmocka_unit_test(who_closed_first_has_a_name),
	    cmocka_unit_test(
	        what_is_read_while_two_threads_write_is_whole_and_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
