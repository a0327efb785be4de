/* SPDX-License-Identifier: MIT
 * Internals of pools.  Only pool*.c include this file.
 */
#ifndef LF_POOL_INTERNAL_H
#define LF_POOL_INTERNAL_H

#include "base/lock.h"
#include "lf/admission.h"
#include "lf/pool.h"

enum thread_state {
	THREAD_NONE,     /* the place is empty */
	THREAD_STARTING, /* the control thread waits for its start */
	THREAD_FAILED,   /* its initialization failed */
	THREAD_RUNNING,
	THREAD_RETIRING, /* summoned */
	THREAD_ENDED,    /* can be joined */
};

struct pool {
	struct pool_options options;
	char *name;
	cpu_set_t cpus;
	/* Places are made once and used again; places_n of them are made. */
	struct pool_thread *places[POOL_THREADS_MAX];
	uint32_t places_n; /* control writes, released */
	struct pool_class classes[POOL_CLASSES_MAX]; /* as asked for */
	unsigned classes_n;
	unsigned spares; /* in force, of those in options */

	/* Shards are made once, used again, and freed with the pool.  Shards
	 * from shards_n on may still have their handle set. */
	struct shard *shards[POOL_THREADS_MAX];
	unsigned shards_made;
	uint32_t shards_n;    /* served, closing ones included */
	uint32_t shards_open; /* new handlers are placed on these */
	/* Changes of shards_open whose grace period has not passed. */
	unsigned unsettled;

	/* Threads report their state; the control thread waits for it. */
	struct lock lock;
	pthread_cond_t changed;

	struct admission admission;
	uint32_t long_nice; /* in force; written by control, relaxed */
	/* The system lets threads return from a higher nice value. */
	bool may_return;
	/* The time of a pool_nice_want; written by any thread, relaxed. */
	uint64_t nice_wanted_ns;

	uint64_t guarded; /* pool_guard's */
	/* Calls of pool_guard without a turn in between; any thread. */
	uint32_t guard_idle;
	/* Attempts of the guard to sleep, without 0; the guard's. */
	uint32_t guard_sleeps;
	uint64_t moved_turns; /* seen by the last pool_moves */
	bool moved_busy;      /* and whether a turn was under way */
};

/* The state is written under pool->lock.  Any thread may read it, relaxed. */
static inline enum thread_state
pool_thread_state(const struct pool_thread *thread)
{
	return (enum thread_state)atomic_load_relaxed(&thread->state);
}

/* Makes the first n shards, if they do not exist, and their handle sets,
 * without opening them.  Returns 0, or -errno: then no new descriptor is left
 * open. */
int pool_make_shards(struct pool *pool, unsigned n);

/* Opens the first n shards; new handlers are placed there only. */
void pool_open_shards(struct pool *pool, unsigned n);

/* Sets the classes that were asked for. */
void pool_remember_classes(
    struct pool *pool, const struct pool_class *classes, unsigned n);

/* Starts the threads that the classes ask for and that do not run.  Returns 0
 * or -errno; threads that were started before an error keep running. */
int pool_start_missing(struct pool *pool);

/* Starts a thread of that class and waits until it runs.  Returns 0 or -errno.
 */
int pool_start_thread(struct pool *pool, unsigned grade);

/* Summons the thread to retire. */
void pool_retire_thread(struct pool *pool, struct pool_thread *thread);

/* Joins the threads that have ended; if wait is set, waits for those that are
 * retiring.  Returns the number of threads that are still retiring. */
unsigned pool_reap_threads(struct pool *pool, bool wait);

/* Gives every running thread its home: the r-th thread gets shard r modulo the
 * number of shards, closing ones included. */
void pool_assign_homes(struct pool *pool);

/* Ends SCHED_IDLE for threads whose long turn has taken long in it.  Runs on
 * the thread of pool_guard. */
void pool_nice_guard(struct pool *pool, uint64_t now_ns);
/* Makes the new thread nicer, as its class says, than the control thread, whose
 * nice value it has.  Runs on the new thread. */
void pool_nice_init(struct pool_thread *self);

/* Sets the nice values of running threads whose class had another one before.
 * Runs on the control thread. */
void pool_renice(struct pool *pool, const struct pool_class *before);

/* Sets how many long turns run at once: as pool_set_long_turns says, for the
 * number of threads that was asked for last, and the CPUs. */
void pool_limit_long_turns(struct pool *pool);

/* The grade of threads apart (pool_set_spares).  They belong to no shard. */
#define GRADE_APART POOL_CLASSES_MAX

/* Returns how many threads of that grade are wanted. */
unsigned pool_wanted(const struct pool *pool, unsigned grade);

/* Returns how many threads of that grade run; -1: of all but GRADE_APART. */
unsigned pool_count_running(const struct pool *pool, int grade);

/* Returns by how much threads of that grade are nicer than the process. */
int pool_nice_of(const struct pool *pool, unsigned grade);

/* Returns how much nicer threads are in long turns; 0: not at all. */
unsigned pool_nice_in_force(const struct pool *pool);

/* Sets how much nicer threads are in long turns, as pool_set_long_nice does,
 * but starts and ends no threads. */
bool pool_try_long_nice(
    struct pool *pool, unsigned nice, struct err *err) MUST_CHECK;

/* Lets the threads apart have the long turns, if there are any. */
void pool_hand_over(struct pool *pool);

/* Returns how many CPUs the pool's threads may use up. */
unsigned pool_usable_cpus(const struct pool *pool);

/* Makes every waiting thread look at its summons, and wakes the guard, which
 * looks for shards without a leader. */
void pool_order_all(struct pool *pool);

#endif
