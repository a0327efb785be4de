/* SPDX-License-Identifier: MIT
 * The slab: indexes, limits, type-stability, and threads that share one.
 */
#include "base/slab.h"

#include "page_size.h"
#include "unit.h"

#define THREADS 4

struct object {
	uint32_t index; /* set by construct, must never change */
	uint32_t holder;
	uint8_t filling[100];
};

struct construction {
	uint32_t calls, refuse_at; /* 0: never */
};

static bool
construct(void *object, uint32_t index, void *arg)
{
	struct construction *c = arg;
	struct object *o = object;

	if (++c->calls == c->refuse_at)
		return false;
	o->index = index;
	return true;
}

static void
init(struct slab *slab, uint32_t max, struct construction *c)
{
	struct slab_options options = {.size = sizeof(struct object),
	    .max = max,
	    .construct = c ? construct : NULL,
	    .arg = c};

	assert_int_equal(slab_init(slab, &options), 0);
}

/* The links of the free list stood in the chunk, and 64 sessions of 448 bytes,
 * which are 7 pages, took 8. */
static void
a_chunk_holds_nothing_but_objects(void **state)
{
	const struct slab_options options = {.size = 448, .max = 64};
	struct slab slab;
	uint32_t index;

	(void)state;
	assert_int_equal(slab_init(&slab, &options), 0);
	assert_non_null(slab_take(&slab, &index));
	assert_int_equal(slab_mapped(&slab), 64 * 448);
	slab_fini(&slab);
}

static void
objects_are_distinct_and_found_by_their_index(void **state)
{
	struct slab slab;
	struct object *taken[200];
	uint32_t index;

	(void)state;
	init(&slab, 200, NULL);
	for (uint32_t i = 0; i < 200; i++) {
		taken[i] = slab_take(&slab, &index);
		assert_non_null(taken[i]);
		assert_ptr_equal(taken[i], slab_at(&slab, index));
		assert_true(index < slab_made(&slab));
		/* Zero at first, and nobody else's. */
		assert_int_equal(taken[i]->holder, 0);
		taken[i]->holder = i + 1;
		memset(taken[i]->filling, 0xff, sizeof(taken[i]->filling));
	}
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(taken[i]->holder, i + 1);
	assert_int_equal(slab_used(&slab), 200);
	slab_fini(&slab);
}

static void
objects_lie_on_cache_lines_of_their_own(void **state)
{
	struct slab slab;
	uint32_t index;

	(void)state;
	init(&slab, 10, NULL);
	for (int i = 0; i < 10; i++)
		assert_int_equal(
		    (uintptr_t)slab_take(&slab, &index) % CACHE_LINE, 0);
	slab_fini(&slab);
}

static void
no_more_than_max_are_given_out(void **state)
{
	/* Around the size of a chunk, where growing begins and ends. */
	static const uint32_t limits[] = {1, 63, 64, 65, 128, 130};

	(void)state;
	for (size_t l = 0; l < UNIT_N(limits); l++) {
		struct slab slab;
		uint32_t index = 0;

		init(&slab, limits[l], NULL);
		for (uint32_t i = 0; i < limits[l]; i++)
			assert_non_null(slab_take(&slab, &index));
		assert_null(slab_take(&slab, &index));
		assert_int_equal(slab_used(&slab), limits[l]);
		slab_give(&slab, index);
		assert_int_equal(slab_used(&slab), limits[l] - 1);
		assert_non_null(slab_take(&slab, &index));
		assert_null(slab_take(&slab, &index));
		slab_fini(&slab);
	}
}

static void
what_is_given_back_last_is_taken_first_and_unchanged(void **state)
{
	struct slab slab;
	struct object *a, *b;
	uint32_t ia, ib, index;

	(void)state;
	init(&slab, 8, NULL);
	a = slab_take(&slab, &ia);
	b = slab_take(&slab, &ib);
	a->holder = 1;
	b->holder = 2;
	slab_give(&slab, ia);
	slab_give(&slab, ib);
	assert_ptr_equal(slab_take(&slab, &index), b);
	assert_int_equal(index, ib);
	assert_int_equal(b->holder, 2);
	assert_ptr_equal(slab_take(&slab, &index), a);
	assert_int_equal(a->holder, 1);
	slab_fini(&slab);
}

static void
construct_sees_every_object_once_with_its_index(void **state)
{
	struct construction c = {0};
	struct slab slab;
	uint32_t index;

	(void)state;
	init(&slab, 100, &c);
	assert_int_equal(c.calls, 0);
	for (int round = 0; round < 3; round++) {
		uint32_t indexes[100];

		for (int i = 0; i < 100; i++) {
			struct object *o = slab_take(&slab, &index);

			assert_int_equal(o->index, index);
			indexes[i] = index;
		}
		for (int i = 0; i < 100; i++)
			slab_give(&slab, indexes[i]);
	}
	assert_int_equal(c.calls, slab_made(&slab));
	assert_int_equal(slab_made(&slab), 128);
	slab_fini(&slab);
}

static void
a_construct_that_fails_gives_null_and_can_be_tried_again(void **state)
{
	struct construction c = {.refuse_at = 5};
	struct slab slab;
	uint32_t index = 42;

	(void)state;
	init(&slab, 100, &c);
	assert_null(slab_take(&slab, &index));
	assert_int_equal(index, 42);
	assert_int_equal(slab_made(&slab), 0);
	assert_int_equal(slab_used(&slab), 0);
	assert_non_null(slab_take(&slab, &index));
	slab_fini(&slab);
}

static void
fini_of_a_zeroed_slab_is_fine(void **state)
{
	struct slab slab = {0};

	(void)state;
	slab_fini(&slab);
}

struct stress {
	struct slab slab;
	uint32_t ticket, rounds, hold;
	uint32_t doubly_held, changed_index, over_max, refused;
};

static void
take_one(struct stress *s, uint32_t me, uint32_t *held, uint32_t *n)
{
	struct object *o = slab_take(&s->slab, &held[*n]);

	if (!o) {
		atomic_add_relaxed(&s->refused, 1u);
		return;
	}
	if (atomic_swap_acq_rel(&o->holder, me) != 0)
		atomic_add_relaxed(&s->doubly_held, 1u);
	if (o->index != held[*n])
		atomic_add_relaxed(&s->changed_index, 1u);
	/* Plain memory of the holder: the sanitizer sees a second one. */
	memset(o->filling, (int)me, sizeof(o->filling));
	(*n)++;
}

static void
give_one(struct stress *s, uint32_t me, const uint32_t *held, uint32_t *n)
{
	struct object *o = slab_at(&s->slab, held[--*n]);

	if (atomic_swap_acq_rel(&o->holder, 0u) != me)
		atomic_add_relaxed(&s->doubly_held, 1u);
	slab_give(&s->slab, held[*n]);
}

static void *
take_and_give(void *arg)
{
	struct stress *s = arg;
	uint32_t me = unit_ticket(&s->ticket) + 1, random = me * 7919;
	uint32_t held[256], n = 0;

	for (uint32_t i = 0; i < s->rounds; i++) {
		if (n < s->hold && (n == 0 || unit_random(&random) & 1))
			take_one(s, me, held, &n);
		else
			give_one(s, me, held, &n);
	}
	while (n > 0)
		give_one(s, me, held, &n);
	return NULL;
}

/* hold: objects that one thread wants at a time. */
static void
stress(uint32_t max, uint32_t hold, uint32_t rounds, bool may_refuse)
{
	struct construction c = {0};
	struct stress s = {.rounds = rounds, .hold = hold};
	struct unit_threads threads;

	init(&s.slab, max, &c);
	unit_threads_start(&threads, THREADS, take_and_give, &s);
	unit_threads_join(&threads);
	assert_int_equal(s.doubly_held, 0);
	assert_int_equal(s.changed_index, 0);
	assert_int_equal(slab_used(&s.slab), 0);
	assert_true(slab_made(&s.slab) <=
	            (max + SLAB_CHUNK - 1) / SLAB_CHUNK * SLAB_CHUNK);
	assert_int_equal(c.calls, slab_made(&s.slab));
	if (!may_refuse)
		assert_int_equal(s.refused, 0);
	slab_fini(&s.slab);
}

static void
four_threads_never_hold_the_same_object(void **state)
{
	(void)state;
	stress(THREADS * 100, 100, 40000, false);
}

static void
threads_that_meet_at_the_limit_do_not_grow_beyond_it(void **state)
{
	(void)state;
	for (int round = 0; round < 20; round++)
		stress(63, 30, 10000, true);
}

static void *
take_all(void *arg)
{
	struct stress *s = arg;
	uint32_t index, n = 0;

	while (slab_take(&s->slab, &index))
		n++;
	if (n > s->slab.options.max)
		atomic_add_relaxed(&s->over_max, 1u);
	atomic_add_relaxed(&s->hold, n);
	return NULL;
}

static void
threads_together_get_at_most_max(void **state)
{
	(void)state;
	for (int round = 0; round < 50; round++) {
		struct stress s = {0};
		struct unit_threads threads;

		init(&s.slab, 150, NULL);
		unit_threads_start(&threads, THREADS, take_all, &s);
		unit_threads_join(&threads);
		assert_int_equal(s.over_max, 0);
		assert_true(s.hold <= 150);
		assert_int_equal(slab_used(&s.slab), s.hold);
		slab_fini(&s.slab);
	}
}

/* The address itself is a multiple of this machine's page only. */
static void
objects_in_pages_share_none_whatever_the_size_of_a_page(void **state)
{
	struct slab_options options = {
	    .size = 77 * 1024, .max = SLAB_CHUNK, .pages = true};

	(void)state;
	for (size_t i = 0; i < UNIT_N(page_sizes); i++) {
		size_t page = (size_t)page_sizes[i];
		uint8_t *first, *second;
		struct slab slab;
		uint32_t index;

		page_size = page_sizes[i];
		assert_int_equal(slab_init(&slab, &options), 0);
		first = slab_take(&slab, &index);
		second = slab_take(&slab, &(uint32_t){0});
		assert_non_null(first);
		assert_non_null(second);
		assert_int_equal((size_t)(second - first) % page, 0);
		assert_true((size_t)(second - first) < options.size + page);
		memset(first, 1, options.size);
		memset(second, 2, options.size);
		slab_forget(&slab, index);
		assert_int_equal(first[options.size - 1], 0);
		assert_int_equal(second[0], 2);
		slab_fini(&slab);
	}
	page_size = 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_chunk_holds_nothing_but_objects),
	    cmocka_unit_test(objects_are_distinct_and_found_by_their_index),
	    cmocka_unit_test(objects_lie_on_cache_lines_of_their_own),
	    cmocka_unit_test(no_more_than_max_are_given_out),
	    cmocka_unit_test(
	        what_is_given_back_last_is_taken_first_and_unchanged),
	    cmocka_unit_test(construct_sees_every_object_once_with_its_index),
	    cmocka_unit_test(
	        a_construct_that_fails_gives_null_and_can_be_tried_again),
	    cmocka_unit_test(fini_of_a_zeroed_slab_is_fine),
	    cmocka_unit_test(four_threads_never_hold_the_same_object),
	    cmocka_unit_test(
	        threads_that_meet_at_the_limit_do_not_grow_beyond_it),
	    cmocka_unit_test(threads_together_get_at_most_max),
	    cmocka_unit_test(
	        objects_in_pages_share_none_whatever_the_size_of_a_page),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
