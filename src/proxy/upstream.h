/* SPDX-License-Identifier: MIT
 * The socket to a server: its source address, its options, its connect.
 */
#ifndef PROXY_UPSTREAM_H
#define PROXY_UPSTREAM_H

#include "proxy/session.h"

/* The owner: starts a connect to s->server, with the source and the
 * options of the configuration.  Returns the descriptor, or -errno;
 * -EADDRNOTAVAIL when no source port is left. */
int upstream_connect(struct session *s, bool *ret_connected);

/* The owner, after the descriptor was closed and before s->server
 * changes: gives the source port back. */
void upstream_closed(struct session *s);

#endif
