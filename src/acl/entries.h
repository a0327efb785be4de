/* SPDX-License-Identifier: MIT
 * The entries of a content that are of one address family, in a sorted array.
 *
 *   acl_entries_append... --> acl_entries_seal --> find, insert, remove
 *
 * If no entry was appended, the seal can be left out.
 */
#ifndef ACL_ENTRIES_H
#define ACL_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/borders.h"
#include "net/cidr.h"

struct acl_entry {
	struct cidr range;
	unsigned source; /* number of the file */
	unsigned line;   /* 0: unknown */
};

/* The form in which a list keeps an entry: a list may have a million. */
struct acl_packed {
	struct acl_key first;
	uint32_t line;
	uint8_t bits, source;
	uint16_t unused; /* 0: all bytes are hashed */
};

struct acl_entries {
	uint16_t family; /* AF_INET or AF_INET6 */
	bool wide;       /* an entry has or had more than 64 bits */
	size_t n, room;
	struct acl_packed *all;
};

/* Appends an entry; not allowed after the seal, unless another seal follows.
 * Returns false when memory is short. */
bool acl_entries_append(
    struct acl_entries *entries, const struct acl_entry *entry) MUST_CHECK;

/* Sorts the entries, and drops those whose range another entry has.  Calls
 * covered for each entry that is within another one, dropped ones included, in
 * the order of their addresses. */
void acl_entries_seal(struct acl_entries *entries,
    void (*covered)(void *arg, const struct acl_entry *entry,
        const struct acl_entry *cover),
    void *arg);

/* Gets the index of the first entry that is not before the range.  Returns
 * whether that entry has exactly this range. */
bool acl_entries_find(const struct acl_entries *entries,
    const struct cidr *range, size_t *ret_index);

/* Gets the index of the entry with the most bits, but at most `bits`, that has
 * the address.  Returns false if there is none.  bits may be -1. */
bool acl_entries_find_longest(const struct acl_entries *entries,
    struct acl_key key, int bits, size_t *ret_index);

/* Gets the entry with that index, which is less than n. */
void acl_entries_at(
    const struct acl_entries *entries, size_t index, struct acl_entry *ret);

/* Makes room for one more entry.  Returns false when memory is short. */
bool acl_entries_reserve(struct acl_entries *entries) MUST_CHECK;
/* Inserts an entry in order, for which there is room; no entry has the same
 * range. */
void acl_entries_insert(
    struct acl_entries *entries, const struct acl_entry *entry);

/* Removes the entry with that index, which is less than n. */
void acl_entries_remove(struct acl_entries *entries, size_t index);

/* Removes from entries those whose ranges others have as well, and from others
 * those whose ranges entries do not have.  What stays in others gets the places
 * that it had in entries.  Both are sealed. */
void acl_entries_part(struct acl_entries *entries, struct acl_entries *others);

/* Returns the borders of sealed entries, or NULL when memory is short. */
struct acl_borders *acl_entries_make_borders(const struct acl_entries *entries);

/* Returns the borders that the entries will have once an entry with the range
 * is inserted; NULL when memory is short.  from: their present borders. */
struct acl_borders *acl_entries_borders_with(const struct acl_entries *entries,
    struct acl_borders *from, const struct cidr *range);
/* Returns the borders that the entries will have once the entry with that index
 * is removed; NULL when memory is short. */
struct acl_borders *acl_entries_borders_without(
    const struct acl_entries *entries, struct acl_borders *from, size_t index);

/* Returns a hash, with that seed, of the entries. */
uint64_t acl_entries_hash(const struct acl_entries *entries, uint64_t seed);
/* Does the same without the files and lines of the entries. */
uint64_t acl_entries_hash_ranges(
    const struct acl_entries *entries, uint64_t seed);

#endif
