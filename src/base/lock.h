/* SPDX-License-Identifier: MIT
 * Mutexes, with a check of the project's rule about them: a data thread holds
 * at most one lock at a time, and at most one leaf lock in addition.  So data
 * threads cannot deadlock.
 *
 * Builds with LFPROXY_LOCK_CHECKS (MODE=debug and the sanitizers) abort when a
 * data thread breaks the rule.  In all other builds a lock is a plain mutex.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "base/ensure.h"

struct lock {
	pthread_mutex_t mutex;
};

#define LOCK_INITIALIZER                                                       \
	{                                                                      \
		PTHREAD_MUTEX_INITIALIZER                                      \
	}

/* The calling thread's locks; used in builds with checks only. */
struct lock_holder {
	bool is_data_thread;
	unsigned held;
};
extern _Thread_local struct lock_holder lock_holder;

/* Makes the rule hold for the calling thread from now on. */
static inline void
lock_mark_data_thread(void)
{
#ifdef LFPROXY_LOCK_CHECKS
	lock_holder.is_data_thread = true;
#endif
}

static inline void
lock_init(struct lock *lock)
{
	pthread_mutex_init(&lock->mutex, NULL);
}

static inline void
lock_fini(struct lock *lock)
{
	pthread_mutex_destroy(&lock->mutex);
}

static inline void
lock_acquire_beside(struct lock *lock, unsigned held)
{
#ifdef LFPROXY_LOCK_CHECKS
	ENSURE(!lock_holder.is_data_thread || lock_holder.held <= held);
	lock_holder.held++;
#endif
	(void)held;
	pthread_mutex_lock(&lock->mutex);
}

static inline void
lock_acquire(struct lock *lock)
{
	lock_acquire_beside(lock, 0);
}

/* Like lock_acquire, for a lock that a data thread may also take while it holds
 * another one.  No lock is taken while a leaf is held beside another lock. */
static inline void
lock_acquire_leaf(struct lock *lock)
{
	lock_acquire_beside(lock, 1);
}

static inline void
lock_release(struct lock *lock)
{
#ifdef LFPROXY_LOCK_CHECKS
	ENSURE(lock_holder.held > 0);
	lock_holder.held--;
#endif
	pthread_mutex_unlock(&lock->mutex);
}

/* Releases the lock, waits for the condition, and takes the lock again, as
 * pthread_cond_wait does.  Caller holds lock. */
static inline void
lock_wait(struct lock *lock, pthread_cond_t *cond)
{
	pthread_cond_wait(cond, &lock->mutex);
}

/* Like lock_wait, but waits at most until the given time of the condition's
 * clock.  Returns 0 or ETIMEDOUT. */
static inline int
lock_wait_until(
    struct lock *lock, pthread_cond_t *cond, const struct timespec *until)
{
	return pthread_cond_timedwait(cond, &lock->mutex, until);
}

#endif
