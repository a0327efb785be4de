/* SPDX-License-Identifier: MIT
 * The audit log of changes made by commands: a log line for each change, and
 * the latest ones in memory for `show changes`.
 *
 *   lfproxy: admin: root (uid 0, pid 4711): server app/s1 weight: 100 -> 50
 *
 * Memory is bounded: AUDIT_KEPT changes, each cut to fit.  All functions run
 * on the control thread.
 */
#ifndef COMMANDS_AUDIT_H
#define COMMANDS_AUDIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/numbered.h"
#include "commands/peer.h"
#include "handover/later.h"

/* The beginning of each line. */
#define AUDIT_LINE LATER "change\t"

#define AUDIT_KEPT 128

struct audit_change {
	uint64_t id; /* from 1; set by numbered.h */
	uint64_t wall_ms;
	char who[PEER_TEXT_SIZE];
	char what[160];
	/* Values; both are empty for an action. */
	char before[96], after[96];
};

struct audit {
	struct numbered list;
	struct audit_change changes[AUDIT_KEPT];
};

/* Begins without changes.  The audit must not be moved afterwards. */
void audit_init(struct audit *audit);

/* Records and logs a change.  before and after may be NULL; if they are equal,
 * nothing was changed and nothing is recorded.  Unprintable bytes become
 * question marks.  audit NULL: does nothing. */
void audit_note(struct audit *audit, const struct peer *who, const char *what,
    const char *before, const char *after);

/* Returns the number of changes in memory. */
size_t audit_count(const struct audit *audit);

/* Returns the i-th change in memory, the oldest first; i < audit_count(). */
const struct audit_change *audit_at(const struct audit *audit, size_t i);

/* Writes a line for each change (handover/later.h). */
void audit_write(const struct audit *audit, FILE *out);

/* Records the change that a line of audit_write has, unlogged and with its id;
 * the changes of this process come behind it. */
void audit_read(struct audit *audit, const char *line);

#endif
