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
 * When the portion may only be read later the direction is handed to the pacer,
 * on the control thread, and is not read meanwhile: the bytes stay in the
 * socket, and its sender is slowed down by TCP.
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
	/* While WAITING these two are the pacer's. */
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
};

struct pacing {
	struct pace pace[2]; /* by the side that is read */
	struct session *session;
	/* The buckets of the client's source at the frontend and at the
	 * backend, by direction; NULL: the bandwidth is not per=source, or its
	 * table had no place.  Those of the backend are there while the session
	 * has a server. */
	struct bucket *source, *at_backend;
	uint32_t index; /* in the slab */
	/* The session, and each direction that waits; any thread.  [P39] */
	uint16_t refs;
	bool closed; /* the session has ended.  [P40] */
};

/* Many sessions have one. */
_Static_assert(sizeof(struct pacing) == 128, "a record has two cache lines");

static inline struct pacing *
pacing_of(struct pace *pace)
{
	return container_of(pace - pace->from, struct pacing, pace[0]);
}

/* Returns the record that a session has by session.pacing, or NULL.  Any
 * thread; the record may have become another session's if the caller does not
 * own the session. */
static inline struct pacing *
pacing_find(const struct proxy *proxy, uint32_t pacing)
{
	return pacing > 0 ? slab_at(&proxy->pacer.records, pacing - 1) : NULL;
}

/* The session has got a server, or a reload has changed limits: gives it a
 * record if it is under a limit and has none, and its part in the backend's
 * per=source.  Returns false when memory is
 * short. */
bool pacing_begin(struct session *s, struct pool_thread *self) MUST_CHECK;

/* The session leaves its server: gives back what was taken and not read. */
void pacing_leave_server(struct session *s, struct pool_thread *self);

/* The session ends, before its claim is retired: gives back what was taken, and
 * the record. */
void pacing_end(struct session *s, struct pool_thread *self);

/* Returns when all that the direction has read will have been paid for in the
 * session's own bucket, clock_now_ns; 0: it has none. */
uint64_t pacing_paid_ns(
    const struct session *s, enum handle_side from, const struct proxy *proxy);

/* A session has come from another process, with its server: has its own buckets
 * go on from these times, by the side that is read; 0: there was none. */
void pacing_adopt(
    struct session *s, const uint64_t paid_ns[2], struct proxy *proxy);

/* The functions below need a session with a record. */

/* The direction's part of a turn begins: a wait that is over ends.  The times
 * of inactivity begin again then. */
void pacing_resume(
    struct session *s, enum handle_side from, struct pool_thread *self);

/* Returns how many bytes may be read now, SIZE_MAX if no limit is left; 0: none
 * before the pacer leaves NOTE_PACE. */
size_t pacing_room(
    struct session *s, enum handle_side from, struct pool_thread *self);

/* n bytes were read, of those that pacing_room has allowed. */
void pacing_read(struct session *s, enum handle_side from, size_t n,
    struct pool_thread *self);

/* The direction's part of a turn ends without more to do at once: gives back
 * what was not read, unless the direction waits. */
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
