/* SPDX-License-Identifier: MIT
 * The connections of the HTTP port.
 *
 * The number of connections is limited.  When a new one exceeds the limit, the
 * connection that made no progress for the longest time is evicted.  So clients
 * that connect and send nothing, that never finish a request or that do not
 * read their answer cannot keep a monitoring system out, however many they are.
 * Progress is the connect, a complete request head, and a part of the answer
 * that the client has read.  HTTP_HEALTH_RESERVED connections whose last
 * request was for a health page are not evicted in favour of others.
 *
 * When the port is closed its connections are drained: each ends with the next
 * answer that begins, which has `Connection: close`, or after HTTP_DRAIN_S
 * without a request.
 *
 * All functions run on the control thread.  A connection for which memory was
 * short is served, but neither evicted nor drained.
 */
#ifndef HTTP_CONNECTIONS_H
#define HTTP_CONNECTIONS_H

#include <stdbool.h>

#include "base/list.h"
#include "net/addr.h"

/* Concurrent connections; a further one evicts another. */
#define HTTP_CONNECTIONS_MAX 256
#define HTTP_HEALTH_RESERVED 16
#define HTTP_DRAIN_S         1u

struct MHD_Connection;

/* The client of a connection, and whether it uses TLS. */
struct http_origin {
	struct endpoint from;
	bool secure; /* by TLS */
};

struct http_connection {
	struct list node;
	struct MHD_Connection *mhd;
	int fd;       /* owned by libmicrohttpd */
	bool evicted; /* not in the list any more */
	bool ending;  /* evicted by http_connection_end: answer no more */
	bool busy;    /* a request is being answered */
	bool health;  /* the last request was for a health page */
	/* While libmicrohttpd has suspended the connection: resumes it. */
	void (*wake)(void *arg);
	void *wake_arg;
	struct http_origin origin;
	bool draining; /* the answer that begins next has to be the last */
};

struct http_connections {
	/* Without evicted ones, least recent progress first. */
	struct list all, health;
	unsigned n, health_n; /* in both lists, in the second one */
};

/* Begins without connections. */
void http_connections_init(struct http_connections *connections);

/* Adds a connection, and returns it. */
struct http_connection *http_connection_new(
    struct http_connections *connections, struct MHD_Connection *mhd, int fd,
    const struct http_origin *origin);

/* Removes and frees a connection that libmicrohttpd has closed. */
void http_connection_free(
    struct http_connections *connections, struct http_connection *connection);

/* Returns the connection that belongs to libmicrohttpd's. */
struct http_connection *http_connection_of(struct MHD_Connection *mhd);

/* Records progress. */
void http_connection_progress(
    struct http_connections *connections, struct http_connection *connection);

/* Records a complete request head. */
void http_connection_request_begins(struct http_connections *connections,
    struct http_connection *connection, bool health);

/* Notes that the request was answered, or that the connection broke. */
void http_connection_request_ends(struct http_connection *connection);

/* Drains all connections. */
void http_connections_drain(struct http_connections *connections);

/* Evicts the connection: shuts its socket down and wakes it if it is suspended,
 * so that libmicrohttpd closes it when it runs next. */
void http_connection_end(
    struct http_connections *connections, struct http_connection *connection);

/* Makes room for one more connection, by evicting one if necessary. */
void http_connections_make_room(struct http_connections *connections);

#endif
