/* SPDX-License-Identifier: MIT
 * First: the first usable server in the order of the configuration that has
 * room.
 */
#include <stdio.h>

#include "model/backend.h"
#include "model/lineup.h"

static int
prepare(struct lineup *lineup, const struct lineup *former)
{
	(void)lineup;
	(void)former;
	return 0;
}

static uint32_t
peek(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice)
{
	(void)backend;
	for (uint32_t i = 0; i < lineup->servers_n; i++)
		if (!lineup_passes_over(lineup, choice, i))
			return i;
	return 0;
}

static void
tell(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice, uint32_t place, struct reasons *ret_reasons)
{
	(void)backend;
	(void)lineup;
	(void)choice;
	snprintf(ret_reasons->why, REASON_SIZE,
	    place == 0 ? "it is the first of those that may be chosen"
	               : "it is the first one that has room");
}

const struct balance_ops balance_first = {.name = "first",
    .prepare = prepare,
    .choose = peek,
    .peek = peek,
    .tell = tell};
