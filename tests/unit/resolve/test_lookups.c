/* SPDX-License-Identifier: MIT
 * Look-ups on their threads, with a function in the place of getaddrinfo(3)
 * that the test holds up and lets go.
 */
#include <netdb.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "resolve/lookups.h"

#define PATIENCE_MS 60000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static bool held;                        /* hosts that begin with `slow` */
static unsigned running, most, finished; /* look-ups */
static unsigned notified;

static void
change(bool hold)
{
	pthread_mutex_lock(&lock);
	held = hold;
	pthread_cond_broadcast(&moved);
	pthread_mutex_unlock(&lock);
}

/* Waits until so many look-ups run, or have run. */
static void
await(const unsigned *count, unsigned n)
{
	pthread_mutex_lock(&lock);
	while (*count < n)
		pthread_cond_wait(&moved, &lock);
	pthread_mutex_unlock(&lock);
}

static int
look(const char *host, int family, struct addr *ret_addr)
{
	(void)family;
	pthread_mutex_lock(&lock);
	running++;
	most = running > most ? running : most;
	pthread_cond_broadcast(&moved);
	while (held && strncmp(host, "slow", 4) == 0)
		pthread_cond_wait(&moved, &lock);
	running--;
	finished++;
	pthread_cond_broadcast(&moved);
	pthread_mutex_unlock(&lock);
	if (strcmp(host, "none") == 0)
		return EAI_NONAME;
	return addr_parse_ip("10.0.0.1", ret_addr) ? 0 : EAI_FAIL;
}

static void
notify(void *arg)
{
	unsigned *n = arg;

	++*n;
}

static struct lookups *
lookups(void)
{
	struct lookups *l = lookups_new(look, notify, &notified);

	assert_non_null(l);
	running = most = finished = notified = 0;
	return l;
}

static void
start(struct lookups *l, const char *host, struct name *name)
{
	assert_true(lookups_start(l, host, AF_UNSPEC, name));
}

static struct lookup_answer
next_answer(struct lookups *l)
{
	struct lookup_answer a;

	assert_true(lookups_wait(l, clock_now_ms() + PATIENCE_MS));
	assert_true(lookups_take(l, &a));
	return a;
}

static void
each_look_up_has_one_answer_with_its_name(void **state)
{
	struct lookups *l = lookups();
	struct name good, bad;
	struct lookup_answer a;

	(void)state;
	start(l, "good", &good);
	a = next_answer(l);
	assert_ptr_equal(a.name, &good);
	assert_int_equal(a.error, 0);
	assert_int_equal(a.addr.sa.sa_family, AF_INET);
	start(l, "none", &bad);
	a = next_answer(l);
	assert_ptr_equal(a.name, &bad);
	assert_int_equal(a.error, EAI_NONAME);
	assert_false(lookups_take(l, &a));
	assert_int_equal(notified, 2);
	lookups_free(l);
}

static void
a_slow_look_up_does_not_hold_up_others(void **state)
{
	struct lookups *l = lookups();
	struct name slow, quick;
	struct lookup_answer a;

	(void)state;
	change(true);
	start(l, "slow", &slow);
	await(&running, 1);
	start(l, "quick", &quick);
	a = next_answer(l);
	assert_ptr_equal(a.name, &quick);
	assert_false(lookups_take(l, &a));
	change(false);
	a = next_answer(l);
	assert_ptr_equal(a.name, &slow);
	lookups_free(l);
}

static void
no_more_than_so_many_run_at_a_time(void **state)
{
	enum { N = 5 * LOOKUPS_THREADS_MAX };
	struct lookups *l = lookups();
	struct name names[N];
	bool answered[N] = {false};

	(void)state;
	change(true);
	for (size_t i = 0; i < N; i++)
		start(l, "slow", &names[i]);
	await(&running, LOOKUPS_THREADS_MAX);
	change(false);
	for (size_t i = 0; i < N; i++) {
		size_t which = (size_t)(next_answer(l).name - names);

		assert_true(which < N);
		assert_false(answered[which]);
		answered[which] = true;
	}
	assert_int_equal(most, LOOKUPS_THREADS_MAX);
	lookups_free(l);
}

static void
a_wait_ends_at_its_time(void **state)
{
	struct lookups *l = lookups();
	struct name slow;

	(void)state;
	change(true);
	start(l, "slow", &slow);
	assert_false(lookups_wait(l, clock_now_ms() + 20));
	change(false);
	(void)next_answer(l);
	lookups_free(l);
}

static void
an_owner_that_goes_waits_for_no_look_up_and_hears_no_more(void **state)
{
	struct lookups *l = lookups();
	struct name slow[2 * LOOKUPS_THREADS_MAX];

	(void)state;
	change(true);
	for (size_t i = 0; i < 2 * LOOKUPS_THREADS_MAX; i++)
		start(l, "slow", &slow[i]);
	await(&running, LOOKUPS_THREADS_MAX);
	/* Returns although they hang. */
	lookups_free(l);
	change(false);
	await(&finished, LOOKUPS_THREADS_MAX);
	assert_int_equal(notified, 0);
	/* Those in the queue were not begun. */
	assert_int_equal(finished, LOOKUPS_THREADS_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_look_up_has_one_answer_with_its_name),
	    cmocka_unit_test(a_slow_look_up_does_not_hold_up_others),
	    cmocka_unit_test(no_more_than_so_many_run_at_a_time),
	    cmocka_unit_test(a_wait_ends_at_its_time),
	    cmocka_unit_test(
	        an_owner_that_goes_waits_for_no_look_up_and_hears_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
