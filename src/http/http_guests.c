/* SPDX-License-Identifier: MIT
 * See http_guests.h.
 */
#include "http/http_guests.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <sys/socket.h>

void
http_guests_init(struct http_guests *guests)
{
	list_init(&guests->all);
	guests->n = 0;
}

struct http_guest *
http_guest_new(
    struct http_guests *guests, struct MHD_Connection *connection, int fd)
{
	struct http_guest *guest = calloc(1, sizeof(*guest));

	if (!guest)
		return NULL;
	guest->connection = connection;
	guest->fd = fd;
	list_append(&guests->all, &guest->node);
	guests->n++;
	return guest;
}

void
http_guest_note(struct http_guests *guests, struct http_guest *guest)
{
	if (!guest || guest->dismissed)
		return;
	list_remove(&guest->node);
	list_append(&guests->all, &guest->node);
}

void
http_guest_begins(struct http_guests *guests, struct http_guest *guest)
{
	if (guest)
		guest->busy = true;
	http_guest_note(guests, guest);
}

static void
end_soon(const struct http_guest *guest)
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
http_guest_ends(struct http_guest *guest)
{
	if (!guest)
		return;
	guest->busy = false;
	if (guest->leaving)
		end_soon(guest);
}

void
http_guests_leave(struct http_guests *guests)
{
	list_for_each (node, &guests->all) {
		struct http_guest *guest =
		    container_of(node, struct http_guest, node);

		guest->leaving = true;
		if (!guest->busy)
			end_soon(guest);
	}
}

bool
http_guest_leaves(const struct http_guest *guest)
{
	return guest && guest->leaving;
}

static void
leave(struct http_guests *guests, struct http_guest *guest)
{
	list_remove(&guest->node);
	guests->n--;
}

void
http_guests_make_room(struct http_guests *guests, unsigned max)
{
	while (guests->n >= max && !list_empty(&guests->all)) {
		struct http_guest *guest =
		    container_of(guests->all.next, struct http_guest, node);

		leave(guests, guest);
		guest->dismissed = true;
		(void)shutdown(guest->fd, SHUT_RDWR);
	}
}

void
http_guest_gone(struct http_guests *guests, struct http_guest *guest)
{
	if (guest && !guest->dismissed)
		leave(guests, guest);
	free(guest);
}
