/* SPDX-License-Identifier: MIT
 * TLS in front of the HTTP port, as listens have it: certificates by name,
 * clients' certificates, tickets and renewals are those of the section [tls].
 *
 *   client <--TLS, TCP--> front <--plain, socket pair--> libmicrohttpd
 *
 * A front holds at most the records of one write and as much data in the other
 * direction, so back-pressure reaches both ends.  Handshakes compute on the
 * control loop, one in a turn of it.
 *
 * All functions run on the control thread.
 */
#ifndef HTTP_TLS_FRONT_H
#define HTTP_TLS_FRONT_H

#include <ev.h>
#include <stdbool.h>

#include "base/list.h"
#include "http/connections.h"
#include "tls/context.h"

/* The most time for the handshake, for the end after libmicrohttpd has closed,
 * and for unsent records of which the client reads nothing.  libmicrohttpd's
 * own timeout does not close a front with unsent records, since the front does
 * not read from it meanwhile. */
#define TLS_FRONT_TIMEOUT_S 10.

/* Fronts at a time; a further one replaces the one that moved no data for the
 * longest time.  libmicrohttpd has closed the surplus already: these send their
 * last records. */
#define TLS_FRONTS_MAX (HTTP_CONNECTIONS_MAX + 32)

struct tls_fronts {
	struct ev_loop *loop;
	struct list all; /* least recent progress first */
	unsigned n;
	ev_tstamp computed_at;    /* the turn with the last handshake */
	void (*ended)(void *arg); /* a front has ended */
	void *arg;
};

/* Begins without fronts.  Calls ended(arg) on the loop after a front has
 * ended. */
void tls_fronts_init(struct tls_fronts *fronts, struct ev_loop *loop,
    void (*ended)(void *arg), void *arg);

/* Takes a connection that was accepted, and closes another one if there are
 * TLS_FRONTS_MAX.  Returns the plain end of the socket
 * pair, for the caller to close, or -1 with the connection closed when memory
 * or descriptors are short. */
int tls_front_new(
    struct tls_fronts *fronts, struct tls_context *context, int fd);

/* Closes all connections. */
void tls_fronts_close(struct tls_fronts *fronts);

#endif
