/* SPDX-License-Identifier: MIT
 * The addresses of a list for look-ups: those of both families, and whether
 * peers of unix sockets belong to the list.
 */
#ifndef ACL_TABLE_H
#define ACL_TABLE_H

#include <stdbool.h>

#include "acl/borders.h"
#include "net/addr.h"

/* A table, which never changes once it is made. */
struct acl_table {
	bool has_unix;
	struct acl_borders *v4, *v6;
};

/* Returns a table, or NULL when memory is short.  Takes ownership of a
 * reference to v4 and v6, also on failure.  Both may be NULL when memory is
 * short. */
struct acl_table *acl_table_new(
    struct acl_borders *v4, struct acl_borders *v6, bool has_unix);

/* Frees the table.  NULL is allowed. */
void acl_table_free(struct acl_table *table);

/* Returns whether the peer's address is in the table.  Any thread.  Never
 * blocks. */
bool acl_table_has(const struct acl_table *table, const struct endpoint *peer);

#endif
