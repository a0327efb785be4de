/* SPDX-License-Identifier: MIT
 * Ranges of addresses, merged and indexed for look-ups.
 *
 * The merged ranges are a sorted array of borders: the first address of each
 * range, and the first one behind it.  An address is inside if the number of
 * borders that are not greater than it is odd, see parity.h.
 *
 * IPv6 borders are searched by their upper 64 bits.  Before that, a look-up
 * searches for the address's /64 among those with a border within; in such a
 * /64 the lower halves decide.
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

/* A table, which never changes once it is made. */
struct acl_table;

/* A maker receives ranges in ascending order of their first address.  Ranges
 * may overlap and touch. */
struct acl_table_maker;

/* Returns a maker for at most n4 and n6 ranges, or NULL when memory is short.
 */
struct acl_table_maker *acl_table_maker_new(size_t n4, size_t n6);
/* Adds a range of IPv4.  Never fails. */
void acl_table_add4(struct acl_table_maker *maker, struct acl_range4 range);
/* Adds a range of IPv6.  Never fails. */
void acl_table_add6(struct acl_table_maker *maker, struct acl_range6 range);
/* Returns the table of the ranges, or NULL when memory is short.  Frees the
 * maker in either case.  has_unix: whether peers of unix sockets are in the
 * table. */
struct acl_table *acl_table_make(struct acl_table_maker *maker, bool has_unix);

/* Returns a table that has the addresses of `inside`, and those of `base` that
 * `changed` does not have; or NULL when memory is short.  Takes ownership of
 * changed and inside, which may be NULL when memory is short, also on failure.
 * base has to live as long as the result. */
struct acl_table *acl_table_patch(const struct acl_table *base,
    struct acl_table *changed, struct acl_table *inside, bool has_unix);

/* Frees the table, but not the base of a patched table.  NULL is allowed. */
void acl_table_free(struct acl_table *table);

/* Returns whether the peer's address is in one of the ranges.  Any thread.
 * Never blocks. */
bool acl_table_has(const struct acl_table *table, const struct endpoint *peer);

/* Adds the memory of the table to use, without the base of a patched table. */
void acl_table_memory(const struct acl_table *table, struct memory_use *use);

#endif
