/* SPDX-License-Identifier: MIT
 * What the files of the pool share.  Nobody else includes this.
 */
#ifndef LF_POOL_INTERNAL_H
#define LF_POOL_INTERNAL_H

#include "base/lock.h"
#include "lf/pool.h"

enum thread_state {
	THREAD_NONE,     /* the place is empty */
	THREAD_STARTING, /* pool_new or pool_set_threads waits for it */
	THREAD_FAILED,   /* its initialization failed */
	THREAD_RUNNING,
	THREAD_RETIRING, /* summoned */
	THREAD_ENDED,    /* may be joined */
};

struct pool {
	struct pool_options options;
	char *name;
	cpu_set_t cpus;
	/* Places, made once and used again; up to places_n are made. */
	struct pool_thread *places[POOL_THREADS_LIMIT];
	unsigned places_n;
	struct pool_class classes[POOL_CLASSES_MAX]; /* as asked for */
	unsigned classes_n;

	/* Shards, made once and used again; never freed before the pool.  Of
	 * those from shards_n on some may still have their handle set. */
	struct shard *shards[POOL_THREADS_LIMIT];
	unsigned shards_made;
	uint32_t shards_n;    /* served, closing ones included */
	uint32_t shards_open; /* new handlers are placed on these */
	/* Changes of that, by the control thread, with a grace period to go. */
	unsigned unsettled;

	/* The start's meeting point: threads report. */
	struct lock lock;
	pthread_cond_t changed;

	uint64_t guarded;
	uint64_t guard_turns; /* seen by the last guard */
	unsigned guard_idle;  /* calls without a turn in between */
};

/* Written under the lock, where others wait for it; read relaxed by anybody. */
static inline enum thread_state
pool_thread_state(const struct pool_thread *thread)
{
	return (enum thread_state)atomic_load_relaxed(&thread->state);
}

static inline unsigned
pool_class_threads(const struct pool_class *classes, unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += classes[i].threads;
	return sum;
}

/* Makes sure that there are so many, each with a handle set; they stay closed.
 * 0 or -errno, then no descriptor is left open. */
int pool_make_shards(struct pool *pool, unsigned n);

/* Serves the first n, and places new handlers there only. */
void pool_open_shards(struct pool *pool, unsigned n);

/* What is asked for from now on. */
void pool_remember_classes(
    struct pool *pool, const struct pool_class *classes, unsigned n);

/* Starts what the classes lack.  0 or -errno; what was started before an error
 * stays. */
int pool_start_missing(struct pool *pool);

/* Starts a thread of that class and waits until it runs.  0 or -errno. */
int pool_start_thread(struct pool *pool, unsigned grade);

/* Summons the thread to retire. */
void pool_retire_thread(struct pool *pool, struct pool_thread *thread);

/* Joins the threads that have ended; waits for those that are retiring if wait
 * is set.  The number still retiring. */
unsigned pool_reap_threads(struct pool *pool, bool wait);

/* Gives every running thread its home: the r-th of them shard r modulo those
 * that are served, closing ones included. */
void pool_assign_homes(struct pool *pool);

/* Running threads whose class had another nice value before get the present. */
void pool_renice(struct pool *pool, const struct pool_class *before);

unsigned pool_count_running(const struct pool *pool, int grade /* -1: all */);

/* Every waiting thread of every shard looks at what is wanted of it, and the
 * guard at the shards that are without a leader for it. */
void pool_order_all(struct pool *pool);

#endif
