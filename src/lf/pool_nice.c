/* SPDX-License-Identifier: MIT
 * The nice values of a pool's threads: of their classes, and during turns that
 * were declared long.
 *
 * A thread in a long turn is nicer than the others, so the kernel lets a thread
 * that has short turns to run preempt it; when the thread is done it returns.
 * On Linux setpriority(2) with PRIO_PROCESS sets the value of one thread.
 * The value changes only while other turns profit from that (pool_nice_want).
 *
 * With POOL_NICE_IDLE its class is SCHED_IDLE instead: whatever becomes ready
 * preempts it at once.  So that busy processes cannot stop it, the guard puts
 * it back after IDLE_NS, and the next turn sets the class again.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/thread.h"
#include "lf/pool_internal.h"

#define NICE_MIN (-20)
#define NICE_MAX 19
/* How long a turn may take, waits for a CPU included, in SCHED_IDLE. */
#define IDLE_NS (4 * NS_PER_MS)

static int
set_own(int nice)
{
	return setpriority(PRIO_PROCESS, 0, nice < NICE_MAX ? nice : NICE_MAX);
}

/* -- classes -- */

/* Makes the thread, which is there, nicer than a process of the value own.  Any
 * thread. */
static void
set_nice(struct pool_thread *thread, int own, int nicer)
{
	static struct log_limit limit;
	int before = atomic_load_relaxed(&thread->nice);
	int nice = own + nicer;

	nice = nice < NICE_MIN ? NICE_MIN : nice > NICE_MAX ? NICE_MAX : nice;
	atomic_store_relaxed(&thread->nice, nice);
	if (setpriority(PRIO_PROCESS, (id_t)thread->tid, nice) == 0)
		return;
	atomic_store_relaxed(&thread->nice, before);
	log_limited(&limit, LOG_LEVEL_WARNING,
	    "pool %s: nice %d was refused: %s; its threads stay as they are",
	    thread->pool->name, nice, strerror(errno));
}

/* A thread in SCHED_IDLE could be stopped for long by other work. */
static unsigned
nice_for_life(const struct pool *pool)
{
	unsigned nice = pool->options.long_nice;

	return nice == POOL_NICE_IDLE ? POOL_NICE_FOR_LIFE : nice;
}

int
pool_nice_of(const struct pool *pool, unsigned grade)
{
	return grade == GRADE_APART ? (int)nice_for_life(pool)
	                            : pool->classes[grade].nice;
}

void
pool_nice_init(struct pool_thread *self)
{
	int nicer = pool_nice_of(self->pool, self->member.grade);
	int own = getpriority(PRIO_PROCESS, 0);

	atomic_store_relaxed(&self->nice, own);
	if (nicer != 0)
		set_nice(self, own, nicer);
}

void
pool_renice(struct pool *pool, const struct pool_class *before)
{
	int own = getpriority(PRIO_PROCESS, 0);

	for (unsigned i = 0; i < pool->places_n; i++) {
		struct pool_thread *t = pool->places[i];
		unsigned grade = t->member.grade;

		if (pool_thread_state(t) == THREAD_RUNNING &&
		    grade < pool->classes_n &&
		    pool->classes[grade].nice != before[grade].nice)
			set_nice(t, own, pool->classes[grade].nice);
	}
}

/* -- long turns -- */

/* Tries it on a thread of its own: a thread that may not return stays nice. */
static void *
try_to_return(void *arg)
{
	bool *ret_may = arg;
	int nice = getpriority(PRIO_PROCESS, 0);

	*ret_may = set_own(nice + 1) == 0 && set_own(nice) == 0;
	return NULL;
}

static bool
may_return(void)
{
	bool may = false;
	pthread_t id;

	if (thread_start(&id, NULL, try_to_return, &may) != 0)
		return false;
	pthread_join(id, NULL);
	return may;
}

bool
pool_try_long_nice(struct pool *pool, unsigned nice, struct err *err)
{
	bool may = nice == 0 || may_return();

	pool->may_return = may;
	if (!may && pool->spares == 0)
		return err_set(err,
		    "the system does not let threads return from nice %u: it "
		    "takes LimitNICE=+0 in the systemd unit, 'ulimit -e 20', "
		    "or CAP_SYS_NICE",
		    nice);
	pool->options.long_nice = nice;
	atomic_store_relaxed(&pool->long_nice, may ? nice : 0);
	return true;
}

unsigned
pool_nice_in_force(const struct pool *pool)
{
	return pool->admission.apart ? nice_for_life(pool)
	                             : atomic_load_relaxed(&pool->long_nice);
}

unsigned
pool_long_nice(const struct pool *pool)
{
	return pool->options.long_nice;
}

static bool
set_class(int tid, int class)
{
	const struct sched_param none = {.sched_priority = 0};

	return sched_setscheduler(tid, class, &none) == 0;
}

/* The time is set first: a guard that finds it puts the thread back at each of
 * its ticks, so none stays in SCHED_IDLE unseen. */
static bool
begin_idle(struct pool_thread *self)
{
	atomic_store_release(&self->idle_since_ns, self->now_ns);
	if (set_class(0, SCHED_IDLE))
		return true;
	atomic_store_relaxed(&self->idle_since_ns, UINT64_C(0));
	return false;
}

void
pool_nice_next(struct pool_thread *self)
{
	uint64_t since_ns = atomic_load_relaxed(&self->idle_since_ns);

	if (since_ns == 0)
		return;
	/* The guard may have put it back. */
	if (self->now_ns >= since_ns + IDLE_NS)
		(void)begin_idle(self);
	else
		atomic_store_relaxed(&self->idle_since_ns, self->now_ns);
}

void
pool_nice_guard(struct pool *pool, uint64_t now_ns)
{
	unsigned n = atomic_load_acquire(&pool->places_n);

	for (unsigned i = 0; i < n; i++) {
		struct pool_thread *t = pool->places[i];
		uint64_t since_ns = atomic_load_acquire(&t->idle_since_ns);

		if (since_ns > 0 && now_ns >= since_ns + IDLE_NS)
			(void)set_class(
			    atomic_load_relaxed(&t->tid), SCHED_OTHER);
	}
}

/* The word is shared by all threads, so it is written seldom. */
void
pool_nice_want(struct pool_thread *self)
{
	struct pool *pool = self->pool;
	uint64_t wanted_ns = atomic_load_relaxed(&pool->nice_wanted_ns);

	if (self->now_ns >= wanted_ns + POOL_NICE_WANTED_NS / 8)
		atomic_store_relaxed(&pool->nice_wanted_ns, self->now_ns);
}

/* Without other turns, only the processes at the other end of the handshakes
 * would preempt the thread: that costs some 60 us of CPU time for each
 * handshake and makes nothing faster. */
static bool
nicer_is_wanted(const struct pool_thread *self)
{
	uint64_t wanted_ns = atomic_load_relaxed(&self->pool->nice_wanted_ns);

	return wanted_ns > 0 && self->now_ns < wanted_ns + POOL_NICE_WANTED_NS;
}

bool
pool_nice_begin(struct pool_thread *self)
{
	unsigned nicer = atomic_load_relaxed(&self->pool->long_nice);

	if (nicer == 0 || !nicer_is_wanted(self))
		return false;
	if (nicer == POOL_NICE_IDLE)
		return begin_idle(self);
	return set_own(atomic_load_relaxed(&self->nice) + (int)nicer) == 0;
}

void
pool_nice_end(struct pool_thread *self)
{
	int nice;

	if (atomic_load_relaxed(&self->idle_since_ns) > 0) {
		atomic_store_relaxed(&self->idle_since_ns, UINT64_C(0));
		(void)set_class(0, SCHED_OTHER);
		return;
	}
	/* The control thread writes the value before it sets it, and may have
	 * done both before set_own. */
	do {
		nice = atomic_load_relaxed(&self->nice);
		(void)set_own(nice);
	} while (nice != atomic_load_relaxed(&self->nice));
}
