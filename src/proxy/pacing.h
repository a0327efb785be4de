/* SPDX-License-Identifier: MIT
 * The bandwidth of a session: what each direction may read, and its wait.
 *
 *            pacing_room: a portion that may be read later
 *   READING ----------------------------------------------> WAITING
 *      ^                                                      |  the pacer's,
 *      |         pacing_resume                                v  see pacer.h
 *      +---------------------------------------------------- DUE
 *
 * A session under a limit has a record with two directions, named by the side
 * that is read.  A direction takes a portion of every bucket that it belongs to
 * before it reads (model/bandwidth.h), and gives back what it does not read.
 * When the portion may only be read later, the direction is handed to the
 * pacer, on the control thread.  Until then the side is not read: the bytes
 * stay in the socket, and TCP slows down the sender.
 *
 * All functions run on the session's owner and never block.
 */
#ifndef PROXY_PACING_H
#define PROXY_PACING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "proxy/pacer.h"
#include "proxy/session.h"

enum pace_state { PACE_READING, PACE_WAITING, PACE_DUE };

/* A direction. */
struct pace {
	/* The pacer owns these two while the direction is WAITING. */
	struct pace *next; /* in its stack or wheel */
	uint64_t due_ns;   /* when the portion may be read, clock_now_ns */
	/* The bucket of the session itself: as in struct bucket. */
	uint64_t own_rate, own_due_ns;
	uint64_t waited_ns; /* when its last wait ended, or 0 */
	uint32_t granted;   /* bytes of the portion that were not read so far */
	/* enum pace_state.  The owner sets READING and WAITING, the pacer DUE.
	 * [P38] */
	uint8_t state;
	uint8_t from;    /* enum handle_side, fixed */
	uint8_t counted; /* bits: the buckets where it counts as waiting */
	/* The place of that bucket of its client's range (client_bands.h). */
	uint8_t client_place;
};

struct pacing {
	struct pace pace[2]; /* by the side that is read */
	struct session *session;
	/* The buckets of the client's source at the frontend and at the
	 * backend, by direction; NULL: the bandwidth is not per=client, or its
	 * table had no place.  at_backend is set only while the session has a
	 * server. */
	struct bucket *source, *at_backend;
	uint32_t index; /* in the slab */
	/* The session, and each direction that waits; any thread.  [P39] */
	uint16_t refs;
	bool closed; /* the session has ended.  [P40] */
};

/* A record is kept small: many sessions have one. */
_Static_assert(sizeof(struct pacing) == 128, "a record has two cache lines");

static inline struct pacing *
pacing_of(struct pace *pace)
{
	return container_of(pace - pace->from, struct pacing, pace[0]);
}

/* Returns the record that session.pacing stands for, or NULL.  Any thread;
 * unless the caller owns the session, the record may belong to another session
 * by now. */
static inline struct pacing *
pacing_find(const struct proxy *proxy, uint32_t pacing)
{
	return pacing > 0 ? slab_at(&proxy->pacer.records, pacing - 1) : NULL;
}

/* Gives the session a record if it is under a limit and has none, and lets it
 * take part in the backend's per=client.  To be called when the session has got
 * a server, or limits have changed.  Returns false when memory is
 * short. */
bool pacing_begin(struct session *s, struct pool_thread *self) MUST_CHECK;

/* Gives back what was taken and not read.  To be called before the session
 * leaves its server. */
void pacing_leave_server(struct session *s, struct pool_thread *self);

/* Gives back what was taken, and the record.  To be called when the session
 * ends, before its claim is retired. */
void pacing_end(struct session *s, struct pool_thread *self);

/* Returns when all bytes that the direction has read will have been paid for in
 * the session's own bucket, clock_now_ns; 0: it has no such bucket. */
uint64_t pacing_paid_ns(
    const struct session *s, enum handle_side from, const struct proxy *proxy);

/* Sets the session's own buckets to these times, by the side that is read; 0:
 * there was no such bucket.  The session has come from another process, with
 * its server. */
void pacing_adopt(
    struct session *s, const uint64_t paid_ns[2], struct proxy *proxy);

/* The functions below need a session with a record. */

/* Begins the direction's part of a turn: ends a wait that is over, and restarts
 * the times of inactivity in that case. */
void pacing_resume(
    struct session *s, enum handle_side from, struct pool_thread *self);

/* Returns how many bytes may be read now; SIZE_MAX: any number, because no
 * limit is left; 0: none before the pacer leaves NOTE_PACE. */
size_t pacing_room(
    struct session *s, enum handle_side from, struct pool_thread *self);

/* Notes that n of the bytes that pacing_room has allowed were read. */
void pacing_read(struct session *s, enum handle_side from, size_t n,
    struct pool_thread *self);

/* Ends the direction's part of a turn: gives back what was not read, unless the
 * direction waits.  To be called when there is no more to do at once. */
void pacing_pause(
    struct session *s, enum handle_side from, struct pool_thread *self);

/* Returns whether a direction of the session waits for bandwidth.  The session
 * may be without a record. */
static inline bool
pacing_waits(const struct session *s, const struct proxy *proxy)
{
	const struct pacing *p = pacing_find(proxy, s->pacing);

	return p && (atomic_load_relaxed(&p->pace[0].state) != PACE_READING ||
	                atomic_load_relaxed(&p->pace[1].state) != PACE_READING);
}

#endif
