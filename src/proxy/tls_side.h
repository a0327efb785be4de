/* SPDX-License-Identifier: MIT
 * How calls of a side's TLS connection use the side's socket.
 *
 * The functions run on the session's owner.
 */
#ifndef PROXY_TLS_SIDE_H
#define PROXY_TLS_SIDE_H

#include "proxy/proxy.h"
#include "proxy/session.h"
#include "tls/conn.h"

/* Prepares a call of the side's TLS connection.  Records that it makes go into
 * the thread's buffer of records. */
static inline void
tls_side_begin(
    const struct side *side, struct pool_thread *self, struct tls_io *ret_io)
{
	struct proxy_thread *t = proxy_thread_of(self);

	*ret_io = (struct tls_io){.fd = side->fd,
	    .readable = side->readable,
	    .read_on = side->read_on || side->fin_queued || !side->tcp,
	    .out = t->records,
	    .out_max = sizeof(t->records)};
}

/* Notes in the side what the call has learned about the socket. */
static inline void
tls_side_end(struct side *side, const struct tls_io *io)
{
	side->readable = io->readable;
}

/* Frees the side's TLS connection, if there is one. */
static inline void
tls_side_free(struct side *side)
{
	tls_conn_free(side->tls);
	side->tls = NULL;
}

#endif
