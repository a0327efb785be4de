/* SPDX-License-Identifier: MIT
 * Rebalancing: sessions that last are spread anew, as after a server has come
 * back to find that the others have all of them.
 *
 * Servers that have more than their fair share (model/fair_share.h) are made to
 * end what is too much, evenly over a time that the operator gives, so that the
 * clients connect again and are sent where the balance is.  Which sessions:
 *
 * - The oldest.  Age is what made it uneven, and who connects again is the
 *   youngest: so nobody is asked twice before everybody was asked once.  By
 *   idleness, the same idle client would be met again and again, and closing
 *   what nobody uses moves the count but not the load.
 * - Of these, the ones that have moved no byte for a while
 *   (REBALANCE_QUIET_MS at most), so that hardly ever an answer is cut.  Busy
 *   ones end only as far as not enough quiet ones were met in time: when it is
 *   late by a quarter of the whole time, so the whole may take a quarter
 *   longer.
 * - Not more than twice as many at a time as an even pace asks for.
 * - Only such as are relayed in both directions; what connects, or is about to
 *   end, is left alone.
 *
 *   RESTING --round--> SCANNING --all places--> WATCHING --quiet--> RESTING
 *      |
 *      +-- the time is over, or all have their share: gone
 *
 * SCANNING goes over the sessions in slices and keeps the oldest of each
 * server; WATCHING is the while in which they may show that they are busy.
 *
 * It stops within the tolerance of the fair share.  It goes on over a reload,
 * by the backend's name and the servers' states.  Control thread, as all of
 * these.
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
	unsigned weight;         /* the effective one */
	uint32_t planned, closed;
};

struct rebalance_status {
	const char *backend;
	uint64_t over_ms, left_ms;
	uint32_t sessions, planned, closed;
	struct rebalance_row *rows; /* owned; the servers to choose from */
	size_t rows_n;
};

/* What would be done now.  The names hold until the control loop goes on.
 * False with err set when the backend's algorithm would send clients back to
 * where they were, or memory is short.  */
bool control_plan_rebalance(struct control *control,
    const struct backend *backend, uint64_t over_ms,
    struct rebalance_status *ret_plan, struct err *err);

/* Does it, instead of one of that backend that is under way.  When there is
 * nothing to do the plan says so, and none begins. */
bool control_rebalance(struct control *control, const struct backend *backend,
    uint64_t over_ms, struct rebalance_status *ret_plan, struct err *err);

/* What was closed is closed.  False: there is none. */
bool control_cancel_rebalance(
    struct control *control, const struct backend *backend);

/* That of this number, from 0 on; false: there are no more, or memory is
 * short. */
bool control_rebalance_at(
    struct control *control, size_t i, struct rebalance_status *ret_status);

void rebalance_status_fini(struct rebalance_status *status);

/* When the loop has ended. */
void rebalances_free(struct control *control);

#endif
