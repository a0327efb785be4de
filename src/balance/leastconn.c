/* SPDX-License-Identifier: MIT
 * Least connections: the server with the fewest sessions for its weight.
 * Servers that are equal, as all idle ones are, take turns in proportion to
 * their weights.  Each server has the time of its next turn, which moves on by
 * the inverse of its weight when the server is chosen, and the earliest turn
 * comes first (start-time fair queueing).  A server that was not chosen for a
 * while gets one turn at once, not all that it has missed.
 *
 * The plan is a tournament.  The servers are the leaves of a binary tree, each
 * inner node names the better of its two children's winners, and the root names
 * the server to choose.  A change of a server's sessions refreshes the nodes
 * from its leaf to the root, log2(n) comparisons, without a lock: a node is
 * refreshed by a compare-and-exchange from children that were read after its
 * old value.  If two attempts fail, another thread has refreshed the node from
 * children that it read after the change (the double refresh of Jayanti,
 * "f-arrays: implementation and applications", PODC 2002).  The refresh count
 * in the node makes a compare-and-exchange with an old value fail.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "balance/balance.h"
#include "base/atomics.h"
#include "model/backend.h"
#include "model/lineup.h"
#include "model/server.h"

/* The time between two turns of a server of average weight. */
#define TURN (UINT64_C(1) << 20)

struct tournament {
	uint32_t leaves;  /* a power of two */
	uint64_t *apart;  /* time between two turns, by place */
	uint64_t nodes[]; /* from 1, the root; refreshes << 32 | place */
};

static uint32_t
node_winner(const struct lineup *lineup, uint32_t node)
{
	const struct tournament *t = lineup->plan;

	if (node >= t->leaves) {
		uint32_t place = node - t->leaves;

		return place < lineup->servers_n ? place : PLACE_NONE;
	}
	return (uint32_t)atomic_load_acquire(&t->nodes[node]);
}

/* Returns whether time a is before time b.  Times of turns wrap around. */
static bool
is_earlier(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

static uint32_t
better_place(const struct lineup *lineup, uint32_t a, uint32_t b)
{
	if (b == PLACE_NONE)
		return a;
	if (lineup_less_loaded(lineup, a, b))
		return a;
	if (lineup_less_loaded(lineup, b, a))
		return b;
	return is_earlier(atomic_load_relaxed(&lineup->states[b]->turn),
	           atomic_load_relaxed(&lineup->states[a]->turn))
	           ? b
	           : a;
}

static bool
node_refresh(const struct lineup *lineup, uint32_t node)
{
	struct tournament *t = lineup->plan;
	uint64_t old = atomic_load_acquire(&t->nodes[node]);
	uint64_t place = better_place(lineup, node_winner(lineup, 2 * node),
	    node_winner(lineup, 2 * node + 1));

	return atomic_cas_seq(
	    &t->nodes[node], &old, ((old >> 32) + 1) << 32 | place);
}

static void
leastconn_load_changed(const struct lineup *lineup, uint32_t place)
{
	const struct tournament *t = lineup->plan;

	for (uint32_t node = (t->leaves + place) / 2; node > 0; node /= 2)
		if (!node_refresh(lineup, node))
			node_refresh(lineup, node);
}

static int
leastconn_prepare(struct lineup *lineup, const struct lineup *former)
{
	uint32_t leaves = 1;
	struct tournament *t;

	(void)former;
	while (leaves < lineup->servers_n)
		leaves *= 2;
	t = calloc(1, sizeof(*t) + 2 * leaves * sizeof(t->nodes[0]));
	if (!t)
		return -ENOMEM;
	t->leaves = leaves;
	t->apart = t->nodes + leaves;
	for (uint32_t i = 0; i < lineup->servers_n; i++)
		t->apart[i] =
		    TURN * lineup->weight_sum /
		    ((uint64_t)lineup->weights[i] * lineup->servers_n);
	lineup->plan = t;
	for (uint32_t node = leaves - 1; node > 0; node--)
		node_refresh(lineup, node);
	return 0;
}

/* Returns the best place that is not passed over, or PLACE_NONE.  Looks at all
 * servers, which is rare: the winner has seldom been tried. */
static uint32_t
best_untried(const struct lineup *lineup, const struct choice *choice)
{
	uint32_t best = PLACE_NONE;

	for (uint32_t i = 0; i < lineup->servers_n; i++)
		if (!lineup_passes_over(lineup, choice, i))
			best = best == PLACE_NONE
			           ? i
			           : better_place(lineup, best, i);
	return best;
}

static uint32_t
leastconn_preview(const struct lineup *lineup, const struct choice *choice)
{
	uint32_t best = node_winner(lineup, 1);

	if (lineup_passes_over(lineup, choice, best)) {
		uint32_t other = best_untried(lineup, choice);

		best = other == PLACE_NONE ? best : other;
	}
	return best;
}

/* Moves the server's next turn on, and the present turn of the backend.  Two
 * threads may do this at once: one turn more or less does not matter. */
static void
leastconn_take_turn(const struct lineup *lineup, uint32_t place)
{
	const struct tournament *t = lineup->plan;
	uint64_t *present = &lineup->servers[place]->backend->state->turn;
	uint64_t *own = &lineup->states[place]->turn;
	uint64_t now = atomic_load_relaxed(present);
	uint64_t turn = atomic_load_relaxed(own);

	if (is_earlier(turn, now))
		turn = now;
	else if (turn != now)
		atomic_store_relaxed(present, turn);
	atomic_store_relaxed(own, turn + t->apart[place]);
}

static uint32_t
leastconn_choose(const struct lineup *lineup, const struct choice *choice)
{
	uint32_t best = leastconn_preview(lineup, choice);

	leastconn_take_turn(lineup, best);
	return best;
}

static void
leastconn_explain(const struct lineup *lineup, const struct choice *choice,
    uint32_t place, char ret_why[BALANCE_WHY_SIZE])
{
	unsigned equals = 0;

	(void)choice;
	for (uint32_t i = 0; i < lineup->servers_n; i++)
		equals += !lineup_less_loaded(lineup, i, place) &&
		          !lineup_less_loaded(lineup, place, i);
	snprintf(ret_why, BALANCE_WHY_SIZE,
	    equals > 1 ? "it has the fewest sessions for its weight, and of "
	                 "the %u that have as few it is this one's turn"
	               : "it has the fewest sessions for its weight",
	    equals);
}

const struct balance_ops balance_leastconn = {.name = "leastconn",
    .measure = LINEUP_LOAD,
    .prepare = leastconn_prepare,
    .choose = leastconn_choose,
    .preview = leastconn_preview,
    .load_changed = leastconn_load_changed,
    .score = lineup_score_loads,
    .explain = leastconn_explain};
