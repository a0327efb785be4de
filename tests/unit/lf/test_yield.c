/* SPDX-License-Identifier: MIT
 * A leader yields before it sleeps: as often as that is of use.
 */
#include <sched.h>

#include "base/clock.h"
#include "lf/pool_rig.h"
#include "unit.h"

enum yield_end { RETURNS_AT_ONCE, LASTS };

#define SLEEPS 200

static struct {
	uint32_t end; /* enum yield_end */
	uint32_t count;
} yields;

/* In the place of the C library's. */
int
sched_yield(void)
{
	uint64_t end_ns = clock_now_ns() + POLICY_YIELD_LONG_NS;

	atomic_add_relaxed(&yields.count, 1u);
	while (atomic_load_acquire(&yields.end) == LASTS &&
	       clock_now_ns() < end_ns)
		unit_nap();
	return 0;
}

static bool
leader_sleeps(struct rig *rig)
{
	return scripted_counts(rig_script(rig)).waiting == 1;
}

static void
start(struct rig *rig)
{
	static const struct rig_setup setup = {
	    .policy = POLICY_ADAPTIVE, .threads = 1, .shards = 1};

	atomic_store_relaxed(&yields.end, (uint32_t)RETURNS_AT_ONCE);
	rig_start(rig, &setup);
	rig_fake(rig, rig_serve);
	assert_true(unit_wait(leader_sleeps(rig)));
	atomic_store_relaxed(&yields.count, 0u);
}

/* Wakes the leader with an event, until it sleeps again. */
static void
wake_leader(struct rig *rig)
{
	uint32_t served = atomic_load_acquire(&rig->served);

	rig_feed_each(rig, 0, 1);
	assert_true(unit_wait(atomic_load_acquire(&rig->served) > served));
	assert_true(unit_wait(leader_sleeps(rig)));
}

static uint32_t
yields_before_sleeps(struct rig *rig, enum yield_end end)
{
	atomic_store_release(&yields.end, (uint32_t)end);
	for (int i = 0; i < SLEEPS; i++)
		wake_leader(rig);
	return atomic_load_relaxed(&yields.count);
}

/* An idle machine: 0, 1, 2 ... 15 sleeps without a yield, then 15 each time. */
static void
yields_that_find_nothing_become_rare(void **state)
{
	struct rig rig;

	(void)state;
	start(&rig);
	assert_in_range(
	    yields_before_sleeps(&rig, RETURNS_AT_ONCE), 5, SLEEPS / 5);
	rig_finish(&rig);
}

/* CPUs that other work keeps busy: 0, 4, 8, 16 ... sleeps without. */
static void
yields_that_last_become_very_rare(void **state)
{
	struct rig rig;

	(void)state;
	start(&rig);
	assert_in_range(yields_before_sleeps(&rig, LASTS), 2, SLEEPS / 20);
	rig_finish(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(yields_that_find_nothing_become_rare),
	    cmocka_unit_test(yields_that_last_become_very_rare),
	};

	unit_watchdog();
	return cmocka_run_group_tests_name("yield", tests, NULL, NULL);
}
