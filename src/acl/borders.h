/* SPDX-License-Identifier: MIT
 * The addresses of a list, of one family, for look-ups: a sorted array of
 * borders, which are the first address of each range and the first address
 * behind it.  Ranges that overlap or touch are merged.  An address is inside if
 * the number of borders that are not greater is odd.
 *
 *   acl_borders_new --> acl_borders_add... --> acl_borders_seal --> look-ups
 *
 * An index over the first 16 bits of an address leads to the part of the array
 * that a binary search looks at.
 */
#ifndef ACL_BORDERS_H
#define ACL_BORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/memory_use.h"

/* An address in host order: the upper and the lower 64 bits of IPv6.  IPv4 has
 * the upper 32 bits of hi. */
struct acl_key {
	uint64_t hi, lo;
};

/* The addresses that begin with the first `bits` bits of first, whose other
 * bits are 0. */
struct acl_prefix {
	struct acl_key first;
	unsigned bits;
};

struct acl_borders;

/* Returns borders without a range, or NULL when memory is short.  n: how many
 * ranges will be added at most.  wide: whether a range may have more than 64
 * bits. */
struct acl_borders *acl_borders_new(size_t n, bool wide);

/* Adds a range, before the seal.  The first address of a range is not less than
 * that of the range before; if both are equal, the range before has fewer
 * bits. */
void acl_borders_add(
    struct acl_borders *borders, const struct acl_prefix *range);

/* Makes the index.  Returns false when memory is short. */
bool acl_borders_seal(struct acl_borders *borders) MUST_CHECK;

/* Returns whether the address is inside.  Any thread.  Never blocks. */
bool acl_borders_have(const struct acl_borders *borders, struct acl_key key);

/* Frees the borders.  NULL is allowed. */
void acl_borders_free(struct acl_borders *borders);

/* Adds the memory of the borders to use. */
void acl_borders_memory(
    const struct acl_borders *borders, struct memory_use *use);

#endif
