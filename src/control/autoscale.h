/* SPDX-License-Identifier: MIT
 * Autoscaling: when a pool should have a thread more, or less.
 *
 * Only arithmetic: the caller samples the pool and changes it.  A pool lacks
 * threads while no follower is parked and nobody sleeps on the handle set:
 * whatever comes next has to wait for a turn to end.  It has too many while two
 * or more are always parked.  A late promotion, when a thread was called and
 * the machine had no CPU for it, speaks against more threads: they would only
 * wait for the same CPUs.
 */
#ifndef CONTROL_AUTOSCALE_H
#define CONTROL_AUTOSCALE_H

#include <stdint.h>

#define AUTOSCALE_SAMPLE_MS 50
#define AUTOSCALE_WINDOW    20 /* samples: a second */
/* Windows in a row that must agree: threads come quickly and go slowly. */
#define AUTOSCALE_GROW   2
#define AUTOSCALE_SHRINK 10
/* Promotions that took longer than this say that CPUs are short. */
#define AUTOSCALE_LATE_NS 2000000u

struct autoscale {
	unsigned min, max;                /* threads */
	unsigned samples, lacking, spare; /* of the present window */
	uint64_t promotions, late;        /* totals at its start */
	unsigned grow_windows, shrink_windows;
};

struct autoscale_sample {
	unsigned threads;
	unsigned parked;
	unsigned asleep;     /* leaders that wait, nothing being ready */
	uint64_t promotions; /* running totals */
	uint64_t late;       /* of these, later than AUTOSCALE_LATE_NS */
};

void autoscale_init(struct autoscale *a, unsigned min, unsigned max);

/* Every AUTOSCALE_SAMPLE_MS.  1: start a thread, -1: retire one, else 0; within
 * min and max. */
int autoscale_step(struct autoscale *a, const struct autoscale_sample *sample);

#endif
