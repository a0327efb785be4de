/* SPDX-License-Identifier: MIT
 * What the two ways of moving bytes share: copying (relay.c) and splicing
 * (relay_splice.c).
 *
 * `from` names the side that is read, !from the one that is written.
 */
#ifndef PROXY_RELAY_INTERNAL_H
#define PROXY_RELAY_INTERNAL_H

#include <stdint.h>
#include <sys/types.h>

#include "proxy/session.h"

/* When a direction changes over (figures: tests/bench/README.md): to
 * splicing after reads of RELAY_LARGE and more in a row made RELAY_BULK bytes,
 * back to copying after RELAY_SMALLS reads in a row below RELAY_SMALL.
 * tests/bench/thresholds.py builds with others and compares. */
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

/* One turn moves at most about this much in each direction: by the CPU seconds
 * per GB of tests/bench/README.md some 100 us of copying, and 190 of splicing.
 */
#define RELAY_COPY_BUDGET (128u * 1024)
#ifndef RELAY_SPLICE_BUDGET
#define RELAY_SPLICE_BUDGET (512u * 1024)
#endif

/* A side counts KiB in a byte. */
_Static_assert(RELAY_BULK < 256u * 1024, "the streak cannot get there");

/* A read has found the end of what the side sends: EVENT_READ_FIN, or
 * EVENT_READ_FAILED. */
void relay_read_ended(struct session *s, enum handle_side from,
    enum side_event event, struct pool_thread *self);

/* A write to that side has failed with an error other than EAGAIN: the side was
 * reset, maybe after its FIN. */
void relay_write_failed(
    struct session *s, enum handle_side to, struct pool_thread *self);

/* Copying has read so much from a side that may be spliced. */
void relay_splice_note(struct side *side, size_t size);

/* Splices once from a side that is splicing: reads what is there, up to a
 * pipe's worth, and writes what the other side takes; what it does not take is
 * kept, in the pipe.  Bytes read; 0: nothing there, or a recv has to tell why
 * (the side is then no longer splicing). */
size_t relay_splice(
    struct session *s, enum handle_side from, struct pool_thread *self);

/* Writes what the pipe holds that is kept for the side; false as long as
 * something is left.  When the side breaks the pipe goes with it. */
bool relay_splice_pending(
    struct session *s, enum handle_side to, struct pool_thread *self);

#endif
