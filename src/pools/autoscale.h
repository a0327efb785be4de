/* SPDX-License-Identifier: MIT
 * Autoscaling: decides when a pool gets a thread more or a thread less.
 *
 * These functions only compute: the caller samples the pool and changes it.  A
 * pool needs more threads while no follower is parked and no leader sleeps on
 * the handle set: the next event has to wait for a turn to end.  A pool has too
 * many threads while two or more are always parked.  A late promotion means
 * that a thread was woken and the machine had no CPU for it; more threads would
 * only wait for the same CPUs.
 */
#ifndef POOLS_AUTOSCALE_H
#define POOLS_AUTOSCALE_H

#include <stdint.h>

#define AUTOSCALE_SAMPLE_MS 50
#define AUTOSCALE_WINDOW    20 /* samples: a second */
/* The windows in a row that must agree.  Threads are added quickly and retired
 * slowly. */
#define AUTOSCALE_GROW   2
#define AUTOSCALE_SHRINK 10
/* Promotions that took longer than this show that CPUs are short. */
#define AUTOSCALE_LATE_NS 2000000u

struct autoscale {
	unsigned min, max;                /* threads */
	unsigned samples, lacking, spare; /* in the present window */
	uint64_t promotions, late;        /* totals at its start */
	unsigned grow_windows, shrink_windows;
};

struct autoscale_sample {
	unsigned threads;
	unsigned parked; /* or waiting beside another thread */
	unsigned asleep; /* shards whose threads wait, nothing being ready */
	uint64_t promotions; /* running totals */
	uint64_t late;       /* of these, later than AUTOSCALE_LATE_NS */
};

/* Begins the first window.  The pool is to have min to max threads. */
void autoscale_init(struct autoscale *a, unsigned min, unsigned max);

/* Adds a shard to the sample.  parked: its parked threads; waiting: those that
 * wait on its handle set, nothing being ready.  The first thread that waits
 * counts as asleep.  The others count as parked: they stand by, or wait beside
 * the first one under POLICY_KERNEL, where no thread is parked. */
void autoscale_add_shard(
    struct autoscale_sample *sample, unsigned parked, unsigned waiting);

/* Takes a sample into account.  Returns 1 to start a thread, -1 to retire one,
 * 0 to do neither.  Keeps the number of threads between min and max.  Called
 * every AUTOSCALE_SAMPLE_MS. */
int autoscale_step(struct autoscale *a, const struct autoscale_sample *sample);

#endif
