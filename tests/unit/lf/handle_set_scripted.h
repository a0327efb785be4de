/* SPDX-License-Identifier: MIT
 * The scripted handle set: events that a test feeds, in the order it feeds
 * them, without a kernel behind.
 *
 *   test --feed--> batches --wait--> leader
 *
 * One wait returns one batch (or, when max is smaller, its first part), so a
 * test says exactly what a leader finds at once.  With nothing to return a wait
 * blocks until something is fed or somebody wakes it; a wake with nobody
 * waiting is kept for the next wait, as epoll's is.  Every call is counted,
 * and two waits at a time, which the pattern forbids, are as well.
 */
#ifndef UNIT_LF_HANDLE_SET_SCRIPTED_H
#define UNIT_LF_HANDLE_SET_SCRIPTED_H

#include <stdbool.h>

#include "lf/handle_set.h"

/* What a test may ask: counts since it was made. */
struct scripted_counts {
	unsigned adds, removes, reactivates;
	unsigned waits, wakes;
	unsigned double_waits; /* of these waits, beside another one */
	unsigned fed;          /* events that were ever fed */
	unsigned queued;       /* of these, not returned by a wait so far */
	unsigned freed;
	bool waiting; /* somebody is blocked in wait */
};

/* A registration; removed ones keep their line. */
struct scripted_handle {
	int fd;
	handle_t handle;
	uint32_t interest;
	bool removed;
};

struct scripted;

/* The test owns it; the set inside may be given to a shard or a pool, whose
 * free is only counted. */
struct scripted *scripted_new(void);
void scripted_free(struct scripted *scripted);
struct handle_set *scripted_set(struct scripted *scripted);

/* Any thread, handlers too: one batch, copied. */
void scripted_feed(
    struct scripted *scripted, const struct handle_event *events, unsigned n);

/* The next wait returns -error, before anything that was fed. */
void scripted_fail_wait(struct scripted *scripted, int error);

/* The next add returns -error. */
void scripted_fail_add(struct scripted *scripted, int error);

struct scripted_counts scripted_counts(struct scripted *scripted);

/* The i-th registration that was ever made; false if there is none. */
bool scripted_handle_at(
    struct scripted *scripted, unsigned i, struct scripted_handle *ret_handle);

#endif
