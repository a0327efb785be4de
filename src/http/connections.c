/* SPDX-License-Identifier: MIT
 * See connections.h.
 */
#include "http/connections.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <sys/socket.h>

void
http_connections_init(struct http_connections *connections)
{
	list_init(&connections->all);
	connections->n = 0;
}

struct http_connection *
http_connection_new(
    struct http_connections *connections, struct MHD_Connection *mhd, int fd)
{
	struct http_connection *connection = calloc(1, sizeof(*connection));

	if (!connection)
		return NULL;
	connection->mhd = mhd;
	connection->fd = fd;
	list_append(&connections->all, &connection->node);
	connections->n++;
	return connection;
}

void
http_connection_progress(
    struct http_connections *connections, struct http_connection *connection)
{
	if (!connection || connection->evicted)
		return;
	list_remove(&connection->node);
	list_append(&connections->all, &connection->node);
}

void
http_connection_request_begins(
    struct http_connections *connections, struct http_connection *connection)
{
	if (connection)
		connection->busy = true;
	http_connection_progress(connections, connection);
}

/* libmicrohttpd restarts the time only if there was none, hence the 0 first. */
static void
start_drain_timeout(const struct http_connection *connection)
{
	(void)MHD_set_connection_option(
	    connection->mhd, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
	(void)MHD_set_connection_option(
	    connection->mhd, MHD_CONNECTION_OPTION_TIMEOUT, HTTP_DRAIN_S);
}

/* An answer that began before the draining has no `Connection: close`, and the
 * client may have sent its next request already. */
void
http_connection_request_ends(struct http_connection *connection)
{
	if (!connection)
		return;
	connection->busy = false;
	if (connection->draining)
		start_drain_timeout(connection);
}

void
http_connections_drain(struct http_connections *connections)
{
	list_for_each (node, &connections->all) {
		struct http_connection *connection =
		    container_of(node, struct http_connection, node);

		connection->draining = true;
		if (!connection->busy)
			start_drain_timeout(connection);
	}
}

bool
http_connection_is_draining(const struct http_connection *connection)
{
	return connection && connection->draining;
}

static void
unlink_connection(
    struct http_connections *connections, struct http_connection *connection)
{
	list_remove(&connection->node);
	connections->n--;
}

void
http_connections_make_room(struct http_connections *connections, unsigned max)
{
	while (connections->n >= max && !list_empty(&connections->all)) {
		struct http_connection *oldest = container_of(
		    connections->all.next, struct http_connection, node);

		unlink_connection(connections, oldest);
		oldest->evicted = true;
		(void)shutdown(oldest->fd, SHUT_RDWR);
	}
}

void
http_connection_free(
    struct http_connections *connections, struct http_connection *connection)
{
	if (connection && !connection->evicted)
		unlink_connection(connections, connection);
	free(connection);
}
