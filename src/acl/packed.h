/* SPDX-License-Identifier: MIT
 * The small form of an entry, in which a list keeps its entries: a list may
 * have a million of them.
 *
 * Entries of one address family are in an array of struct acl_entry4 or struct
 * acl_entry6.  Where a function takes is_v6, the pointers are to such entries.
 */
#ifndef ACL_PACKED_H
#define ACL_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/content.h"

struct acl_entry4 {
	uint32_t first; /* in host order, as all numbers below */
	uint32_t line;
	uint8_t bits, source;
	uint16_t unused; /* 0: all bytes are hashed */
};

struct acl_entry6 {
	uint64_t hi, lo;
	uint32_t line;
	uint8_t bits, source;
	uint16_t unused; /* 0 */
};

union acl_packed {
	struct acl_entry4 v4;
	struct acl_entry6 v6;
};

/* Returns the number of bytes of an entry. */
static inline size_t
acl_packed_size(bool is_v6)
{
	return is_v6 ? sizeof(struct acl_entry6) : sizeof(struct acl_entry4);
}

/* Returns the small form of an entry of AF_INET6, or AF_INET. */
union acl_packed acl_pack(const struct acl_entry *entry);

/* Gets the entry from its small form. */
void acl_unpack(bool is_v6, const void *packed, struct acl_entry *ret);

/* Return the last address of an entry; of IPv6 the upper or lower half. */
static inline uint32_t
acl_packed_last4(const struct acl_entry4 *e)
{
	return e->first |
	       (e->bits ? UINT32_MAX >> (e->bits - 1) >> 1 : UINT32_MAX);
}

static inline uint64_t
acl_packed_last_hi(const struct acl_entry6 *e)
{
	return e->hi | (e->bits >= 64 ? 0 : UINT64_MAX >> e->bits);
}

static inline uint64_t
acl_packed_last_lo(const struct acl_entry6 *e)
{
	return e->lo | (e->bits <= 64       ? UINT64_MAX
	                   : e->bits >= 128 ? 0
	                                    : UINT64_MAX >> (e->bits - 64));
}

/* Compares by the first address and then by the length of the prefix.  Returns
 * a number below, equal to or above 0, as memcmp does. */
int acl_packed_compare(bool is_v6, const void *a, const void *b);

/* Returns whether the range of e is within that of other.  e is not before
 * other in the order of acl_packed_compare. */
bool acl_packed_is_within(bool is_v6, const void *e, const void *other);

/* Compares entries of AF_INET for qsort, as acl_packed_compare does, but
 * entries with the same range by the order in which they were read. */
int acl_packed_order4(const void *one, const void *other);
/* Compares entries of AF_INET6 in the same way. */
int acl_packed_order6(const void *one, const void *other);

#endif
