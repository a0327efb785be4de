/* SPDX-License-Identifier: MIT
 * Who is connected to the HTTP port, and who goes when there are too many: the
 * one that has been without progress for longest.  Nobody who connects and says
 * nothing, or never finishes a request, or does not take its page, keeps a
 * monitoring system out, however many do so.
 *
 * Progress is to connect, to have sent a whole request's head, and to have
 * taken a part of a page.
 *
 * When the port is closed all are to leave: each with the next answer that
 * begins, which says so, or when it has had none under way for a second.
 * Control thread only.
 */
#ifndef HTTP_CONNECTIONS_H
#define HTTP_CONNECTIONS_H

#include <stdbool.h>

#include "base/list.h"

#define HTTP_LEAVE_S 1u

struct MHD_Connection;

struct http_connection {
	struct list node;
	struct MHD_Connection *connection;
	int fd; /* libmicrohttpd's */
	bool dismissed;
	bool busy;    /* a request is under way */
	bool leaving; /* there is no other one after it */
};

struct http_connections {
	struct list all; /* without the dismissed; least lately in progress
	                    first */
	unsigned n;
};

void http_connections_init(struct http_connections *guests);

/* NULL when memory is short: it is a guest all the same, of whom nothing is
 * known. */
struct http_connection *http_connection_new(
    struct http_connections *guests, struct MHD_Connection *connection, int fd);

/* It has made progress; NULL is fine. */
void http_connection_note(
    struct http_connections *guests, struct http_connection *guest);

/* A request's head is there, and it has been answered or broken off; NULL is
 * fine. */
void http_connection_begins(
    struct http_connections *guests, struct http_connection *guest);
void http_connection_ends(struct http_connection *guest);

/* All are to leave. */
void http_connections_leave(struct http_connections *guests);
/* NULL: of whom nothing is known stays as long as the library lets it. */
bool http_connection_leaves(const struct http_connection *guest);

/* Shuts the connections of as many as are too many for one more to come, so
 * that the library finds them closed and tells. */
void http_connections_make_room(struct http_connections *guests, unsigned max);

/* The connection has ended; frees it.  NULL is fine. */
void http_connection_gone(
    struct http_connections *guests, struct http_connection *guest);

#endif
