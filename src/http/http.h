/* SPDX-License-Identifier: MIT
 * The HTTP port: the status page (page.h), /metrics, /stats;csv, /stats;json,
 * /healthz, /readyz, and the JSON API (api.h), by which callers with the rights
 * (caller.h) can run commands.  Clients that have not signed in have the level
 * of the port at most; it should be reachable by monitoring and operators
 * alone.
 *
 * libmicrohttpd serves HTTP, without threads of its own: the control loop
 * watches its epoll descriptor.  A page is made in parts, each when the client
 * has read the previous one.  So a slow client needs the memory of one part,
 * and a long page delays the loop by one part at a time.
 *
 * All functions run on the control thread.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "base/err.h"
#include "base/list.h"
#include "model/spec.h"
#include "stats/answer.h"

struct http;

/* Binds the address without accepting connections.  Borrows env.  Returns NULL
 * with err set on failure. */
struct http *http_bind(const struct command_env *env,
    const struct listen_spec *at, struct err *err) MUST_CHECK;

/* Begins to accept connections, and logs the address. */
void http_serve(struct http *http);

/* Leaves connections in the backlog until http_resume. */
void http_hold(struct http *http);
/* Accepts again, those in the backlog first. */
void http_resume(struct http *http);

/* Returns whether http was bound to that address. */
bool http_serves(const struct http *http, const struct listen_spec *at);

/* Returns the listening socket, which was bound to *ret_asked; borrowed. */
int http_fd(const struct http *http, struct addr *ret_asked);

/* Closes the listening socket, which another process has as well, and drains
 * the connections (connections.h). */
void http_hand_over(struct http *http);

/* Stops listening and drains the connections (connections.h).  Moves http to
 * the list; http frees itself when its last connection has ended. */
void http_drain(struct http *http, struct list *draining);

/* Closes every http in the list. */
void http_close_all(struct list *draining);

/* Closes all connections at once and frees http.  Accepts NULL. */
void http_close(struct http *http);

#endif
