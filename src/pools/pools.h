/* SPDX-License-Identifier: MIT
 * The pools of the process: start, live changes, guard, autoscaling.  All
 * functions run on the control thread.
 */
#ifndef POOLS_POOLS_H
#define POOLS_POOLS_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/trend.h"
#include "config/diff.h"
#include "config/pool_text.h"
#include "lf/pool.h"
#include "model/model.h"
#include "proxy/proxy.h"

struct listeners;
struct pools;

/* Starts every pool of the spec.  Returns NULL with err set if a pool cannot be
 * started.  Keeps pointers to loop, proxy and grace.  The
 * keeper of the proxy runs. */
struct pools *pools_start(struct ev_loop *loop, const struct spec *spec,
    struct proxy *proxy, struct grace *grace, struct err *err);

/* Ends all threads and frees the pools.  Accepts NULL. */
void pools_free(struct pools *pools);

/* Returns the number of pools, including those that are leaving. */
size_t pools_count(const struct pools *pools);
/* Returns the i-th pool, from 0; i is below pools_count. */
struct pool *pools_at(struct pools *pools, size_t i);
/* The load of a pool: how many threads it keeps busy. */
struct pool_load {
	uint64_t busy_ns; /* of all its threads, at the last sample */
	uint64_t at_ns;   /* of that sample; 0: none so far */
	uint32_t milli;   /* busy threads * 1000, since the sample before */
	struct trend trend;
};
/* Adds a sample to each pool's load.  Called every TREND_STEP_S. */
void pools_sample(struct pools *pools);
/* Moves sessions from overloaded shards to others of their pool (shift.h).
 * Called about once a second. */
void pools_shift_sessions(struct pools *pools);
/* Returns the load of the i-th pool, see pools_at. */
const struct pool_load *pools_load_at(const struct pools *pools, size_t i);

/* Returns the pool with that name, or NULL with err set to a text that lists
 * the pools. */
struct pool *pools_find(struct pools *pools, const char *name, struct err *err);

/* Returns the pool of a frontend.  The pools of its model's spec must have been
 * started. */
struct pool *pools_of(struct pools *pools, const struct frontend *frontend);

/* Starts the pools that are new in the spec: the first of two steps of a
 * reload.  Returns false with err set if a pool cannot be started: then nothing
 * has changed.  Otherwise pools_cancel or pools_apply follows. */
bool pools_prepare(
    struct pools *pools, const struct spec *spec, struct err *err) MUST_CHECK;
/* Ends the pools that pools_prepare has started. */
void pools_cancel(struct pools *pools);
/* Gives the running pools the settings of the spec, but for those that an
 * operator has set (model/override.h), and adds the differences to changes.
 * Borrows the spec until the next call.  Pools that are not in the spec leave;
 * see pools_reap. */
void pools_apply(
    struct pools *pools, const struct spec *spec, struct changes *changes);

/* Sets the automatic threads of pools whose sessions make TLS handshakes since
 * the spec was edited, or no longer make any. */
void pools_follow(struct pools *pools, const struct spec *spec);

/* Ends leaving pools that have no session left.  in_use is listeners_use, and
 * listeners its argument.  Called about once a second. */
void pools_reap(struct pools *pools,
    bool (*in_use)(const struct listeners *, struct pool *),
    const struct listeners *listeners);

/* Measures how many signatures each pool makes in a second.  Called once a
 * second. */
void pools_second(struct pools *pools);

/* Returns how many signatures with private keys the pool has made in the last
 * second. */
uint64_t pools_key_rate(const struct pools *pools, const struct pool *pool);

/* Changes at run time, while traffic flows (lf/pool.h).  Each pools_set
 * function logs its change.  Functions that can fail return false with err
 * set. */

/* A setting that commands and reloads may change, as text. */
#define POOLS_SETTING_SIZE                                                     \
	(CPU_LIST_TEXT_SIZE > THREADS_TEXT_SIZE ? CPU_LIST_TEXT_SIZE           \
	                                        : THREADS_TEXT_SIZE)
struct pools_setting {
	char now[POOLS_SETTING_SIZE], file[POOLS_SETTING_SIZE];
	bool is_set; /* by an operator, to another value than the file's */
};

/* Reads the setting of a pool of the present spec. */
void pools_setting_read(struct pools *pools, const char *pool, const char *key,
    struct pools_setting *ret_setting);

/* Sets what the text says, in the syntax of the file.  Writes the value before
 * and after. */
bool pools_setting_set(struct pools *pools, struct pool *pool, const char *key,
    const char *text, char ret_before[POOLS_SETTING_SIZE],
    char ret_after[POOLS_SETTING_SIZE], struct err *err) MUST_CHECK;

/* Sets the threads of the pool, and ends its autoscaling.  With shards = auto,
 * the number of shards follows; pools_set_autoscale does the same. */
bool pools_set_threads(struct pools *pools, struct pool *pool,
    const struct pool_class *classes, unsigned classes_n,
    struct err *err) MUST_CHECK;
/* Sets the threads to automatic ones for that many CPUs; see
 * threads_for_cpus.  The number then follows the spec (pools_follow). */
bool pools_set_threads_auto(struct pools *pools, struct pool *pool,
    unsigned cpus, struct err *err) MUST_CHECK;
/* Sets the number of shards, 0 for auto, and moves the pool's sessions to them.
 */
bool pools_set_shards(struct pools *pools, struct pool *pool, unsigned shards,
    struct err *err) MUST_CHECK;
/* Sets the promotion policy. */
void pools_set_policy(
    struct pools *pools, struct pool *pool, enum policy_kind policy);
/* Sets the order in which parked threads are promoted. */
void pools_set_order(
    struct pools *pools, struct pool *pool, enum promotion_order order);
/* Sets the CPUs that the pool's threads may run on. */
bool pools_set_cpus(struct pools *pools, struct pool *pool,
    const cpu_set_t *cpus, struct err *err) MUST_CHECK;

/* Adjusts the number of threads to the load, between min and max.  min == max
 * ends autoscaling. */
bool pools_set_autoscale(struct pools *pools, struct pool *pool, unsigned min,
    unsigned max, struct err *err) MUST_CHECK;
/* Writes the threads in force, in the syntax of the configuration, automatic
 * ones as their number.  Returns out. */
const char *pools_threads_text(const struct pools *pools,
    const struct pool *pool, char out[THREADS_TEXT_SIZE]);
/* Returns the number of the pool's threads without the spare ones. */
unsigned pools_own_threads(const struct pools *pools, const struct pool *pool);
/* Returns whether the threads are automatic. */
bool pools_threads_are_auto(const struct pools *pools, const struct pool *pool);
/* Gets the range of threads of an autoscaled pool.  Returns false if the pool
 * is not autoscaled. */
bool pools_autoscale(const struct pools *pools, const struct pool *pool,
    unsigned *ret_min, unsigned *ret_max);

/* Reads the CPU affinity of the pool's first thread; the set is empty if the
 * pool has no thread. */
void pool_cpus(struct pool *pool, cpu_set_t *ret_cpus);

/* Returns the first pool that serves nothing (pool_moves), or NULL.  Called by
 * one caller, at intervals longer than any turn. */
const struct pool *pools_stuck(struct pools *pools);

#endif
