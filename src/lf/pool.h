/* SPDX-License-Identifier: MIT
 * A pool: a named group of threads that take turns leading on its shards.
 *
 * Leader/Followers (Schmidt, O'Ryan, Kircher, Pyarali, Buschmann, POSA2,
 * chapter 5): at any time at most one thread of a shard, the leader, waits on
 * the handle set; the followers are parked; the others are processing.  With as
 * many shards as threads every thread leads a shard of its own: a reactor for
 * each thread.
 *
 * Threads and shards are added and removed while events flow.  The control
 * thread writes what it wants (a thread's summons and home, a shard's state),
 * and the threads follow at their next step.  A thread that has ended leaves
 * its place, with its statistics, to the next thread.
 *
 * Functions run on the control thread, unless their comment says otherwise.
 */
#ifndef LF_POOL_H
#define LF_POOL_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#include "base/err.h"
#include "base/histogram.h"
#include "lf/policy.h"
#include "lf/pool_class.h"
#include "lf/promotion.h"
#include "lf/shard.h"

struct pool;
struct grace;
struct admission;

enum thread_role {
	ROLE_FOLLOWING,
	/* In the handle set without the token: beside the leader, or, under
	 * POLICY_KERNEL, beside other threads. */
	ROLE_STANDBY,
	ROLE_LEADING,
	ROLE_PROCESSING,
	ROLES
};

/* Returns the name for `show threads`. */
const char *thread_role_name(enum thread_role role);

/* Written by one thread, read by any, relaxed.  The ledger: summed over all
 * threads, fetched = dispatched + merged + stale + in batches holds exactly
 * whenever the pool is quiet. */
struct thread_stats {
	uint64_t waits;        /* waits on the handle set */
	uint64_t fetched;      /* events that these waits returned */
	uint64_t dispatched;   /* of these: their handler was free */
	uint64_t merged;       /* of these: left to the handler's owner */
	uint64_t stale;        /* of these: their handle had ended */
	uint64_t resumed;      /* handlers taken from a shard's mailbox */
	uint64_t turns;        /* runs of a handler */
	uint64_t inline_turns; /* of these, while leading */
	uint64_t promotions;   /* leadership given up before a turn */
	uint64_t wakes;        /* parked members that this thread called */
	uint64_t
	    adoptions; /* times this thread led a shard that is not its home */
	uint64_t wait_errors;
	uint64_t moved; /* sessions that went to another shard, NOTE_SHIFT */
	uint64_t key_operations; /* signatures with private keys, in turns */
	uint64_t turn_ns[TURN_KINDS]; /* averages over about 16 turns */
	uint64_t role_ns[ROLES];      /* time in each role before this one */
	uint64_t role_since_ns;
	uint32_t role;
	struct histogram promotion_delay; /* from the call until running */
	struct histogram poll_gap;        /* no thread polled, events waiting */
	struct histogram service;         /* duration of a turn */
} CACHE_LINE_ALIGNED;

/* A thread of a pool, passed to handlers as self.  The plain fields are used
 * only by the thread itself. */
struct pool_thread {
	struct member member; /* first: aligned */
	struct pool *pool;
	struct shard *home; /* written by the control thread, released [P10] */
	unsigned index;     /* among all threads of the process */
	uint64_t now_ns;    /* when the present turn began */
	uint64_t random;    /* for pool_place */
	/* The thread's involuntary context switches when a turn of its own last
	 * took long. */
	uint64_t preemptions;
	void *local; /* per-thread state of the upper layers */
	struct thread_stats stats;
	/* The time of the turns that the thread has run, by the shard of their
	 * handler.  Written by this thread, read by any, relaxed. */
	uint64_t shard_ns[POOL_THREADS_MAX];
	struct grace_reader reader; /* in a grace section during turns */
	struct batch batch;         /* used beside others */

	/* The control thread's. */
	pthread_t id;
	uint32_t state; /* enum thread_state in pool_internal.h */
	/* The kernel's id, for nice and CPUs.  The thread writes it, and the
	 * guard reads it, relaxed. */
	int tid;
	/* Outside of long turns; the thread reads it, relaxed. */
	int32_t nice;
	/* The start of the long turn that the thread runs in SCHED_IDLE; 0:
	 * none.  Written by the thread, read by the guard. */
	uint64_t idle_since_ns;
};

static inline struct pool_thread *
pool_thread_of(struct member *member)
{
	return (struct pool_thread *)(void *)member;
}

struct pool_options {
	const char *name; /* copied */
	struct pool_class classes[POOL_CLASSES_MAX];
	unsigned classes_n;
	unsigned shards; /* 1 to the number of threads */
	enum policy_kind policy;
	enum promotion_order order;
	unsigned long_turns;                   /* see pool_set_long_turns */
	unsigned long_nice;                    /* see pool_set_long_nice */
	unsigned spares;                       /* see pool_set_spares */
	const struct promotion_ops *promotion; /* NULL: promotion_futex */
	const cpu_set_t *cpus;                 /* copied; NULL: all */
	unsigned cpus_quota;  /* CPUs that the process may use up, 0: all */
	unsigned first_index; /* of its first thread, among all threads of the
	                         process */
	uint64_t wake_ns;     /* policy_calibrate */
	uint64_t awake_ns;    /* POLICY_AWAKE_NS */
	struct grace *grace;  /* borrowed */
	/* Makes a handle set for a shard.  Returns 0 or -errno. */
	int (*new_set)(void *arg, struct handle_set **ret_set);
	/* Called on each new thread before it first joins.  Returns false when
	 * out of memory: the thread does not start. */
	bool (*thread_init)(struct pool_thread *self, void *arg);
	/* Called on each thread after it has retired. */
	void (*thread_fini)(struct pool_thread *self);
	/* The pool works again, so pool_guard has to be called again.  Called
	 * by any pool thread, and by the control thread during a live change.
	 * May be NULL. */
	void (*call_guard)(void *arg);
	bool alarms; /* shards get alarms, which the caller may watch */
	void *arg;   /* passed to all of these */
};

/* Starts a pool.  Returns 0, or -errno: then nothing was started. */
int pool_new(const struct pool_options *options, struct pool **ret_pool);

/* Makes all threads retire at their next step.  Returns at once. */
void pool_stop(struct pool *pool);

/* Stops the pool, waits until all threads have ended, and frees it.  Accepts
 * NULL. */
void pool_free(struct pool *pool);

/* Live changes take effect while events flow, and return at once.  Those that
 * may fail return false with err set, and then have changed nothing. */

/* New threads are running when this returns.  Threads that are to go retire at
 * their next step, or when pool_tick has closed the shards that need them. */
bool pool_set_threads(struct pool *pool, const struct pool_class *classes,
    unsigned classes_n, struct err *err) MUST_CHECK;
/* With more shards, new sessions are spread over all of them.  With fewer, the
 * caller posts NOTE_MOVE to handlers at the wrong shard, which move to theirs
 * (pool_home_of); pool_tick closes the shards once they are empty. */
bool pool_set_shards(
    struct pool *pool, unsigned shards, struct err *err) MUST_CHECK;

/* Sets the promotion policy of all shards. */
void pool_set_policy(struct pool *pool, enum policy_kind policy);
/* Sets which parked member is promoted. */
void pool_set_order(struct pool *pool, enum promotion_order order);
/* Sets how many turns that were declared long run at once; more than the pool
 * has threads are as many as these.  0: one for each CPU, but one less than the
 * threads, at least 1. */
void pool_set_long_turns(struct pool *pool, unsigned long_turns);
#define POOL_NICE_IDLE 20
/* Makes threads nicer by that much, 0 to 19, while they run turns that were
 * declared long and other turns ask for it (pool_nice_want).  POOL_NICE_IDLE: a
 * thread then gets a CPU only if no other wants it, for the first 4 ms of each
 * turn.  When the system would not let threads return, the spare threads are
 * nicer for as long as they live, by POOL_NICE_FOR_LIFE instead of
 * POOL_NICE_IDLE, and stay apart: they run all long turns, and nothing else.
 * Without spare threads this fails then; pool_new starts without it. */
#define POOL_NICE_FOR_LIFE 10
bool pool_set_long_nice(
    struct pool *pool, unsigned nice, struct err *err) MUST_CHECK;
/* Sets how many of the first class's threads pool_set_long_nice may use for
 * long turns alone: at most half of them, or else none, and so few that each
 * shard keeps a thread.  In force with the next pool_set_threads; if that
 * fails, the number before stays. */
void pool_set_spares(struct pool *pool, unsigned spares);
/* Moves the running threads to these CPUs. */
bool pool_set_cpus(
    struct pool *pool, const cpu_set_t *cpus, struct err *err) MUST_CHECK;

/* Names the shard where handlers of shard `from` that get NOTE_SHIFT register
 * from now on (pool_shift_home).  The caller posts the notes afterwards. */
void pool_set_shift(struct pool *pool, unsigned from, unsigned to);

/* Joins threads that have ended, closes empty shards and frees the handle sets
 * of closed ones.  Returns true while a change is under way: then call it again
 * a little later, and post NOTE_MOVE again while shards are closing. */
bool pool_tick(struct pool *pool);

/* Run every millisecond or so, on one thread, which need not be the control
 * thread: ends poll gaps of the pool's shards that are
 * longer than limit_ns, as long as any thread is not in a turn.  Returns false
 * when it has met no turn for a while: the guard may stop until call_guard, or
 * until an alarm has gone off. */
bool pool_guard(struct pool *pool, uint64_t now_ns, uint64_t limit_ns);
/* Returns the descriptor of shard i's alarm, a timerfd that becomes readable
 * each time the alarm goes off and is never read; -1: there is none.  The pool
 * closes the alarm together with the shard.  Runs on the control thread. */
int pool_alarm(const struct pool *pool, unsigned i);
/* The caller watches the alarm of shard i from now on, until the pool closes
 * it.  Until then turns there call the guard.  Runs on the control thread. */
void pool_alarm_watched(struct pool *pool, unsigned i);
/* The alarm of a shard, of this pool or another one, has gone off.  On the
 * thread of pool_guard, before it. */
void pool_alarm_gone_off(struct pool *pool);

/* Returns false if no turn has ended since the call before, while one was under
 * way at both: the pool serves nothing.  To be called from one place, at
 * intervals longer than any turn. */
bool pool_moves(struct pool *pool);

/* The name, as in pool_options. */
const char *pool_name(const struct pool *pool);
/* The classes that were asked for last; returns their number. */
unsigned pool_classes(
    const struct pool *pool, struct pool_class ret[POOL_CLASSES_MAX]);
/* The CPUs that the threads run on. */
const cpu_set_t *pool_cpu_set(const struct pool *pool);
/* Whether no handler is registered and no turn is under way in any shard. */
bool pool_is_idle(const struct pool *pool);
/* Returns whether a shard has more handlers from its mailbox to run than fit in
 * a batch. */
bool pool_is_behind(const struct pool *pool);
/* Returns the number of threads that was asked for last. */
unsigned pool_threads(const struct pool *pool);
/* Returns the number of shards that was asked for last. */
unsigned pool_shards_wanted(const struct pool *pool);
/* Returns the number that pool_set_long_turns was called with last. */
unsigned pool_long_turns(const struct pool *pool);
/* Returns what was asked for last, in force or not. */
unsigned pool_long_nice(const struct pool *pool);

/* -- any thread -- */

/* Returns the grace domain of the pool's threads, as in pool_options. */
struct grace *pool_grace(const struct pool *pool);
/* Returns the cost of a wake-up, as in pool_options. */
uint64_t pool_wake_ns(const struct pool *pool);
/* Returns how long a leader that has slept calls no follower, as in
 * pool_options. */
uint64_t pool_awake_ns(const struct pool *pool);
/* Returns the admission of the pool's long turns. */
struct admission *pool_admission(struct pool *pool);
/* Calls call_guard of pool_options, if it is given. */
void pool_call_guard(struct pool *pool);
/* The number of shards, closing ones included; their ids are below it. */
unsigned pool_shards(const struct pool *pool);
/* Returns the shard with that id. */
struct shard *pool_shard(struct pool *pool, unsigned id);

/* -- the pool thread itself -- */

/* Returns 64 bits of the thread's own random generator. */
uint64_t pool_random(struct pool_thread *self);

#define POOL_NICE_WANTED_NS 500000000u
/* Tells that the thread runs a turn that should not wait behind long ones.  For
 * POOL_NICE_WANTED_NS from then on threads are nicer in long turns, if
 * pool_set_long_nice says so.  Inside a turn. */
void pool_nice_want(struct pool_thread *self);
/* Makes the thread nicer for long turns, if that is wanted.  Returns whether
 * pool_nice_end has to follow. */
bool pool_nice_begin(struct pool_thread *self);
/* Another long turn follows, between begin and end.  now_ns is its start. */
void pool_nice_next(struct pool_thread *self);
/* Gives the thread its own nice value back. */
void pool_nice_end(struct pool_thread *self);

/* The next three choose a shard for a handler.  The caller stays inside one
 * grace section until the handler is registered. */

/* Returns the less loaded of two different shards that are chosen at random.
 */
struct shard *pool_place(struct pool *pool, struct pool_thread *self);
/* Returns the shard of a slot's handler after the number of shards changed. */
struct shard *pool_home_of(struct pool *pool, uint32_t slot);
/* Returns the shard that pool_set_shift has named last for handlers of `from`
 * that have NOTE_SHIFT.  Returns `from` if either of them is closing, so that
 * the handler may also return there as long as the section lasts. */
struct shard *pool_shift_home(struct pool *pool, struct shard *from);

/* -- status -- */

/* For `show pool`: sums over all threads, exact when the pool is quiet. */
struct pool_status {
	unsigned threads, shards;
	unsigned roles[ROLES]; /* threads in each */
	uint64_t in_batch;     /* fetched and not processed so far */
	uint64_t taken_over;   /* tokens taken from a busy leader */
	uint64_t guarded;      /* of these, by the guard */
	uint64_t handlers;     /* registered */
	/* Turns that were declared long (admission.h). */
	unsigned long_limit, long_running, long_waiting;
	unsigned long_nice; /* in force */
	uint64_t long_waits, long_waited_ns;
	uint64_t turn_ns[TURN_KINDS];
	uint64_t wake_ns;
	enum policy_kind policy;
	enum promotion_order order;
	struct thread_stats sum; /* the counters and histograms */
};
/* Returns the sum of key_operations.  Runs on the control thread. */
uint64_t pool_key_operations(const struct pool *pool);

/* Fills in the status. Runs on the control thread. */
void pool_status(struct pool *pool, struct pool_status *ret_status);

/* Returns the time of all turns so far of the handlers of a shard, by that id.
 * Closing and opening the shard does not set it back. */
uint64_t pool_shard_busy_ns(const struct pool *pool, unsigned shard);

/* Returns the largest number of threads that there have been at once: each
 * place is used again.  Runs on the control thread. */
unsigned pool_places(const struct pool *pool);

/* The state of a thread, for `show threads`. */
struct thread_status {
	unsigned place;
	int tid, nice;
	unsigned grade, shard;
	bool retiring;
	enum thread_role role;
	uint64_t role_ns[ROLES]; /* up to now */
	const struct thread_stats *stats;
};
/* Describes the first thread at that place or above, from 0 on.  Returns false
 * if there is none. */
bool pool_thread_status(
    struct pool *pool, unsigned place, struct thread_status *ret_status);

#endif
