/* SPDX-License-Identifier: MIT
 * A pool: a named group of threads that take turns leading on a shard.
 *
 * Leader/Followers (Schmidt, O'Ryan, Kircher, Pyarali, Buschmann, POSA2,
 * chapter 5): at any time at most one thread of a shard, the leader, waits on
 * the handle set; the followers are parked; the others are processing.
 */
#ifndef LF_POOL_H
#define LF_POOL_H

#include <pthread.h>
#include <stdint.h>

#include "lf/policy.h"
#include "lf/promotion.h"
#include "lf/shard.h"

struct pool;
struct grace;

/* One thread of a pool.  Handlers get it as `self`; its plain fields belong to
 * the thread itself. */
struct pool_thread {
	struct pool *pool;
	struct shard *shard;
	unsigned index; /* among all threads of the process: counters' stripe */
	uint64_t now_ns; /* when the present turn began */
	void *local;     /* the upper floors' per-thread state */
	struct service_time service_time; /* what its turns have taken */
	struct member member;             /* its parking place */
	struct thread_stats stats;        /* written by the thread alone */
	struct grace_reader reader; /* inside a grace section while it works */
	pthread_t id;
};

struct pool_options {
	const char *name;     /* copied */
	unsigned threads;     /* 1 to 1024 */
	unsigned first_index; /* of its first thread among all threads */
	enum policy_kind policy;
	const struct promotion_ops *promotion; /* NULL: the default */
	struct handle_set *set;                /* taken over, also on failure */
	struct grace *grace;                   /* borrowed */
	/* Called on each thread before it first joins (false: no memory, the
	 * pool is not started) and after it retired. */
	bool (*thread_init)(struct pool_thread *self, void *arg);
	void (*thread_fini)(struct pool_thread *self);
	void *thread_arg;
};

/* 0 or -errno (then nothing was started). */
int pool_new(const struct pool_options *options, struct pool **ret_pool);

/* Any thread: no thread of the pool takes another turn; returns at once. */
void pool_stop(struct pool *pool);

/* Waits until all threads ended, then frees; NULL is fine. */
void pool_free(struct pool *pool);

const char *pool_name(const struct pool *pool);
struct shard *pool_shard(struct pool *pool);

/* What `show pool` shows: sums over threads, exact when the pool is quiet.
 * Any thread. */
struct pool_status {
	unsigned threads;
	unsigned leading, processing, following;
	uint64_t waits;          /* calls to the handle set's wait */
	uint64_t fetched;        /* events from the handle set */
	uint64_t dispatched;     /* events that found their handler free */
	uint64_t merged;         /* events left to the handler's owner */
	uint64_t stale;          /* events of a handle that was gone */
	uint64_t in_batch;       /* fetched and not looked at so far */
	uint64_t resumed;        /* handlers taken up from the mailbox */
	uint64_t turns;          /* calls of a handler */
	uint64_t inline_turns;   /* of these, while still leading */
	uint64_t promotions;     /* leadership given up before a turn */
	uint64_t wakes;          /* of these, to a parked follower */
	uint64_t relay_turn_ns;  /* moving average of a turn on a session */
	uint64_t accept_turn_ns; /* and of a turn on a listener */
	enum policy_kind policy;
};
void pool_status(struct pool *pool, struct pool_status *ret_status);

#endif
