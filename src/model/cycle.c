/* SPDX-License-Identifier: MIT
 * See cycle.h.  Turns are sorted as numbers: the virtual time in units so small
 * that two times which differ are two numbers, then whose turn it is.
 */
#include "model/cycle.h"

#include <stdlib.h>

#include "base/ensure.h"

/* Times are fractions of denominators below 2^WEIGHT_BITS, so they differ by
 * more than 2^-(2 * WEIGHT_BITS) or not at all.  They are less than 2. */
#define WEIGHT_BITS 19
#define WHOSE_BITS  (63 - 2 * WEIGHT_BITS - 1)

#define DIGIT_BITS 8
#define DIGITS     (64 / DIGIT_BITS)

static uint64_t
turn_key(uint32_t whose, uint32_t k, uint32_t weight)
{
	uint64_t time = ((2 * k + 1ull) << (2 * WEIGHT_BITS)) / weight;

	return time << WHOSE_BITS | whose;
}

/* By one digit, keeping the order of those that are equal in it. */
static void
sort_by_digit(const uint64_t *from, uint64_t *to, size_t n, unsigned shift)
{
	const uint64_t mask = (1u << DIGIT_BITS) - 1;
	size_t starts[1u << DIGIT_BITS] = {0}, sum = 0;

	for (size_t i = 0; i < n; i++)
		starts[from[i] >> shift & mask]++;
	for (size_t digit = 0; digit <= mask; digit++) {
		size_t count = starts[digit];

		starts[digit] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[starts[from[i] >> shift & mask]++] = from[i];
}

/* False when memory is short. */
static bool
sort_turns(uint64_t *turns, size_t n)
{
	uint64_t *other = malloc(n * sizeof(*other));
	bool ok = other != NULL;

	_Static_assert(DIGITS % 2 == 0, "what is sorted ends where it was");
	for (unsigned i = 0; ok && i < DIGITS; i += 2) {
		sort_by_digit(turns, other, n, i * DIGIT_BITS);
		sort_by_digit(other, turns, n, (i + 1) * DIGIT_BITS);
	}
	free(other);
	return ok;
}

static void
list_turns(
    const uint32_t *weights, uint32_t n, uint32_t divisor, uint64_t *turns)
{
	size_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t weight = weights[i] / divisor;

		ENSURE(weight < 1u << WEIGHT_BITS);
		for (uint32_t k = 0; k < weight; k++)
			turns[at++] = turn_key(i, k, weight);
	}
}

struct cycle *
cycle_new(const uint32_t *weights, uint32_t n)
{
	uint32_t divisor = weights[0];
	size_t sum = weights[0];
	struct cycle *cycle;
	uint64_t *turns;

	ENSURE(n <= 1u << WHOSE_BITS);
	for (uint32_t i = 1; i < n; i++) {
		divisor = common_divisor(weights[i], divisor);
		sum += weights[i];
	}
	sum /= divisor;
	turns = malloc(sum * sizeof(*turns));
	cycle = malloc(sizeof(*cycle) + sum * sizeof(cycle->turn[0]));
	if (turns)
		list_turns(weights, n, divisor, turns);
	if (!turns || !cycle || !sort_turns(turns, sum)) {
		free(turns);
		free(cycle);
		return NULL;
	}
	cycle->n = sum;
	for (size_t i = 0; i < sum; i++)
		cycle->turn[i] =
		    (uint32_t)(turns[i] & ((1u << WHOSE_BITS) - 1));
	free(turns);
	return cycle;
}
