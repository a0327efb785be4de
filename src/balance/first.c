/* SPDX-License-Identifier: MIT
 * First: the first usable server with room, in the order of the configuration.
 */
#include <stdio.h>

#include "balance/balance.h"
#include "model/lineup.h"

static int
first_prepare(struct lineup *lineup, const struct lineup *former)
{
	(void)lineup;
	(void)former;
	return 0;
}

static uint32_t
first_choose(const struct lineup *lineup, const struct choice *choice)
{
	for (uint32_t i = 0; i < lineup->servers_n; i++)
		if (!lineup_passes_over(lineup, choice, i))
			return i;
	return 0;
}

static void
first_explain(const struct lineup *lineup, const struct choice *choice,
    uint32_t place, char ret_why[BALANCE_WHY_SIZE])
{
	(void)lineup;
	(void)choice;
	snprintf(ret_why, BALANCE_WHY_SIZE,
	    place == 0 ? "it is the first of those that may be chosen"
	               : "it is the first one that has room");
}

const struct balance_ops balance_first = {.name = "first",
    .in_order = true,
    .prepare = first_prepare,
    .choose = first_choose,
    .preview = first_choose,
    .explain = first_explain};
