/* SPDX-License-Identifier: MIT
 * What monitoring asks for over HTTP: /metrics, /stats;csv, /stats;json,
 * /healthz, /readyz.  GET and HEAD only, nothing can be changed here, and
 * nobody is asked who he is: bind it where only those can connect who may know.
 *
 * libmicrohttpd speaks HTTP, without threads of its own: its epoll descriptor
 * is watched by the control loop.  A page is made in parts, each when the
 * client has taken the one before, so a slow client costs the memory of a part,
 * and a long page holds up the loop only for a part at a time.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "base/err.h"
#include "base/list.h"
#include "control/control.h"
#include "model/spec.h"

/* Connections at a time; for one more another one goes (connections.h). */
#define HTTP_CLIENTS_MAX 64

struct admin;
struct http;

/* Control thread, as all of these.  Binds the address; nobody is accepted
 * before http_serve, which logs where it is.  The admin is borrowed.  NULL with
 * err set on failure. */
struct http *http_bind(struct control *control, struct admin *admin,
    const struct listen_spec *at, struct err *err);
void http_serve(struct http *http);

/* Both, at the model's spec.global.http, whose text must not be NULL. */
struct http *http_open(
    struct control *control, struct admin *admin, struct err *err);

/* Whether it listens there. */
bool http_serves(const struct http *http, const struct listen_spec *at);

/* Closes the port.  Requests that are under way end whole, whoever has none has
 * a second for one, and then it frees itself; meanwhile it is in the list. */
void http_leave(struct http *http, struct list *leaving);
void http_close_all(struct list *leaving);

/* Breaks off every connection.  NULL is fine. */
void http_close(struct http *http);

#endif
