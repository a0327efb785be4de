/* SPDX-License-Identifier: MIT
 * The PROXY header that a server is sent before the client's bytes
 * (send_proxy).
 */
#ifndef PROXY_SEND_PROXY_H
#define PROXY_SEND_PROXY_H

#include "proxy/session.h"

/* The owner, in CONNECTING, when the server has accepted: sends the header, or
 * the rest of it.  Returns 1 when all of it is sent, 0 when the server takes no
 * more for now, or -errno. */
int send_proxy_header(struct session *s);

/* Returns whether s->server is sent a header. */
static inline bool
send_proxy_wanted(const struct session *s)
{
	return s->server->send_proxy != PROXY_OFF;
}

#endif
