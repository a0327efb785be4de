/* SPDX-License-Identifier: MIT
 * See grace.h.
 *
 * The epoch starts at 1 and only grows.  A reader announces the epoch that it
 * finds.  The writer retires an object with the present epoch and then
 * increments the epoch.  An object may be freed once no reader announces an
 * epoch up to the object's.
 */
#include "base/grace.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/ensure.h"
#include "base/lock.h"

struct retired {
	struct retired *next;
	uint64_t epoch;
	void (*free_it)(void *object);
	void *object;
};

struct grace {
	uint64_t epoch CACHE_LINE_ALIGNED; /* written by the control thread */
	struct lock lock;                  /* of readers */
	struct grace_reader *readers;
	struct retired *oldest, **newest; /* control thread only */
};

struct grace *
grace_new(void)
{
	struct grace *g = aligned_alloc(CACHE_LINE, sizeof(*g));

	if (!g)
		return NULL;
	g->epoch = 1;
	g->readers = NULL;
	g->oldest = NULL;
	g->newest = &g->oldest;
	lock_init(&g->lock);
	return g;
}

void
grace_register(struct grace *grace, struct grace_reader *reader)
{
	atomic_store_relaxed(&reader->epoch, UINT64_C(0));
	lock_acquire(&grace->lock);
	reader->next = grace->readers;
	grace->readers = reader;
	lock_release(&grace->lock);
}

void
grace_unregister(struct grace *grace, struct grace_reader *reader)
{
	struct grace_reader **link = &grace->readers;

	lock_acquire(&grace->lock);
	while (*link && *link != reader)
		link = &(*link)->next;
	ENSURE(*link == reader && reader->epoch == 0);
	*link = reader->next;
	lock_release(&grace->lock);
}

void
grace_enter(struct grace *grace, struct grace_reader *reader)
{
	/* The announcement must be visible before any published pointer is
	 * read, hence the swap.  [P3] */
	(void)atomic_swap_seq(
	    &reader->epoch, atomic_load_relaxed(&grace->epoch));
}

void
grace_leave(struct grace_reader *reader)
{
	/* All reads of the section precede this store. [P3] */
	atomic_store_release(&reader->epoch, 0);
}

/* Returns the oldest epoch that a reader announces, or the present one. */
static uint64_t
oldest_epoch(struct grace *grace)
{
	uint64_t oldest = atomic_load_relaxed(&grace->epoch);

	lock_acquire(&grace->lock);
	for (struct grace_reader *r = grace->readers; r; r = r->next) {
		uint64_t e = atomic_load_seq(&r->epoch); /* [P3] */

		if (e != 0 && e < oldest)
			oldest = e;
	}
	lock_release(&grace->lock);
	return oldest;
}

void
grace_poll(struct grace *grace)
{
	uint64_t oldest;

	if (!grace->oldest)
		return;
	oldest = oldest_epoch(grace);
	while (grace->oldest && grace->oldest->epoch < oldest) {
		struct retired *r = grace->oldest;

		grace->oldest = r->next;
		if (!grace->oldest)
			grace->newest = &grace->oldest;
		r->free_it(r->object);
		free(r);
	}
}

uint64_t
grace_stamp(struct grace *grace)
{
	/* The swap orders the caller's replacement of the pointer before the
	 * look at the readers' announcements. */
	uint64_t epoch = atomic_load_relaxed(&grace->epoch);

	(void)atomic_swap_seq(&grace->epoch, epoch + 1);
	return epoch;
}

bool
grace_passed(struct grace *grace, uint64_t stamp)
{
	return oldest_epoch(grace) > stamp;
}

void
grace_retire(struct grace *grace, void (*free_it)(void *object), void *object)
{
	struct retired *r;
	uint64_t epoch;

	if (!object)
		return;
	epoch = grace_stamp(grace);
	r = malloc(sizeof(*r));
	if (!r) {
		while (!grace_passed(grace, epoch))
			sched_yield();
		free_it(object);
		return;
	}
	*r = (struct retired){
	    .epoch = epoch, .free_it = free_it, .object = object};
	*grace->newest = r;
	grace->newest = &r->next;
	grace_poll(grace);
}

void
grace_free(struct grace *grace)
{
	if (!grace)
		return;
	ENSURE(!grace->readers);
	grace_poll(grace);
	ENSURE(!grace->oldest);
	lock_fini(&grace->lock);
	free(grace);
}
