/* SPDX-License-Identifier: MIT
 * Internals of the pools.  Only pools*.c include this file.
 *
 * pools_spec.c calls pools_settings.c, which calls pools.c.
 */
#ifndef POOLS_POOLS_INTERNAL_H
#define POOLS_POOLS_INTERNAL_H

#include "pools/autoscale.h"
#include "pools/pools.h"

struct pools_shift;

#define POOL_SETTINGS 7 /* of pools_settings.c */

struct pools_entry {
	struct pool *pool;
	const struct pool_spec *spec;       /* in force; NULL: it leaves */
	struct override set[POOL_SETTINGS]; /* by commands, without values */
	bool autoscaled;
	bool shards_auto; /* as many as suit the number of threads */
	bool has_tls;     /* as in the spec */
	/* Threads are automatic, for that many CPUs; 0: they are not. */
	unsigned threads_auto;
	bool fresh;       /* between pools_prepare and pools_apply or _cancel */
	bool leaving;     /* not in the present spec */
	bool idle;        /* leaving and without work since idle_at */
	bool moving;      /* sessions are told to move, slot by slot */
	uint32_t move_at; /* the next slot */
	uint64_t idle_at; /* grace_stamp */
	struct autoscale autoscale;
	struct pool_load load;
	uint64_t key_operations;   /* at the last pools_second */
	uint64_t key_rate;         /* in the second before it */
	struct pools_shift *shift; /* NULL: none yet */
};

struct pools {
	struct ev_loop *loop;
	struct proxy *proxy;
	struct grace *grace;
	struct pools_entry *entries;
	size_t n;
	unsigned next_index; /* of the next pool's first thread */
	uint64_t wake_ns;    /* see policy_calibrate */
	uint64_t looked_ns;  /* when pools_shift_sessions looked last */
	ev_timer tick;       /* follows changes that are under way */
	ev_timer move;       /* while an entry is moving */
	ev_timer scale;
};

/* Initializes the timers. */
void pools_watch(struct pools *pools);

/* Ends the pool's threads, and frees the pool and its entry. */
void pools_entry_drop(struct pools *pools, struct pools_entry *entry);

/* Gives the pool the settings of its spec, but for those that an operator has
 * set and whose value in the file has not changed.  Adds what that changes to
 * changes.  Defined in pools_settings.c. */
void pools_apply_settings(
    struct pools *pools, struct pools_entry *e, struct changes *changes);

/* Forgets the measured load of the pool's shards and sessions, because the
 * shards change.  Defined in pools_shift.c. */
void pools_shift_forget(struct pools_entry *entry);

/* Returns the entry of the pool with that name, or NULL. */
struct pools_entry *pools_entry_find(
    const struct pools *pools, const char *name);

/* Returns the entry of a pool, which must be one of these pools. */
struct pools_entry *pools_entry_of(
    const struct pools *pools, const struct pool *pool);

#endif
