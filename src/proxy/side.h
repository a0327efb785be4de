/* SPDX-License-Identifier: MIT
 * A side: one of the two connections of a session, and how it ends.
 *
 * All fields belong to the session's owner.  [P21] marks fields that the
 * control thread reads, see session_facts.h.
 */
#ifndef PROXY_SIDE_H
#define PROXY_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/atomics.h"

struct tls_conn;

/* How far a side has ended.  The values combine the bits below. */
#define END_EOF    1u /* everything that the peer sent was read */
#define END_SHUT   2u /* the peer was sent our FIN */
#define END_BROKEN 4u /* the connection was reset: writing is of no use */

enum side_end {
	SIDE_OPEN = 0,
	SIDE_EOF = END_EOF,
	SIDE_SHUT = END_SHUT,
	SIDE_FINISHED = END_EOF | END_SHUT,
	SIDE_BROKEN = END_BROKEN,
	SIDE_GONE = END_BROKEN | END_EOF,
};

enum side_event {
	EVENT_READ_FIN,     /* a read has found the peer's FIN */
	EVENT_READ_FAILED,  /* a read has found an error in its place */
	EVENT_WRITE_FAILED, /* a write has failed, or SO_ERROR was set */
	EVENT_SENT_FIN,     /* the other side's FIN was passed on */
};

/* X(end, event, next end, why).  No other event can happen in a state: a side
 * is not read after END_EOF, and not written to after END_SHUT or END_BROKEN.
 */
#define SIDE_ENDS_TABLE(X)                                                     \
	X(OPEN, READ_FIN, EOF, "the peer may go on reading")                   \
	X(OPEN, READ_FAILED, GONE, "a read fails only behind the last byte")   \
	X(OPEN, WRITE_FAILED, BROKEN, "bytes before the reset can be read")    \
	X(OPEN, SENT_FIN, SHUT, "the peer may go on sending")                  \
	X(EOF, WRITE_FAILED, GONE, "reset after its FIN: nothing to read")     \
	X(EOF, SENT_FIN, FINISHED, "both directions have ended")               \
	X(SHUT, READ_FIN, FINISHED, "both directions have ended")              \
	X(SHUT, READ_FAILED, GONE, "a reset in place of the peer's FIN")       \
	X(SHUT, WRITE_FAILED, BROKEN, "bytes before the reset can be read")    \
	X(FINISHED, WRITE_FAILED, GONE, "our last bytes were refused")         \
	X(BROKEN, READ_FIN, GONE, "the error is reported once, then an end")   \
	X(BROKEN, READ_FAILED, GONE, "the bytes before the reset were read")

struct side {
	int fd;              /* -1: none; [P21] */
	bool tcp : 1;        /* not a unix socket */
	bool readable : 1;   /* a read may find something */
	bool writable : 1;   /* a write may find room */
	bool read_on : 1;    /* read until nothing is left, or the end */
	bool fin_queued : 1; /* its FIN has come: a short read is the last */
	bool error : 1;      /* the kernel has reported an error */
	bool urgent : 1;   /* urgent data may lie ahead: only recv passes it */
	bool splicing : 1; /* read by splice, not by recv */
	bool piped : 1;    /* its pending data are in a pipe */
	bool wrote : 1;    /* bytes were written to it */
	bool sealed : 1;   /* its pending data are TLS records */
	bool notified : 1; /* close_notify was sent to it, or is pending */
	uint8_t end;       /* enum side_end */
	/* Evidence for changing over: while copying, the KiB of large reads in
	 * a row; while splicing, the number of small reads in a row. */
	uint8_t streak;
	struct tls_conn *tls; /* owned; NULL: plain TCP */
	uint64_t active_ms;   /* when a byte last went in or came out */
	uint64_t received;    /* bytes read from it; [P21] */
	uint64_t counted;     /* bytes received that are in the counters */
};

static inline void
side_reset(struct side *side, int fd, uint64_t now_ms)
{
	const struct side fresh = {.active_ms = now_ms};
	size_t from = sizeof(side->fd);

	atomic_store_relaxed(&side->fd, fd);
	memcpy((char *)side + from, (const char *)&fresh + from,
	    offsetof(struct side, received) - from);
	atomic_store_relaxed(&side->received, UINT64_C(0));
	side->counted = 0;
}

/* Changes side->end by SIDE_ENDS_TABLE; aborts when the table has no row. */
void side_note(struct side *side, enum side_event event);

static inline bool
side_at_eof(const struct side *side)
{
	return side->end & END_EOF;
}

static inline bool
side_is_shut(const struct side *side)
{
	return side->end & END_SHUT;
}

static inline bool
side_is_broken(const struct side *side)
{
	return side->end & END_BROKEN;
}

/* Returns whether the peer has ended the connection or has finished sending. */
static inline bool
side_has_ended(const struct side *side)
{
	return side->end & (END_EOF | END_BROKEN);
}

#endif
