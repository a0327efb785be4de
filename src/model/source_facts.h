/* SPDX-License-Identifier: MIT
 * Facts about a table of sources, for commands and statistics: its entries one
 * by one, their values, and its totals.
 *
 * Any thread may call these functions, as those of source_table.h.
 */
#ifndef MODEL_SOURCE_FACTS_H
#define MODEL_SOURCE_FACTS_H

#include "model/source_table.h"

/* The present values of an entry, a copy. */
struct source_facts {
	struct source_key key;
	uint32_t sessions;
	uint32_t accepted; /* connections, since the entry exists */
	uint32_t refused;
	uint64_t due_ns; /* of the schedule; without a rate the last use */
	/* Bytes since the entry exists, and when all of them will have grown
	 * back.  0 unless the table is SOURCE_WITH_BYTES. */
	uint64_t bytes[BAND_DIRECTIONS], bytes_due_ns;
	/* No server unless the table is SOURCE_WITH_CHOICE. */
	struct source_choice choice;
};

struct source_totals {
	uint64_t size, used;
	uint64_t refused;   /* connections */
	uint64_t uncounted; /* connections that found the table full */
	uint64_t evicted;   /* entries that made way for others */
};

/* Returns how many bytes the source may still use before it is refused. */
uint64_t source_bytes_left(const struct source_facts *facts,
    const struct source_bounds *bounds, uint64_t now_ns);

/* Returns how many connections the schedule would admit at once. */
uint64_t source_tokens(const struct source_facts *facts,
    const struct source_bounds *bounds, uint64_t now_ns);

/* Finds the facts about a source.  Returns false if it has no entry. */
bool source_table_find(struct source_table *table, const struct source_key *key,
    struct source_facts *ret_facts);

#define SOURCE_STEP 256u

/* Finds the next entry.  *at is 0 at first.  Returns false after the last
 * entry.  Looks at SOURCE_STEP places at most; *ret_found is false if none of
 * these has an entry in use.  Entries that come and go meanwhile may be missed.
 */
bool source_table_next(struct source_table *table, uint64_t *at,
    struct source_facts *ret_facts, bool *ret_found);

/* Sets the counts of the entry and its schedule; makes the entry if needed.
 * The number of sessions stays as it is.  Returns false if the table is full.
 */
bool source_table_set(
    struct source_table *table, const struct source_facts *facts);

/* Adds the counts of another process to the entry; makes the entry if needed.
 * The times by which both schedules are ahead of now_ns add up, that of the
 * other process up to ten years.  The number of sessions stays as it is.  Of
 * two choices the later one holds.  A full table ignores the counts. */
void source_table_add(struct source_table *table,
    const struct source_facts *facts, uint64_t now_ns);

/* Removes the entry.  Returns false if it has sessions. */
bool source_table_remove(
    struct source_table *table, const struct source_key *key);

/* Adds up the counts of all shards.  Takes their locks one after another, so
 * the totals are not those of one moment. */
void source_table_totals(
    struct source_table *table, struct source_totals *ret_totals);

#endif
