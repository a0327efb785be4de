/* SPDX-License-Identifier: MIT
 * Copying from and to a side with TLS: see relay_internal.h.
 *
 * The pending data of a side with TLS are records, except for data that the
 * client has sent before its server was connected.  Records are made at once
 * for all data that were read, so no data stay in a thread's buffer, and no
 * record has to be made twice.
 */
#include "proxy/relay_internal.h"

#include <errno.h>

#include "lf/pool.h"
#include "proxy/tls_side.h"

ssize_t
relay_tls_read(struct session *s, enum handle_side from, size_t size,
    struct pool_thread *self, size_t *ret_records)
{
	struct proxy_thread *t = proxy_thread_of(self);
	struct side *side = &s->side[from];
	struct tls_io io;
	ssize_t n;

	tls_side_begin(side, self, &io);
	n = tls_conn_read(side->tls, &io, t->buffer, size);
	tls_side_end(side, &io);
	*ret_records = io.out_n;
	if (n == -ECONNRESET && side->notified && io.error == 0 &&
	    !side->error && !tls_conn_failure(side->tls))
		return -EPIPE;
	return n;
}

size_t
relay_tls_seal(struct session *s, enum handle_side to, const uint8_t *data,
    size_t size, struct pool_thread *self)
{
	struct side *side = &s->side[to];
	struct tls_io io;
	int rc;

	tls_side_begin(side, self, &io);
	rc = tls_conn_write(side->tls, &io, data, size, turn_now_ms(self));
	/* A message that is incomplete when the side has ended stays
	 * incomplete. */
	if (rc == -ECONNRESET || (rc == -EAGAIN && side_at_eof(side)))
		relay_write_failed(s, to, self);
	return rc < 0 ? 0 : io.out_n;
}

size_t
relay_tls_end(struct session *s, enum handle_side to, struct pool_thread *self)
{
	struct side *side = &s->side[to];
	struct tls_io io;

	if (!side->tls || side->notified)
		return 0;
	tls_side_begin(side, self, &io);
	side->notified = tls_conn_end(side->tls, &io) || side_at_eof(side);
	return io.out_n;
}
