/* SPDX-License-Identifier: MIT
 * The socket towards a server: where it comes from, with which options.
 */
#ifndef PROXY_UPSTREAM_H
#define PROXY_UPSTREAM_H

#include "proxy/session.h"

/* The owner: starts a connect to session->server, from the source and with the
 * options that the configuration gives.  The descriptor, or -errno;
 * -EADDRNOTAVAIL when no port is left. */
int upstream_connect(struct session *session, bool *ret_connected);

/* The owner, after the descriptor was closed, and before session->server
 * changes. */
void upstream_closed(struct session *session);

#endif
