/* SPDX-License-Identifier: MIT
 * The connection to a server: its source address, its options, its connect, and
 * the bytes that lfproxy sends before the client's: the PROXY header
 * (send_proxy) and the request for TLS (starttls).
 */
#ifndef PROXY_UPSTREAM_H
#define PROXY_UPSTREAM_H

#include "proxy/session.h"
#include "proxy/starttls.h"

/* Starts a connect to s->server, with the source and the options of the
 * configuration.  Returns the descriptor, or -errno: -EADDRNOTAVAIL when no
 * source port is left or the source is not an address of this host,
 * -ENOPROTOOPT when an option was refused, -EDESTADDRREQ when the server takes
 * the client's port and there is none, -EAFNOSUPPORT when the client's address
 * is the source and cannot be used.  *ret_connected: the server has accepted
 * already.  Runs on the session's owner. */
int upstream_connect(struct session *s, bool *ret_connected) MUST_CHECK;

/* Returns whether s->server is sent a PROXY header, or a request for TLS. */
static inline bool
upstream_wants_header(const struct session *s)
{
	return s->server->send_proxy != PROXY_OFF ||
	       starttls_with_server_is_due(s);
}

/* Sends the header and the request to a server that has accepted, or the rest
 * of them.  Returns 1 when all is sent, 0 when the server takes no more for
 * now, or -errno.  The state is CONNECTING.  Runs on the session's owner. */
int upstream_send_header(struct session *s) MUST_CHECK;

/* Gives the source port back, if there is one.  To be called after the
 * descriptor was closed and before s->server changes.  Runs on the session's
 * owner. */
void upstream_closed(struct session *s);

#endif
