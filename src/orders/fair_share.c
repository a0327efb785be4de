/* SPDX-License-Identifier: MIT
 * See fair_share.h.
 */
#include "orders/fair_share.h"

#include <stdbool.h>

#define TOLERANCE 20

uint32_t
fair_tolerance(uint32_t fair)
{
	return fair / TOLERANCE > 0 ? fair / TOLERANCE : 1;
}

/* Returns whether the server is not full, and takes part in what is left. */
static bool
is_open(const struct share *share, bool limited)
{
	return !limited || share->limit == 0 || share->fair < share->limit;
}

static uint64_t
weight_of_open(const struct share *shares, size_t n, bool limited)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		if (is_open(&shares[i], limited))
			sum += shares[i].weight;
	return sum;
}

/* Gives each server whose part of the rest would exceed its limit as much as
 * its limit.  That may make the parts of the others larger, so it is repeated
 * until no part exceeds a limit.  Returns what is left. */
static uint64_t
fill_to_limits(struct share *shares, size_t n, uint64_t rest)
{
	bool again = true;

	while (again) {
		uint64_t weight = weight_of_open(shares, n, true), given = 0;

		again = false;
		for (size_t i = 0; i < n; i++) {
			struct share *s = &shares[i];

			if (s->limit == 0 || !is_open(s, true) ||
			    rest * s->weight / weight < s->limit)
				continue;
			s->fair = s->limit;
			given += s->limit;
			again = true;
		}
		rest -= given;
	}
	return rest;
}

/* Shares the rest out by the running sum of the weights: the parts are whole
 * numbers, each within 1 of the exact one, and nothing is left. */
static void
share_out(struct share *shares, size_t n, bool limited, uint64_t rest)
{
	uint64_t whole = weight_of_open(shares, n, limited);
	uint64_t weight = 0, given = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t upto;

		if (!is_open(&shares[i], limited))
			continue;
		weight += shares[i].weight;
		upto = rest * weight / whole;
		shares[i].fair += (uint32_t)(upto - given);
		given = upto;
	}
}

void
fair_shares(struct share *shares, size_t n)
{
	uint64_t rest = 0;

	for (size_t i = 0; i < n; i++) {
		shares[i].fair = 0;
		rest += shares[i].sessions;
	}
	rest = fill_to_limits(shares, n, rest);
	share_out(shares, n, weight_of_open(shares, n, true) > 0, rest);
	for (size_t i = 0; i < n; i++) {
		struct share *s = &shares[i];
		bool over = s->sessions > s->fair + fair_tolerance(s->fair);

		s->excess = over ? s->sessions - s->fair : 0;
	}
}
