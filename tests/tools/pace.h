/* SPDX-License-Identifier: MIT
 * Loads at a given rate: arrivals at random times, connections by when they are
 * due, and the times that answers have taken.
 */
#ifndef TOOLS_PACE_H
#define TOOLS_PACE_H

#include <math.h>

#include "tool.h"

#define PACE_NS 1000000000ull

/* Monotonic time in nanoseconds. */
static inline uint64_t
pace_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * PACE_NS + (uint64_t)ts.tv_nsec;
}

/* The state of pace_gap_ns.  Weak: the files of one tool share it. */
__attribute__((weak)) uint64_t pace_seed = 88172645463325252u;

/* Nanoseconds to the next arrival of a Poisson process (xorshift64). */
static inline uint64_t
pace_gap_ns(double mean_ns)
{
	double u;

	pace_seed ^= pace_seed << 13;
	pace_seed ^= pace_seed >> 7;
	pace_seed ^= pace_seed << 17;
	u = (double)(pace_seed >> 11) / 9007199254740992.0;
	return (uint64_t)(-log(1.0 - u) * mean_ns);
}

/* The time left until then, 0 when it has passed. */
static inline struct timespec
pace_left(uint64_t then_ns)
{
	uint64_t at_ns = pace_now_ns();
	uint64_t left_ns = then_ns > at_ns ? then_ns - at_ns : 0;

	return (struct timespec){.tv_sec = (time_t)(left_ns / PACE_NS),
	    .tv_nsec = (long)(left_ns % PACE_NS)};
}

/* A heap with the earliest first.  A search through all connections would cost
 * more than the requests where there are hundreds. */
struct pace_due {
	uint64_t at_ns;
	void *what;
};
struct pace_queue {
	struct pace_due *heap; /* the caller's, with room for all */
	size_t n;
};

static inline void
pace_push(struct pace_queue *q, uint64_t at_ns, void *what)
{
	size_t i = q->n++;

	for (; i > 0 && q->heap[(i - 1) / 2].at_ns > at_ns; i = (i - 1) / 2)
		q->heap[i] = q->heap[(i - 1) / 2];
	q->heap[i] = (struct pace_due){.at_ns = at_ns, .what = what};
}

/* Takes the earliest; there is one. */
static inline void *
pace_pop(struct pace_queue *q)
{
	void *first = q->heap[0].what;
	struct pace_due last = q->heap[--q->n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < q->n) {
		if (child + 1 < q->n &&
		    q->heap[child + 1].at_ns < q->heap[child].at_ns)
			child++;
		if (q->heap[child].at_ns >= last.at_ns)
			break;
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = last;
	return first;
}

/* Microseconds that answers have taken. */
struct pace_times {
	uint32_t *us;
	size_t n, room;
};

static inline void
pace_note(struct pace_times *t, uint32_t us)
{
	if (t->n == t->room) {
		t->room = t->room > 0 ? t->room * 2 : 1024;
		t->us = realloc(t->us, t->room * sizeof(*t->us));
		if (!t->us)
			tool_die(TOOL_SYSTEM, "no memory");
	}
	t->us[t->n++] = us;
}

static inline int
pace_compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Sorts the times and prints members of a JSON object; all 0 without times. */
static inline void
pace_print(struct pace_times *t)
{
	size_t n = t->n;

	if (n == 0)
		pace_note(t, 0);
	qsort(t->us, n, sizeof(*t->us), pace_compare);
	printf("\"p50_us\": %u, \"p99_us\": %u, \"p999_us\": %u, "
	       "\"max_us\": %u",
	    t->us[n / 2], t->us[n - n / 100 - (n > 0)],
	    t->us[n - n / 1000 - (n > 0)], t->us[n - (n > 0)]);
	t->n = n;
}

#endif
