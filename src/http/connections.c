/* SPDX-License-Identifier: MIT
 * See connections.h.
 */
#include "http/connections.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Takes the place of each connection for which memory was short. */
static struct http_connection untracked = {.evicted = true};

struct http_connection *
http_connection_new(struct http_connections *connections,
    struct MHD_Connection *mhd, int fd, const struct http_origin *origin)
{
	struct http_connection *connection = calloc(1, sizeof(*connection));

	if (!connection)
		return &untracked;
	connection->mhd = mhd;
	connection->fd = fd;
	connection->origin = *origin;
	list_append(&connections->all, &connection->node);
	connections->n++;
	return connection;
}

struct http_connection *
http_connection_of(struct MHD_Connection *mhd)
{
	return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
	    ->socket_context;
}

void
http_connection_progress(
    struct http_connections *connections, struct http_connection *connection)
{
	if (connection->evicted)
		return;
	list_remove(&connection->node);
	list_append(&connections->all, &connection->node);
}

/* Starts the time-out of a drain.  libmicrohttpd starts the time only if there
 * was no time-out, hence the 0 first. */
static void
start_drain_timeout(const struct http_connection *connection)
{
	(void)MHD_set_connection_option(
	    connection->mhd, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
	(void)MHD_set_connection_option(
	    connection->mhd, MHD_CONNECTION_OPTION_TIMEOUT, HTTP_DRAIN_S);
}

void
http_connection_request_ends(struct http_connection *connection)
{
	connection->busy = false;
	/* An answer that began before the draining has no `Connection: close`,
	 * and the client may have sent its next request already. */
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

/* Takes the connection off the list. */
static void
http_connection_evict(
    struct http_connections *connections, struct http_connection *connection)
{
	list_remove(&connection->node);
	connections->n--;
	connection->evicted = true;
}

void
http_connections_make_room(struct http_connections *connections)
{
	struct http_connection *oldest =
	    container_of(connections->all.next, struct http_connection, node);

	if (connections->n < HTTP_CONNECTIONS_MAX)
		return;
	http_connection_evict(connections, oldest);
	(void)shutdown(oldest->fd, SHUT_RDWR);
}

void
http_connection_free(
    struct http_connections *connections, struct http_connection *connection)
{
	if (!connection->evicted)
		http_connection_evict(connections, connection);
	if (connection != &untracked)
		free(connection);
}
