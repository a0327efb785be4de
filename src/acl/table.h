/* SPDX-License-Identifier: MIT
 * The addresses of a list for look-ups: those of both families, and whether
 * peers of unix sockets belong to the list.
 *
 *   acl_table_new --> acl_table_add... --> acl_table_seal --> look-ups
 */
#ifndef ACL_TABLE_H
#define ACL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/borders.h"
#include "base/memory_use.h"
#include "net/addr.h"

struct acl_table;

/* Returns a table for at most n4 and n6 ranges of IPv4 and IPv6, or NULL when
 * memory is short.  wide: whether a range of IPv6 may have more than 64 bits.
 * has_unix: whether peers of unix sockets are in the table. */
struct acl_table *acl_table_new(size_t n4, size_t n6, bool wide, bool has_unix);
/* Adds a range of IPv6, or of IPv4, before the seal.  The ranges of a family
 * are in the order of acl_borders_add. */
void acl_table_add(
    struct acl_table *table, bool is_v6, const struct acl_prefix *range);
/* Makes the table ready for look-ups.  Afterwards it never changes.  Returns
 * the table; or NULL when memory is short, and frees the table. */
struct acl_table *acl_table_seal(struct acl_table *table);

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
