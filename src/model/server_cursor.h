/* SPDX-License-Identifier: MIT
 * A position among the servers of a backend, for answers that take several
 * turns of the control loop.
 *
 * Servers may come, go or move between two turns.  The position is that behind
 * a server, not that before an index, so no server that stays is met twice or
 * left out, unless the server before it has gone with others.
 *
 * All functions run on the control thread.
 */
#ifndef MODEL_SERVER_CURSOR_H
#define MODEL_SERVER_CURSOR_H

#include <stddef.h>

struct backend;
struct server;

/* All zero: before the first server. */
struct server_cursor {
	size_t at;   /* index of the next server */
	unsigned id; /* of the server before it; 0: none */
};

/* Returns the next server of the backend, or NULL behind the last one.  The
 * backend may be that of another model than before. */
struct server *server_cursor_get(
    struct server_cursor *cursor, const struct backend *backend);

/* Goes on behind the server that server_cursor_get has returned. */
void server_cursor_pass(
    struct server_cursor *cursor, const struct server *server);

#endif
