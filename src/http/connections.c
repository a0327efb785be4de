/* SPDX-License-Identifier: MIT
 * See connections.h.
 */
#include "http/connections.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <sys/socket.h>

void
http_connections_init(struct http_connections *guests)
{
	list_init(&guests->all);
	guests->n = 0;
}

struct http_connection *
http_connection_new(
    struct http_connections *guests, struct MHD_Connection *connection, int fd)
{
	struct http_connection *guest = calloc(1, sizeof(*guest));

	if (!guest)
		return NULL;
	guest->connection = connection;
	guest->fd = fd;
	list_append(&guests->all, &guest->node);
	guests->n++;
	return guest;
}

void
http_connection_note(
    struct http_connections *guests, struct http_connection *guest)
{
	if (!guest || guest->dismissed)
		return;
	list_remove(&guest->node);
	list_append(&guests->all, &guest->node);
}

void
http_connection_begins(
    struct http_connections *guests, struct http_connection *guest)
{
	if (guest)
		guest->busy = true;
	http_connection_note(guests, guest);
}

static void
end_soon(const struct http_connection *guest)
{
	/* From now on: a time is counted anew only when there was none. */
	(void)MHD_set_connection_option(
	    guest->connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
	(void)MHD_set_connection_option(
	    guest->connection, MHD_CONNECTION_OPTION_TIMEOUT, HTTP_LEAVE_S);
}

/* Whose answer began before it was to leave has not been told so, and may have
 * sent the next request already. */
void
http_connection_ends(struct http_connection *guest)
{
	if (!guest)
		return;
	guest->busy = false;
	if (guest->leaving)
		end_soon(guest);
}

void
http_connections_leave(struct http_connections *guests)
{
	list_for_each (node, &guests->all) {
		struct http_connection *guest =
		    container_of(node, struct http_connection, node);

		guest->leaving = true;
		if (!guest->busy)
			end_soon(guest);
	}
}

bool
http_connection_leaves(const struct http_connection *guest)
{
	return guest && guest->leaving;
}

static void
leave(struct http_connections *guests, struct http_connection *guest)
{
	list_remove(&guest->node);
	guests->n--;
}

void
http_connections_make_room(struct http_connections *guests, unsigned max)
{
	while (guests->n >= max && !list_empty(&guests->all)) {
		struct http_connection *guest = container_of(
		    guests->all.next, struct http_connection, node);

		leave(guests, guest);
		guest->dismissed = true;
		(void)shutdown(guest->fd, SHUT_RDWR);
	}
}

void
http_connection_gone(
    struct http_connections *guests, struct http_connection *guest)
{
	if (guest && !guest->dismissed)
		leave(guests, guest);
	free(guest);
}
