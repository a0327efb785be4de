/* SPDX-License-Identifier: MIT
 * Sessions that have failed, for `show failures`: how many by cause, frontend,
 * backend and server, when, and the last records of each.  A failure is the end
 * of a session for any other reason than CLOSE_DONE.
 *
 * The table has FAILURES_CELLS cells, one for each combination.  Sessions that
 * end well do not touch it, so the number of sessions pushes nothing out.  A
 * new combination in a full table takes the cell whose last failure is the
 * oldest, if that was FAILURES_IDLE_NS ago; the counts of that cell go to
 * `others`.  Without such a cell the failure counts in `others` alone.  So the
 * sum is always exact, and the counts by combination are complete for the time
 * after the last failure in `others`.
 *
 * The data threads take the table's lock for each failure, for some 200 ns.
 */
#ifndef PROXY_FAILURES_H
#define PROXY_FAILURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/lock.h"
#include "base/time_counts.h"
#include "proxy/closed.h"

#define FAILURES_CELLS    1024u
#define FAILURES_EXAMPLES 3u
#define FAILURES_IDLE_NS  (3600 * 1000000000ull)

/* A cell: the failures of one combination. */
struct failure_kind {
	uint8_t reason; /* enum close_reason */
	uint8_t key_len;
	char key[3 * CLOSED_NAME_SIZE]; /* frontend, backend, server */
	struct time_counts counts;
	uint64_t first_us, last_us; /* clock_wall_us */
	uint64_t last_ns;
	/* The last records; record n, from 0, is in [n % FAILURES_EXAMPLES]. */
	uint64_t examples_n;
	struct closed_session examples[FAILURES_EXAMPLES];
};

struct failure_cell;

struct failures {
	struct lock lock; /* guards all that follows */
	struct failure_cell *cells;
	uint32_t used; /* read by others without the lock, relaxed */
	uint16_t heads[FAILURES_CELLS]; /* of chains by hash: cell + 1 */
	struct list by_age; /* the cell with the oldest last failure first */
	uint64_t begun_us;  /* when counting began */
	struct time_counts others;
	uint64_t others_ns, others_us; /* the last failure in others */
};

/* Returns false when memory is short. */
bool failures_init(struct failures *failures) MUST_CHECK;
void failures_fini(struct failures *failures);

/* Counts the session that has ended, and keeps its record.  Any thread. */
void failures_add(
    struct failures *failures, const struct closed_session *closed);

/* Copies the cell with that number, from 0.  Returns false if there is none so
 * far. */
bool failures_read(struct failures *failures, uint32_t cell,
    struct failure_kind *ret_kind) MUST_CHECK;

/* -- for another process -- */

/* Moves counts and records out of a cell, of one cell after another; the last
 * one stands for `others`: its reason is CLOSE_DONE, its first_us is begun_us.
 * Later failures are in a later round.  *at: 0 to begin a round with.  Returns
 * false at the end of the round. */
bool failures_take(struct failures *failures, uint32_t *at,
    struct failure_kind *ret_kind) MUST_CHECK;

/* Adds the counts and records of a cell that another process has moved out. */
void failures_merge(struct failures *failures, const struct failure_kind *kind);

/* The failures of all cells and of none. */
struct failures_known {
	uint64_t begun_us;    /* clock_wall_us: when counting began */
	uint64_t others;      /* failures in the window without a cell */
	uint64_t complete_us; /* since when all have a cell */
};

void failures_know(struct failures *failures, const struct time_window *window,
    struct failures_known *ret_known);

/* Returns a name of the cell, up to CLOSED_SERVER. */
const char *failure_kind_name(
    const struct failure_kind *kind, enum closed_name which);

/* Returns example i of the cell, the latest first, or NULL if there are
 * fewer. */
const struct closed_session *failure_kind_example(
    const struct failure_kind *kind, unsigned i);

#endif
