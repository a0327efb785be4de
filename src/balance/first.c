/* SPDX-License-Identifier: MIT
 * First: the first usable server with room, in the order of the configuration.
 */
#include <stdio.h>

#include "balance/balance.h"
#include "model/lineup.h"

static uint32_t
first_choose(const struct lineup *lineup, const struct choice *choice)
{
	uint32_t place = lineup_next_open(lineup, choice, 0);

	return place == PLACE_NONE ? 0 : place;
}

static void
first_explain(const struct lineup *lineup, const struct choice *choice,
    uint32_t place, char ret_why[BALANCE_WHY_SIZE])
{
	(void)lineup;
	(void)choice;
	snprintf(ret_why, BALANCE_WHY_SIZE,
	    place == 0 ? "the first eligible server of the file"
	               : "it is the first one that has room");
}

const struct balance_ops balance_first = {.name = "first",
    .in_order = true,
    .choose = first_choose,
    .preview = first_choose,
    .explain = first_explain};
