/* SPDX-License-Identifier: MIT
 * Peak EWMA: draws two servers by weight and takes the cheaper one.
 *
 * The cost of a server is its connect time times its sessions, the new one
 * included, divided by its weight.  The connect time is a moving average that
 * follows a peak at once and forgets it slowly (Finagle's "peak EWMA"; see
 * server_note_connect).  A server without a recent connect time costs nothing,
 * so that a session measures it.  Until that session is connected, the server
 * is taken to have the connect time of the other server that is drawn:
 * otherwise a whole burst would go there.
 */
#include "base/atomics.h"
#include "base/clock.h"
#include "balance/balance.h"
#include "balance/draw.h"
#include "model/lineup.h"
#include "model/server.h"

static uint32_t
place_sessions(const struct lineup *lineup, uint32_t place)
{
	return atomic_load_relaxed(&lineup->states[place]->sessions.now);
}

static double
place_cost(const struct lineup *lineup, uint32_t place, uint32_t connect_us)
{
	return (double)connect_us * (place_sessions(lineup, place) + 1.0) /
	       lineup->weights[place];
}

static bool
is_cheaper(const struct lineup *lineup, uint32_t a, uint32_t b)
{
	uint64_t now_ms = clock_now_ms();
	uint32_t a_us = server_connect_us(lineup->states[a], now_ms);
	uint32_t b_us = server_connect_us(lineup->states[b], now_ms);

	if (a_us == 0 && place_sessions(lineup, a) > 0)
		a_us = b_us > 0 ? b_us : 1;
	if (b_us == 0 && place_sessions(lineup, b) > 0)
		b_us = a_us > 0 ? a_us : 1;
	return place_cost(lineup, a, a_us) < place_cost(lineup, b, b_us);
}

static uint32_t
ewma_choose(const struct lineup *lineup, const struct choice *choice)
{
	return draw_better(lineup, choice, true, is_cheaper);
}

static void
ewma_score(const struct lineup *lineup, double *ret_scores)
{
	uint64_t now_ms = clock_now_ms();

	for (uint32_t i = 0; i < lineup->servers_n; i++)
		ret_scores[i] = place_cost(
		    lineup, i, server_connect_us(lineup->states[i], now_ms));
}

const struct balance_ops balance_ewma = {.name = "ewma",
    .connect_times = true,
    .random = true,
    .measure = "average connect time in us, times sessions for weight",
    .prepare = draw_prepare,
    .choose = ewma_choose,
    .preview = ewma_choose,
    .score = ewma_score,
    .why = "of two that are drawn by weight the one where a connect is "
           "likely to take the shorter time"};
