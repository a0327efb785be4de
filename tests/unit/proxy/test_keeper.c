/* SPDX-License-Identifier: MIT
 * The keeper, on a clock that jumps whenever the keeper reads it: as if the
 * machine took the keeper's CPU away, in each of its looks.
 */
#include "proxy/keeper.h"

#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "lf/shard.h"
#include "proxy/reaper.h"
#include "proxy/session.h"
#include "unit.h"

static struct proxy proxy;
static struct shard shard;
static pthread_t test_thread;
static uint64_t lost_ns;

static uint64_t
jumping_clock(void)
{
	struct timespec ts;

	if (!pthread_equal(pthread_self(), test_thread))
		(void)atomic_add_relaxed(&lost_ns, NS_PER_S);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec +
	       atomic_load_relaxed(&lost_ns);
}

/* A session whose deadline has passed.  The note makes it owned. */
static struct session *
open_session(void)
{
	uint32_t index;
	struct session *s = slab_take(&proxy.sessions, &index);

	assert_non_null(s);
	claim_open(&s->handler.claim);
	s->handler.shard = &shard;
	proxy_set_deadline(&proxy, index, 1);
	(void)!claim_drop(&s->handler.claim);
	return s;
}

static bool
is_noted(const struct session *s)
{
	return claim_owned(&s->handler.claim);
}

/* Symptom: on a busy machine a deadline was seconds late, because the pause
 * after a look was a hundred times as long as the keeper had been without its
 * CPU. */
static void
a_look_that_was_interrupted_is_followed_by_a_short_pause(void **state)
{
	struct grace *grace = grace_new();
	struct handle_set *set;

	(void)state;
	test_thread = pthread_self();
	clock_replace(jumping_clock);
	assert_int_equal(handle_set_epoll_new(&set), 0);
	assert_int_equal(shard_init(&shard, NULL, 0, &promotion_futex), 0);
	shard_put_set(&shard, set, false);
	shard_open_set(&shard);
	assert_int_equal(proxy_init(&proxy, 10, 0, 0), 0);
	assert_int_equal(keeper_start(&proxy, grace), 0);
	for (int i = 0; i < 3; i++) {
		const struct session *s = open_session();

		assert_true(unit_wait(is_noted(s)));
	}
	keeper_stop(proxy.keeper);
	keeper_free(proxy.keeper);
	clock_replace(NULL);
	proxy_fini(&proxy);
	shard_fini(&shard);
	grace_free(grace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
	        a_look_that_was_interrupted_is_followed_by_a_short_pause),
	};

	unit_watchdog();
	return cmocka_run_group_tests_name("keeper", tests, NULL, NULL);
}
