/* SPDX-License-Identifier: MIT
 * Internals of the pools.  Only pools*.c include this file.
 *
 * pools_spec.c calls pools.c, and both call pools_alarms.c, which calls
 * pools_wake_guard alone.
 */
#ifndef CONTROL_POOLS_INTERNAL_H
#define CONTROL_POOLS_INTERNAL_H

#include "control/autoscale.h"
#include "control/pools.h"

struct pools_shift;
struct pools_alarm;

struct pools_entry {
	struct pool *pool;
	bool autoscaled;
	bool shards_auto; /* as many as suit the number of threads */
	bool fresh;       /* between pools_prepare and pools_apply or _cancel */
	bool leaving;     /* not in the present spec */
	bool idle;        /* leaving and without work, since idle_at */
	bool moving;      /* sessions are told to move, slot by slot */
	uint32_t move_at; /* the next slot */
	uint64_t idle_at; /* grace_stamp */
	struct pools_alarm *alarms; /* of the first alarms_n shards */
	unsigned alarms_n;
	struct autoscale autoscale;
	struct pool_load load;
	uint64_t key_operations;   /* at the last pools_second */
	uint64_t key_rate;         /* in the second before it */
	struct pools_shift *shift; /* NULL: not looked at so far */
};

struct pools {
	struct ev_loop *loop;
	struct proxy *proxy;
	struct grace *grace;
	struct pools_entry *entries;
	size_t n;
	unsigned next_index; /* of the next pool's first thread */
	uint64_t wake_ns;    /* see policy_calibrate */
	uint64_t looked_ns;  /* the last look of pools_shift_sessions */
	bool guarding;       /* see pools_set_guard */
	ev_timer tick;       /* follows changes that are under way */
	ev_timer move;       /* while an entry is moving */
	ev_timer guard, scale;
	ev_async call; /* an idle pool has work again */
};

/* Initializes the timers, and watches for calls of the guard. */
void pools_watch(struct pools *pools);

/* Has the guard look now, and go on until it may sleep. */
void pools_wake_guard(struct pools *pools);

/* Watches the alarms of shards that the pool has got.  When memory is short
 * some are not watched until the next call: their shards are guarded by the
 * turns of others alone.  Defined in pools_alarms.c. */
void pools_watch_alarms(struct pools *pools, struct pools_entry *entry);

/* Watches them no longer.  Before the pool is freed. */
void pools_leave_alarms(struct pools *pools, struct pools_entry *entry);

/* Ends the pool's threads, and frees the pool and its entry. */
void pools_entry_drop(struct pools *pools, struct pools_entry *entry);

/* Forgets the load of the pool's shards and sessions: the shards change.
 * Defined in pools_shift.c. */
void pools_shift_forget(struct pools_entry *entry);

/* Returns NULL if no pool has that name. */
struct pools_entry *pools_entry_find(
    const struct pools *pools, const char *name);

/* The entry of a pool of this set. */
struct pools_entry *pools_entry_of(
    const struct pools *pools, const struct pool *pool);

#endif
