/* SPDX-License-Identifier: MIT
 * The connection to a server: its source address, its options, its connect, and
 * what it is sent before the client's bytes: the PROXY header (send_proxy) and
 * the request for TLS (starttls).
 */
#ifndef PROXY_UPSTREAM_H
#define PROXY_UPSTREAM_H

#include "proxy/session.h"
#include "proxy/starttls.h"

/* The owner: starts a connect to s->server, with the source and the
 * options of the configuration.  Returns the descriptor, or -errno;
 * -EADDRNOTAVAIL when no source port is left. */
int upstream_connect(struct session *s, bool *ret_connected) MUST_CHECK;

/* Returns whether s->server is sent a PROXY header, or a request for TLS. */
static inline bool
upstream_wants_header(const struct session *s)
{
	return s->server->send_proxy != PROXY_OFF ||
	       starttls_with_server_is_due(s);
}

/* The owner, in CONNECTING, when the server has accepted: sends the header and
 * the request, or the rest of them.  Returns 1 when all of it is sent, 0 when
 * the server takes no more for now, or -errno. */
int upstream_send_header(struct session *s) MUST_CHECK;

/* The owner, after the descriptor was closed and before s->server
 * changes: gives the source port back. */
void upstream_closed(struct session *s);

#endif
