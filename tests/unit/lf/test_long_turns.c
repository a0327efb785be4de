/* SPDX-License-Identifier: MIT
 * Turns that were declared long: the leader promotes before them, one thread
 * stays for the others, and those that have to wait run in their order,
 * whatever changes meanwhile.
 */
#include "lf/pool.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lf/pool_rig.h"
#include "unit.h"

static const enum policy_kind policies[] = {
    POLICY_ADAPTIVE, POLICY_ALWAYS, POLICY_KERNEL};

static struct {
	uint32_t places, begun, ended;
	uint32_t permits; /* long turns that may end */
	uint32_t order[RIG_FAKES_MAX];
} turns;

static void
await_permit(void)
{
	uint32_t left = atomic_load_acquire(&turns.permits);

	for (;;) {
		if (left > 0 &&
		    atomic_cas_acq_rel(&turns.permits, &left, left - 1))
			return;
		unit_nap();
		left = atomic_load_acquire(&turns.permits);
	}
}

static enum turn
last(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	uint32_t place = atomic_add_relaxed(&turns.places, 1u);

	(void)pending;
	(void)self;
	atomic_store_relaxed(&turns.order[place], fake->number);
	atomic_add_acq_rel(&turns.begun, 1u);
	await_permit();
	atomic_add_acq_rel(&turns.ended, 1u);
	return TURN_DONE;
}

/* As a TLS handshake: a turn finds what is to be computed, and the next one
 * computes it. */
static enum turn
declare_then_last(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	if (pending & NOTE_RESUME)
		return last(fake, pending, self);
	if (pending & HANDLE_READABLE) {
		event_handler_declare_long(&fake->handler);
		event_handler_note(&fake->handler, NOTE_RESUME);
	}
	return TURN_DONE;
}

static bool
long_turns_are(struct rig *rig, unsigned running, unsigned waiting)
{
	struct pool_status s;

	rig_control(rig);
	pool_status(rig->pool, &s);
	return s.long_running == running && s.long_waiting == waiting;
}

static void
permit(struct rig *rig, uint32_t n)
{
	uint32_t ended = atomic_load_acquire(&turns.ended) + n;

	atomic_add_acq_rel(&turns.permits, n);
	assert_true(unit_wait(rig_count_is(rig, &turns.ended, ended)));
}

/* Starts a pool and as many long turns as it admits, and leaves `waiting` more
 * to wait. */
static void
start_long_turns(
    struct rig *rig, const struct rig_setup *setup, unsigned waiting)
{
	unsigned limit = setup->threads > 1 ? setup->threads - 1 : 1;

	memset(&turns, 0, sizeof(turns));
	rig_start(rig, setup);
	for (unsigned i = 0; i < limit + waiting; i++) {
		rig_feed(rig, rig_fake(rig, declare_then_last));
		assert_true(unit_wait(long_turns_are(rig,
		    i < limit ? i + 1 : limit, i < limit ? 0 : i + 1 - limit)));
	}
	assert_true(unit_wait(rig_count_is(rig, &turns.begun, limit)));
}

static void
serve_short_turns(struct rig *rig, unsigned first, unsigned n)
{
	for (unsigned round = 0; round < 3; round++) {
		uint32_t served = atomic_load_acquire(&rig->served);

		for (unsigned i = 0; i < n; i++)
			rig_feed(rig, rig->fakes[first + i]);
		assert_true(
		    unit_wait(rig_count_is(rig, &rig->served, served + n)));
	}
}

static void
fill_all_threads_but_one(const struct rig_setup *setup)
{
	unsigned limit = setup->threads - 1, waiting = 3;
	struct rig rig;

	start_long_turns(&rig, setup, waiting);
	for (unsigned i = 0; i < setup->shards; i++)
		rig_fake(&rig, rig_serve);
	serve_short_turns(&rig, limit + waiting, setup->shards);
	for (unsigned i = 0; i < waiting; i++) {
		assert_int_equal(atomic_load_acquire(&turns.begun), limit + i);
		permit(&rig, 1);
		assert_true(
		    unit_wait(rig_count_is(&rig, &turns.begun, limit + i + 1)));
		assert_int_equal(
		    atomic_load_relaxed(&turns.order[limit + i]), limit + i);
		serve_short_turns(&rig, limit + waiting, setup->shards);
	}
	atomic_add_acq_rel(&turns.permits, limit);
	rig_finish(&rig);
	assert_int_equal(rig.status.long_running, 0);
	assert_int_equal(rig.status.long_waiting, 0);
	assert_int_equal(rig.status.long_limit, limit);
	assert_int_equal(rig.status.long_waits, waiting);
	assert_true(rig.status.long_waited_ns > 0);
}

/* Under kernel a shard whose threads are all in turns waits for them. */
static void
one_thread_stays_for_short_turns(void **state)
{
	(void)state;
	for (unsigned threads = 2; threads <= 4; threads++) {
		for (unsigned shards = 1; shards <= threads; shards++) {
			for (size_t p = 0; p < UNIT_N(policies); p++) {
				const struct rig_setup setup = {
				    .policy = policies[p],
				    .threads = threads,
				    .shards = shards,
				    .cpus = 8};

				if (policies[p] != POLICY_KERNEL || shards == 1)
					fill_all_threads_but_one(&setup);
			}
		}
	}
}

/* The guard, which would give the token to a follower later, is off. */
static void
the_leader_promotes_before_a_long_turn(void **state)
{
	static const struct rig_setup setup = {
	    .policy = POLICY_ADAPTIVE, .threads = 2, .shards = 1, .cpus = 8};
	struct pool_status before, after;
	struct rig rig;

	(void)state;
	memset(&turns, 0, sizeof(turns));
	rig_start(&rig, &setup);
	rig_fake(&rig, declare_then_last);
	rig_fake(&rig, rig_serve);
	for (int round = 1; round <= 5; round++) {
		assert_true(rig_quiet(&rig));
		pool_status(rig.pool, &before);
		rig.guarding = false;
		rig_feed(&rig, rig.fakes[0]);
		while (atomic_load_acquire(&turns.begun) < (uint32_t)round)
			unit_nap();
		rig_feed(&rig, rig.fakes[1]);
		assert_true(unit_wait(
		    atomic_load_acquire(&rig.served) == (uint32_t)round));
		atomic_add_acq_rel(&turns.permits, 1u);
		assert_true(unit_wait(
		    atomic_load_acquire(&turns.ended) == (uint32_t)round));
		pool_status(rig.pool, &after);
		assert_int_equal(after.guarded, before.guarded);
		rig.guarding = true;
	}
	rig_finish(&rig);
}

/* Symptom: events that a thread had fetched together with that of a long turn
 * waited for it, while another thread had nothing to do. */
static void
under_kernel_no_event_waits_behind_a_long_turn(void **state)
{
	static const struct rig_setup setup = {
	    .policy = POLICY_KERNEL, .threads = 2, .shards = 1, .cpus = 8};
	struct handle_event events[8];
	struct rig rig;

	(void)state;
	memset(&turns, 0, sizeof(turns));
	rig_start(&rig, &setup);
	rig_fake(&rig, last)->handler.next_turn = NEXT_LONG;
	for (unsigned i = 1; i < UNIT_N(events); i++)
		rig_fake(&rig, rig_serve);
	for (unsigned i = 0; i < UNIT_N(events); i++)
		events[i] =
		    rig_event(rig.fakes[i], HANDLE_CLIENT, HANDLE_READABLE);
	scripted_feed(rig_script(&rig), events, UNIT_N(events));
	assert_true(unit_wait(rig_count_is(&rig, &turns.begun, 1)));
	assert_true(
	    unit_wait(rig_count_is(&rig, &rig.served, UNIT_N(events) - 1)));
	atomic_add_acq_rel(&turns.permits, 1u);
	rig_finish(&rig);
}

static void
fewer_threads_run_fewer_long_turns_and_more_run_more(void **state)
{
	(void)state;
	for (size_t p = 0; p < UNIT_N(policies); p++) {
		const struct rig_setup setup = {.policy = policies[p],
		    .threads = 4,
		    .shards = 1,
		    .cpus = 8};
		struct rig rig;

		start_long_turns(&rig, &setup, 5);
		rig_set_threads(&rig, 2);
		permit(&rig, 2);
		assert_true(unit_wait(long_turns_are(&rig, 1, 5)));
		assert_int_equal(atomic_load_acquire(&turns.begun), 3);
		permit(&rig, 1);
		assert_true(unit_wait(rig_count_is(&rig, &turns.begun, 4)));
		assert_true(long_turns_are(&rig, 1, 4));
		rig_set_threads(&rig, 4);
		assert_true(unit_wait(rig_count_is(&rig, &turns.begun, 6)));
		assert_true(long_turns_are(&rig, 3, 2));
		rig_set_threads(&rig, 1);
		rig_fake(&rig, rig_serve);
		atomic_add_acq_rel(&turns.permits, 5u);
		assert_true(unit_wait(rig_count_is(&rig, &turns.ended, 8)));
		serve_short_turns(&rig, 8, 1);
		rig_finish(&rig);
		/* 4 and 5 began at once. */
		assert_int_equal(turns.order[3], 3);
		assert_int_equal(turns.order[6], 6);
		assert_int_equal(turns.order[7], 7);
		assert_int_equal(rig.status.long_limit, 1);
	}
}

static unsigned
long_limit(struct rig *rig)
{
	struct pool_status s;

	pool_status(rig->pool, &s);
	return s.long_limit;
}

static void
the_limit_that_is_set_holds_up_to_the_threads(void **state)
{
	static const struct rig_setup setup = {
	    .policy = POLICY_ADAPTIVE, .threads = 4, .shards = 1, .cpus = 8};
	struct rig rig;

	(void)state;
	start_long_turns(&rig, &setup, 5);
	pool_set_long_turns(rig.pool, 1);
	assert_int_equal(long_limit(&rig), 1);
	permit(&rig, 2);
	assert_true(unit_wait(long_turns_are(&rig, 1, 5)));
	pool_set_long_turns(rig.pool, 9);
	assert_int_equal(long_limit(&rig), 4);
	assert_int_equal(pool_long_turns(rig.pool), 9);
	assert_true(unit_wait(long_turns_are(&rig, 4, 2)));
	pool_set_long_turns(rig.pool, 2);
	rig_set_threads(&rig, 8);
	assert_int_equal(long_limit(&rig), 2);
	pool_set_long_turns(rig.pool, 0);
	assert_int_equal(long_limit(&rig), 7);
	assert_true(unit_wait(long_turns_are(&rig, 6, 0)));
	atomic_add_acq_rel(&turns.permits, 6u);
	assert_true(unit_wait(rig_count_is(&rig, &turns.ended, 8)));
	rig_finish(&rig);
}

static void
as_many_run_as_there_are_cpus(void **state)
{
	static const struct rig_setup setup = {
	    .policy = POLICY_ADAPTIVE, .threads = 4, .shards = 1, .cpus = 2};
	cpu_set_t one;
	struct rig rig;
	struct err err;

	(void)state;
	rig_start(&rig, &setup);
	assert_int_equal(long_limit(&rig), 2);
	rig_set_threads(&rig, 2);
	assert_int_equal(long_limit(&rig), 1);
	rig_set_threads(&rig, 8);
	assert_int_equal(long_limit(&rig), 2);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	assert_true(pool_set_cpus(rig.pool, &one, &err));
	assert_int_equal(long_limit(&rig), 1);
	rig_finish(&rig);
}

/* Under kernel a shard's events would wait for the long turns of its threads,
 * so the policy changes afterwards. */
static void
handlers_of_a_closing_shard_move_after_their_long_turn(void **state)
{
	(void)state;
	for (size_t p = 0; p < UNIT_N(policies); p++) {
		const struct rig_setup setup = {.policy = POLICY_ADAPTIVE,
		    .threads = 4,
		    .shards = 4,
		    .cpus = 8};
		struct rig rig;

		start_long_turns(&rig, &setup, 5);
		pool_set_policy(rig.pool, policies[p]);
		rig_set_shards(&rig, 1);
		atomic_add_acq_rel(&turns.permits, 8u);
		assert_true(unit_wait(rig_count_is(&rig, &turns.ended, 8)));
		assert_true(rig_quiet(&rig));
		for (unsigned i = 0; i < 8; i++)
			assert_int_equal(rig.fakes[i]->handler.shard->id, 0);
		rig_finish(&rig);
		assert_int_equal(rig.status.long_running, 0);
	}
}

static void
handlers_wait_through_changes_of_the_policy(void **state)
{
	static const struct rig_setup setup = {
	    .policy = POLICY_ADAPTIVE, .threads = 3, .shards = 2, .cpus = 8};
	struct rig rig;

	(void)state;
	start_long_turns(&rig, &setup, 6);
	for (uint32_t i = 0; i < 6; i++) {
		pool_set_policy(rig.pool, policies[(i + 2) % 3]);
		permit(&rig, 1);
		assert_true(unit_wait(rig_count_is(&rig, &turns.begun, 3 + i)));
		assert_int_equal(
		    atomic_load_relaxed(&turns.order[2 + i]), 2 + i);
	}
	atomic_add_acq_rel(&turns.permits, 2u);
	rig_finish(&rig);
	assert_int_equal(turns.ended, 8);
}

/* Nothing waits for admission there: who would ask is in the turn. */
static void
a_single_thread_runs_long_turns_and_short_ones(void **state)
{
	(void)state;
	for (size_t p = 0; p < UNIT_N(policies); p++) {
		const struct rig_setup setup = {
		    .policy = policies[p], .threads = 1, .shards = 1};
		struct rig rig;

		memset(&turns, 0, sizeof(turns));
		rig_start(&rig, &setup);
		for (int i = 0; i < 3; i++)
			rig_fake(&rig, declare_then_last);
		rig_fake(&rig, rig_serve);
		rig_feed_each(&rig, 0, 4);
		for (uint32_t i = 1; i <= 3; i++) {
			assert_true(
			    unit_wait(rig_count_is(&rig, &turns.begun, i)));
			permit(&rig, 1);
		}
		serve_short_turns(&rig, 3, 1);
		rig_finish(&rig);
		assert_int_equal(rig.status.long_waits, 0);
		assert_int_equal(rig.served, 4);
	}
}

/* Under kernel a thread that ends takes what was fetched with it. */
static void
after_stop_no_long_turn_begins(void **state)
{
	(void)state;
	for (size_t p = 0; p < UNIT_N(policies); p++) {
		const struct rig_setup setup = {.policy = policies[p],
		    .threads = 3,
		    .shards = 1,
		    .cpus = 8};
		struct rig rig;

		start_long_turns(&rig, &setup, 3);
		pool_stop(rig.pool);
		atomic_add_acq_rel(&turns.permits, 5u);
		rig_abandon(&rig);
		assert_int_equal(turns.begun, turns.ended);
		assert_true(turns.begun == 2 || policies[p] == POLICY_KERNEL);
	}
}

static int nice_seen;
static uint32_t nice_is_wanted;

static enum turn
declare_then_see_nice(
    struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	if (pending & NOTE_RESUME)
		atomic_store_relaxed(&nice_seen, getpriority(PRIO_PROCESS, 0));
	else if (atomic_load_relaxed(&nice_is_wanted))
		pool_nice_want(self);
	return declare_then_last(fake, pending, self);
}

static enum turn
see_nice_and_serve(
    struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	atomic_store_relaxed(&nice_seen, getpriority(PRIO_PROCESS, 0));
	return rig_serve(fake, pending, self);
}

static void
a_thread_is_nicer_during_a_long_turn_if_wanted(void **state)
{
	static const struct rig_setup setup = {
	    .policy = POLICY_ADAPTIVE, .threads = 1, .shards = 1};
	int own = getpriority(PRIO_PROCESS, 0);
	struct rig rig;
	struct err err;
	bool permitted;

	(void)state;
	if (own > 14) {
		print_message("skipped: the test itself has nice %d\n", own);
		skip();
	}
	memset(&turns, 0, sizeof(turns));
	rig_start(&rig, &setup);
	rig_fake(&rig, declare_then_see_nice);
	rig_fake(&rig, see_nice_and_serve);
	permitted = pool_set_long_nice(rig.pool, 5, &err);
	assert_int_equal(pool_long_nice(rig.pool), permitted ? 5 : 0);
	for (int i = 0; i < 3; i++) {
		atomic_store_relaxed(&nice_is_wanted, (uint32_t)(i > 0));
		rig_feed_each(&rig, 0, 1);
		permit(&rig, 1);
		assert_int_equal(atomic_load_relaxed(&nice_seen),
		    own + (permitted && i > 0 ? 5 : 0));
		rig_feed_each(&rig, 1, 1);
		assert_true(unit_wait(
		    rig_count_is(&rig, &rig.served, (uint32_t)i + 1)));
		assert_int_equal(atomic_load_relaxed(&nice_seen), own);
	}
	rig_finish(&rig);
	if (permitted)
		return;
	print_message("skipped: %s\n", err.text);
	skip();
}

/* Takes the right to become less nice from this thread and those that it
 * starts.  Returns false if the system does not allow that. */
static bool
give_up_nice(void)
{
	struct __user_cap_header_struct head = {
	    .version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	struct rlimit none;

	if (getrlimit(RLIMIT_NICE, &none) < 0 ||
	    syscall(SYS_capget, &head, data) < 0)
		return false;
	none.rlim_cur = 0;
	data[0].effective &= ~(1u << CAP_SYS_NICE);
	return setrlimit(RLIMIT_NICE, &none) == 0 &&
	       syscall(SYS_capset, &head, data) == 0;
}

static bool
threads_are(struct rig *rig, unsigned n)
{
	struct pool_status s;

	rig_control(rig);
	pool_status(rig->pool, &s);
	return s.threads == n;
}

/* Runs two long turns at a time, four in all, and short ones meanwhile. */
static void
see_nice_of_both(struct rig *rig, int nice_long, int nice_short)
{
	memset(&turns, 0, sizeof(turns));
	for (unsigned i = 0; i < 4; i++)
		rig_feed_each(rig, i, 1);
	assert_true(unit_wait(long_turns_are(rig, 2, 2)));
	assert_true(unit_wait(rig_count_is(rig, &turns.begun, 2)));
	assert_int_equal(atomic_load_relaxed(&nice_seen), nice_long);
	serve_short_turns(rig, 4, 1);
	assert_int_equal(atomic_load_relaxed(&nice_seen), nice_short);
	permit(rig, 2);
	assert_true(unit_wait(rig_count_is(rig, &turns.begun, 4)));
	assert_int_equal(atomic_load_relaxed(&nice_seen), nice_long);
	permit(rig, 2);
	assert_true(unit_wait(long_turns_are(rig, 0, 0)));
}

/* The last test, for it gives up a right. */
static void
without_the_right_to_return_spare_threads_stay_nicer(void **state)
{
	static const struct rig_setup setup = {.policy = POLICY_ADAPTIVE,
	    .threads = 4,
	    .shards = 1,
	    .cpus = 2,
	    .spares = 2};
	int own = getpriority(PRIO_PROCESS, 0);
	struct pool_class one = {.threads = 4}, none = {.threads = 0};
	struct pool_status s;
	struct err err;
	struct rig rig;

	(void)state;
	if (own > 9 || !give_up_nice()) {
		print_message("skipped: nice %d, or no capset\n", own);
		skip();
	}
	rig_start(&rig, &setup);
	for (int i = 0; i < 4; i++)
		rig_fake(&rig, declare_then_see_nice);
	rig_fake(&rig, see_nice_and_serve);
	assert_true(pool_set_threads(rig.pool, &one, 1, &err));
	assert_true(pool_set_long_nice(rig.pool, POOL_NICE_IDLE, &err));
	assert_true(unit_wait(threads_are(&rig, 4)));
	see_nice_of_both(&rig, own + POOL_NICE_FOR_LIFE, own);
	pool_status(rig.pool, &s);
	assert_int_equal(s.long_nice, POOL_NICE_FOR_LIFE);
	assert_true(pool_set_long_nice(rig.pool, 5, &err));
	assert_true(unit_wait(threads_are(&rig, 4)));
	see_nice_of_both(&rig, own + 5, own);
	/* What is refused leaves the spare threads, and their turns. */
	pool_set_spares(rig.pool, 0);
	assert_false(pool_set_threads(rig.pool, &none, 1, &err));
	pool_set_long_turns(rig.pool, 0);
	pool_status(rig.pool, &s);
	assert_int_equal(s.long_limit, 2);
	assert_true(pool_set_long_nice(rig.pool, 0, &err));
	assert_true(unit_wait(threads_are(&rig, 4)));
	see_nice_of_both(&rig, own, own);
	/* Handlers that wait are not lost when the threads apart go. */
	assert_true(pool_set_long_nice(rig.pool, 5, &err));
	memset(&turns, 0, sizeof(turns));
	for (unsigned i = 0; i < 4; i++)
		rig_feed_each(&rig, i, 1);
	assert_true(unit_wait(long_turns_are(&rig, 2, 2)));
	pool_set_spares(rig.pool, 0);
	assert_true(pool_set_threads(rig.pool, &one, 1, &err));
	permit(&rig, 4);
	assert_true(unit_wait(threads_are(&rig, 4)));
	assert_false(pool_set_long_nice(rig.pool, 6, &err));
	rig_finish(&rig);
}

/* Declares each of its turns long, whatever there is to do. */
static enum turn
declare_always(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	(void)pending;
	(void)self;
	fake->read +=
	    machine_read(fake->rig->machine, (int)fake->number, UINT32_MAX);
	event_handler_declare_long(&fake->handler);
	return TURN_DONE;
}

static void
nothing_is_lost_while_everything_changes(void **state)
{
	static const struct rig_setup setup = {
	    .policy = POLICY_ADAPTIVE, .threads = 4, .shards = 2, .cpus = 8};
	struct rig rig;

	(void)state;
	rig_start(&rig, &setup);
	for (unsigned i = 0; i < 16; i++)
		rig_fake(&rig, declare_always);
	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < 16; i++) {
			atomic_add_relaxed(&rig.fakes[i]->want, 1u);
			machine_write(rig.machine, (int)i, 1);
		}
		if (round % 8 == 1)
			rig_set_shards(&rig, 1 + round / 8 % 2);
		if (round % 8 == 3)
			rig_set_threads(&rig, 2 + round / 8 % 3);
		if (round % 8 == 5)
			pool_set_policy(rig.pool, policies[round / 8 % 3]);
		rig_control(&rig);
		if (round % 50 == 49)
			assert_true(rig_quiet(&rig));
	}
	rig_finish(&rig);
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(rig.fakes[i]->read, 200);
	assert_int_equal(rig.status.long_running, 0);
}

static int idle_tid;
static int idle_class;

static enum turn
declare_then_see_class(
    struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	if (pending & NOTE_RESUME) {
		atomic_store_relaxed(&idle_tid, (int)gettid());
		atomic_store_relaxed(&idle_class, sched_getscheduler(0));
	} else {
		pool_nice_want(self);
	}
	return declare_then_last(fake, pending, self);
}

static bool
has_class(struct rig *rig, int class)
{
	rig_control(rig);
	return sched_getscheduler(atomic_load_relaxed(&idle_tid)) == class;
}

static void
the_guard_ends_sched_idle_of_a_turn_that_takes_long(void **state)
{
	static const struct rig_setup setup = {
	    .policy = POLICY_ADAPTIVE, .threads = 1, .shards = 1};
	struct rig rig;
	struct err err;
	bool permitted;

	(void)state;
	memset(&turns, 0, sizeof(turns));
	rig_start(&rig, &setup);
	rig_fake(&rig, declare_then_see_class);
	permitted = pool_set_long_nice(rig.pool, POOL_NICE_IDLE, &err);
	/* The thread may come to look only when the guard has been there. */
	for (uint32_t i = 0, idle = 0; idle < 2 && permitted; i++) {
		assert_true(i < RIG_FAKES_MAX);
		rig_feed_each(&rig, 0, 1);
		assert_true(unit_wait(rig_count_is(&rig, &turns.begun, i + 1)));
		idle += atomic_load_relaxed(&idle_class) == SCHED_IDLE;
		assert_true(unit_wait(has_class(&rig, SCHED_OTHER)));
		permit(&rig, 1);
	}
	rig_finish(&rig);
	if (!permitted)
		skip();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_thread_stays_for_short_turns),
	    cmocka_unit_test(the_leader_promotes_before_a_long_turn),
	    cmocka_unit_test(under_kernel_no_event_waits_behind_a_long_turn),
	    cmocka_unit_test(
	        fewer_threads_run_fewer_long_turns_and_more_run_more),
	    cmocka_unit_test(
	        handlers_of_a_closing_shard_move_after_their_long_turn),
	    cmocka_unit_test(the_limit_that_is_set_holds_up_to_the_threads),
	    cmocka_unit_test(handlers_wait_through_changes_of_the_policy),
	    cmocka_unit_test(as_many_run_as_there_are_cpus),
	    cmocka_unit_test(a_single_thread_runs_long_turns_and_short_ones),
	    cmocka_unit_test(a_thread_is_nicer_during_a_long_turn_if_wanted),
	    cmocka_unit_test(
	        the_guard_ends_sched_idle_of_a_turn_that_takes_long),
	    cmocka_unit_test(after_stop_no_long_turn_begins),
	    cmocka_unit_test(nothing_is_lost_while_everything_changes),
	    cmocka_unit_test(
	        without_the_right_to_return_spare_threads_stay_nicer),
	};

	unit_watchdog();
	return cmocka_run_group_tests_name("long turns", tests, NULL, NULL);
}
