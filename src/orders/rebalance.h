/* SPDX-License-Identifier: MIT
 * Rebalancing: spreads long sessions again, for example after a server has
 * returned while the other servers have all sessions.
 *
 * Servers with more than their fair share of sessions (orders/fair_share.h) end
 * the excess, evenly over a time that the operator gives, so that the clients
 * connect again and are balanced.  A round ends sessions by these rules:
 *
 * - The oldest sessions are ended.  A client that connects again has the
 *   youngest session, so no client is hit twice before every client was hit
 *   once.  A choice by idleness would hit the same idle clients again and
 *   again, and their sessions carry no load.
 * - Sessions that move bytes while they are watched, for REBALANCE_QUIET_MS at
 *   most, are spared, so that an answer is hardly ever cut.  If too few
 *   sessions are quiet, and the rebalancing is late by a quarter of its time,
 *   busy sessions are ended as well.  A rebalancing may therefore take a
 *   quarter longer than the operator has asked for.
 * - A round ends at most twice as many sessions as an even pace asks for.
 * - Only sessions that relay are ended, not those that connect or are about to
 *   end.
 *
 *   RESTING --round: the oldest sessions of each server--> WATCHING
 *      |  ^                                                    |
 *      |  +------------------------ quiet ---------------------+
 *      |
 *      +-- the time is over, or all servers have their share: ended
 *
 * WATCHING waits to see which of the sessions are busy.
 *
 * A rebalancing ends when every server is within the tolerance of its fair
 * share, or when its time is over.  A reload does not end a rebalancing, which
 * finds its backend by name and the servers by their states.  All functions run
 * on the control thread.
 */
#ifndef ORDERS_REBALANCE_H
#define ORDERS_REBALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"

struct backend;
struct instance;

#define REBALANCE_OVER_MIN_MS  1000
#define REBALANCE_OVER_MAX_MS  (30ull * 86400 * 1000)
#define REBALANCE_OVER_DEFAULT 60000
#define REBALANCE_QUIET_MS     1000

struct rebalance_row {
	const char *server;
	uint32_t sessions, fair; /* at present */
	unsigned weight;         /* effective */
	uint32_t planned, closed;
};

struct rebalance_status {
	const char *backend;
	uint64_t over_ms, left_ms;
	uint32_t sessions, planned, closed;
	struct rebalance_row
	    *rows; /* owned; the servers that sessions are sent to */
	size_t rows_n;
};

/* All rebalancings of an instance. */
struct rebalances {
	struct instance *instance; /* borrowed */
	struct list all;
};

/* Begins without a rebalancing. */
void rebalances_init(struct rebalances *all, struct instance *instance);

/* Fills ret_plan with what rebalance_begin would do now.  The names in the
 * plan are valid until the caller returns to the control loop.  Returns false
 * with err set if the backend's algorithm would send clients back to the same
 * server, or when out of memory.  Caller calls rebalance_status_fini. */
bool rebalance_plan(const struct backend *backend, uint64_t over_ms,
    struct rebalance_status *ret_plan, struct err *err) MUST_CHECK;

/* Starts a rebalancing, in place of a running one of that backend, unless the
 * plan has no session to close.  Fills ret_plan and fails as
 * rebalance_plan does. */
bool rebalance_begin(struct rebalances *all, const struct backend *backend,
    uint64_t over_ms, struct rebalance_status *ret_plan,
    struct err *err) MUST_CHECK;

/* Ends the backend's rebalancing.  Returns false if none is running. */
bool rebalance_cancel(struct rebalances *all, const struct backend *backend);

/* Fills ret_status with the i-th running rebalancing, from 0.  Returns false if
 * there is none, or when out of memory.  Caller calls rebalance_status_fini. */
bool rebalance_status_at(
    struct rebalances *all, size_t i, struct rebalance_status *ret_status);

/* Frees the rows. */
void rebalance_status_fini(struct rebalance_status *status);

/* Frees all rebalancings.  Called after the loop has ended. */
void rebalances_fini(struct rebalances *all);

#endif
