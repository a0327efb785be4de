/* SPDX-License-Identifier: MIT
 * The pacer: wakes the directions of sessions that wait for bandwidth.
 *
 * Data threads push a direction on a stack without locks.  The keeper
 * takes the stack, sorts the directions into a wheel by the time at which they
 * are due, and leaves NOTE_PACE with their sessions when that time has come.
 * The looks are about PACER_TICK_NS apart at least, and there are none while no
 * direction waits.  The owner of a direction that is due before the next look
 * calls for another look (pacer.call).
 */
#ifndef PROXY_PACER_H
#define PROXY_PACER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "base/slab.h"

struct pace;
struct pacing;

#define PACER_TICK_NS UINT64_C(2000000)
#define PACER_SLOTS   1024u

struct pacer {
	struct pace *pushed CACHE_LINE_ALIGNED; /* the newest.  [P37] */
	uint64_t next_look_ns; /* clock_now_ns; UINT64_MAX: none.  [P37] */
	bool limited; /* a limit is in force; control thread writes; relaxed */
	/* Makes the keeper call pacer_look soon.  Any thread.  NULL: nothing to
	 * call. */
	void (*call)(void *arg);
	void *call_arg;
	struct slab records; /* struct pacing; any thread */

	/* The keeper's. */
	struct pace_list {
		struct pace *first, *last;
	} slots[PACER_SLOTS] CACHE_LINE_ALIGNED;
	uint64_t tick; /* up to which slots were emptied */
	uint32_t in_slots;
};

/* Initializes the pacer.  max: how many records may exist at a time.  Returns 0
 * or -ENOMEM. */
int pacer_init(struct pacer *pacer, uint32_t max) MUST_CHECK;

/* Frees the records.  To be called after the pools have ended. */
void pacer_fini(struct pacer *pacer);

/* Hands a direction over to the pacer.  The direction is WAITING, and holds a
 * reference to its record for the pacer.  Runs on the session's owner.  Never
 * blocks. */
void pacer_push(struct pacer *pacer, struct pace *pace, uint64_t now_ns);

/* Wakes all directions that are due.  Returns when to call it next,
 * clock_now_ns; UINT64_MAX: when pacer.call asks for it.  Runs on the keeper's
 * thread. */
uint64_t pacer_look(struct pacer *pacer, uint64_t now_ns);

/* Wakes all directions that wait, because their limits have changed.  Runs on
 * the keeper's thread. */
void pacer_wake_all(struct pacer *pacer);

/* Drops a reference; the last one gives the record back.  Any thread. */
void pacing_unref(struct pacer *pacer, struct pacing *pacing);

#endif
