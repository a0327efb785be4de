/* SPDX-License-Identifier: MIT
 * The PROXY protocol's header that a server gets before all else (send_proxy).
 */
#ifndef PROXY_SEND_PROXY_H
#define PROXY_SEND_PROXY_H

#include "proxy/session.h"

/* The owner, in CONNECTING, with a server that has accepted: what it is sent
 * first.  1: it has got all of it, 0: it will be writable again, or -errno. */
int send_proxy_header(struct session *session);

static inline bool
send_proxy_wanted(const struct session *session)
{
	return session->server->send_proxy != PROXY_OFF;
}

#endif
