/* SPDX-License-Identifier: MIT
 * A session that another process has handed over: from its image to a session
 * that a pool thread goes on with.
 */
#ifndef PROXY_SESSION_ADOPT_H
#define PROXY_SESSION_ADOPT_H

#include <stdbool.h>

#include "proxy/proxy.h"
#include "proxy/session_image.h"

/* The objects of this process that the numbers of an image stand for, all of
 * one model. */
struct adoption {
	struct frontend *frontend;
	unsigned route, wanted_route; /* backends_n: no backend yet */
	struct server *server;        /* NULL: none */
	/* A place at the server was counted before (backend_hold), and the
	 * session among those of the frontend. */
	bool held, counted;
	struct pool *pool; /* whose threads go on with the session */
};

/* Control thread: makes a session of an image that session_image_decode has
 * read, and of its descriptors, which it takes also on failure.  The session's
 * first turn may have begun when this returns.  Never blocks.  Returns false
 * with err set if it cannot go on here: its connections are then reset. */
bool session_adopt(struct proxy *proxy, const struct session_image *image,
    const int *fds, const struct adoption *as, struct err *err) MUST_CHECK;

#endif
