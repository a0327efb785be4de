/* SPDX-License-Identifier: MIT
 * See draw.h.
 */
#include "balance/draw.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mix.h"
#include "model/lineup.h"

#define DRAWS 8

/* The alias method (Walker 1974, in Vose's linear form, 1991): each cell holds
 * its own place, another place, and the share of the cell that is the own
 * place's. */
struct alias_cell {
	uint32_t share; /* in 1/2^32 */
	uint32_t other;
};

int
draw_prepare(struct lineup *lineup, const struct lineup *former)
{
	unsigned n = lineup->servers_n;
	struct alias_cell *cells = malloc(n * sizeof(*cells));
	double *left = malloc(n * sizeof(*left));
	uint32_t *stack = malloc(n * sizeof(*stack));
	unsigned small = 0,
	         large = n; /* two stacks that grow towards each other */

	(void)former;
	if (!cells || !left || !stack) {
		free(cells);
		free(left);
		free(stack);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < n; i++) {
		cells[i] = (struct alias_cell){.share = UINT32_MAX, .other = i};
		left[i] =
		    (double)lineup->weights[i] * n / (double)lineup->weight_sum;
		stack[left[i] < 1.0 ? small++ : --large] = i;
	}
	while (small > 0 && large < n) {
		uint32_t s = stack[--small], l = stack[large];

		cells[s].share = (uint32_t)(left[s] * 4294967295.0);
		cells[s].other = l;
		left[l] -= 1.0 - left[s];
		if (left[l] < 1.0) {
			large++;
			stack[small++] = l;
		}
	}
	free(left);
	free(stack);
	lineup->plan = cells;
	return 0;
}

/* Returns the place that 64 random bits select. */
static uint32_t
draw_place(const struct lineup *lineup, uint64_t random)
{
	const struct alias_cell *cells = lineup->plan;
	uint32_t i = (uint32_t)(((random >> 32) * lineup->servers_n) >> 32);

	return (uint32_t)random <= cells[i].share ? i : cells[i].other;
}

uint32_t
draw_open(
    const struct lineup *lineup, const struct choice *choice, uint64_t random)
{
	uint32_t drawn = PLACE_NONE;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < lineup->servers_n; i++) {
		if (lineup_passes_over(lineup, choice, i))
			continue;
		sum += lineup->weights[i];
		random = mix64(random);
		if (random % sum < lineup->weights[i])
			drawn = i;
	}
	return drawn;
}

uint32_t
draw_better(const struct lineup *lineup, const struct choice *choice,
    bool distinct,
    bool (*is_better)(const struct lineup *lineup, uint32_t a, uint32_t b))
{
	uint64_t random = choice->random;
	uint32_t place = 0, best = PLACE_NONE;

	for (unsigned i = 0, found = 0; i < DRAWS && found < 2; i++) {
		random = mix64(random);
		place = draw_place(lineup, random);
		if (lineup_passes_over(lineup, choice, place) ||
		    (distinct && place == best))
			continue;
		found++;
		if (best == PLACE_NONE || is_better(lineup, place, best))
			best = place;
	}
	if (best == PLACE_NONE)
		best = draw_open(lineup, choice, random);
	return best == PLACE_NONE ? place : best;
}
