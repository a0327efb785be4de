/* SPDX-License-Identifier: MIT
 * The entries of a content that are of one address family.  Entries that are
 * read or prepared are appended to an array, which is then sorted and divided
 * into blocks.  A change moves entries within one block only, so that its time
 * hardly depends on their number.
 *
 *   acl_entries_append... --> acl_entries_seal --> find, insert, remove
 *
 * If no entry was appended, entries can also be inserted without a seal.
 */
#ifndef ACL_ENTRIES_H
#define ACL_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/packed.h"

/* Packed entries that follow each other. */
struct acl_block {
	char *entries;
	uint32_t n, room;
	size_t before; /* entries of all blocks before this one */
	bool owned;    /* entries is from malloc; else within `all` */
	/* Unless this is the first block: greater than all entries of the
	 * blocks before, and not greater than those of this one. */
	union acl_packed first;
};

struct acl_entries {
	bool is_v6;
	bool wide;   /* an entry has or had more than 64 bits */
	size_t size; /* of a packed entry */
	size_t n;
	char *all; /* what was appended */
	size_t all_room;
	struct acl_block *blocks; /* in order; none before the seal */
	size_t blocks_n, blocks_room;
};

/* Makes an empty set of entries of AF_INET6 (is_v6) or AF_INET. */
void acl_entries_init(struct acl_entries *entries, bool is_v6);

/* Appends an entry; not allowed after an insertion or removal.  Returns false
 * when memory is short. */
bool acl_entries_append(
    struct acl_entries *entries, const struct acl_entry *entry) MUST_CHECK;

/* Sorts what was appended, and drops entries whose range another one has.
 * Calls covered, unless it is NULL, for each entry that is within another one,
 * dropped ones included, in the order of their addresses.  Returns false when
 * memory is short; then acl_entries_append and another seal may follow. */
bool acl_entries_seal(struct acl_entries *entries,
    void (*covered)(void *arg, const struct acl_entry *entry,
        const struct acl_entry *cover),
    void *arg) MUST_CHECK;

/* Gets the index of the first entry that is not before the range.  Returns
 * whether that entry has exactly this range. */
bool acl_entries_find(const struct acl_entries *entries,
    const struct cidr *range, size_t *ret_index);

/* Gets the entry with that index, which is less than n. */
void acl_entries_at(
    const struct acl_entries *entries, size_t index, struct acl_entry *ret);

/* Inserts an entry in order; no entry has the same range.  Returns false when
 * memory is short, but never for the entry that was removed last. */
bool acl_entries_insert(
    struct acl_entries *entries, const struct acl_entry *entry) MUST_CHECK;

/* Removes the entry with exactly this range.  Returns false if there is none.
 */
bool acl_entries_remove(struct acl_entries *entries, const struct cidr *range);

/* Adds the ranges to a table.  The entries are sealed, or were inserted. */
void acl_entries_add_ranges(
    const struct acl_entries *entries, struct acl_table *table);

/* Returns a hash, with that seed, of the entries as acl_entries_seal has left
 * them. */
uint64_t acl_entries_hash(const struct acl_entries *entries, uint64_t seed);

/* Does the same without the files and lines of the entries. */
uint64_t acl_entries_hash_ranges(
    const struct acl_entries *entries, uint64_t seed);

/* Adds the memory of the entries to use. */
void acl_entries_memory(
    const struct acl_entries *entries, struct memory_use *use);

/* Frees the entries. */
void acl_entries_fini(struct acl_entries *entries);

#endif
