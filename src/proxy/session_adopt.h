/* SPDX-License-Identifier: MIT
 * Adopts a session that another process has handed over: makes of its image a
 * session that a pool thread goes on with.
 */
#ifndef PROXY_SESSION_ADOPT_H
#define PROXY_SESSION_ADOPT_H

#include <stdbool.h>

#include "proxy/proxy.h"
#include "proxy/session_image.h"

/* The objects of this process that the numbers of an image stand for, all of
 * the same model. */
struct adoption {
	struct frontend *frontend;
	unsigned route, wanted_route; /* backends_n: no backend yet */
	struct server *server;        /* NULL: none */
	/* held: the session already has a slot at the server (backend_hold).
	 * counted: it already counts among the sessions of the frontend. */
	bool held, counted;
	struct pool *pool; /* whose threads go on with the session */
};

/* Makes a session from an image that session_image_decode has read, and from
 * its descriptors, of which it takes ownership, also on failure.  The session's
 * first turn may have begun when this returns.  Never blocks.  Returns false
 * with err set if the session cannot go on here; its connections are then
 * reset.  Runs on the control thread. */
bool session_adopt(struct proxy *proxy, const struct session_image *image,
    const int *fds, const struct adoption *as, struct err *err) MUST_CHECK;

#endif
