/* SPDX-License-Identifier: MIT
 * Hash: equal keys go to the same server as long as it is there.
 *
 * The table is Maglev's (maglev.h).  When many servers change at once it is not
 * made anew for each: a lineup that follows soon after it was made keeps it,
 * and says where its servers are now.  Who has gone is out at once, its keys
 * are hashed again; who has come waits for the table, REMAKE_MS at most, as do
 * weights.
 *
 * With hash_balance_factor no server gets more than that many percent of its
 * fair share at the moment (Mirrokni, Thorup, Zadimoghaddam, "Consistent
 * hashing with bounded loads", 2016): a key whose server is full is hashed
 * again, so that what flows over is spread over all others.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/atomics.h"
#include "model/backend.h"
#include "model/lineup.h"
#include "model/maglev.h"
#include "model/server.h"

#define ATTEMPTS 32

/* A table is 2 ms of the control thread, so those of a backend take 4 % of it.
 * Twice as long saves little more: src/README.md. */
#define REMAKE_MS 50

static void
release(void *plan)
{
	maglev_unref(plan);
}

/* Not when it is so far from what the lineup wants that somebody would have
 * much more than is its own: so with few servers each change is whole at once.
 */
static bool
keep_for_now(struct lineup *lineup, struct maglev *table)
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
prepare(struct lineup *lineup, const struct lineup *former)
{
	struct maglev *table = NULL;

	if (former && former->ops->prepare == prepare)
		table = former->plan;
	if (table &&
	    (maglev_is_of(table, lineup) || keep_for_now(lineup, table)))
		lineup->plan = maglev_ref(table);
	else
		lineup->plan = maglev_new(lineup);
	return lineup->plan ? 0 : -ENOMEM;
}

/* The place of the server whose cell it is, PLACE_NONE: it has gone. */
static uint32_t
owner_of(const struct lineup *lineup, uint32_t cell)
{
	const struct maglev *table = lineup->plan;
	uint32_t seat = table->cells[cell];

	return lineup->moved ? lineup->moved[seat] : seat;
}

/* Would this session take the server over its bound?  Rounded up, so that the
 * bounds' sum has room for all sessions. */
static bool
is_full(
    const struct backend *backend, const struct lineup *lineup, uint32_t place)
{
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
peek(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice)
{
	uint64_t key = choice->key;
	uint32_t first = owner_of(lineup, key % MAGLEV_CELLS), place = first;
	uint32_t untried = PLACE_NONE;

	for (unsigned i = 0; i < ATTEMPTS; i++) {
		if (place != PLACE_NONE &&
		    !lineup_passes_over(lineup, choice, place)) {
			if (!is_full(backend, lineup, place))
				return place;
			untried = untried == PLACE_NONE ? place : untried;
		}
		key = mix64(key);
		place = owner_of(lineup, key % MAGLEV_CELLS);
	}
	if (first == PLACE_NONE)
		first = (uint32_t)(key % lineup->servers_n);
	/* Nearly all are full or tried: what is left, in order. */
	for (uint32_t i = 0; i < lineup->servers_n; i++) {
		place = (first + i) % lineup->servers_n;
		if (lineup_passes_over(lineup, choice, place))
			continue;
		if (!is_full(backend, lineup, place))
			return place;
		untried = untried == PLACE_NONE ? place : untried;
	}
	return untried == PLACE_NONE ? first : untried;
}

/* What is wrong with the server that a key is hashed to. */
static const char *
fault_of(
    const struct backend *backend, const struct lineup *lineup, uint32_t home)
{
	if (home == PLACE_NONE)
		return "out by now";
	return is_full(backend, lineup, home) ? "at its hash_balance_factor"
	                                      : "full";
}

static void
tell(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice, uint32_t place, struct reasons *ret_reasons)
{
	const struct maglev *table = lineup->plan;
	uint32_t cell = (uint32_t)(choice->key % MAGLEV_CELLS);
	uint32_t home = owner_of(lineup, cell);

	ret_reasons->measure = "percent of all keys";
	for (uint32_t i = 0; i < lineup->servers_n; i++)
		ret_reasons->scores[i] = 0;
	for (uint32_t i = 0; i < MAGLEV_CELLS; i++) {
		uint32_t owner = owner_of(lineup, i);

		if (owner != PLACE_NONE)
			ret_reasons->scores[owner] += 100.0 / MAGLEV_CELLS;
	}
	if (place == home)
		snprintf(ret_reasons->why, REASON_SIZE,
		    "the key is %016" PRIx64 ", and cell %u of the table is "
		    "its own",
		    choice->key, cell);
	else
		snprintf(ret_reasons->why, REASON_SIZE,
		    "the key is %016" PRIx64 ", and cell %u of the table is "
		    "that of %.60s, which is %s; the key was hashed again",
		    choice->key, cell, maglev_name(table, cell),
		    fault_of(backend, lineup, home));
}

const struct balance_ops balance_hash = {.name = "hash",
    .prepare = prepare,
    .release = release,
    .choose = peek,
    .peek = peek,
    .tell = tell};
const struct balance_ops balance_source = {.name = "source",
    .prepare = prepare,
    .release = release,
    .choose = peek,
    .peek = peek,
    .tell = tell};
