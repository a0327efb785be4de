/* SPDX-License-Identifier: MIT
 * The pools of the process on the control thread: start, live changes, guard,
 * autoscaling.
 */
#ifndef CONTROL_POOLS_H
#define CONTROL_POOLS_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "config/diff.h"
#include "lf/pool.h"
#include "model/model.h"
#include "proxy/proxy.h"

struct pools;

/* The guard ends poll gaps that are longer than this. */
#define POOLS_GUARD_MS 1

/* Control thread, as all of these.  Starts every pool of the spec; NULL with
 * err set if one cannot be started.  Everything is borrowed. */
struct pools *pools_start(struct ev_loop *loop, const struct spec *spec,
    struct proxy *proxy, struct grace *grace, struct err *err);

/* Ends all threads and frees; NULL is fine. */
void pools_free(struct pools *pools);

size_t pools_count(const struct pools *pools);
struct pool *pools_at(struct pools *pools, size_t i);
/* By name; NULL with err naming those that exist. */
struct pool *pools_find(struct pools *pools, const char *name, struct err *err);

/* By the frontend that names it.  There is one: it is of a spec whose pools
 * were started. */
struct pool *pools_of(struct pools *pools, const struct frontend *frontend);

/* A change to another spec, in three steps.  The first starts the pools that
 * are new; false with err set if one cannot be started, and nothing has
 * changed.  Then pools_cancel, or pools_apply: the others get the settings of
 * the spec, whatever they were set to meanwhile, and what differed is told in
 * changes; a pool that the spec lacks stays until pools_reap finds that nobody
 * needs it. */
bool pools_prepare(
    struct pools *pools, const struct spec *spec, struct err *err);
void pools_cancel(struct pools *pools);
void pools_apply(
    struct pools *pools, const struct spec *spec, struct changes *changes);

/* Now and then: ends pools that are to go and have no session left.  in_use
 * says whether somebody accepts for the pool. */
void pools_reap(struct pools *pools,
    bool (*in_use)(const void *arg, struct pool *pool), const void *arg);

/* Live changes, while traffic flows; see pool.h.  A change of the threads ends
 * autoscaling of that pool.  All are logged. */
bool pools_set_threads(struct pools *pools, struct pool *pool,
    const struct pool_class *classes, unsigned classes_n, struct err *err);
bool pools_set_shards(
    struct pools *pools, struct pool *pool, unsigned shards, struct err *err);
bool pools_set_policy(struct pools *pools, struct pool *pool,
    enum policy_kind policy, struct err *err);
void pools_set_order(
    struct pools *pools, struct pool *pool, enum promotion_order order);
bool pools_set_cpus(struct pools *pools, struct pool *pool,
    const cpu_set_t *cpus, struct err *err);

/* Between min and max threads by load; min == max ends it. */
bool pools_set_autoscale(struct pools *pools, struct pool *pool, unsigned min,
    unsigned max, struct err *err);
bool pools_autoscale(const struct pools *pools, const struct pool *pool,
    unsigned *ret_min, unsigned *ret_max);

/* Fault injection of the tests: without the guard. */
void pools_set_guard(struct pools *pools, bool on);

#endif
