/* SPDX-License-Identifier: MIT
 * The pacer: wakes the directions of sessions that wait for bandwidth.
 *
 * Data threads push a direction on a stack without locks.  The control thread
 * takes the stack, sorts the directions into a wheel by the time at which they
 * are due, and leaves NOTE_PACE with their sessions then.  Looks are
 * PACER_TICK_NS apart at least, and there are none while nothing waits; a
 * direction that would wait beyond the next look calls for one (pacer.call).
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
	bool limited; /* a limit is in force; control thread; relaxed */
	/* Any thread: has pacer_look called soon.  NULL: no call. */
	void (*call)(void *arg);
	void *call_arg;
	struct slab records; /* struct pacing; any thread */

	/* Control thread only. */
	struct pace_list {
		struct pace *first, *last;
	} slots[PACER_SLOTS] CACHE_LINE_ALIGNED;
	uint64_t tick; /* up to which slots were emptied */
	uint32_t in_slots;
};

/* Returns 0 or -ENOMEM.  max: records at a time. */
int pacer_init(struct pacer *pacer, uint32_t max) MUST_CHECK;

/* After the pools have ended. */
void pacer_fini(struct pacer *pacer);

/* The owner of a direction that is WAITING, with a reference to its record for
 * the pacer: hands the direction over.  Never blocks. */
void pacer_push(struct pacer *pacer, struct pace *pace, uint64_t now_ns);

/* Control thread: wakes all that are due.  Returns when to call it next,
 * clock_now_ns, UINT64_MAX: when pacer.call asks for it. */
uint64_t pacer_look(struct pacer *pacer, uint64_t now_ns);

/* Control thread: wakes all that wait, since their limits have changed. */
void pacer_wake_all(struct pacer *pacer);

/* Drops a reference; the last one gives the record back.  Any thread. */
void pacing_unref(struct pacer *pacer, struct pacing *pacing);

#endif
