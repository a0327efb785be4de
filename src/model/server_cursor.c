/* SPDX-License-Identifier: MIT
 * See server_cursor.h.
 */
#include "model/server_cursor.h"

#include "model/backend.h"

/* Returns whether the server before this index is the one that was passed. */
static bool
is_behind(
    const struct server_cursor *c, const struct backend *backend, size_t at)
{
	return at > 0 && at <= backend->spec->servers_n &&
	       backend->servers[at - 1]->id == c->id;
}

/* Finds the server that was passed, which is not where it was.  If it has gone,
 * the next one is in its place. */
static void
find_passed(struct server_cursor *c, const struct backend *backend)
{
	size_t n = backend->spec->servers_n, at = 1;

	while (at <= n && !is_behind(c, backend, at))
		at++;
	if (at > n)
		at = c->at - 1 < n ? c->at - 1 : n;
	c->at = at;
	c->id = at > 0 ? backend->servers[at - 1]->id : 0;
}

struct server *
server_cursor_get(struct server_cursor *cursor, const struct backend *backend)
{
	struct server_cursor *c = cursor;

	if (c->id != 0 && !is_behind(c, backend, c->at))
		find_passed(c, backend);
	return c->at < backend->spec->servers_n ? backend->servers[c->at]
	                                        : NULL;
}

void
server_cursor_pass(struct server_cursor *cursor, const struct server *server)
{
	cursor->at++;
	cursor->id = server->id;
}
