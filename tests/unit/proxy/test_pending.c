/* SPDX-License-Identifier: MIT
 * Pending data, and that their memory goes back.
 */
#include "proxy/pending.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proxy/proxy.h"

#include "unit.h"

#define SPILLS 200

static struct pending_pool pending_pool;
static struct pending *taken[SPILLS];

/* Pages of the pending that have memory. */
static unsigned
resident(const struct pending *pending)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char in_core[sizeof(*pending) / 4096 + 1] = {0};
	unsigned n = 0;

	assert_int_equal((uintptr_t)pending % page, 0);
	assert_int_equal(
	    mincore((void *)(uintptr_t)pending, sizeof(*pending), in_core), 0);
	for (size_t i = 0; i < sizeof(in_core); i++)
		n += in_core[i] & 1;
	return n;
}

static int
set_up(void **state)
{
	(void)state;
	assert_int_equal(pending_pool_init(&pending_pool, SPILLS), 0);
	for (int i = 0; i < SPILLS; i++) {
		taken[i] = pending_take(&pending_pool);
		assert_non_null(taken[i]);
		memset(taken[i]->data, 1, sizeof(taken[i]->data));
	}
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	pending_pool_fini(&pending_pool);
	return 0;
}

static void
give(int from, int to)
{
	for (int i = from; i < to; i++)
		pending_give(&pending_pool, taken[i]);
}

static unsigned
resident_pending(int from, int to)
{
	unsigned n = 0;

	for (int i = from; i < to; i++)
		n += resident(taken[i]) > 0;
	return n;
}

static void
no_more_than_max_are_given_out(void **state)
{
	(void)state;
	assert_null(pending_take(&pending_pool));
	give(0, 1);
	assert_ptr_equal(pending_take(&pending_pool), taken[0]);
	give(0, SPILLS);
}

static void
memory_that_nobody_needed_for_a_while_goes_back(void **state)
{
	(void)state;
	give(0, SPILLS);
	pending_trim(
	    &pending_pool); /* sees for the first time that they are idle */
	assert_int_equal(resident_pending(0, SPILLS), SPILLS);
	pending_trim(&pending_pool);
	assert_int_equal(resident_pending(0, SPILLS), 0);
	assert_int_equal(pending_pool.used, 0);
}

static void
memory_that_was_needed_in_between_stays(void **state)
{
	(void)state;
	give(0, SPILLS);
	pending_trim(&pending_pool);
	for (int i = 0; i < SPILLS; i++)
		assert_non_null(pending_take(&pending_pool));
	pending_trim(&pending_pool);
	give(0, SPILLS);
	pending_trim(&pending_pool);
	assert_int_equal(resident_pending(0, SPILLS), SPILLS);
}

static void
spills_in_use_keep_what_they_hold(void **state)
{
	(void)state;
	give(50, SPILLS);
	pending_trim(&pending_pool);
	pending_trim(&pending_pool);
	assert_int_equal(resident_pending(50, SPILLS), 0);
	for (int i = 0; i < 50; i++)
		for (size_t at = 0; at < sizeof(taken[i]->data); at += 4096)
			assert_int_equal(taken[i]->data[at], 1);
	give(0, 50);
}

static void
pending_data_without_memory_is_as_good_as_any(void **state)
{
	struct pending *pending;

	(void)state;
	give(0, SPILLS);
	pending_trim(&pending_pool);
	pending_trim(&pending_pool);
	pending = pending_take(&pending_pool);
	assert_non_null(pending);
	memset(pending->data, 2, sizeof(pending->data));
	assert_int_equal(pending_pool.used, 1);
	pending_give(&pending_pool, pending);
	pending_trim(&pending_pool);
	pending_trim(&pending_pool);
	assert_int_equal(resident(pending), 0);
}

static struct proxy proxy;
static bool done;

/* A session whose sides take nothing, now and then. */
static void *
session(void *arg)
{
	uintptr_t *missed = arg;

	while (!atomic_load_acquire(&done)) {
		struct pending *both[2];

		for (int i = 0; i < 2; i++) {
			both[i] = pending_take(&proxy.pending_pool);
			if (both[i])
				both[i]->data[0] = 1;
			else
				++*missed;
		}
		for (int i = 0; i < 2; i++)
			if (both[i])
				pending_give(&proxy.pending_pool, both[i]);
	}
	return NULL;
}

/* Symptom: with a small maxconn a session was ended for a lack of memory, while
 * the memory of idle pending_pool was given back. */
static void
the_trim_takes_none_that_is_needed(void **state)
{
	uint64_t end_ms = unit_now_ms() + 1000;
	uintptr_t missed = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(proxy_init(&proxy, 1, 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, session, &missed), 0);
	while (unit_now_ms() < end_ms)
		proxy_trim(&proxy);
	atomic_store_release(&done, true);
	pthread_join(thread, NULL);
	assert_int_equal(missed, 0);
	assert_int_equal(slab_used(&proxy.pending_pool.slab), 0);
	proxy_fini(&proxy);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    T(no_more_than_max_are_given_out),
	    T(memory_that_nobody_needed_for_a_while_goes_back),
	    T(memory_that_was_needed_in_between_stays),
	    T(spills_in_use_keep_what_they_hold),
	    T(pending_data_without_memory_is_as_good_as_any),
	    cmocka_unit_test(the_trim_takes_none_that_is_needed),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
