/* SPDX-License-Identifier: MIT
 * The memory of a table of sources: shards, chains and entries.  Only
 * source_table.c and source_facts.c use this header.
 *
 * Any thread may call these functions.  An entry, its chain and the counts of
 * its shard belong to the thread that holds the shard's lock.
 */
#ifndef MODEL_SOURCE_ENTRIES_H
#define MODEL_SOURCE_ENTRIES_H

#include "base/atomics.h"
#include "base/lock.h"
#include "model/source_table.h"

/* Indices of entries are stored plus 1; 0 ends a chain. */
struct source_entry {
	struct source_key key;
	uint64_t due_ns;
	uint32_t sessions;
	uint32_t next; /* in the chain of its hash, or of free entries */
	uint32_t accepted, refused;
};

/* Further memory of an entry of SOURCE_WITH_BYTES. */
struct source_bytes {
	uint64_t used[BAND_DIRECTIONS];
	uint64_t due_ns;
};

struct source_shard {
	struct lock lock CACHE_LINE_ALIGNED;
	uint32_t made; /* entries that were ever used */
	uint32_t used;
	uint32_t free; /* a chain */
	uint32_t hand; /* where the next look for an idle entry begins */
	uint64_t refused, uncounted, evicted;
};

struct source_table {
	unsigned refs; /* control thread only */
	enum source_extra extra;
	size_t more_size;                      /* further bytes of an entry */
	uint32_t shards_n, entries_n, heads_n; /* the latter two of a shard */
	uint64_t seed;
	/* Entries of all shards, then their further bytes, then heads of all
	 * shards. */
	void *memory;
	size_t memory_size;
	struct source_entry *entries;
	char *more;
	uint32_t *heads;
	struct source_shard shards[];
};

/* A shard and, in it, the chain of a key.  The caller holds the shard's lock.
 */
struct place {
	struct source_shard *shard;
	struct source_entry *entries; /* of the shard */
	uint32_t *heads, *head;
};

/* Returns the later one of two times. */
static inline uint64_t
source_later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns the place of the shard with that number, without a head. */
struct place source_place_at(struct source_table *table, uint32_t shard);

/* Takes the lock of the key's shard, and returns its place. */
struct place source_place_lock(
    struct source_table *table, const struct source_key *key);

/* Releases the lock. */
void source_place_unlock(const struct place *place);

/* Returns the key's entry, or NULL. */
struct source_entry *source_entry_find(
    const struct place *place, const struct source_key *key);

/* Returns the key's entry, a new one if needed, which may replace an idle one.
 * NULL: no idle entry was found. */
struct source_entry *source_entry_make(const struct source_table *table,
    const struct place *place, const struct source_key *key);

/* Takes the entry out of the chain of the place's head, and puts it into the
 * chain of free entries. */
void source_entry_free(const struct place *place, struct source_entry *entry);

/* Returns whether the entry is in its chain; free entries are not. */
bool source_entry_is_used(const struct source_table *table,
    const struct place *place, const struct source_entry *entry);

/* Returns the further memory of the entry: more_size bytes. */
void *source_entry_more(
    const struct source_table *table, const struct source_entry *entry);

/* Returns the bytes of the entry; NULL: the table has none. */
struct source_bytes *source_entry_bytes(
    const struct source_table *table, const struct source_entry *entry);

/* Returns the choice of the entry; NULL: the table has none. */
struct source_choice *source_entry_choice(
    const struct source_table *table, const struct source_entry *entry);

#endif
