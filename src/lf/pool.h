/* SPDX-License-Identifier: MIT
 * A pool: a named group of threads that take turns leading on its shards.
 *
 * Leader/Followers (Schmidt, O'Ryan, Kircher, Pyarali, Buschmann, POSA2,
 * chapter 5): at any time at most one thread of a shard, the leader, waits on
 * the handle set; the followers are parked; the others are processing.  With as
 * many shards as threads every thread leads its own and none is ever parked: a
 * reactor for each thread.
 *
 * Threads and shards come and go while events flow.  The control thread decides
 * and writes down what it wants (a thread's summons and home, a shard's state);
 * the threads find it at the next step they take.  A thread that is gone leaves
 * its place, with its statistics, for the next one.
 */
#ifndef LF_POOL_H
#define LF_POOL_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#include "base/err.h"
#include "base/histogram.h"
#include "base/memory_use.h"
#include "lf/policy.h"
#include "lf/promotion.h"
#include "lf/shard.h"

#define POOL_THREADS_LIMIT 1024
#define POOL_CLASSES_MAX   4

struct pool;
struct grace;

enum thread_role { ROLE_FOLLOWING, ROLE_LEADING, ROLE_PROCESSING, ROLES };

const char *thread_role_name(enum thread_role role);

/* Written by one thread, read by any: relaxed words.  Over all threads
 * fetched = dispatched + merged + stale + in batches, exactly, whenever the
 * pool is quiet: the ledger. */
struct thread_stats {
	uint64_t waits;        /* looks at the handle set */
	uint64_t fetched;      /* events they brought */
	uint64_t dispatched;   /* of these, that found their handler free */
	uint64_t merged;       /* left to the handler's owner */
	uint64_t stale;        /* of a handle that was gone */
	uint64_t resumed;      /* handlers taken up from a shard's mailbox */
	uint64_t turns;        /* runs of a handler */
	uint64_t inline_turns; /* of these, while leading */
	uint64_t promotions;   /* leadership given up before a turn */
	uint64_t wakes;        /* parked members called, to lead */
	uint64_t hand_offs; /* handlers given to the thread they are bound to */
	uint64_t adoptions; /* leadership of another shard than home */
	uint64_t wait_errors;
	uint64_t turn_ns[TURN_KINDS]; /* moving averages */
	uint64_t role_ns[ROLES];      /* time in each role before this one */
	uint64_t role_since_ns;
	uint32_t role;
	struct histogram promotion_delay; /* called until running */
	struct histogram poll_gap; /* between two polls, events waiting */
	struct histogram service;  /* a run of a handler */
} CACHE_LINE_ALIGNED;

/* One thread of a pool.  Handlers get it as `self`; its plain fields belong to
 * the thread itself. */
struct pool_thread {
	struct member member; /* first: aligned */
	struct pool *pool;
	struct shard *home; /* the control thread writes, released [P10] */
	struct shard *at;   /* where it leads or parks; read by others [P10] */
	unsigned index;     /* among all threads of the process */
	uint32_t visits;    /* id + 1 of a shard to lead, set when called */
	uint64_t now_ns;    /* when the present turn began */
	uint64_t random;    /* for pool_place */
	void *local;        /* the upper floors' per-thread state */
	struct service_time service_time;
	uint32_t closed; /* its mailbox takes no more [P12] */
	struct thread_stats stats;
	struct grace_reader reader; /* inside a grace section while it works */
	struct batch batch;         /* its own, under POLICY_KERNEL */

	/* The control thread's. */
	pthread_t id;
	uint32_t state; /* enum thread_state in pool_threads.h */
	int tid;        /* the kernel's id, for nice and CPUs */
};

static inline struct pool_thread *
pool_thread_of(struct member *member)
{
	return (struct pool_thread *)(void *)member;
}

/* Threads of one scheduling class; the first class is the best (grade 0). */
struct pool_class {
	unsigned threads;
	int nice; /* -20 to 19, see setpriority(2) */
};

struct pool_options {
	const char *name; /* copied */
	struct pool_class classes[POOL_CLASSES_MAX];
	unsigned classes_n;
	unsigned shards; /* 1 to the number of threads */
	enum policy_kind policy;
	enum promotion_order order;
	const struct promotion_ops *promotion; /* NULL: promotion_futex */
	const cpu_set_t *cpus;                 /* copied; NULL: all */
	unsigned cpus_quota;  /* CPUs' worth of time the process has, 0: all */
	unsigned first_index; /* of its first thread among all threads */
	uint64_t wake_ns;     /* policy_calibrate */
	struct grace *grace;  /* borrowed */
	/* A handle set for a new shard; 0 or -errno. */
	int (*new_set)(void *arg, struct handle_set **ret_set);
	/* Called on each thread before it first joins (false: no memory, it
	 * does not start) and after it retired. */
	bool (*thread_init)(struct pool_thread *self, void *arg);
	void (*thread_fini)(struct pool_thread *self);
	/* Any pool thread, and the control thread inside a live change: the
	 * pool works again, the guard should too.  May be NULL. */
	void (*call_guard)(void *arg);
	void *arg; /* of all of these */
};

/* Control thread, as all that follows unless it says otherwise. */

/* What to do about an error in starting threads, to stand behind its words; ""
 * when nothing is known. */
const char *pool_start_hint(int error);

/* 0 or -errno (then nothing was started). */
int pool_new(const struct pool_options *options, struct pool **ret_pool);

/* No thread of the pool takes another turn; returns at once. */
void pool_stop(struct pool *pool);

/* Waits until all threads ended, then frees; NULL is fine. */
void pool_free(struct pool *pool);

/* Live changes.  Each takes effect while events flow and returns at once; a
 * false one has changed nothing and says why.  New threads are running when
 * pool_set_threads returns; those that leave do so at their next step, or,
 * while shards are closing that need them, when pool_tick has closed these. */
bool pool_set_threads(struct pool *pool, const struct pool_class *classes,
    unsigned classes_n, struct err *err);
/* More: new sessions are spread over all.  Fewer: what is registered on those
 * that go has to be moved (pool_home_of) before they close; the caller leaves a
 * note with all sessions, and pool_tick goes on. */
bool pool_set_shards(struct pool *pool, unsigned shards, struct err *err);
void pool_set_policy(struct pool *pool, enum policy_kind policy);
void pool_set_order(struct pool *pool, enum promotion_order order);
bool pool_set_cpus(struct pool *pool, const cpu_set_t *cpus, struct err *err);

/* Now and then: brings in threads that have ended, closes shards that are empty
 * and frees the handle sets of closed ones.  True while something is under way:
 * sessions of closing shards should get their note again. */
bool pool_tick(struct pool *pool);

/* Run every millisecond or so while the pool works: ends poll gaps of its
 * shards that are longer than limit_ns.  False when the pool has slept for a
 * while: the guard may stop until call_guard. */
bool pool_guard(struct pool *pool, uint64_t now_ns, uint64_t limit_ns);

const char *pool_name(const struct pool *pool);
unsigned pool_classes(
    const struct pool *pool, struct pool_class ret[POOL_CLASSES_MAX]);
/* Where its threads run. */
const cpu_set_t *pool_cpu_set(const struct pool *pool);
/* Nothing is registered and nothing is under way in any of its shards. */
bool pool_is_idle(const struct pool *pool);
/* As asked for; shards that are closing do not count. */
unsigned pool_threads(const struct pool *pool);
unsigned pool_shards_wanted(const struct pool *pool);

/* Any thread. */
struct grace *pool_grace(const struct pool *pool);
uint64_t pool_wake_ns(const struct pool *pool);
void pool_call_guard(struct pool *pool);
unsigned pool_shards(const struct pool *pool); /* closing ones included */
struct shard *pool_shard(struct pool *pool, unsigned id);

/* A pool thread: 64 bits from its own generator. */
uint64_t pool_random(struct pool_thread *self);

/* A pool thread, inside a grace section up to and including the registration:
 * the less loaded of two shards chosen at random. */
struct shard *pool_place(struct pool *pool, struct pool_thread *self);
/* Likewise: the thread's own, for a session that is bound to it. */
struct shard *pool_home(const struct pool_thread *self);
/* Likewise: where the handler of a slot should be after the shards changed. */
struct shard *pool_home_of(struct pool *pool, uint32_t slot);

/* What `show pool` shows: sums over threads, exact when the pool is quiet. */
struct pool_status {
	unsigned threads, shards;
	unsigned roles[ROLES]; /* threads in each */
	uint64_t in_batch;     /* fetched and not looked at so far */
	uint64_t taken_over;   /* tokens picked up from a busy leader */
	uint64_t guarded;      /* of these, by the guard */
	uint64_t handlers;     /* registered */
	uint64_t turn_ns[TURN_KINDS];
	uint64_t wake_ns;
	enum policy_kind policy;
	enum promotion_order order;
	struct thread_stats sum; /* the counters and histograms */
};
void pool_status(struct pool *pool, struct pool_status *ret_status);

/* Control thread: its threads, and its shards with what is left of it; the
 * upper floors' state of threads apart. */
void pool_memory(const struct pool *pool, struct memory_use *ret_threads,
    struct memory_use *ret_shards);
/* The same for the upper floors' state, if that is a block of malloc's. */
void pool_memory_local(const struct pool *pool, struct memory_use *ret_local);

/* One thread, for `show threads`: place from 0; false when there is none. */
struct thread_status {
	unsigned place;
	int tid, nice;
	unsigned grade, shard;
	bool retiring;
	enum thread_role role;
	uint64_t role_ns[ROLES]; /* up to now */
	const struct thread_stats *stats;
};
bool pool_thread_status(
    struct pool *pool, unsigned place, struct thread_status *ret_status);

#endif
