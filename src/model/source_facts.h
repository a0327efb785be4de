/* SPDX-License-Identifier: MIT
 * Facts about a table of sources, for commands and statistics: its entries one
 * by one, their values, and its totals.
 *
 * Any thread, as in source_table.h.
 */
#ifndef MODEL_SOURCE_FACTS_H
#define MODEL_SOURCE_FACTS_H

#include "base/memory_use.h"
#include "model/source_table.h"

/* The present values of an entry, a copy. */
struct source_facts {
	struct source_key key;
	uint32_t sessions;
	uint32_t accepted; /* connections, since the entry exists */
	uint32_t refused;
	uint64_t due_ns; /* of the schedule; without a rate the last use */
	/* SOURCE_WITH_BYTES, else 0: since the entry exists, and when all of
	 * them will have grown back. */
	uint64_t bytes[BAND_DIRECTIONS], bytes_due_ns;
};

struct source_totals {
	uint64_t size, used;
	uint64_t refused;   /* connections */
	uint64_t uncounted; /* connections that found the table full */
	uint64_t evicted;   /* entries that made way for others */
};

/* Returns how many bytes the source may use before it is refused. */
uint64_t source_bytes_left(const struct source_facts *facts,
    const struct source_bounds *bounds, uint64_t now_ns);

/* Returns how many connections the schedule would let in at once. */
uint64_t source_tokens(const struct source_facts *facts,
    const struct source_bounds *bounds, uint64_t now_ns);

/* Returns false if the source has no entry. */
bool source_table_find(struct source_table *table, const struct source_key *key,
    struct source_facts *ret_facts);

#define SOURCE_STEP 256u

/* Returns the next entry; *at is 0 at first.  Returns false after the last one.
 * Looks at SOURCE_STEP places at most: then *ret_found is false.  Entries that
 * come and go meanwhile may be missed. */
bool source_table_next(struct source_table *table, uint64_t *at,
    struct source_facts *ret_facts, bool *ret_found);

/* Sets the counts of the entry and its schedule; makes the entry if needed.
 * The number of sessions stays as it is.  Returns false if the table is full.
 */
bool source_table_set(
    struct source_table *table, const struct source_facts *facts);

/* Adds what another process has counted to the entry; makes the entry if
 * needed.  What the schedules of both are ahead of now adds up, the other one's
 * up to ten years.  The number of sessions stays as it is.  A full table takes
 * no more. */
void source_table_add(struct source_table *table,
    const struct source_facts *facts, uint64_t now_ns);

/* Removes the entry.  Returns false if it has sessions. */
bool source_table_remove(
    struct source_table *table, const struct source_key *key);

/* Adds up the counts of all shards; takes their locks one after another, so
 * the totals are not of one moment. */
void source_table_totals(
    struct source_table *table, struct source_totals *ret_totals);

/* Adds the memory of the table: what was touched of it, at most. */
void source_table_memory(struct source_table *table, struct memory_use *use);

#endif
