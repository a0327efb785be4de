/* SPDX-License-Identifier: MIT
 * See pool.h.
 */
#include "lf/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "lf/pool_internal.h"

/* Guard calls without a turn in between until the guard may sleep. */
#define GUARD_IDLE 100

static struct shard *
make_shard(struct pool *pool, int *ret_rc)
{
	const struct promotion_ops *promotion = pool->options.promotion
	                                            ? pool->options.promotion
	                                            : &promotion_futex;
	struct shard *s = aligned_alloc(CACHE_LINE, sizeof(*s));
	struct handle_set *set;
	int rc;

	rc = s ? pool->options.new_set(pool->options.arg, &set) : -ENOMEM;
	if (rc == 0)
		rc = shard_init(s, pool, pool->shards_made, set, promotion);
	if (rc < 0) {
		free(s);
		*ret_rc = rc;
		return NULL;
	}
	s->policy = pool->options.policy;
	s->promotion->order = pool->options.order;
	s->closed = 1;
	return s;
}

/* Makes sure that there are so many; they stay closed.  0 or -errno. */
static int
make_shards(struct pool *pool, unsigned n)
{
	int rc = 0;

	while (pool->shards_made < n) {
		struct shard *s = make_shard(pool, &rc);

		if (!s)
			return rc;
		atomic_store_release(&pool->shards[pool->shards_made], s);
		pool->shards_made++;
	}
	return 0;
}

static void
open_shards(struct pool *pool, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct shard *s = pool->shards[i];

		if (!s->closed)
			continue;
		atomic_store_relaxed(&s->changed_ns, clock_now_ns());
		atomic_store_relaxed(&s->closed, 0u);
	}
	if (n > pool->shards_n)
		atomic_store_release(&pool->shards_n, n);
	atomic_store_release(&pool->shards_open, n);
}

static unsigned
total_threads(const struct pool_class *classes, unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += classes[i].threads;
	return sum;
}

static void
remember_classes(
    struct pool *pool, const struct pool_class *classes, unsigned n)
{
	memcpy(pool->classes, classes, n * sizeof(*classes));
	pool->classes_n = n;
}

/* 0 or -errno; what was started before an error stays. */
static int
start_missing(struct pool *pool)
{
	for (unsigned g = 0; g < pool->classes_n; g++) {
		unsigned n = pool_count_running(pool, (int)g);

		for (; n < pool->classes[g].threads; n++) {
			int rc = pool_start_thread(pool, g);

			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

int
pool_new(const struct pool_options *options, struct pool **ret_pool)
{
	struct pool *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return -ENOMEM;
	p->options = *options;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	remember_classes(p, options->classes, options->classes_n);
	ENSURE(options->shards >= 1 &&
	       options->shards <= total_threads(p->classes, p->classes_n));
	if (options->cpus)
		p->cpus = *options->cpus;
	else
		sched_getaffinity(0, sizeof(p->cpus), &p->cpus);
	p->name = strdup(options->name);
	rc = p->name ? make_shards(p, options->shards) : -ENOMEM;
	if (rc == 0) {
		open_shards(p, options->shards);
		rc = start_missing(p);
	}
	if (rc < 0) {
		pool_free(p);
		return rc;
	}
	pool_assign_homes(p);
	*ret_pool = p;
	return 0;
}

void
pool_stop(struct pool *pool)
{
	for (unsigned i = 0; i < pool->places_n; i++)
		if (pool_thread_state(pool->places[i]) == THREAD_RUNNING)
			pool_retire_thread(pool, pool->places[i]);
	pool_order_all(pool);
}

void
pool_free(struct pool *pool)
{
	if (!pool)
		return;
	pool_stop(pool);
	(void)pool_reap_threads(pool, true);
	/* Their turns are over, other pools' are bounded. */
	while (pool->unsettled > 0) {
		sched_yield();
		grace_poll(pool->options.grace);
	}
	for (unsigned i = 0; i < pool->shards_made; i++) {
		shard_fini(pool->shards[i]);
		free(pool->shards[i]);
	}
	for (unsigned i = 0; i < pool->places_n; i++)
		free(pool->places[i]);
	pthread_mutex_destroy(&pool->lock);
	pthread_cond_destroy(&pool->changed);
	free(pool->name);
	free(pool);
}

/* The youngest places go first, so that the others keep their rank and with it
 * their home.  Every shard needs a thread, also one that is closing: nobody
 * else would bring its handlers to the notes that tell them to move. */
static void
retire_surplus(struct pool *pool)
{
	for (unsigned i = pool->places_n; i-- > 0;) {
		struct pool_thread *t = pool->places[i];
		unsigned grade = t->member.grade;
		unsigned wanted =
		    grade < pool->classes_n ? pool->classes[grade].threads : 0;

		if (pool_count_running(pool, -1) <= pool->shards_n)
			return;
		if (pool_thread_state(t) == THREAD_RUNNING &&
		    pool_count_running(pool, (int)grade) > wanted)
			pool_retire_thread(pool, t);
	}
}

static bool
threads_allowed(const struct pool *pool, const struct pool_class *classes,
    unsigned n, struct err *err)
{
	unsigned total = total_threads(classes, n);

	if (total < 1 || total > POOL_THREADS_LIMIT)
		return err_set(err,
		    "%u threads are not possible; allowed are 1 to %u", total,
		    POOL_THREADS_LIMIT);
	if (total < pool->shards_open)
		return err_set(err,
		    "%u threads cannot serve %u shards; use at least as many "
		    "threads, or fewer shards first",
		    total, pool->shards_open);
	return true;
}

/* First the new ones, then the surplus, so that there is always somebody. */
bool
pool_set_threads(struct pool *pool, const struct pool_class *classes,
    unsigned classes_n, struct err *err)
{
	struct pool_class before[POOL_CLASSES_MAX];
	unsigned before_n = pool_classes(pool, before);
	int rc;

	if (!threads_allowed(pool, classes, classes_n, err))
		return false;
	(void)pool_reap_threads(pool, false);
	remember_classes(pool, classes, classes_n);
	rc = start_missing(pool);
	if (rc < 0) {
		remember_classes(pool, before, before_n);
		err_set(
		    err, "the threads cannot be started: %s", strerror(-rc));
	}
	retire_surplus(pool);
	pool_assign_homes(pool);
	return rc == 0;
}

static void
settle(void *arg)
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
	rc = make_shards(pool, shards);
	if (rc < 0)
		return err_set(
		    err, "a shard cannot be made: %s", strerror(-rc));
	open_shards(pool, shards);
	/* Until every turn that may have chosen a shard before has ended, an
	 * empty shard may still get a handler. */
	pool->unsettled++;
	grace_retire(pool->options.grace, settle, pool);
	pool_assign_homes(pool);
	return true;
}

/* Closing shards go from the end, once nothing is registered there. */
static bool
close_empty_shards(struct pool *pool)
{
	if (pool->shards_n == pool->shards_open)
		return false;
	grace_poll(pool->options.grace);
	if (pool->unsettled > 0)
		return true;
	while (pool->shards_n > pool->shards_open) {
		struct shard *s = pool->shards[pool->shards_n - 1];

		if (atomic_load_acquire(&s->handlers) > 0 ||
		    atomic_load_acquire(&s->mailbox) ||
		    atomic_load_relaxed(&s->batch.left) > 0)
			return true;
		atomic_store_relaxed(&s->closed, 1u);
		shard_order(s);
		atomic_store_release(&pool->shards_n, pool->shards_n - 1);
	}
	/* Those who stayed for the shards that are gone. */
	retire_surplus(pool);
	pool_assign_homes(pool);
	return false;
}

bool
pool_tick(struct pool *pool)
{
	bool closing = close_empty_shards(pool);

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
}

bool
pool_set_cpus(struct pool *pool, const cpu_set_t *cpus, struct err *err)
{
	for (unsigned i = 0; i < pool->places_n; i++) {
		struct pool_thread *t = pool->places[i];
		int rc = 0;

		if (pool_thread_state(t) == THREAD_RUNNING)
			rc = pthread_setaffinity_np(t->id, sizeof(*cpus), cpus);
		if (rc != 0)
			return err_set(
			    err, "the CPUs are refused: %s", strerror(rc));
	}
	pool->cpus = *cpus;
	pool_assign_homes(pool);
	return true;
}

static uint64_t
count_turns(const struct pool *pool)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < pool->places_n; i++)
		n += atomic_load_relaxed(&pool->places[i]->stats.turns);
	return n;
}

/* A shard that nobody leads although another has a parked thread: that one's
 * holder is asked to send it over. */
static void
lend(struct pool *pool, const struct shard *lacking)
{
	for (unsigned i = 0; i < pool->shards_n; i++) {
		struct shard *s = pool->shards[i];

		if (s == lacking || promotion_parked(s->promotion) == 0)
			continue;
		atomic_store_relaxed(&s->lends_to, lacking->id + 1);
		shard_order(s);
		return;
	}
}

static bool
any_turn_under_way(const struct pool *pool)
{
	for (unsigned i = 0; i < pool->places_n; i++)
		if (atomic_load_relaxed(&pool->places[i]->reader.epoch) != 0)
			return true;
	return false;
}

bool
pool_guard(struct pool *pool, uint64_t now_ns, uint64_t limit_ns)
{
	uint64_t turns = count_turns(pool);

	for (unsigned i = 0; i < pool->shards_n; i++) {
		struct shard *s = pool->shards[i];

		if (shard_guard(s, now_ns, limit_ns))
			pool->guarded++;
		else if (promotion_token(s->promotion) == TOKEN_NOBODY &&
		         pool->options.policy != POLICY_KERNEL)
			lend(pool, s);
	}
	if (turns != pool->guard_turns || any_turn_under_way(pool)) {
		pool->guard_turns = turns;
		pool->guard_idle = 0;
		return true;
	}
	if (++pool->guard_idle < GUARD_IDLE)
		return true;
	for (unsigned i = 0; i < pool->shards_n; i++)
		atomic_store_relaxed(&pool->shards[i]->unguarded, 1u);
	return false;
}

const char *
pool_name(const struct pool *pool)
{
	return pool->name;
}

unsigned
pool_classes(const struct pool *pool, struct pool_class ret[POOL_CLASSES_MAX])
{
	memcpy(ret, pool->classes, sizeof(pool->classes));
	return pool->classes_n;
}

unsigned
pool_threads(const struct pool *pool)
{
	return total_threads(pool->classes, pool->classes_n);
}

unsigned
pool_shards_wanted(const struct pool *pool)
{
	return pool->shards_open;
}

struct grace *
pool_grace(const struct pool *pool)
{
	return pool->options.grace;
}

uint64_t
pool_wake_ns(const struct pool *pool)
{
	return pool->options.wake_ns;
}

void
pool_call_guard(struct pool *pool)
{
	if (pool->options.call_guard)
		pool->options.call_guard(pool->options.arg);
}

unsigned
pool_shards(const struct pool *pool)
{
	return atomic_load_acquire(&pool->shards_n);
}

struct shard *
pool_shard(struct pool *pool, unsigned id)
{
	return atomic_load_acquire(&pool->shards[id]);
}

/* xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift
 * generators", 2016). */
static uint32_t
next_random(struct pool_thread *self)
{
	uint64_t x = self->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	self->random = x;
	return (uint32_t)((x * 0x2545f4914f6cdd1dull) >> 32);
}

struct shard *
pool_place(struct pool *pool, struct pool_thread *self)
{
	uint32_t n = atomic_load_acquire(&pool->shards_open);
	struct shard *a, *b;

	if (n == 1)
		return pool_shard(pool, 0);
	a = pool_shard(pool, next_random(self) % n);
	b = pool_shard(pool, next_random(self) % n);
	return atomic_load_relaxed(&a->handlers) <=
	               atomic_load_relaxed(&b->handlers)
	           ? a
	           : b;
}

struct shard *
pool_home_of(struct pool *pool, uint32_t slot)
{
	return pool_shard(pool, slot % atomic_load_acquire(&pool->shards_open));
}

struct shard *
pool_home(const struct pool_thread *self)
{
	struct shard *home = atomic_load_acquire(&self->home);

	/* It may have been closing since before this section began. */
	if (home->id < atomic_load_acquire(&self->pool->shards_open))
		return home;
	return pool_shard(self->pool, 0);
}
