/* SPDX-License-Identifier: MIT
 * See relay_internal.h.
 *
 * Note: splice and edge-triggering.
 * EAGAIN of a splice from a socket into a pipe may mean that the socket is
 * empty or that the pipe is full.  A caller that mistakes one for the other
 * waits for an event that never comes.  So a socket is only spliced into an
 * empty pipe, and a pipe with bytes in it is emptied, or kept as pending data,
 * before the next read.  EAGAIN then tells about the socket, when reading and
 * when writing.  A short splice does not mean that the socket is empty; only
 * EAGAIN ends the reading.
 *
 * A splice stops forever at urgent data, and may return 0 before the end of the
 * stream: recv handles both.
 */
#include "proxy/relay_internal.h"

#include <errno.h>

#include "lf/pool.h"
#include "net/splice.h"

void
relay_splice_note(struct side *side, size_t size)
{
	unsigned kib = side->streak + (unsigned)(size / 1024);

	side->streak = size < RELAY_LARGE ? 0 : kib < 255 ? (uint8_t)kib : 255;
	if (side->streak < RELAY_BULK / 1024 || side->urgent)
		return;
	side->splicing = true;
	side->streak = 0;
}

static void
stop_splicing(struct side *side)
{
	side->splicing = false;
	side->streak = 0;
}

static void
note_splice(struct side *side, size_t size)
{
	if (size >= RELAY_SMALL)
		side->streak = 0;
	else if (++side->streak == RELAY_SMALLS)
		stop_splicing(side);
}

/* Writes until the pipe is empty or the side takes no more.  Returns false if
 * the side is broken. */
static bool
write_pipe(struct session *s, enum handle_side to, struct splice_pipe *pipe,
    struct pool_thread *self)
{
	struct side *side = &s->side[to];

	while (pipe->held > 0 && side->writable && !side_is_broken(side)) {
		ssize_t n = splice_out(pipe, side->fd);

		if (n > 0)
			side->active_ms = turn_now_ms(self);
		else if (n == -EAGAIN)
			side->writable = false;
		else
			relay_write_failed(s, to, self);
	}
	return !side_is_broken(side);
}

bool
relay_splice_pending(
    struct session *s, enum handle_side to, struct pool_thread *self)
{
	struct splice_pipe *pipe = s->pending[to].pipe;

	if (!write_pipe(s, to, pipe, self))
		return true;
	if (pipe->held > 0)
		return false;
	s->pending[to].pipe = NULL;
	splice_pool_give(&proxy_of(self)->pipes, pipe);
	return true;
}

/* Handles a splice that has read no bytes and returned n. */
static void
splice_read_nothing(struct session *s, enum handle_side from, ssize_t n,
    struct pool_thread *self)
{
	struct side *side = &s->side[from];

	switch (n) {
	case -EAGAIN:
		if (side->read_on)
			stop_splicing(side);
		else
			side->readable = false;
		break;
	case 0:
	case -EINVAL: /* no socket that can be spliced */
	case -ENOMEM:
	case -ENOTCONN:
		stop_splicing(side);
		break;
	default:
		/* The kernel has reported the error with this splice; a recv
		 * would see an end. */
		relay_read_ended(s, from, EVENT_READ_FAILED, self);
		break;
	}
}

size_t
relay_splice(struct session *s, enum handle_side from, size_t room,
    struct pool_thread *self)
{
	size_t size = room < RELAY_SPLICE_BUDGET ? room : RELAY_SPLICE_BUDGET;
	struct splice_pool *pool = &proxy_of(self)->pipes;
	struct splice_pipe *pipe = splice_pool_take(pool, self->now_ns);
	struct side *in = &s->side[from];
	ssize_t n;

	if (!pipe) {
		stop_splicing(in);
		return 0;
	}
	n = splice_in(pipe, in->fd, size);
	if (n > 0) {
		session_received(s, from, (uint64_t)n, turn_now_ms(self));
		if ((size_t)n < size || size == RELAY_SPLICE_BUDGET)
			note_splice(in, (size_t)n);
		(void)write_pipe(s, !from, pipe, self);
	} else {
		splice_read_nothing(s, from, n, self);
	}
	if (n > 0 && pipe->held > 0 && !side_is_broken(&s->side[!from])) {
		s->pending[!from].pipe = pipe;
		s->side[!from].piped = true;
	} else {
		splice_pool_give(pool, pipe);
	}
	return n > 0 ? (size_t)n : 0;
}
