/* SPDX-License-Identifier: MIT
 * Shared by the parts of the relay: copying (relay.c), splicing
 * (relay_splice.c), TLS (relay_tls.c), and the ends of the sides
 * (relay_ends.c).
 *
 * `from` names the side that is read, !from the side that is written.
 */
#ifndef PROXY_RELAY_INTERNAL_H
#define PROXY_RELAY_INTERNAL_H

#include <stdint.h>
#include <sys/types.h>

#include "proxy/session_step.h"

/* When a direction changes over (figures: tests/bench/README.md).  It changes
 * to splicing when successive reads of at least RELAY_LARGE bytes have made
 * RELAY_BULK bytes, and back to copying after RELAY_SMALLS reads in a row below
 * RELAY_SMALL.  tests/bench/thresholds.py builds with other values and
 * compares. */
#ifndef RELAY_LARGE
#define RELAY_LARGE (32u * 1024)
#endif
#ifndef RELAY_BULK
#define RELAY_BULK (64u * 1024)
#endif
#ifndef RELAY_SMALL
#define RELAY_SMALL (16u * 1024)
#endif
#define RELAY_SMALLS 4

/* The most bytes, roughly, that a turn moves in each direction.  By the CPU
 * seconds per GB in tests/bench/README.md this takes some 100 us of copying, or
 * 190 us of splicing. */
#define RELAY_COPY_BUDGET (128u * 1024)
#ifndef RELAY_SPLICE_BUDGET
#define RELAY_SPLICE_BUDGET (512u * 1024)
#endif

/* side.streak counts KiB in a byte. */
_Static_assert(RELAY_BULK < 256u * 1024, "the streak cannot get there");

/* Returns whether everything that the side has sent was read, and written to
 * the other side. */
static inline bool
relay_finished(const struct session *s, enum handle_side from)
{
	return side_at_eof(&s->side[from]) && !session_has_pending(s, !from);
}

static inline bool
relay_any_broken(const struct session *s)
{
	return side_is_broken(&s->side[HANDLE_CLIENT]) ||
	       side_is_broken(&s->side[HANDLE_SERVER]);
}

/* Drops the pending data of the side, if there are any. */
void relay_drop_pending_of(
    struct session *s, enum handle_side to, struct proxy *proxy);

/* Sends TLS records from the thread's buffer, behind those that are pending.
 * Returns false when they cannot be kept. */
bool relay_send_records(struct session *s, enum handle_side to, size_t size,
    struct pool_thread *self);

/* Passes on the ends of both sides, after everything that could be moved was
 * moved.  more: the budget is used up, so there may be more to move. */
struct verdict relay_pass_on_ends(
    struct session *s, bool more, struct pool_thread *self);

/* Notes that a read has found the end of what the side sends.  event:
 * EVENT_READ_FIN or EVENT_READ_FAILED. */
void relay_read_ended(struct session *s, enum handle_side from,
    enum side_event event, struct pool_thread *self);

/* Notes that a write to that side has failed with an error other than EAGAIN:
 * the side was reset, maybe after its FIN. */
void relay_write_failed(
    struct session *s, enum handle_side to, struct pool_thread *self);

/* Reads up to size bytes from a side with TLS into the thread's buffer, as
 * tls_conn_read does.  -EPIPE: the peer, which was told of our end, has ended
 * without announcing that.  *ret_records: the size of the answer to the side,
 * in the thread's buffer of records; 0: none. */
ssize_t relay_tls_read(struct session *s, enum handle_side from, size_t size,
    struct pool_thread *self, size_t *ret_records);

/* Makes TLS records of the data for a side, in the thread's buffer of records.
 * Returns their size; 0 when the connection is broken, or when the side has to
 * complete a message first. */
size_t relay_tls_seal(struct session *s, enum handle_side to,
    const uint8_t *data, size_t size, struct pool_thread *self);

/* Makes the announcement of our end to a side with TLS, unless it was announced
 * before.  Returns the announcement's size in the thread's buffer of records;
 * 0: none.  When the side has to complete a message first, side->notified stays
 * false. */
size_t relay_tls_end(
    struct session *s, enum handle_side to, struct pool_thread *self);

/* Notes that copying has read size bytes from a side that may be spliced. */
void relay_splice_note(struct side *side, size_t size);

/* Splices once from a side that is splicing: reads up to a pipe's worth and up
 * to room bytes, writes what the other side takes, and keeps the rest in the
 * pipe.  Returns the bytes read; 0 if there were none, or if a recv has to find
 * out why (the side is then no longer splicing). */
size_t relay_splice(struct session *s, enum handle_side from, size_t room,
    struct pool_thread *self);

/* Writes the pending bytes of the side's pipe.  Returns false as long as some
 * are left.  If the side breaks, the pipe is given back. */
bool relay_splice_pending(
    struct session *s, enum handle_side to, struct pool_thread *self);

#endif
