/* SPDX-License-Identifier: MIT
 * Round robin: weighted, smooth, and exact across threads, because all take
 * turns of one cycle (model/cycle.h).
 */
#include <errno.h>
#include <stdio.h>

#include "base/atomics.h"
#include "model/backend.h"
#include "model/cycle.h"
#include "model/lineup.h"
#include "model/server.h"

static int
prepare(struct lineup *lineup, const struct lineup *former)
{
	(void)former;
	lineup->plan = cycle_new(lineup->weights, lineup->servers_n);
	return lineup->plan ? 0 : -ENOMEM;
}

/* One of those that are not passed over, by weight; PLACE_NONE: all are. */
static uint32_t
draw_open(
    const struct lineup *lineup, const struct choice *choice, uint64_t random)
{
	uint32_t drawn = PLACE_NONE;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < lineup->servers_n; i++) {
		if (lineup_passes_over(lineup, choice, i))
			continue;
		sum += lineup->weights[i];
		random = mix64(random);
		if (random % sum < lineup->weights[i])
			drawn = i;
	}
	return drawn;
}

/* Whoever is passed over loses the turn: it would else always be the next
 * one's.  The cycle of many weights is long, so after as many turns as there
 * are servers one is drawn. */
static uint32_t
take_turn(
    const struct lineup *lineup, const struct choice *choice, uint64_t *cursor)
{
	const struct cycle *cycle = lineup->plan;
	uint32_t place = 0, drawn;
	uint64_t at = 0;

	for (uint32_t i = 0; i < lineup->servers_n; i++) {
		at = atomic_add_relaxed(cursor, UINT64_C(1));
		place = cycle_turn(cycle, at);
		if (!lineup_passes_over(lineup, choice, place))
			return place;
	}
	drawn = draw_open(lineup, choice, at);
	return drawn == PLACE_NONE ? place : drawn;
}

/* Retries have turns of their own.  If they took those of new sessions, then
 * with two servers, one of which is dead, every new session would begin at the
 * dead one, as its retry takes each turn of the other. */
static uint32_t
choose(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice)
{
	struct backend_state *b = backend->state;

	return take_turn(lineup, choice,
	    choice->tried_n > 0 ? &b->cursor_of_retries : &b->cursor);
}

static uint32_t
peek(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice)
{
	uint64_t cursor = atomic_load_relaxed(&backend->state->cursor);

	return take_turn(lineup, choice, &cursor);
}

/* How many turns each is away from its own. */
static void
tell_turns(
    const struct lineup *lineup, uint64_t at, const struct reasons *reasons)
{
	const struct cycle *cycle = lineup->plan;
	uint32_t left = lineup->servers_n;

	for (uint32_t i = 0; i < lineup->servers_n; i++)
		reasons->scores[i] = -1;
	for (size_t i = 0; i < cycle->n && left > 0; i++) {
		double *score = &reasons->scores[cycle_turn(cycle, at + i)];

		if (*score >= 0)
			continue;
		*score = (double)i;
		left--;
	}
}

static void
tell(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice, uint32_t place, struct reasons *ret_reasons)
{
	const struct cycle *cycle = lineup->plan;
	uint64_t at = atomic_load_relaxed(&backend->state->cursor);
	uint32_t first = cycle_turn(cycle, at);

	(void)choice;
	ret_reasons->measure = "turns until its own";
	tell_turns(lineup, at, ret_reasons);
	if (place == first)
		snprintf(ret_reasons->why, REASON_SIZE,
		    "turn %zu of the cycle of %zu is its own",
		    (size_t)(at % cycle->n) + 1, cycle->n);
	else
		snprintf(ret_reasons->why, REASON_SIZE,
		    "turn %zu of the cycle of %zu is that of %.60s, which is "
		    "full and loses it to one with room",
		    (size_t)(at % cycle->n) + 1, cycle->n,
		    lineup->servers[first]->spec->name);
}

const struct balance_ops balance_roundrobin = {.name = "roundrobin",
    .prepare = prepare,
    .choose = choose,
    .peek = peek,
    .tell = tell};
