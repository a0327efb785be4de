/* SPDX-License-Identifier: MIT
 * Random, of two choices: two servers are drawn by weight, the one with fewer
 * sessions for its weight is taken (Mitzenmacher, "The power of two choices in
 * randomized load balancing", 2001).  Nothing is shared but the servers' own
 * session counts.
 */
#include <stdio.h>

#include "model/backend.h"
#include "model/lineup.h"
#include "model/server.h"

#define DRAWS 8

/* Of those that were not tried the first one drawn, or the next in the list:
 * PLACE_NONE when all were. */
static uint32_t
draw_untried(
    const struct lineup *lineup, const struct choice *choice, uint64_t *random)
{
	uint32_t place = 0;

	for (unsigned i = 0; i < DRAWS; i++) {
		*random = mix64(*random);
		place = lineup_draw(lineup, *random);
		if (!lineup_passes_over(lineup, choice, place))
			return place;
	}
	for (unsigned i = 0; i < lineup->servers_n; i++) {
		place = (place + 1) % lineup->servers_n;
		if (!lineup_passes_over(lineup, choice, place))
			return place;
	}
	return PLACE_NONE;
}

static uint32_t
peek(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice)
{
	uint64_t random = choice->random;
	uint32_t a = draw_untried(lineup, choice, &random);
	uint32_t b;

	(void)backend;
	if (a == PLACE_NONE)
		return lineup_draw(lineup, random);
	b = draw_untried(lineup, choice, &random);
	return lineup_less_loaded(lineup, b, a) ? b : a;
}

static void
tell(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice, uint32_t place, struct reasons *ret_reasons)
{
	(void)backend;
	(void)choice;
	(void)place;
	lineup_tell_loads(lineup, ret_reasons);
	ret_reasons->random = lineup_open_n(lineup) > 1;
	snprintf(ret_reasons->why, REASON_SIZE,
	    "of two that are drawn by weight the one with fewer sessions for "
	    "its weight");
}

const struct balance_ops balance_random = {.name = "random",
    .prepare = lineup_draw_prepare,
    .choose = peek,
    .peek = peek,
    .tell = tell};
