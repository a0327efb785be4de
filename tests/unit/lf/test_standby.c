/* SPDX-License-Identifier: MIT
 * Threads that stand by: when one does, what it takes over, and how many events
 * it asks for.
 */
#include "lf/pool.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "lf/pool_internal.h"
#include "lf/pool_rig.h"
#include "unit.h"

/* A wait that is held finds no events, and lasts until a wake-up comes.  A look
 * is a wait that does not block. */
enum held { NONE_HELD, STANDBY_HELD, LEADER_HELD, LOOKS_HELD };

static struct {
	uint32_t held; /* enum held */
	uint32_t wakes;
	uint32_t standing_by; /* threads in such a wait, leaders apart */
	uint32_t leader_max,
	    other_max;       /* events that the last wait asked for */
	uint32_t preempting; /* threads lose their CPU all the time */
	uint32_t preemptions;
} stage;

/* The calling thread's clock stands still there; 0: it goes. */
static __thread uint64_t stopped_ns;

/* In the place of the C library's, as is the next one. */
int
clock_gettime(clockid_t id, struct timespec *now)
{
	if (stopped_ns == 0)
		return (int)syscall(SYS_clock_gettime, id, now);
	now->tv_sec = (time_t)(stopped_ns / NS_PER_S);
	now->tv_nsec = (long)(stopped_ns % NS_PER_S);
	return 0;
}

int
getrusage(__rusage_who_t who, struct rusage *usage)
{
	(void)who;
	memset(usage, 0, sizeof(*usage));
	atomic_add_relaxed(
	    &stage.preemptions, atomic_load_relaxed(&stage.preempting));
	usage->ru_nivcsw = atomic_load_relaxed(&stage.preemptions);
	return 0;
}

static const struct handle_set_ops *scripted_ops;
static struct handle_set_ops staged_ops;

/* A leader waits without a time-out. */
static bool
is_held(int timeout_ms)
{
	uint32_t held = atomic_load_relaxed(&stage.held);

	if (timeout_ms == 0)
		return held == LOOKS_HELD;
	return held == (timeout_ms < 0 ? LEADER_HELD : STANDBY_HELD);
}

static int
staged_wait(struct handle_set *set, struct handle_event *events, int max,
    int timeout_ms)
{
	uint32_t wakes = atomic_load_seq(&stage.wakes);

	if (timeout_ms < 0)
		atomic_store_relaxed(&stage.leader_max, (uint32_t)max);
	if (timeout_ms > 0)
		atomic_store_relaxed(&stage.other_max, (uint32_t)max);
	if (!is_held(timeout_ms))
		return scripted_ops->wait(set, events, max, timeout_ms);
	if (timeout_ms > 0)
		atomic_add_acq_rel(&stage.standing_by, 1u);
	while (is_held(timeout_ms) && atomic_load_seq(&stage.wakes) == wakes)
		unit_nap();
	if (timeout_ms > 0)
		atomic_sub_acq_rel(&stage.standing_by, 1u);
	return 0;
}

static void
staged_wake(struct handle_set *set)
{
	atomic_add_seq(&stage.wakes, 1u);
	scripted_ops->wake(set);
}

static void
stage_set(struct handle_set *set)
{
	scripted_ops = set->ops;
	staged_ops = *set->ops;
	staged_ops.wait = staged_wait;
	staged_ops.wake = staged_wake;
	set->ops = &staged_ops;
}

/* Lasts, and for longer than POLICY_LONG_NS, until the neighbour has run. */
static enum turn
wait_for_neighbour(
    struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	struct rig *rig = fake->rig;
	uint64_t end_ns = clock_now_ns() + 2 * POLICY_LONG_NS;

	(void)pending;
	(void)self;
	if (!unit_wait(atomic_load_acquire(&rig->ticket) > fake->left))
		atomic_add_relaxed(&rig->late, 1u);
	while (clock_now_ns() < end_ns)
		unit_nap();
	return TURN_DONE;
}

static enum turn
run_neighbour(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	(void)pending;
	(void)self;
	stopped_ns = 0;
	atomic_add_acq_rel(&fake->rig->ticket, 1u);
	return TURN_DONE;
}

static unsigned
threads_in(struct rig *rig, enum thread_role role)
{
	struct pool_status s;

	rig_control(rig);
	pool_status(rig->pool, &s);
	return s.roles[role];
}

static bool
has_parked(struct rig *rig)
{
	return threads_in(rig, ROLE_FOLLOWING) == 1 &&
	       threads_in(rig, ROLE_LEADING) == 1;
}

/* The handler has seen all its events, and its turn has ended. */
static bool
is_done(struct fake *fake)
{
	return atomic_load_acquire(&fake->seen) ==
	           atomic_load_relaxed(&fake->want) &&
	       !(atomic_load_acquire(&fake->handler.claim.word) & CLAIM_OWNED);
}

/* The time that all threads have stood by. */
static uint64_t
stood_by_ns(struct rig *rig)
{
	struct thread_status t;
	uint64_t ns = 0;

	for (unsigned i = 0; pool_thread_status(rig->pool, i, &t);
	     i = t.place + 1)
		ns += t.role_ns[ROLE_STANDBY];
	return ns;
}

/* Two threads at one shard.  Skips the test if they have no CPU each. */
static void
start(struct rig *rig, enum promotion_order order)
{
	const struct rig_setup setup = {.policy = POLICY_ADAPTIVE,
	    .order = order,
	    .threads = 2,
	    .shards = 1,
	    .stage = stage_set};

	stage.held = NONE_HELD;
	stage.standing_by = 0;
	stage.preempting = 0;
	rig_start(rig, &setup);
	if (atomic_load_relaxed(&pool_shard(rig->pool, 0)->parallel) < 2) {
		rig_finish(rig);
		print_message("standing by needs two CPUs\n");
		skip();
	}
	rig_fake(rig, wait_for_neighbour);
	rig_fake(rig, run_neighbour);
	/* A new thread stands by for a while. */
	assert_true(unit_wait(has_parked(rig)));
}

/* The leader calls the follower for the second event, and after the turn it
 * finds the token held. */
static void
call_a_follower(struct rig *rig)
{
	atomic_store_release(&rig->ticket, 0u);
	rig_feed_each(rig, 0, 2);
	assert_true(unit_wait((rig_control(rig), is_done(rig->fakes[0]))));
}

static void
a_thread_stands_by_while_events_come_and_then_parks(void **state)
{
	struct rig rig;
	uint64_t before_ns;

	(void)state;
	start(&rig, ORDER_LIFO);
	before_ns = stood_by_ns(&rig);
	call_a_follower(&rig);
	assert_true(unit_wait(stood_by_ns(&rig) > before_ns));
	assert_true(unit_wait(has_parked(&rig)));
	rig_finish(&rig);
	assert_int_equal(rig.late, 0);
	assert_true(rig.status.sum.wakes >= 1);
}

/* The leader publishes the token, and after POLICY_LONG_TURNS frees it. */
static void
a_thread_that_stands_by_takes_the_token_with_the_rest(void **state)
{
	struct rig rig;

	(void)state;
	start(&rig, ORDER_LIFO);
	atomic_store_relaxed(&stage.held, (uint32_t)STANDBY_HELD);
	call_a_follower(&rig);
	for (int i = 0; i < POLICY_LONG_TURNS; i++) {
		assert_true(unit_wait((rig_control(&rig),
		    atomic_load_acquire(&stage.standing_by) == 1)));
		assert_int_equal(threads_in(&rig, ROLE_FOLLOWING), 0);
		call_a_follower(&rig);
	}
	atomic_store_relaxed(&stage.held, (uint32_t)NONE_HELD);
	rig_finish(&rig);
	assert_int_equal(rig.late, 0);
	assert_true(rig.status.taken_over >= POLICY_LONG_TURNS);
	assert_int_equal(rig.status.sum.promotions, 1);
}

/* The events that the leader asks for after another short turn, when its turns
 * took average_ns before.  The leader waits when this function is called and
 * when it returns. */
static uint32_t
leader_asks_for(struct rig *rig, uint64_t average_ns)
{
	struct pool *pool = rig->pool;

	for (unsigned i = 0; i < pool->places_n; i++)
		atomic_store_relaxed(
		    &pool->places[i]->stats.turn_ns[TURN_RELAY], average_ns);
	rig_feed_each(rig, 1, 1);
	assert_true(unit_wait((rig_control(rig), is_done(rig->fakes[1]))));
	assert_true(unit_wait(scripted_counts(rig_script(rig)).waiting == 1));
	return atomic_load_relaxed(&stage.leader_max);
}

/* A thread stands by, and the turn of the one that leads now was long. */
static void
stand_by_after_a_long_turn(struct rig *rig)
{
	atomic_store_relaxed(&stage.held, (uint32_t)STANDBY_HELD);
	call_a_follower(rig);
	assert_true(unit_wait(
	    (rig_control(rig), atomic_load_acquire(&stage.standing_by) == 1)));
}

/* As if the last long turn had ended so long ago.  The clock may have begun
 * with the test: then that was before its zero. */
static uint32_t
leader_asks_after(struct rig *rig, uint64_t ago_ns)
{
	atomic_store_relaxed(
	    &pool_shard(rig->pool, 0)->long_ns, clock_now_ns() - ago_ns);
	return leader_asks_for(rig, 1);
}

static void
after_a_long_turn_threads_beside_each_other_fetch_single_events(void **state)
{
	struct shard *shard;
	struct rig rig;

	(void)state;
	start(&rig, ORDER_LIFO);
	shard = pool_shard(rig.pool, 0);
	assert_int_equal(leader_asks_for(&rig, POLICY_SHARED_NS), SHARD_BATCH);
	stand_by_after_a_long_turn(&rig);
	assert_int_equal(atomic_load_relaxed(&stage.other_max), 1);
	assert_true(unit_wait(scripted_counts(rig_script(&rig)).waiting == 1));
	assert_int_equal(leader_asks_after(&rig, NS_PER_S), 1);
	assert_true(unit_wait(
	    leader_asks_after(&rig, POLICY_LONG_SEEN_NS) == SHARD_BATCH));
	atomic_store_relaxed(&shard->long_ns, (uint64_t)0);
	assert_true(unit_wait(leader_asks_for(&rig, 1) == SHARD_BATCH));
	atomic_store_relaxed(&stage.held, (uint32_t)NONE_HELD);
	rig_finish(&rig);
}

static void
the_average_turn_bounds_what_is_fetched_beside_others(void **state)
{
	struct rig rig;

	(void)state;
	start(&rig, ORDER_LIFO);
	stand_by_after_a_long_turn(&rig);
	assert_true(unit_wait(scripted_counts(rig_script(&rig)).waiting == 1));
	atomic_store_relaxed(&pool_shard(rig.pool, 0)->long_ns, (uint64_t)0);
	assert_in_range(leader_asks_for(&rig, POLICY_SHARED_NS / 8), 2, 8);
	assert_int_equal(leader_asks_for(&rig, 2 * POLICY_SHARED_NS), 1);
	atomic_store_relaxed(&stage.held, (uint32_t)NONE_HELD);
	rig_finish(&rig);
}

/* Symptom: while threads competed for CPUs nearly every fetch was of a single
 * event. */
static void
a_turn_that_was_interrupted_does_not_count_as_long(void **state)
{
	struct shard *shard;
	struct rig rig;

	(void)state;
	start(&rig, ORDER_LIFO);
	shard = pool_shard(rig.pool, 0);
	atomic_store_relaxed(&stage.preempting, 1u);
	call_a_follower(&rig);
	assert_true(unit_wait(has_parked(&rig)));
	assert_int_equal(atomic_load_relaxed(&shard->long_ns), 0);
	atomic_store_relaxed(&stage.preempting, 0u);
	/* The first long turn of each thread finds the count as it was. */
	for (int i = 0; i < 3 && atomic_load_relaxed(&shard->long_ns) == 0; i++)
		call_a_follower(&rig);
	assert_true(unit_wait(atomic_load_relaxed(&shard->long_ns) > 0));
	rig_finish(&rig);
}

static void
with_classes_by_priority_no_thread_stands_by(void **state)
{
	struct rig rig;

	(void)state;
	start(&rig, ORDER_PRIORITY);
	call_a_follower(&rig);
	assert_true(unit_wait(has_parked(&rig)));
	assert_int_equal(stood_by_ns(&rig), 0);
	rig_finish(&rig);
	assert_int_equal(rig.late, 0);
}

static bool
stands_by_for_another_event(struct rig *rig)
{
	rig_feed_each(rig, 1, 1);
	rig_control(rig);
	return atomic_load_relaxed(&pool_shard(rig->pool, 0)->standbys) > 0;
}

/* Events come all the time while a thread stands by and the leader's wait is
 * held. */
static void
start_with_events(struct rig *rig, enum held leader)
{
	start(rig, ORDER_LIFO);
	call_a_follower(rig);
	atomic_store_relaxed(&stage.held, (uint32_t)leader);
}

static void
finish_with_events(struct rig *rig)
{
	atomic_store_relaxed(&stage.held, (uint32_t)NONE_HELD);
	rig_finish(rig);
}

/* Whether a thread stands by during many events.  A busy machine may keep it
 * from its CPU until it parks: then the next try calls it again. */
static bool
keeps_standing_by(struct rig *rig)
{
	for (int i = 0; i < 3 * POLICY_NEEDLESS; i++)
		if (!stands_by_for_another_event(rig)) {
			atomic_store_relaxed(&stage.held, (uint32_t)NONE_HELD);
			call_a_follower(rig);
			atomic_store_relaxed(&stage.held, (uint32_t)LOOKS_HELD);
			return false;
		}
	return true;
}

/* The same happens after a change of the pool's CPUs. */
static void
a_thread_that_has_no_cpu_left_stops_standing_by(void **state)
{
	struct rig rig;

	(void)state;
	start_with_events(&rig, LOOKS_HELD);
	assert_true(unit_wait(keeps_standing_by(&rig)));
	atomic_store_relaxed(&pool_shard(rig.pool, 0)->parallel, 1u);
	assert_true(unit_wait(!stands_by_for_another_event(&rig)));
	finish_with_events(&rig);
}

/* Followers that the leader has called for the second of two short events. */
static uint64_t
calls_after_sleep(struct rig *rig, uint64_t awake_ns)
{
	struct pool_status before, after;

	assert_true(unit_wait(has_parked(rig)));
	rig->pool->options.awake_ns = awake_ns;
	pool_status(rig->pool, &before);
	rig_feed_each(rig, 1, 2);
	assert_true(unit_wait((rig_control(rig),
	    is_done(rig->fakes[1]) && is_done(rig->fakes[2]))));
	pool_status(rig->pool, &after);
	return after.sum.wakes - before.sum.wakes;
}

static void
a_leader_that_has_just_slept_calls_no_follower(void **state)
{
	struct rig rig;

	(void)state;
	start(&rig, ORDER_LIFO);
	rig_fake(&rig, run_neighbour);
	assert_int_equal(calls_after_sleep(&rig, 3600 * (uint64_t)NS_PER_S), 0);
	assert_int_equal(calls_after_sleep(&rig, 0), 1);
	rig_finish(&rig);
}

static void
a_thread_whose_events_the_leader_waits_for_parks(void **state)
{
	struct rig rig;

	(void)state;
	start_with_events(&rig, LEADER_HELD);
	assert_true(unit_wait(!stands_by_for_another_event(&rig)));
	finish_with_events(&rig);
}

/* Counted on the thread that stands by next, whose first wait there finds an
 * event at once. */
static struct {
	struct pool_thread *thread;
	uint64_t before;
	enum held leader; /* which of the other thread's waits are held */
} gaps;

/* Ends when a leader that is held waits.  The thread's clock stands still from
 * the end of the turn on, so that the next wait finds its event at once on any
 * machine. */
static enum turn
remember_gaps(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	const struct shard *shard = pool_shard(fake->rig->pool, 0);
	enum turn turn;

	atomic_store_relaxed(&stage.held, (uint32_t)gaps.leader);
	turn = wait_for_neighbour(fake, pending, self);
	if (gaps.leader == LEADER_HELD &&
	    !unit_wait(atomic_load_acquire(&shard->asleep)))
		atomic_add_relaxed(&fake->rig->late, 1u);
	gaps.thread = self;
	gaps.before = histogram_count(&self->stats.poll_gap);
	stopped_ns = clock_now_ns();
	return turn;
}

/* Each thread stands by in turn, and parks in between.  A thread that comes
 * from a turn of more than POLICY_LONG_NS finds an event at once, while the
 * leader's wait is held.  Returns whether it has counted a poll gap in a round.
 */
static bool
counts_gap_beside(enum held leader, unsigned rounds)
{
	bool counted = false;
	struct rig rig;

	start(&rig, ORDER_LIFO);
	rig.fakes[0]->turn = remember_gaps;
	rig.fakes[0]->left = 1;
	gaps.leader = leader;
	while (rounds-- > 0 && !counted) {
		assert_true(
		    unit_wait(scripted_counts(rig_script(&rig)).waiting == 1));
		atomic_store_release(&rig.ticket, 0u);
		rig_feed_each(&rig, 0, 2);
		assert_true(unit_wait((
		    rig_control(&rig), atomic_load_acquire(&rig.ticket) == 1)));
		rig_feed_each(&rig, 1, 1);
		atomic_add_acq_rel(&rig.ticket, 1u);
		assert_true(unit_wait((rig_control(&rig),
		    is_done(rig.fakes[0]) && is_done(rig.fakes[1]))));
		assert_true(unit_wait(has_parked(&rig)));
		counted =
		    histogram_count(&gaps.thread->stats.poll_gap) > gaps.before;
		atomic_store_relaxed(&stage.held, (uint32_t)NONE_HELD);
	}
	rig_finish(&rig);
	return counted;
}

static void
there_is_no_poll_gap_while_the_leader_waits(void **state)
{
	(void)state;
	assert_false(counts_gap_beside(LEADER_HELD, 6));
}

static void
a_thread_that_stands_by_counts_a_poll_gap(void **state)
{
	(void)state;
	assert_true(counts_gap_beside(LOOKS_HELD, 6));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
	        a_thread_stands_by_while_events_come_and_then_parks),
	    cmocka_unit_test(
	        a_thread_that_stands_by_takes_the_token_with_the_rest),
	    cmocka_unit_test(
	        after_a_long_turn_threads_beside_each_other_fetch_single_events),
	    cmocka_unit_test(
	        the_average_turn_bounds_what_is_fetched_beside_others),
	    cmocka_unit_test(
	        a_turn_that_was_interrupted_does_not_count_as_long),
	    cmocka_unit_test(there_is_no_poll_gap_while_the_leader_waits),
	    cmocka_unit_test(a_thread_that_stands_by_counts_a_poll_gap),
	    cmocka_unit_test(with_classes_by_priority_no_thread_stands_by),
	    cmocka_unit_test(a_thread_that_has_no_cpu_left_stops_standing_by),
	    cmocka_unit_test(a_leader_that_has_just_slept_calls_no_follower),
	    cmocka_unit_test(a_thread_whose_events_the_leader_waits_for_parks),
	};

	unit_watchdog();
	return cmocka_run_group_tests_name("standby", tests, NULL, NULL);
}
