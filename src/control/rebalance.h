/* SPDX-License-Identifier: MIT
 * Rebalancing: spreads long sessions again, for example after a server has
 * returned while the other servers have all sessions.
 *
 * Servers with more than their fair share of sessions (model/fair_share.h) end
 * the excess, evenly over a time that the operator gives, so that the clients
 * connect again and are balanced.  The sessions that are ended:
 *
 * - The oldest ones.  A client that connects again has the youngest session, so
 *   no client is hit twice before every client was hit once.  If the choice
 * were by idleness, the same idle clients would be hit again and again, and
 * their sessions carry no load.
 * - Of these, sessions that have moved no byte for REBALANCE_QUIET_MS at most,
 *   so that an answer is hardly ever cut.  Busy sessions are ended if there
 * were too few quiet ones in time, that is, if the rebalancing is late by a
 * quarter of its time.  So all of it may take a quarter longer.
 * - At most twice as many at a time as an even pace asks for.
 * - Only sessions that relay in both directions, not those that connect or are
 *   about to end.
 *
 *   RESTING --round--> SCANNING --all slots--> WATCHING --quiet--> RESTING
 *      |
 *      +-- the time is over, or all servers have their share: ended
 *
 * SCANNING goes over the sessions in slices and keeps the oldest of each
 * server.  WATCHING waits to see which of them are busy.
 *
 * A rebalancing ends within the tolerance of the fair share.  It continues over
 * a reload, by the backend's name and the servers' states.  All functions run
 * on the control thread.
 */
#ifndef CONTROL_REBALANCE_H
#define CONTROL_REBALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct backend;
struct control;

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

/* Returns what control_rebalance would do now.  The names in the plan are valid
 * until the caller returns to the control loop.  Returns false with err set if
 * the backend's algorithm would send clients back to the same server, or when
 * out of memory.  Caller calls rebalance_status_fini. */
bool control_plan_rebalance(const struct backend *backend, uint64_t over_ms,
    struct rebalance_status *ret_plan, struct err *err) MUST_CHECK;

/* Starts a rebalancing, which replaces a running one of that backend.  Starts
 * none if the plan has no session to close.  Otherwise as above. */
bool control_rebalance(struct control *control, const struct backend *backend,
    uint64_t over_ms, struct rebalance_status *ret_plan,
    struct err *err) MUST_CHECK;

/* Ends the backend's rebalancing.  Returns false if none is running. */
bool control_cancel_rebalance(
    struct control *control, const struct backend *backend);

/* Describes the i-th running rebalancing, from 0.  Returns false if there is
 * none, or when out of memory.  Caller calls rebalance_status_fini. */
bool control_rebalance_at(
    struct control *control, size_t i, struct rebalance_status *ret_status);

/* Frees the rows. */
void rebalance_status_fini(struct rebalance_status *status);

/* Frees all of them, after the loop has ended. */
void rebalances_free(struct control *control);

#endif
