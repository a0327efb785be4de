/* SPDX-License-Identifier: MIT
 * The socket towards a server: where it comes from, with which options.
 */
#ifndef PROXY_OUTGOING_H
#define PROXY_OUTGOING_H

#include "proxy/session.h"

/* The owner: starts a connect to session->server, from the source and with the
 * options that the configuration gives.  The descriptor, or -errno;
 * -EADDRNOTAVAIL when no port is left. */
int outgoing_connect(struct session *session, bool *ret_connected);

/* The owner, after the descriptor was closed, and before session->server
 * changes. */
void outgoing_closed(struct session *session);

#endif
