/* SPDX-License-Identifier: MIT
 * Random, with two choices: draws two servers by weight and takes the one with
 * fewer sessions for its weight (Mitzenmacher, "The power of two choices in
 * randomized load balancing", 2001).  The only words that threads share are the
 * servers' session counts.
 */
#include "balance/balance.h"
#include "balance/draw.h"
#include "model/lineup.h"

static uint32_t
random_choose(const struct lineup *lineup, const struct choice *choice)
{
	return draw_better(lineup, choice, false, lineup_less_loaded);
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
