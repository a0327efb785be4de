/* SPDX-License-Identifier: MIT
 * See pool.h: live changes of threads, shards, policy, order and CPUs.
 */
#include "lf/pool.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/thread.h"
#include "lf/pool_internal.h"

/* Retires the youngest places first, so that the others keep their rank and
 * with it their home.  Every shard needs a thread, even a closing one: only its
 * own threads show its handlers the notes that tell them to move. */
static void
retire_surplus(struct pool *pool)
{
	for (unsigned i = pool->places_n; i-- > 0;) {
		struct pool_thread *t = pool->places[i];
		unsigned grade = t->member.grade;

		if (pool_thread_state(t) == THREAD_RUNNING &&
		    pool_count_running(pool, (int)grade) >
		        pool_wanted(pool, grade) &&
		    (grade == GRADE_APART ||
		        pool_count_running(pool, -1) > pool->shards_n))
			pool_retire_thread(pool, t);
	}
}

/* A thread cannot become less nice, so others take the place of these. */
static void
retire_apart(struct pool *pool)
{
	for (unsigned i = 0; i < pool->places_n; i++)
		if (pool_thread_state(pool->places[i]) == THREAD_RUNNING &&
		    pool->places[i]->member.grade == GRADE_APART)
			pool_retire_thread(pool, pool->places[i]);
}

static bool
threads_allowed(const struct pool *pool, const struct pool_class *classes,
    unsigned n, struct err *err)
{
	unsigned total = pool_class_threads(classes, n);

	if (total < 1 || total > POOL_THREADS_MAX)
		return err_set(err,
		    "%u threads are not possible; allowed are 1 to %u", total,
		    POOL_THREADS_MAX);
	if (total < pool->shards_open)
		return err_set(err,
		    "%u thread%s cannot serve %u shards; use at least as many "
		    "threads, or fewer shards first",
		    total, text_s(total), pool->shards_open);
	return true;
}

/* Starts the new threads before the surplus ones retire, so that there is
 * always a thread to serve the shards. */
bool
pool_set_threads(struct pool *pool, const struct pool_class *classes,
    unsigned classes_n, struct err *err)
{
	struct pool_class before[POOL_CLASSES_MAX];
	unsigned before_n = pool_classes(pool, before);
	unsigned spares_before = pool->spares;
	int rc;

	if (!threads_allowed(pool, classes, classes_n, err)) {
		pool->options.spares = pool->spares;
		return false;
	}
	(void)pool_reap_threads(pool, false);
	pool_remember_classes(pool, classes, classes_n);
	pool->spares = pool->options.spares;
	rc = pool_start_missing(pool);
	if (rc < 0) {
		pool_remember_classes(pool, before, before_n);
		pool->spares = pool->options.spares = spares_before;
		err_set(err, "the threads cannot be started: %s%s",
		    strerror(-rc), thread_start_hint(-rc));
	}
	retire_surplus(pool);
	pool_hand_over(pool);
	pool_limit_long_turns(pool);
	pool_renice(pool, before);
	pool_assign_homes(pool);
	return rc == 0;
}

bool
pool_set_long_nice(struct pool *pool, unsigned nice, struct err *err)
{
	unsigned before = pool->options.long_nice;

	if (!pool_try_long_nice(pool, nice, err))
		return false;
	if (nice != before)
		retire_apart(pool);
	return pool_set_threads(pool, pool->classes, pool->classes_n, err);
}

static void
pool_settle(void *arg)
{
	struct pool *pool = arg;

	pool->unsettled--;
}

bool
pool_set_shards(struct pool *pool, unsigned shards, struct err *err)
{
	unsigned threads = pool_threads(pool);
	int rc;

	if (shards < 1 || shards > threads)
		return err_set(err,
		    "%u shards are not possible with %u threads; allowed are 1 "
		    "to as many as threads",
		    shards, threads);
	rc = pool_make_shards(pool, shards);
	if (rc < 0)
		return err_set(err, "a shard cannot be made: %s%s",
		    strerror(-rc), thread_start_hint(-rc));
	pool_open_shards(pool, shards);
	/* Until every turn that may have chosen a shard before has ended, an
	 * empty shard may still get a handler. */
	pool->unsettled++;
	grace_retire(pool->options.grace, pool_settle, pool);
	pool_assign_homes(pool);
	return true;
}

void
pool_set_shift(struct pool *pool, unsigned from, unsigned to)
{
	atomic_store_relaxed(&pool_shard(pool, from)->shift_to, to);
}

static bool
shard_is_empty(const struct shard *shard)
{
	return atomic_load_acquire(&shard->handlers) == 0 &&
	       !atomic_load_acquire(&shard->mailbox) &&
	       atomic_load_relaxed(&shard->batch.left) == 0;
}

/* Closing shards go from the end, once nothing is registered there, and with
 * them those threads that have stayed for them. */
static bool
close_empty_shards(struct pool *pool)
{
	uint32_t before = pool->shards_n;

	if (pool->shards_n == pool->shards_open)
		return false;
	grace_poll(pool->options.grace);
	if (pool->unsettled > 0)
		return true;
	while (pool->shards_n > pool->shards_open &&
	       shard_is_empty(pool->shards[pool->shards_n - 1])) {
		atomic_store_relaxed(
		    &pool->shards[pool->shards_n - 1]->closed, 1u);
		atomic_store_release(&pool->shards_n, pool->shards_n - 1);
	}
	if (pool->shards_n < before) {
		retire_surplus(pool);
		pool_assign_homes(pool);
	}
	return pool->shards_n > pool->shards_open;
}

/* Frees the handle sets of closed shards that no thread uses any more.  Returns
 * true while other closed shards still have one: a leader leaves when it has
 * seen the order that came after the shard was closed. */
static bool
close_unused_sets(struct pool *pool)
{
	bool any = false;

	for (unsigned i = pool->shards_n; i < pool->shards_made; i++) {
		struct shard *s = pool->shards[i];

		any |= shard_has_set(s) && !shard_close_set(s);
	}
	return any;
}

bool
pool_is_idle(const struct pool *pool)
{
	for (unsigned i = 0; i < pool->shards_made; i++)
		if (!shard_is_empty(pool->shards[i]))
			return false;
	return true;
}

bool
pool_is_behind(const struct pool *pool)
{
	for (unsigned i = 0; i < pool->shards_made; i++)
		if (atomic_load_relaxed(&pool->shards[i]->batch.resumed_n) >
		    SHARD_BATCH)
			return true;
	return false;
}

bool
pool_tick(struct pool *pool)
{
	bool closing = close_empty_shards(pool);

	closing |= close_unused_sets(pool);
	return pool_reap_threads(pool, false) > 0 || closing;
}

void
pool_set_policy(struct pool *pool, enum policy_kind policy)
{
	pool->options.policy = policy;
	for (unsigned i = 0; i < pool->shards_made; i++) {
		struct shard *s = pool->shards[i];

		atomic_store_relaxed(&s->changed_ns, clock_now_ns());
		atomic_store_relaxed(&s->policy, (uint32_t)policy);
	}
	pool_order_all(pool);
}

void
pool_set_order(struct pool *pool, enum promotion_order order)
{
	pool->options.order = order;
	for (unsigned i = 0; i < pool->shards_made; i++)
		atomic_store_relaxed(
		    &pool->shards[i]->promotion->order, (uint32_t)order);
	pool_order_all(pool); /* with ORDER_PRIORITY no thread stands by */
}

/* 0 or the error of the first thread that was refused. */
static int
move_to_cpus(struct pool *pool, const cpu_set_t *cpus)
{
	for (unsigned i = 0; i < pool->places_n; i++) {
		struct pool_thread *t = pool->places[i];
		int rc = 0;

		if (pool_thread_state(t) == THREAD_RUNNING)
			rc = pthread_setaffinity_np(t->id, sizeof(*cpus), cpus);
		if (rc != 0)
			return rc;
	}
	return 0;
}

bool
pool_set_cpus(struct pool *pool, const cpu_set_t *cpus, struct err *err)
{
	int rc = move_to_cpus(pool, cpus);

	if (rc != 0) {
		(void)move_to_cpus(pool, &pool->cpus);
		return err_set(err, "the CPUs are refused: %s", strerror(rc));
	}
	pool->cpus = *cpus;
	pool_limit_long_turns(pool);
	pool_assign_homes(pool);
	return true;
}
