/* SPDX-License-Identifier: MIT
 * The small form of an entry, as a list keeps it: a list may have a million
 * entries.
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
	uint32_t first; /* in host order, as all below */
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

/* Gets the entry back. */
void acl_unpack(bool is_v6, const void *packed, struct acl_entry *ret);

/* Compares by the first address and then by the length, as memcmp. */
int acl_packed_compare(bool is_v6, const void *a, const void *b);

/* For qsort: the same, but entries with the same range are in the order in
 * which they were read. */
int acl_packed_order4(const void *one, const void *other);
int acl_packed_order6(const void *one, const void *other);

#endif
