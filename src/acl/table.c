/* SPDX-License-Identifier: MIT
 * See table.h.
 */
#include "acl/table.h"

#include <stdlib.h>
#include <sys/socket.h>

struct acl_table *
acl_table_new(struct acl_borders *v4, struct acl_borders *v6, bool has_unix)
{
	struct acl_table *t = v4 && v6 ? malloc(sizeof(*t)) : NULL;

	if (t) {
		*t = (struct acl_table){has_unix, v4, v6};
		return t;
	}
	acl_borders_unref(v4);
	acl_borders_unref(v6);
	return NULL;
}

void
acl_table_free(struct acl_table *table)
{
	if (!table)
		return;
	acl_borders_unref(table->v4);
	acl_borders_unref(table->v6);
	free(table);
}

bool
acl_table_has(const struct acl_table *table, const struct endpoint *peer)
{
	if (peer->family == AF_UNIX)
		return table->has_unix;
	if (peer->family != AF_INET && peer->family != AF_INET6)
		return false;
	return acl_borders_have(peer->family == AF_INET ? table->v4 : table->v6,
	    acl_key_of(peer->family, peer->ip));
}
