/* SPDX-License-Identifier: MIT
 * See table.h.
 */
#include "acl/table.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct acl_table {
	bool has_unix;
	/* If base is not NULL, the table has only these three, see
	 * acl_table_patch; else it has v4 and v6. */
	const struct acl_table *base;
	struct acl_table *changed, *inside;
	struct acl_borders *v4, *v6;
};

/* Returns the address of a peer of IPv4 or IPv6. */
static struct acl_key
key_of(const struct endpoint *peer)
{
	uint64_t halves[2] = {0, 0};

	memcpy(halves, peer->ip, peer->family == AF_INET ? 4 : 16);
	return (struct acl_key){be64toh(halves[0]), be64toh(halves[1])};
}

bool
acl_table_has(const struct acl_table *table, const struct endpoint *peer)
{
	if (table->base && peer->family != AF_UNIX)
		return acl_table_has(table->changed, peer)
		           ? acl_table_has(table->inside, peer)
		           : acl_table_has(table->base, peer);
	switch (peer->family) {
	case AF_INET:
		return acl_borders_have(table->v4, key_of(peer));
	case AF_INET6:
		return acl_borders_have(table->v6, key_of(peer));
	case AF_UNIX:
		return table->has_unix;
	default:
		return false;
	}
}

/* -- making -- */

struct acl_table *
acl_table_new(size_t n4, size_t n6, bool wide, bool has_unix)
{
	struct acl_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->has_unix = has_unix;
	t->v4 = acl_borders_new(n4, false);
	t->v6 = acl_borders_new(n6, wide);
	if (t->v4 && t->v6)
		return t;
	acl_table_free(t);
	return NULL;
}

void
acl_table_add(
    struct acl_table *table, bool is_v6, const struct acl_prefix *range)
{
	acl_borders_add(is_v6 ? table->v6 : table->v4, range);
}

struct acl_table *
acl_table_seal(struct acl_table *table)
{
	if (acl_borders_seal(table->v4) && acl_borders_seal(table->v6))
		return table;
	acl_table_free(table);
	return NULL;
}

struct acl_table *
acl_table_patch(const struct acl_table *base, struct acl_table *changed,
    struct acl_table *inside, bool has_unix)
{
	struct acl_table *t = calloc(1, sizeof(*t));

	if (t && changed && inside) {
		*t = (struct acl_table){.has_unix = has_unix,
		    .base = base,
		    .changed = changed,
		    .inside = inside};
		return t;
	}
	free(t);
	acl_table_free(changed);
	acl_table_free(inside);
	return NULL;
}

void
acl_table_free(struct acl_table *table)
{
	if (!table)
		return;
	acl_table_free(table->changed);
	acl_table_free(table->inside);
	acl_borders_free(table->v4);
	acl_borders_free(table->v6);
	free(table);
}

void
acl_table_memory(const struct acl_table *table, struct memory_use *use)
{
	memory_add_block(use, table);
	if (table->base) {
		acl_table_memory(table->changed, use);
		acl_table_memory(table->inside, use);
		return;
	}
	acl_borders_memory(table->v4, use);
	acl_borders_memory(table->v6, use);
}
