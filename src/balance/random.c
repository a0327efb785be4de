/* SPDX-License-Identifier: MIT
 * Random, with two choices: draws two servers by weight and takes the one with
 * fewer sessions for its weight (Mitzenmacher, "The power of two choices in
 * randomized load balancing", 2001).  Threads share no word but the servers'
 * session counts.
 */

#include "balance/balance.h"
#include "balance/draw.h"
#include "base/mix.h"
#include "model/lineup.h"

#define DRAWS 8

/* Draws up to DRAWS times for a server that is not passed over, then takes the
 * next such server in the list.  Returns PLACE_NONE if all are passed over. */
static uint32_t
draw_untried(
    const struct lineup *lineup, const struct choice *choice, uint64_t *random)
{
	uint32_t place = 0;

	for (unsigned i = 0; i < DRAWS; i++) {
		*random = mix64(*random);
		place = draw_place(lineup, *random);
		if (!lineup_passes_over(lineup, choice, place))
			return place;
	}
	return lineup_next_open(lineup, choice, place);
}

static uint32_t
random_choose(const struct lineup *lineup, const struct choice *choice)
{
	uint64_t random = choice->random;
	uint32_t a = draw_untried(lineup, choice, &random);
	uint32_t b;

	if (a == PLACE_NONE)
		return draw_place(lineup, random);
	b = draw_untried(lineup, choice, &random);
	return lineup_less_loaded(lineup, b, a) ? b : a;
}

const struct balance_ops balance_random = {.name = "random",
    .random = true,
    .measure = LINEUP_LOAD,
    .prepare = draw_prepare,
    .choose = random_choose,
    .preview = random_choose,
    .score = lineup_score_loads,
    .why = "of two that are drawn by weight the one with fewer sessions for "
           "its weight"};
