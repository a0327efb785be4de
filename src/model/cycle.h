/* SPDX-License-Identifier: MIT
 * A cycle of turns: whose turn it is, weighted, smooth, and exact.
 *
 * The order of one cycle is worked out in advance: one of weight w has its k-th
 * turn at the virtual time (k + 1/2) / w, and the cycle is all turns in the
 * order of time (earliest deadline first), which spreads everybody's turns
 * evenly.  The weights are divided by their greatest common divisor.  Whoever
 * shares a counter then takes turns with one atomic addition, whatever the
 * number of threads, and any cycle of turns in a row hits everybody exactly by
 * weight.
 */
#ifndef MODEL_CYCLE_H
#define MODEL_CYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cycle {
	size_t n;
	uint32_t turn[]; /* indices of weights */
};

/* Of n weights, which are not all 0; from malloc, NULL when memory is short. */
struct cycle *cycle_new(const uint32_t *weights, uint32_t n);

/* The greatest; of 0 and another it is the other. */
static inline uint32_t
common_divisor(uint32_t a, uint32_t b)
{
	while (b != 0) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static inline uint32_t
cycle_turn(const struct cycle *cycle, uint64_t at)
{
	return cycle->turn[at % cycle->n];
}

#endif
