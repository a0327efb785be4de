/* SPDX-License-Identifier: MIT
 * A pool's threads: starting, finding their homes, retiring.
 */
#include "lf/pool_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"
#include "base/thread.h"
#include "lf/turns.h"

static void
pool_thread_set_state(
    struct pool *pool, struct pool_thread *t, enum thread_state state)
{
	lock_acquire(&pool->lock);
	atomic_store_relaxed(&t->state, (uint32_t)state);
	pthread_cond_broadcast(&pool->changed);
	lock_release(&pool->lock);
}

static void
name_thread(const struct pool_thread *self)
{
	char name[16];

	snprintf(name, sizeof(name), "lf-%.6s-%u", self->pool->name,
	    self->member.id - 1u);
	pthread_setname_np(pthread_self(), name);
}

static void *
pool_thread_main(void *arg)
{
	struct pool_thread *self = arg;
	struct pool *pool = self->pool;

	atomic_store_relaxed(&self->tid, (int)syscall(SYS_gettid));
	name_thread(self);
	lock_mark_data_thread();
	pool_nice_init(self);
	if (pool->options.thread_init &&
	    !pool->options.thread_init(self, pool->options.arg)) {
		pool_thread_set_state(pool, self, THREAD_FAILED);
		return NULL;
	}
	grace_register(pool->options.grace, &self->reader);
	pool_thread_set_state(pool, self, THREAD_RUNNING);
	if (self->member.grade == GRADE_APART)
		shard_serve_long(self);
	else
		shard_serve(self);
	self->now_ns = clock_now_ns();
	turns_set_role(self, ROLE_FOLLOWING);
	grace_unregister(pool->options.grace, &self->reader);
	if (pool->options.thread_fini)
		pool->options.thread_fini(self);
	pool_thread_set_state(pool, self, THREAD_ENDED);
	return NULL;
}

/* An empty place, or a new one. */
static struct pool_thread *
pool_find_place(struct pool *pool)
{
	struct pool_thread *t;

	for (unsigned i = 0; i < pool->places_n; i++)
		if (pool_thread_state(pool->places[i]) == THREAD_NONE)
			return pool->places[i];
	if (pool->places_n == POOL_THREADS_MAX)
		return NULL;
	t = aligned_alloc(CACHE_LINE, sizeof(*t));
	if (!t)
		return NULL;
	memset(t, 0, sizeof(*t));
	t->pool = pool;
	t->member.id = (uint16_t)(pool->places_n + 1);
	t->index = pool->options.first_index + pool->places_n;
	t->random = 0x9e3779b97f4a7c15u * (t->index + 1u);
	atomic_store_release(&pool->places[pool->places_n], t);
	atomic_store_release(&pool->places_n, pool->places_n + 1);
	return t;
}

static void
prepare_thread(struct pool *pool, struct pool_thread *t, unsigned grade)
{
	unsigned rank = pool_count_running(pool, -1);

	t->member.grade = (uint16_t)grade;
	t->member.summons = 0;
	t->member.called_ns = 0;
	t->stats.role = ROLE_FOLLOWING;
	t->stats.role_since_ns = clock_now_ns();
	batch_init(&t->batch);
	atomic_store_release(
	    &t->home, pool->shards[rank % pool->shards_n]); /* [P10] */
	atomic_store_relaxed(&t->state, (uint32_t)THREAD_STARTING);
}

static int
pool_create_thread(struct pool *pool, struct pool_thread *t)
{
	pthread_attr_t attr;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(pool->cpus), &pool->cpus);
	rc = thread_start(&t->id, &attr, pool_thread_main, t);
	pthread_attr_destroy(&attr);
	return -rc;
}

int
pool_start_thread(struct pool *pool, unsigned grade)
{
	struct pool_thread *t = pool_find_place(pool);
	bool failed;
	int rc;

	if (!t)
		return -ENOMEM;
	prepare_thread(pool, t, grade);
	rc = pool_create_thread(pool, t);
	if (rc < 0) {
		atomic_store_relaxed(&t->state, (uint32_t)THREAD_NONE);
		return rc;
	}
	lock_acquire(&pool->lock);
	while (pool_thread_state(t) == THREAD_STARTING)
		lock_wait(&pool->lock, &pool->changed);
	failed = pool_thread_state(t) == THREAD_FAILED;
	lock_release(&pool->lock);
	if (!failed)
		return 0;
	pthread_join(t->id, NULL);
	atomic_store_relaxed(&t->state, (uint32_t)THREAD_NONE);
	return -ENOMEM;
}

void
pool_retire_thread(struct pool *pool, struct pool_thread *thread)
{
	pool_thread_set_state(pool, thread, THREAD_RETIRING);
	(void)atomic_swap_seq(
	    &thread->member.summons, (uint32_t)MEMBER_RETIRE); /* [P10] */
	if (thread->member.grade == GRADE_APART)
		admission_wake(&pool->admission);
}

unsigned
pool_reap_threads(struct pool *pool, bool wait)
{
	unsigned retiring = 0;

	lock_acquire(&pool->lock);
	for (unsigned i = 0; i < pool->places_n; i++) {
		struct pool_thread *t = pool->places[i];

		while (wait && pool_thread_state(t) == THREAD_RETIRING)
			lock_wait(&pool->lock, &pool->changed);
		if (pool_thread_state(t) == THREAD_RETIRING)
			retiring++;
		if (pool_thread_state(t) != THREAD_ENDED)
			continue;
		/* The ended thread no longer needs the lock. */
		pthread_join(t->id, NULL);
		atomic_store_relaxed(&t->state, (uint32_t)THREAD_NONE);
	}
	lock_release(&pool->lock);
	return retiring;
}

unsigned
pool_count_running(const struct pool *pool, int grade)
{
	unsigned n = 0;

	for (unsigned i = 0; i < pool->places_n; i++) {
		const struct pool_thread *t = pool->places[i];

		n += pool_thread_state(t) == THREAD_RUNNING &&
		     (grade < 0 ? t->member.grade != GRADE_APART
		                : t->member.grade == grade);
	}
	return n;
}

static void
set_home(struct pool_thread *t, struct shard *home)
{
	uint32_t none = 0;

	if (t->home == home)
		return;
	atomic_store_release(&t->home, home); /* [P10] */
	/* A summons to retire stays: it has priority. */
	(void)atomic_cas_seq(
	    &t->member.summons, &none, (uint32_t)MEMBER_MOVE); /* [P10] */
}

unsigned
pool_usable_cpus(const struct pool *pool)
{
	unsigned n = (unsigned)CPU_COUNT(&pool->cpus);

	if (pool->options.cpus_quota > 0 && pool->options.cpus_quota < n)
		n = pool->options.cpus_quota;
	return n;
}

/* Sets the shard's numbers of threads, which its leaders read. */
static void
describe_shard(const struct pool *pool, struct shard *shard, unsigned threads)
{
	unsigned n = pool->shards_n, homes;

	homes = shard->id < n ? (threads + n - 1 - shard->id) / n : 0;
	atomic_store_relaxed(&shard->homes, homes);
	atomic_store_relaxed(
	    &shard->parallel, (pool_usable_cpus(pool) + n - 1) / n);
}

void
pool_assign_homes(struct pool *pool)
{
	unsigned rank = 0;

	for (unsigned i = 0; i < pool->places_n; i++) {
		struct pool_thread *t = pool->places[i];

		if (pool_thread_state(t) == THREAD_RUNNING &&
		    t->member.grade != GRADE_APART)
			set_home(t, pool->shards[rank++ % pool->shards_n]);
	}
	for (unsigned i = 0; i < pool->shards_made; i++)
		describe_shard(pool, pool->shards[i], rank);
	pool_order_all(pool);
}

void
pool_order_all(struct pool *pool)
{
	for (unsigned i = 0; i < pool->shards_made; i++)
		shard_order(pool->shards[i]);
	atomic_store_relaxed(&pool->guard_idle, 0u);
	pool_call_guard(pool);
}
