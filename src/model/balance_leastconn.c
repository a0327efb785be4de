/* SPDX-License-Identifier: MIT
 * Least connections: the server with the fewest sessions for its weight, this
 * session included; among equals the one that has waited longest.
 *
 * A tournament: the servers are the leaves of a binary tree, every inner node
 * names the better of its two children's winners, the root names the server to
 * choose.  A server whose sessions change plays its way up again, log2(n)
 * comparisons, and nobody locks: a node is refreshed by a compare-and-exchange
 * from children that were read after its old value, and when that fails twice,
 * somebody else has refreshed it from children read after the change (the
 * double refresh of Jayanti, "f-arrays: implementation and applications",
 * PODC 2002).  The number of refreshes in the node keeps one that was read long
 * ago from succeeding.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/atomics.h"
#include "model/backend.h"
#include "model/lineup.h"
#include "model/server.h"

struct tournament {
	uint32_t leaves;  /* a power of two */
	uint64_t nodes[]; /* from 1, the root; refreshes << 32 | place */
};

static uint32_t
winner(const struct lineup *lineup, uint32_t node)
{
	const struct tournament *t = lineup->plan;

	if (node >= t->leaves) {
		uint32_t place = node - t->leaves;

		return place < lineup->servers_n ? place : PLACE_NONE;
	}
	return (uint32_t)atomic_load_acquire(&t->nodes[node]);
}

static uint32_t
better(const struct lineup *lineup, uint32_t a, uint32_t b)
{
	if (b == PLACE_NONE)
		return a;
	if (lineup_less_loaded(lineup, a, b))
		return a;
	if (lineup_less_loaded(lineup, b, a))
		return b;
	return atomic_load_relaxed(&lineup->states[b]->chosen) <
	               atomic_load_relaxed(&lineup->states[a]->chosen)
	           ? b
	           : a;
}

static bool
refresh(const struct lineup *lineup, uint32_t node)
{
	struct tournament *t = lineup->plan;
	uint64_t old = atomic_load_acquire(&t->nodes[node]);
	uint64_t place = better(
	    lineup, winner(lineup, 2 * node), winner(lineup, 2 * node + 1));

	return atomic_cas_seq(
	    &t->nodes[node], &old, ((old >> 32) + 1) << 32 | place);
}

static void
load_changed(const struct lineup *lineup, uint32_t place)
{
	const struct tournament *t = lineup->plan;

	for (uint32_t node = (t->leaves + place) / 2; node > 0; node /= 2)
		if (!refresh(lineup, node))
			refresh(lineup, node);
}

static int
prepare(struct lineup *lineup, const struct lineup *former)
{
	uint32_t leaves = 1;
	struct tournament *t;

	(void)former;
	while (leaves < lineup->servers_n)
		leaves *= 2;
	t = calloc(1, sizeof(*t) + leaves * sizeof(t->nodes[0]));
	if (!t)
		return -ENOMEM;
	t->leaves = leaves;
	lineup->plan = t;
	for (uint32_t node = leaves - 1; node > 0; node--)
		refresh(lineup, node);
	return 0;
}

/* The winner was tried: rare enough to look at all. */
static uint32_t
best_untried(const struct lineup *lineup, const struct choice *choice)
{
	uint32_t best = PLACE_NONE;

	for (uint32_t i = 0; i < lineup->servers_n; i++)
		if (!lineup_passes_over(lineup, choice, i))
			best = best == PLACE_NONE ? i : better(lineup, best, i);
	return best;
}

static uint32_t
peek(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice)
{
	uint32_t best = winner(lineup, 1);

	(void)backend;

	if (lineup_passes_over(lineup, choice, best)) {
		uint32_t other = best_untried(lineup, choice);

		best = other == PLACE_NONE ? best : other;
	}
	return best;
}

static uint32_t
choose(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice)
{
	uint32_t best = peek(backend, lineup, choice);

	atomic_store_relaxed(&lineup->states[best]->chosen,
	    atomic_add_relaxed(&backend->state->cursor, UINT64_C(1)) + 1);
	return best;
}

static void
tell(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice, uint32_t place, struct reasons *ret_reasons)
{
	unsigned equals = 0;

	(void)backend;
	(void)choice;
	lineup_tell_loads(lineup, ret_reasons);
	for (uint32_t i = 0; i < lineup->servers_n; i++)
		equals += !lineup_less_loaded(lineup, i, place) &&
		          !lineup_less_loaded(lineup, place, i);
	snprintf(ret_reasons->why, REASON_SIZE,
	    equals > 1 ? "it has the fewest sessions for its weight, and of "
	                 "the %u that have as few it was not chosen for longest"
	               : "it has the fewest sessions for its weight",
	    equals);
}

const struct balance_ops balance_leastconn = {.name = "leastconn",
    .prepare = prepare,
    .choose = choose,
    .peek = peek,
    .tell = tell,
    .load_changed = load_changed};
