/* SPDX-License-Identifier: MIT
 * See pool.h.
 */
#include "lf/pool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"

struct pool {
	struct shard shard;
	struct pool_options options;
	char *name;
	struct pool_thread *threads;
	unsigned started;
	/* The start's own meeting point: threads report, then wait. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned ready, failed;
	bool go;
};

/* Tells pool_new how initialization went and waits for its verdict. */
static bool
report_and_wait(struct pool *pool, bool ready)
{
	bool go;

	pthread_mutex_lock(&pool->lock);
	if (ready)
		pool->ready++;
	else
		pool->failed++;
	pthread_cond_broadcast(&pool->changed);
	while (!pool->go && pool->failed == 0)
		pthread_cond_wait(&pool->changed, &pool->lock);
	go = pool->go && ready;
	pthread_mutex_unlock(&pool->lock);
	return go;
}

static void *
thread_main(void *arg)
{
	struct pool_thread *self = arg;
	struct pool *pool = self->pool;
	char name[16];
	bool ready;

	snprintf(name, sizeof(name), "lf-%.6s-%u", pool->name,
	    (unsigned)(self - pool->threads) % 10000);
	pthread_setname_np(pthread_self(), name);
	ready = !pool->options.thread_init ||
	        pool->options.thread_init(self, pool->options.thread_arg);
	if (ready)
		grace_register(pool->options.grace, &self->reader);
	if (report_and_wait(pool, ready))
		shard_serve(self->shard, self);
	if (ready) {
		grace_unregister(pool->options.grace, &self->reader);
		if (pool->options.thread_fini)
			pool->options.thread_fini(self);
	}
	return NULL;
}

/* Signals are for the control thread, so the pool's threads block them. */
static int
start_threads(struct pool *pool)
{
	sigset_t all, old;
	int rc = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (unsigned i = 0; i < pool->options.threads && rc == 0; i++) {
		struct pool_thread *t = &pool->threads[i];

		t->pool = pool;
		t->shard = &pool->shard;
		t->index = pool->options.first_index + i;
		rc = -pthread_create(&t->id, NULL, thread_main, t);
		if (rc == 0)
			pool->started++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);

	pthread_mutex_lock(&pool->lock);
	while (rc == 0 && pool->failed == 0 && pool->ready < pool->started)
		pthread_cond_wait(&pool->changed, &pool->lock);
	if (rc == 0 && pool->failed > 0)
		rc = -ENOMEM;
	if (rc == 0)
		pool->go = true;
	else
		pool->failed++;
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
	return rc;
}

int
pool_new(const struct pool_options *options, struct pool **ret_pool)
{
	struct pool *p = aligned_alloc(CACHE_LINE, sizeof(*p));
	const struct promotion_ops *promotion =
	    options->promotion ? options->promotion : &promotion_mutex;
	size_t size = options->threads * sizeof(struct pool_thread);
	int rc;

	ENSURE(options->threads >= 1);
	if (!p) {
		handle_set_free(options->set);
		return -ENOMEM;
	}
	memset(p, 0, sizeof(*p));
	rc = shard_init(&p->shard, options->set, promotion, options->policy,
	    options->grace);
	if (rc < 0) {
		free(p);
		return rc;
	}
	p->options = *options;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	p->name = strdup(options->name);
	p->threads = aligned_alloc(CACHE_LINE, size);
	rc = p->name && p->threads ? 0 : -ENOMEM;
	if (rc == 0) {
		memset(p->threads, 0, size);
		rc = start_threads(p);
	}
	if (rc < 0) {
		pool_free(p);
		return rc;
	}
	*ret_pool = p;
	return 0;
}

void
pool_stop(struct pool *pool)
{
	shard_stop(&pool->shard);
}

void
pool_free(struct pool *pool)
{
	if (!pool)
		return;
	pool_stop(pool);
	for (unsigned i = 0; i < pool->started; i++)
		pthread_join(pool->threads[i].id, NULL);
	shard_fini(&pool->shard);
	pthread_mutex_destroy(&pool->lock);
	pthread_cond_destroy(&pool->changed);
	free(pool->threads);
	free(pool->name);
	free(pool);
}

const char *
pool_name(const struct pool *pool)
{
	return pool->name;
}

struct shard *
pool_shard(struct pool *pool)
{
	return &pool->shard;
}

static void
add_thread(const struct thread_stats *stats, struct pool_status *s)
{
	switch ((enum thread_role)atomic_load_relaxed(&stats->role)) {
	case ROLE_FOLLOWING:
		s->following++;
		break;
	case ROLE_LEADING:
		s->leading++;
		break;
	case ROLE_PROCESSING:
		s->processing++;
		break;
	}
	s->turns += atomic_load_relaxed(&stats->turns);
	s->inline_turns += atomic_load_relaxed(&stats->inline_turns);
	s->promotions += atomic_load_relaxed(&stats->promotions);
	s->wakes += atomic_load_relaxed(&stats->wakes);
}

/* The mean of the threads that have an average at all. */
static uint64_t
mean_turn_ns(const struct pool *pool, enum turn_kind kind)
{
	uint64_t sum = 0, n = 0;

	for (unsigned i = 0; i < pool->started; i++) {
		const struct thread_stats *s = &pool->threads[i].stats;
		uint64_t ns = kind == TURN_RELAY
		                  ? atomic_load_relaxed(&s->relay_turn_ns)
		                  : atomic_load_relaxed(&s->accept_turn_ns);

		sum += ns;
		n += ns > 0;
	}
	return n > 0 ? sum / n : 0;
}

void
pool_status(struct pool *pool, struct pool_status *ret_status)
{
	const struct ledger *l = &pool->shard.ledger;
	struct pool_status s = {
	    .threads = pool->started,
	    .policy = pool->options.policy,
	    .waits = atomic_load_relaxed(&l->waits),
	    .fetched = atomic_load_relaxed(&l->fetched),
	    .dispatched = atomic_load_relaxed(&l->dispatched),
	    .merged = atomic_load_relaxed(&l->merged),
	    .stale = atomic_load_relaxed(&l->stale),
	    .in_batch = atomic_load_relaxed(&l->in_batch),
	    .resumed = atomic_load_relaxed(&l->resumed),
	};

	for (unsigned i = 0; i < pool->started; i++)
		add_thread(&pool->threads[i].stats, &s);
	s.relay_turn_ns = mean_turn_ns(pool, TURN_RELAY);
	s.accept_turn_ns = mean_turn_ns(pool, TURN_ACCEPT);
	*ret_status = s;
}
