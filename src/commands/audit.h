/* SPDX-License-Identifier: MIT
 * What was changed through the admin socket: a line of the log for each change,
 * and the last of them for `show changes`.
 *
 *   lfproxy: admin: root (uid 0, pid 4711): server app/s1 weight: 100 -> 50
 *
 * Memory is bounded: AUDIT_KEPT changes, each cut to fit.  Control thread only.
 */
#ifndef COMMANDS_AUDIT_H
#define COMMANDS_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#include "commands/peer.h"

#define AUDIT_KEPT 128

struct audit_change {
	uint64_t id; /* from 1, without gaps */
	uint64_t wall_ms;
	char who[PEER_TEXT_SIZE];
	char what[160];
	/* Both empty: it happened, and there is no value to tell. */
	char before[96], after[96];
};

struct audit {
	uint64_t n; /* changes so far; the last is at (n - 1) % AUDIT_KEPT */
	struct audit_change changes[AUDIT_KEPT];
};

/* Notes and logs a change.  before and after may be NULL; when they are equal
 * nothing was changed, and nothing is noted.  What is not printable
 * in an operator's words becomes question marks. */
void audit_note(struct audit *audit, const struct peer *who, const char *what,
    const char *before, const char *after);

/* The change with that id, NULL when it is gone or has not happened. */
const struct audit_change *audit_at(const struct audit *audit, uint64_t id);

#endif
