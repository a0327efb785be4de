/* SPDX-License-Identifier: MIT
 * Ranges of addresses, merged, and made for look-ups.
 *
 * The merged ranges are a sorted array of borders: the first address of each
 * range, and the first one behind it.  An address is inside if the number of
 * borders that are not greater is odd, see parity.h.
 *
 * IPv6 borders are searched by their upper 64 bits.  A /64 that has a border
 * within is looked for before that, and decided by the lower halves.
 */
#ifndef ACL_TABLE_H
#define ACL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/memory_use.h"
#include "net/addr.h"

/* Addresses from the first to the last one, both included, in host order; of
 * IPv6 the upper and the lower 64 bits. */
struct acl_range4 {
	uint32_t first, last;
};
struct acl_range6 {
	uint64_t first_hi, first_lo, last_hi, last_lo;
};

/* Never changes once it is made. */
struct acl_table;

/* Receives ranges in ascending order of their first address.  They may overlap
 * and touch. */
struct acl_table_maker;

/* Returns a maker for at most n4 and n6 ranges, or NULL when memory is short.
 */
struct acl_table_maker *acl_table_maker_new(size_t n4, size_t n6);
/* Adds a range of IPv4.  Never fails. */
void acl_table_add4(struct acl_table_maker *maker, struct acl_range4 range);
/* Adds a range of IPv6.  Never fails. */
void acl_table_add6(struct acl_table_maker *maker, struct acl_range6 range);
/* Returns the table, or NULL when memory is short.  Frees the maker.  has_unix:
 * whether peers of unix sockets are in the table. */
struct acl_table *acl_table_make(struct acl_table_maker *maker, bool has_unix);

/* Returns a table that has the addresses of `inside`, and those of `base` that
 * `changed` does not have; or NULL when memory is short.  Takes ownership of
 * changed and inside, also on failure; base has to live as long. */
struct acl_table *acl_table_patch(const struct acl_table *base,
    struct acl_table *changed, struct acl_table *inside, bool has_unix);

/* NULL is allowed.  Leaves the base of a patched table. */
void acl_table_free(struct acl_table *table);

/* Whether the peer's address is in one of the ranges.  Any thread.  Never
 * blocks. */
bool acl_table_has(const struct acl_table *table, const struct endpoint *peer);

/* Adds the memory of the table. */
void acl_table_memory(const struct acl_table *table, struct memory_use *use);

#endif
