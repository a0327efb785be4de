/* SPDX-License-Identifier: MIT
 * Grace periods: nothing is freed under a reader, everything afterwards.
 */
#include "base/grace.h"

#include <sched.h>
#include <stdlib.h>

#include "unit.h"

#define READERS 3
#define ALIVE   0x600df00du
#define DEAD    0xdeadbeefu

static unsigned freed;
static uintptr_t last_freed;

static void
note_freed(void *object)
{
	freed++;
	last_freed = (uintptr_t)object;
}

/* An object that is only ever named. */
static void *
object(uintptr_t number)
{
	return (void *)number;
}

static int
reset(void **state)
{
	(void)state;
	freed = 0;
	last_freed = 0;
	return 0;
}

static void
without_readers_retire_frees_at_once(void **state)
{
	struct grace *g = grace_new();

	(void)state;
	grace_retire(g, note_freed, object(1));
	assert_int_equal(freed, 1);
	assert_int_equal(last_freed, 1);
	grace_free(g);
}

static void
a_reader_outside_holds_nothing_back(void **state)
{
	struct grace *g = grace_new();
	struct grace_reader r;

	(void)state;
	grace_register(g, &r);
	grace_retire(g, note_freed, object(1));
	assert_int_equal(freed, 1);
	grace_enter(g, &r);
	grace_leave(&r);
	grace_retire(g, note_freed, object(2));
	assert_int_equal(freed, 2);
	grace_unregister(g, &r);
	grace_free(g);
}

static void
a_reader_inside_keeps_what_is_retired_until_it_leaves(void **state)
{
	struct grace *g = grace_new();
	struct grace_reader r;

	(void)state;
	grace_register(g, &r);
	grace_enter(g, &r);
	for (uintptr_t i = 1; i <= 10; i++)
		grace_retire(g, note_freed, object(i));
	grace_poll(g);
	assert_int_equal(freed, 0);
	grace_leave(&r);
	assert_int_equal(freed, 0);
	grace_poll(g);
	assert_int_equal(freed, 10);
	assert_int_equal(last_freed, 10);
	grace_unregister(g, &r);
	grace_free(g);
}

static void
a_reader_that_came_later_does_not_keep_the_earlier(void **state)
{
	struct grace_reader early, late;
	struct grace *g = grace_new();

	(void)state;
	grace_register(g, &early);
	grace_register(g, &late);
	grace_enter(g, &early);
	grace_retire(g, note_freed, object(1));
	grace_enter(g, &late);
	grace_retire(g, note_freed, object(2));
	grace_leave(&early);
	grace_poll(g);
	assert_int_equal(freed, 1);
	assert_int_equal(last_freed, 1);
	grace_leave(&late);
	grace_poll(g);
	assert_int_equal(freed, 2);
	grace_unregister(g, &early);
	grace_unregister(g, &late);
	grace_free(g);
}

static void
every_reader_must_have_left(void **state)
{
	struct grace_reader readers[5];
	struct grace *g = grace_new();

	(void)state;
	for (size_t i = 0; i < UNIT_N(readers); i++) {
		grace_register(g, &readers[i]);
		grace_enter(g, &readers[i]);
	}
	grace_retire(g, note_freed, object(1));
	for (size_t i = 0; i < UNIT_N(readers); i++) {
		assert_int_equal(freed, 0);
		grace_leave(&readers[i]);
		grace_poll(g);
	}
	assert_int_equal(freed, 1);
	for (size_t i = 0; i < UNIT_N(readers); i++)
		grace_unregister(g, &readers[i]);
	grace_free(g);
}

static void
a_later_retire_frees_what_is_due(void **state)
{
	struct grace *g = grace_new();
	struct grace_reader r;

	(void)state;
	grace_register(g, &r);
	grace_enter(g, &r);
	grace_retire(g, note_freed, object(1));
	grace_leave(&r);
	grace_retire(g, note_freed, object(2));
	assert_int_equal(freed, 2);
	grace_unregister(g, &r);
	grace_free(g);
}

static void
free_of_the_domain_frees_what_waits(void **state)
{
	struct grace *g = grace_new();
	struct grace_reader r;

	(void)state;
	grace_register(g, &r);
	grace_enter(g, &r);
	grace_retire(g, note_freed, object(1));
	grace_retire(g, note_freed, object(2));
	grace_leave(&r);
	grace_unregister(g, &r);
	assert_int_equal(freed, 0);
	grace_free(g);
	assert_int_equal(freed, 2);
	grace_free(NULL);
}

static void
retiring_nothing_calls_nothing(void **state)
{
	struct grace *g = grace_new();

	(void)state;
	grace_retire(g, note_freed, NULL);
	assert_int_equal(freed, 0);
	grace_free(g);
}

/* What readers see is plain memory, so that a sanitizer notices a free or a
 * poisoning that is not ordered after the last read. */
struct published {
	uint32_t word, copy;
	struct published *next; /* of those that were freed */
};

struct stress {
	struct grace *grace;
	struct published *published;
	uint32_t stop, dead_seen;
	uint64_t reads;
};

static struct published *graveyard;

static void
poison(void *object_)
{
	struct published *p = object_;

	p->word = DEAD;
	p->copy = ~DEAD;
	p->next = graveyard;
	graveyard = p;
}

static void
bury(unsigned expected)
{
	unsigned n = 0;

	while (graveyard) {
		struct published *p = graveyard;

		graveyard = p->next;
		free(p);
		n++;
	}
	assert_int_equal(n, expected);
}

static void *
read_published(void *arg)
{
	struct stress *s = arg;
	struct grace_reader reader;

	grace_register(s->grace, &reader);
	while (!atomic_load_relaxed(&s->stop)) {
		const struct published *p;

		grace_enter(s->grace, &reader);
		p = atomic_load_acquire(&s->published);
		for (int i = 0; i < 20; i++)
			if (p->word != ALIVE || p->copy != ~ALIVE)
				atomic_add_relaxed(&s->dead_seen, 1u);
		grace_leave(&reader);
		atomic_add_relaxed(&s->reads, 1u);
	}
	grace_unregister(s->grace, &reader);
	return NULL;
}

static struct published *
published_new(void)
{
	struct published *p = malloc(sizeof(*p));

	assert_non_null(p);
	*p = (struct published){.word = ALIVE, .copy = ~ALIVE};
	return p;
}

static void
readers_never_see_a_poisoned_object(void **state)
{
	struct stress s = {.grace = grace_new(), .published = published_new()};
	struct unit_threads threads;
	unsigned retired = 0;

	(void)state;
	unit_threads_start(&threads, READERS, read_published, &s);
	/* Writing goes on until the readers have had their share. */
	while (retired < 20000 || atomic_load_relaxed(&s.reads) < 20000) {
		grace_retire(s.grace, poison,
		    atomic_swap_acq_rel(&s.published, published_new()));
		if (++retired % 64 == 0)
			sched_yield();
	}
	atomic_store_relaxed(&s.stop, 1u);
	unit_threads_join(&threads);
	grace_retire(s.grace, poison, s.published);
	grace_free(s.grace);
	assert_int_equal(s.dead_seen, 0);
	bury(retired + 1);
}

static void *
come_and_go(void *arg)
{
	struct stress *s = arg;
	struct grace_reader reader;

	for (int i = 0; i < 3000; i++) {
		grace_register(s->grace, &reader);
		grace_enter(s->grace, &reader);
		if (atomic_load_acquire(&s->published)->word != ALIVE)
			atomic_add_relaxed(&s->dead_seen, 1u);
		grace_leave(&reader);
		grace_unregister(s->grace, &reader);
	}
	atomic_add_relaxed(&s->stop, 1u);
	return NULL;
}

static void
readers_may_register_and_leave_at_any_time(void **state)
{
	struct stress s = {.grace = grace_new(), .published = published_new()};
	struct unit_threads threads;
	unsigned retired = 0;

	(void)state;
	unit_threads_start(&threads, READERS, come_and_go, &s);
	while (atomic_load_relaxed(&s.stop) < READERS) {
		grace_retire(s.grace, poison,
		    atomic_swap_acq_rel(&s.published, published_new()));
		retired++;
	}
	unit_threads_join(&threads);
	grace_retire(s.grace, poison, s.published);
	grace_free(s.grace);
	assert_int_equal(s.dead_seen, 0);
	bury(retired + 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(without_readers_retire_frees_at_once, reset),
	    cmocka_unit_test_setup(a_reader_outside_holds_nothing_back, reset),
	    cmocka_unit_test_setup(
	        a_reader_inside_keeps_what_is_retired_until_it_leaves, reset),
	    cmocka_unit_test_setup(
	        a_reader_that_came_later_does_not_keep_the_earlier, reset),
	    cmocka_unit_test_setup(every_reader_must_have_left, reset),
	    cmocka_unit_test_setup(a_later_retire_frees_what_is_due, reset),
	    cmocka_unit_test_setup(free_of_the_domain_frees_what_waits, reset),
	    cmocka_unit_test_setup(retiring_nothing_calls_nothing, reset),
	    cmocka_unit_test(readers_never_see_a_poisoned_object),
	    cmocka_unit_test(readers_may_register_and_leave_at_any_time),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
