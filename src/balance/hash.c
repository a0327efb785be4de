/* SPDX-License-Identifier: MIT
 * Hash and source: equal keys go to the same server as long as it is usable.
 *
 * The table is Maglev's (maglev.h).  When many servers change at once, the
 * table is not made again for each change: a lineup that follows within
 * REMAKE_MS keeps the table and adds a list of the present places of the
 * table's servers.  A server that has left gets no session from then on: its
 * keys are hashed again.  New servers and new weights wait for the next table.
 *
 * With hash_balance_factor no server gets more than that many percent of its
 * fair share (Mirrokni, Thorup, Zadimoghaddam, "Consistent hashing with bounded
 * loads", 2016): a key whose server is at the bound is hashed again, which
 * spreads the overflow over all other servers.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "balance/balance.h"
#include "balance/draw.h"
#include "balance/maglev.h"
#include "base/atomics.h"
#include "base/mix.h"
#include "model/backend.h"
#include "model/lineup.h"
#include "model/server.h"

#define ATTEMPTS 32

/* The least time between two tables.  A table takes 2 ms of the control thread,
 * so the tables of one backend take at most 4 % of it.  A time twice as long
 * would save little: tests/bench/README.md. */
#define REMAKE_MS 50

/* Keeps the table for this lineup, unless it was made REMAKE_MS ago or differs
 * too much from what the lineup wants.  With few servers every change differs
 * too much, and takes effect as a whole at once. */
static bool
keep_table(struct lineup *lineup, struct maglev *table)
{
	uint32_t *moved;

	if (lineup->made_ms - table->made_ms >= REMAKE_MS)
		return false;
	moved = malloc(table->seats_n * sizeof(*moved));
	if (!moved)
		return false;
	if (!maglev_find_seats(table, lineup, moved)) {
		free(moved);
		return false;
	}
	lineup->moved = moved;
	lineup_note_step(lineup, table->made_ms + REMAKE_MS);
	return true;
}

static int
hash_prepare(struct lineup *lineup, const struct lineup *former)
{
	struct maglev *table = NULL;

	if (former && former->ops->prepare == hash_prepare)
		table = former->plan;
	if (table && (maglev_is_of(table, lineup) || keep_table(lineup, table)))
		lineup->plan = maglev_ref(table);
	else
		lineup->plan = maglev_new(lineup);
	return lineup->plan ? 0 : -ENOMEM;
}

/* Returns the place of the server that owns the cell; PLACE_NONE if that server
 * has left. */
static uint32_t
cell_owner(const struct lineup *lineup, uint32_t cell)
{
	const struct maglev *table = lineup->plan;
	uint32_t seat = table->cells[cell];

	return lineup->moved ? lineup->moved[seat] : seat;
}

/* Returns whether one more session would take the server over its bound.  The
 * bound is rounded up, so that the sum of all bounds has room for all sessions.
 */
static bool
is_at_bound(const struct lineup *lineup, uint32_t place)
{
	const struct backend *backend = lineup->servers[place]->backend;
	uint64_t factor = backend->spec->hash_balance_factor;
	uint64_t total =
	    atomic_load_relaxed(&backend->state->sessions.now) + 1ull;
	uint64_t now =
	    atomic_load_relaxed(&lineup->states[place]->sessions.now);
	uint64_t bound = factor * total * lineup->weights[place];
	uint64_t unit = 100 * lineup->weight_sum;

	return factor > 0 && now >= (bound + unit - 1) / unit;
}

static uint32_t
hash_choose(const struct lineup *lineup, const struct choice *choice)
{
	uint64_t key = choice->key;
	uint32_t home = cell_owner(lineup, key % MAGLEV_CELLS), place = home;
	uint32_t untried = PLACE_NONE, n = lineup->servers_n;

	for (uint32_t i = 1; i <= ATTEMPTS + n; i++) {
		if (place != PLACE_NONE &&
		    !lineup_passes_over(lineup, choice, place)) {
			if (!is_at_bound(lineup, place))
				return place;
			untried = untried == PLACE_NONE ? place : untried;
		}
		key = mix64(key);
		/* In the end look at each server: nearly all are full or were
		 * tried.  The key draws the first of them, for otherwise the
		 * neighbour of a tried server would get all of its keys. */
		if (i < ATTEMPTS)
			place = cell_owner(lineup, key % MAGLEV_CELLS);
		else if (i == ATTEMPTS)
			place = draw_open(lineup, choice, key);
		else
			place = (place + 1) % n;
	}
	if (untried == PLACE_NONE)
		untried = home;
	return untried == PLACE_NONE ? (uint32_t)(key % n) : untried;
}

/* Returns why the server that the key is hashed to was not chosen. */
static const char *
why_not_home(const struct lineup *lineup, uint32_t home)
{
	if (home == PLACE_NONE)
		return "out by now";
	return is_at_bound(lineup, home) ? "at its hash_balance_factor"
	                                 : "full";
}

static void
hash_score(const struct lineup *lineup, double *ret_scores)
{
	for (uint32_t i = 0; i < lineup->servers_n; i++)
		ret_scores[i] = 0;
	for (uint32_t i = 0; i < MAGLEV_CELLS; i++) {
		uint32_t owner = cell_owner(lineup, i);

		if (owner != PLACE_NONE)
			ret_scores[owner] += 100.0 / MAGLEV_CELLS;
	}
}

static void
hash_explain(const struct lineup *lineup, const struct choice *choice,
    uint32_t place, char ret_why[BALANCE_WHY_SIZE])
{
	uint32_t cell = (uint32_t)(choice->key % MAGLEV_CELLS);
	uint32_t home = cell_owner(lineup, cell);

	if (place == home)
		snprintf(ret_why, BALANCE_WHY_SIZE,
		    "the key is %016" PRIx64 ", and cell %u of the table is "
		    "its own",
		    choice->key, cell);
	else
		snprintf(ret_why, BALANCE_WHY_SIZE,
		    "the key is %016" PRIx64 ", and cell %u of the table is "
		    "that of %.60s, which is %s; the key was hashed again",
		    choice->key, cell, maglev_name(lineup->plan, cell),
		    why_not_home(lineup, home));
}

/* The two algorithms differ only in the key. */
#define HASH_OPS                                                               \
	.measure = "percent of all keys", .prepare = hash_prepare,             \
	.release = maglev_unref, .choose = hash_choose,                        \
	.preview = hash_choose, .score = hash_score, .explain = hash_explain

const struct balance_ops balance_hash = {
    .name = "hash", .key = BALANCE_KEY_CONFIGURED, HASH_OPS};
const struct balance_ops balance_source = {
    .name = "source", .key = BALANCE_KEY_CLIENT, HASH_OPS};
