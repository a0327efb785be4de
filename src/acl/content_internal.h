/* SPDX-License-Identifier: MIT
 * Shared by the parts of a content: its entries and look-ups in them
 * (content.c), and changes after it was sealed (content_change.c).
 */
#ifndef ACL_CONTENT_INTERNAL_H
#define ACL_CONTENT_INTERNAL_H

#include "acl/content.h"
#include "acl/patch.h"

/* Entries are kept small: a list may have a million of them. */
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

struct acl_content {
	/* Sorted once the content is sealed: by address, then by length. */
	struct acl_entry4 *v4;
	size_t n4, room4;
	struct acl_entry6 *v6;
	size_t n6, room6;
	bool has_unix;
	struct acl_entry unix_entry; /* if has_unix */
	char **sources;
	size_t sources_n, sources_room;
	uint64_t digest;
	struct acl_table *table; /* NULL: not sealed */
	/* The last table that was made of all entries: `table` itself, or the
	 * base that `table` patches. */
	struct acl_table *whole;
	struct acl_patch patch; /* changes since `whole` was made */
	struct acl_view view;
};

/* -- content.c -- */

/* Packs an entry of IPv4. */
struct acl_entry4 acl_entry4_pack(const struct acl_entry *entry);
/* Packs an entry of IPv6. */
struct acl_entry6 acl_entry6_pack(const struct acl_entry *entry);

/* Makes room for one more entry of the family, AF_INET or AF_INET6.  Returns
 * false when memory is short. */
bool acl_content_make_room(
    struct acl_content *content, uint16_t family) MUST_CHECK;

/* Gets the index, within the array of the range's family, of the first entry
 * that is not before the range.  Returns whether that entry has exactly this
 * range.  The family is AF_INET or AF_INET6; the content is sealed. */
bool acl_content_index(const struct acl_content *content,
    const struct cidr *range, size_t *ret_index);

#endif
