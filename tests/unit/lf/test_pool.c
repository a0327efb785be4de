/* SPDX-License-Identifier: MIT
 * A pool's life: threads that start, or cannot, and threads that end.
 */
#include "lf/pool.h"

#include <errno.h>
#include <signal.h>

#include "lf/pool_rig.h"
#include "unit.h"

static enum turn
go_on_for_ever(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	(void)pending;
	(void)self;
	unit_ticket(&fake->rig->ticket);
	return TURN_MORE;
}

static void
stop_ends_all_threads_of_an_idle_pool(void **state)
{
	for (int round = 0; round < 50; round++) {
		struct rig rig;

		rig_start(&rig, *state);
		rig_finish(&rig);
	}
}

static void
stop_ends_all_threads_while_handlers_are_busy(void **state)
{
	for (int round = 0; round < 10; round++) {
		struct rig rig;

		rig_start(&rig, *state);
		for (int i = 0; i < 6; i++)
			rig_fake(&rig, go_on_for_ever);
		rig_feed_each(&rig, 0, 6);
		assert_true(unit_wait(atomic_load_relaxed(&rig.ticket) > 50));
		pool_stop(rig.pool);
		rig_abandon(&rig);
	}
}

static void
stop_ends_all_threads_at_any_moment_of_traffic(void **state)
{
	for (int round = 0; round < 30; round++) {
		struct rig rig;

		rig_start(&rig, *state);
		for (int i = 0; i < 8; i++)
			rig_fake(&rig, NULL);
		for (int i = 0; i < round; i++)
			rig_feed_each(&rig, 0, 8);
		rig_abandon(&rig);
	}
}

static void
after_stop_no_turn_begins(void **state)
{
	struct rig rig;

	rig_start(&rig, *state);
	rig_fake(&rig, NULL);
	pool_stop(rig.pool);
	assert_true(unit_wait(!scripted_counts(rig_script(&rig)).waiting));
	rig_feed_each(&rig, 0, 1);
	rig_abandon(&rig);
	assert_int_equal(rig.fakes[0]->turns, 0);
}

/* What thread_init and thread_fini have seen. */
struct record {
	uint32_t inits, finis, refuse_at; /* the n-th call, 0: none */
	uint32_t indexes;                 /* a bit for each */
	uint32_t signals_open;
	struct machine *machine;
};

static bool
thread_init(struct pool_thread *self, void *arg)
{
	struct record *r = arg;
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	if (!sigismember(&blocked, SIGTERM) || !sigismember(&blocked, SIGHUP))
		atomic_add_relaxed(&r->signals_open, 1u);
	atomic_or_acq_rel(&r->indexes, 1u << self->index);
	if (unit_ticket(&r->inits) + 1 == r->refuse_at)
		return false;
	self->local = r;
	return true;
}

static void
thread_fini(struct pool_thread *self)
{
	struct record *r = self->local;

	unit_ticket(&r->finis);
}

static int
new_set(void *arg, struct handle_set **ret_set)
{
	struct record *r = arg;

	return machine_new_set(r->machine, ret_set);
}

static int
start(const struct rig_setup *setup, const struct promotion_ops *promotion,
    struct grace *grace, struct record *record, struct pool **ret_pool)
{
	struct pool_options options = {
	    .name = "a-pool-with-a-long-name",
	    .classes = {{.threads = setup->threads}},
	    .classes_n = 1,
	    .shards = setup->threads,
	    .first_index = 3,
	    .policy = setup->policy,
	    .promotion = promotion,
	    .grace = grace,
	    .new_set = new_set,
	    .thread_init = thread_init,
	    .thread_fini = thread_fini,
	    .arg = record,
	};

	return pool_new(&options, ret_pool);
}

static void
all_sets_are_freed(struct record *r, unsigned made)
{
	assert_int_equal(machine_sets(r->machine), made);
	for (unsigned i = 0; i < made; i++)
		assert_int_equal(
		    scripted_counts(machine_set(r->machine, i)).freed, 1);
	machine_free(r->machine);
}

static void
each_thread_is_initialized_and_finished_once(void **state)
{
	const struct rig_setup *setup = *state;
	struct grace *grace = grace_new();
	struct record r = {.machine = machine_new(0)};
	struct pool_status s;
	struct pool *pool;

	assert_int_equal(start(setup, NULL, grace, &r, &pool), 0);
	assert_int_equal(atomic_load_relaxed(&r.inits), setup->threads);
	assert_int_equal(atomic_load_relaxed(&r.finis), 0);
	assert_string_equal(pool_name(pool), "a-pool-with-a-long-name");
	pool_status(pool, &s);
	assert_int_equal(s.threads, setup->threads);
	assert_int_equal(s.shards, setup->threads);
	assert_int_equal(s.policy, setup->policy);
	pool_free(pool);
	assert_int_equal(r.finis, setup->threads);
	assert_int_equal(r.indexes, ((1u << setup->threads) - 1) << 3);
	assert_int_equal(r.signals_open, 0);
	grace_free(grace);
	all_sets_are_freed(&r, setup->threads);
}

static void
a_thread_without_memory_means_no_pool_and_no_leak(void **state)
{
	const struct rig_setup *setup = *state;

	for (uint32_t n = 1; n <= setup->threads; n++) {
		struct grace *grace = grace_new();
		struct record r = {.refuse_at = n, .machine = machine_new(0)};
		struct pool *pool = NULL;

		assert_int_equal(start(setup, NULL, grace, &r, &pool), -ENOMEM);
		assert_null(pool);
		assert_int_equal(r.inits, n);
		assert_int_equal(r.finis, n - 1);
		grace_free(grace);
		all_sets_are_freed(&r, setup->threads);
	}
}

static unsigned promotions_left;

static int
create_promotion(
    void (*kick)(void *arg), void *arg, struct promotion **ret_promotion)
{
	if (promotions_left == 0)
		return -ENOMEM;
	promotions_left--;
	return promotion_futex.create(kick, arg, ret_promotion);
}

static void
without_a_promotion_the_handle_sets_are_given_back(void **state)
{
	static const struct promotion_ops few = {
	    .name = "few", .create = create_promotion};
	const struct rig_setup *setup = *state;
	struct grace *grace = grace_new();
	struct record r = {.machine = machine_new(0)};
	struct pool *pool = NULL;

	/* Each of the shards, as many as threads, but the last one. */
	promotions_left = setup->threads - 1;
	assert_int_equal(start(setup, &few, grace, &r, &pool), -ENOMEM);
	assert_null(pool);
	assert_int_equal(r.inits, 0);
	grace_free(grace);
	all_sets_are_freed(&r, setup->threads - 1);
}

static void
status_tells_who_leads_and_who_follows(void **state)
{
	struct rig rig;
	struct pool_status s;

	rig_start(&rig, *state);
	pool_status(rig.pool, &s);
	assert_int_equal(s.roles[ROLE_LEADING], 1);
	assert_int_equal(s.roles[ROLE_FOLLOWING] + s.roles[ROLE_STANDBY],
	    rig.setup.threads - 1);
	assert_int_equal(s.roles[ROLE_PROCESSING], 0);
	rig_finish(&rig);
	pool_free(NULL);
}

#define PLACED 400

/* Counts the handlers that each shard gets while one of them has most. */
static void
place_beside(struct rig *rig, unsigned fullest, unsigned *ret_placed)
{
	static struct pool_thread self = {.random = 1};
	unsigned n = pool_shards(rig->pool);

	for (unsigned i = 0; i < n; i++)
		atomic_store_relaxed(&pool_shard(rig->pool, i)->handlers,
		    i == fullest ? 1u : 0u);
	for (unsigned i = 0; i < PLACED; i++)
		ret_placed[pool_place(rig->pool, &self)->id]++;
	for (unsigned i = 0; i < n; i++)
		atomic_store_relaxed(&pool_shard(rig->pool, i)->handlers, 0u);
}

/* Symptom: two sessions on two shards met on one in 14 of 40 tries. */
static void
the_fullest_shard_gets_no_handler_and_the_others_share_them(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= 4; n++) {
		const struct rig_setup setup = {.threads = n, .shards = n};
		struct rig rig;

		rig_start(&rig, &setup);
		for (unsigned fullest = 0; fullest < n; fullest++) {
			unsigned placed[4] = {0};

			place_beside(&rig, fullest, placed);
			for (unsigned i = 0; i < n; i++) {
				unsigned fair = PLACED / (n - 1);

				if (i == fullest)
					assert_int_equal(placed[i], 0);
				else
					assert_in_range(placed[i], fair * 3 / 4,
					    fair * 5 / 4);
			}
		}
		rig_finish(&rig);
	}
}

int
main(void)
{
	static const struct rig_test tests[] = {
	    RIG_TEST(stop_ends_all_threads_of_an_idle_pool),
	    RIG_TEST(stop_ends_all_threads_while_handlers_are_busy),
	    RIG_TEST(stop_ends_all_threads_at_any_moment_of_traffic),
	    RIG_TEST(after_stop_no_turn_begins),
	    RIG_TEST(each_thread_is_initialized_and_finished_once),
	    RIG_TEST(a_thread_without_memory_means_no_pool_and_no_leak),
	    RIG_TEST(without_a_promotion_the_handle_sets_are_given_back),
	    RIG_TEST(status_tells_who_leads_and_who_follows),
	    RIG_TEST_FOR(
	        the_fullest_shard_gets_no_handler_and_the_others_share_them, 1,
	        1),
	};

	return rig_run("pool", tests, UNIT_N(tests));
}
