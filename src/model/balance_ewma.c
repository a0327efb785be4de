/* SPDX-License-Identifier: MIT
 * Peak EWMA: of two servers drawn by weight, the one where a new session is
 * likely to be connected soonest.  A server's cost is its connect time times
 * the sessions it has, this one included, for its weight.  The connect time is
 * a moving average that jumps to a peak at once and forgets it slowly
 * (Finagle's "peak EWMA"; see server_note_connect).  A server that was never
 * connected to, or not for long, costs nothing, so it is found out about, by
 * one session: while that is under way the other's connect time is taken for
 * its own, or a burst would go there as a whole.
 */
#include <stdio.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "model/backend.h"
#include "model/lineup.h"
#include "model/server.h"

static uint32_t
sessions_of(const struct lineup *lineup, uint32_t place)
{
	return atomic_load_relaxed(&lineup->states[place]->sessions.now);
}

static double
cost(const struct lineup *lineup, uint32_t place, uint32_t connect_us)
{
	return (double)connect_us * (sessions_of(lineup, place) + 1.0) /
	       lineup->weights[place];
}

static bool
is_cheaper(const struct lineup *lineup, uint32_t a, uint32_t b, uint64_t now_ms)
{
	uint32_t a_us = server_connect_us(lineup->states[a], now_ms);
	uint32_t b_us = server_connect_us(lineup->states[b], now_ms);

	if (a_us == 0 && sessions_of(lineup, a) > 0)
		a_us = b_us > 0 ? b_us : 1;
	if (b_us == 0 && sessions_of(lineup, b) > 0)
		b_us = a_us > 0 ? a_us : 1;
	return cost(lineup, a, a_us) < cost(lineup, b, b_us);
}

static uint32_t
peek(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t random = choice->random;
	uint32_t best = PLACE_NONE;

	(void)backend;
	for (unsigned i = 0, found = 0; i < 8 && found < 2; i++) {
		uint32_t place = lineup_draw(lineup, random = mix64(random));

		if (place == best || lineup_passes_over(lineup, choice, place))
			continue;
		found++;
		if (best == PLACE_NONE ||
		    is_cheaper(lineup, place, best, now_ms))
			best = place;
	}
	if (best != PLACE_NONE)
		return best;
	for (uint32_t i = 0; i < lineup->servers_n; i++)
		if (!lineup_passes_over(lineup, choice, i))
			return i;
	return lineup_draw(lineup, random);
}

static void
tell(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice, uint32_t place, struct reasons *ret_reasons)
{
	uint64_t now_ms = clock_now_ms();

	(void)backend;
	(void)choice;
	(void)place;
	ret_reasons->measure =
	    "average connect time in us, times sessions for weight";
	for (uint32_t i = 0; i < lineup->servers_n; i++)
		ret_reasons->scores[i] = cost(
		    lineup, i, server_connect_us(lineup->states[i], now_ms));
	ret_reasons->random = lineup_open_n(lineup) > 1;
	snprintf(ret_reasons->why, REASON_SIZE,
	    "of two that are drawn by weight the one where a connect is "
	    "likely to take the shorter time");
}

const struct balance_ops balance_ewma = {.name = "ewma",
    .prepare = lineup_draw_prepare,
    .choose = peek,
    .peek = peek,
    .tell = tell};
