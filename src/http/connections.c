/* SPDX-License-Identifier: MIT
 * See connections.h.
 */
#include "http/connections.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/log.h"

/* Takes the place of each connection for which memory was short. */
static struct http_connection untracked = {.evicted = true};

void
http_connections_init(struct http_connections *connections)
{
	list_init(&connections->all);
	list_init(&connections->health);
	connections->n = connections->health_n = 0;
}

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
	list_append(
	    connection->health ? &connections->health : &connections->all,
	    &connection->node);
}

void
http_connection_request_begins(struct http_connections *connections,
    struct http_connection *connection, bool health)
{
	connection->busy = true;
	if (connection->evicted)
		return;
	connections->health_n += (unsigned)health;
	connections->health_n -= (unsigned)connection->health;
	connection->health = health;
	http_connection_progress(connections, connection);
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

static void
drain_list(struct list *list)
{
	list_for_each (node, list) {
		struct http_connection *connection =
		    container_of(node, struct http_connection, node);

		connection->draining = true;
		if (!connection->busy)
			start_drain_timeout(connection);
	}
}

void
http_connections_drain(struct http_connections *connections)
{
	drain_list(&connections->all);
	drain_list(&connections->health);
}

/* Takes the connection off its list. */
static void
http_connection_evict(
    struct http_connections *connections, struct http_connection *connection)
{
	list_remove(&connection->node);
	connections->n--;
	connections->health_n -= (unsigned)connection->health;
	connection->evicted = true;
}

void
http_connection_end(
    struct http_connections *connections, struct http_connection *connection)
{
	if (connection->evicted)
		return;
	http_connection_evict(connections, connection);
	connection->ending = true;
	(void)shutdown(connection->fd, SHUT_RDWR);
	if (connection->wake)
		connection->wake(connection->wake_arg);
}

void
http_connections_make_room(struct http_connections *connections)
{
	static struct log_limit limit;
	struct list *list = connections->health_n > HTTP_HEALTH_RESERVED
	                        ? &connections->health
	                        : &connections->all;

	if (connections->n < HTTP_CONNECTIONS_MAX)
		return;
	log_limited(&limit, LOG_LEVEL_WARNING,
	    "http: %u connections are open: closed the one without progress "
	    "for longest to make room for a new one",
	    connections->n);
	http_connection_end(connections,
	    container_of(list->next, struct http_connection, node));
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
