/* SPDX-License-Identifier: MIT
 * Round robin: weighted, smooth, and exact across threads, because all take
 * turns of one cycle (model/cycle.h).  A lineup that follows another one begins
 * with the credits of that one's servers; a server that comes back has the
 * credit with which it went.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/atomics.h"
#include "model/backend.h"
#include "model/cycle.h"
#include "model/lineup.h"
#include "model/server.h"

/* Retries have turns of their own.  If they took those of new sessions, then
 * with two servers, one of which is dead, every new session would begin at the
 * dead one, as its retry takes each turn of the other. */
enum turns { TURNS_NEW, TURNS_RETRY, TURNS };

/* A server that is owed more than that, or owes more, has been without a lineup
 * that could have settled it: the rest is forgotten. */
#define CREDIT_MAX (4 * CYCLE_TURN)

/* The plan: the cycles, one behind the other. */
static struct cycle *
cycle_of(const struct lineup *lineup, enum turns which)
{
	return (struct cycle *)((char *)lineup->plan +
	                        which * cycle_size(lineup->servers_n));
}

static int
prepare(struct lineup *lineup, const struct lineup *former)
{
	size_t size = cycle_size(lineup->servers_n);

	(void)former;
	lineup->plan = aligned_alloc(CACHE_LINE, TURNS * size);
	if (!lineup->plan)
		return -ENOMEM;
	for (enum turns i = 0; i < TURNS; i++)
		cycle_init(
		    cycle_of(lineup, i), lineup->weights, lineup->servers_n);
	return 0;
}

static int64_t
bounded(int64_t credit)
{
	if (credit > CREDIT_MAX)
		return CREDIT_MAX;
	return credit < -CREDIT_MAX ? -CREDIT_MAX : credit;
}

/* What the former's servers are owed now.  Nothing is taken from the former's
 * cycles but room that the control thread alone uses. */
static void
close_accounts(const struct lineup *former, enum turns which)
{
	struct cycle *c = cycle_of(former, which);
	int64_t *credits = c->scratch;

	c->counted = cycle_taken(c);
	cycle_credits(c, c->counted, credits);
	for (uint32_t i = 0; i < former->servers_n; i++)
		former->states[i]->credits[which] = bounded(credits[i]);
}

static bool
has_cycles(const struct lineup *former)
{
	return former && former->ops->prepare == prepare &&
	       former->servers_n > 0;
}

static void
begin(struct lineup *lineup, const struct lineup *former)
{
	for (enum turns i = 0; i < TURNS; i++) {
		struct cycle *c = cycle_of(lineup, i);

		if (has_cycles(former))
			close_accounts(former, i);
		for (uint32_t j = 0; j < lineup->servers_n; j++)
			c->credits[j] = lineup->states[j]->credits[i];
		cycle_begin(c);
	}
}

static uint32_t
place_of(const struct lineup *lineup, const struct lineup *former, uint32_t i)
{
	unsigned id = former->servers[i]->id;
	uint32_t place =
	    id <= lineup->places_n ? lineup->places[id - 1] : PLACE_NONE;

	return place != PLACE_NONE && lineup->states[place] == former->states[i]
	           ? place
	           : PLACE_NONE;
}

/* Turns that were taken while the accounts were closed.  They are settled with
 * the lineup after this one. */
static void
settle_late_turns(
    struct lineup *lineup, const struct lineup *former, enum turns which)
{
	struct cycle *c = cycle_of(lineup, which);
	struct cycle *f = cycle_of(former, which);
	int64_t *before = f->scratch, *after = before + former->servers_n;
	uint64_t taken = cycle_taken(f);

	if (taken == f->counted)
		return;
	cycle_credits(f, f->counted, before);
	cycle_credits(f, taken, after);
	for (uint32_t i = 0; i < former->servers_n; i++) {
		uint32_t place = place_of(lineup, former, i);

		if (place == PLACE_NONE)
			former->states[i]->credits[which] +=
			    after[i] - before[i];
		else
			c->credits[place] += after[i] - before[i];
	}
}

static void
settle(struct lineup *lineup, const struct lineup *former)
{
	for (enum turns i = 0; has_cycles(former) && i < TURNS; i++)
		settle_late_turns(lineup, former, i);
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
take_turn(const struct lineup *lineup, const struct choice *choice,
    const struct cycle *cycle, uint64_t *taken)
{
	uint32_t place = 0, drawn;
	uint64_t at = 0;

	for (uint32_t i = 0; i < lineup->servers_n; i++) {
		at = atomic_add_relaxed(taken, UINT64_C(1));
		place = cycle_turn(cycle, at);
		if (!lineup_passes_over(lineup, choice, place))
			return place;
	}
	drawn = draw_open(lineup, choice, at);
	return drawn == PLACE_NONE ? place : drawn;
}

static uint32_t
choose(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice)
{
	struct cycle *cycle =
	    cycle_of(lineup, choice->tried_n > 0 ? TURNS_RETRY : TURNS_NEW);

	(void)backend;
	return take_turn(lineup, choice, cycle, &cycle->taken);
}

static uint32_t
peek(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice)
{
	const struct cycle *cycle = cycle_of(lineup, TURNS_NEW);
	uint64_t taken = cycle_taken(cycle);

	(void)backend;
	return take_turn(lineup, choice, cycle, &taken);
}

static void
tell(const struct backend *backend, const struct lineup *lineup,
    const struct choice *choice, uint32_t place, struct reasons *ret_reasons)
{
	const struct cycle *cycle = cycle_of(lineup, TURNS_NEW);
	uint64_t at = cycle_taken(cycle);
	uint32_t first = cycle_turn(cycle, at);

	(void)backend;
	(void)choice;
	ret_reasons->measure = "turns until its own";
	cycle_tell_until(cycle, at, ret_reasons->scores);
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
    .begin = begin,
    .settle = settle,
    .choose = choose,
    .peek = peek,
    .tell = tell};
