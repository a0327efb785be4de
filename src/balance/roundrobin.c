/* SPDX-License-Identifier: MIT
 * Round robin: weighted, smooth, and exact across threads, because all threads
 * take steps of one cycle (model/cycle.h).  A lineup starts with the credits
 * that its servers had in the former one.  A server that returns has the credit
 * that it had when it left.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "balance/balance.h"
#include "base/atomics.h"
#include "base/mix.h"
#include "model/cycle.h"
#include "model/lineup.h"
#include "model/server.h"

/* Retries have a cycle of their own.  With a single cycle and two servers, one
 * of them dead, every new session would begin at the dead server, because its
 * retry takes each step of the other server. */
enum cycle_use { CYCLE_NEW, CYCLE_RETRY, CYCLES };

/* The bound of a server's credit, positive or negative.  Credits grow beyond it
 * only while no lineup can settle them. */
#define CREDIT_MAX (4 * CYCLE_TURN)

/* Returns a cycle of the lineup's plan, in which one cycle follows the other.
 */
static struct cycle *
cycle_of(const struct lineup *lineup, enum cycle_use which)
{
	return (struct cycle *)((char *)lineup->plan +
	                        which * cycle_size(lineup->servers_n));
}

static int
roundrobin_prepare(struct lineup *lineup, const struct lineup *former)
{
	size_t size = cycle_size(lineup->servers_n);

	(void)former;
	lineup->plan = aligned_alloc(CACHE_LINE, CYCLES * size);
	if (!lineup->plan)
		return -ENOMEM;
	for (enum cycle_use i = 0; i < CYCLES; i++)
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

/* Writes the credits of the former lineup's servers to their states.  In the
 * former cycle it writes only memory of the control thread. */
static void
close_accounts(const struct lineup *former, enum cycle_use which)
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
	return former && former->ops->prepare == roundrobin_prepare &&
	       former->servers_n > 0;
}

static void
roundrobin_begin(struct lineup *lineup, const struct lineup *former)
{
	for (enum cycle_use i = 0; i < CYCLES; i++) {
		struct cycle *c = cycle_of(lineup, i);

		if (has_cycles(former))
			close_accounts(former, i);
		for (uint32_t j = 0; j < lineup->servers_n; j++)
			c->credits[j] = lineup->states[j]->credits[i];
		cycle_begin(c);
	}
}

static uint32_t
place_in(const struct lineup *lineup, const struct lineup *former, uint32_t i)
{
	uint32_t place = lineup_place_of(lineup, former->servers[i]);

	return place != PLACE_NONE && lineup->states[place] == former->states[i]
	           ? place
	           : PLACE_NONE;
}

/* Credits the steps that were taken after close_accounts.  The next lineup
 * settles them. */
static void
settle_late_steps(
    struct lineup *lineup, const struct lineup *former, enum cycle_use which)
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
		uint32_t place = place_in(lineup, former, i);

		if (place == PLACE_NONE)
			former->states[i]->credits[which] +=
			    after[i] - before[i];
		else
			c->credits[place] += after[i] - before[i];
	}
}

static void
roundrobin_settle(struct lineup *lineup, const struct lineup *former)
{
	for (enum cycle_use i = 0; has_cycles(former) && i < CYCLES; i++)
		settle_late_steps(lineup, former, i);
}

/* Draws a server that is not passed over, by weight.  Returns PLACE_NONE if all
 * are passed over. */
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

/* Takes a step of the cycle, and returns the place whose turn it is.  A server
 * that is passed over loses its step: otherwise the next server in the cycle
 * would get all of these steps.  A cycle of many weights is long, so after as
 * many steps as there are servers one is drawn. */
static uint32_t
take_step(const struct lineup *lineup, const struct choice *choice,
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
roundrobin_choose(const struct lineup *lineup, const struct choice *choice)
{
	struct cycle *cycle =
	    cycle_of(lineup, choice->tried_n > 0 ? CYCLE_RETRY : CYCLE_NEW);

	return take_step(lineup, choice, cycle, &cycle->taken);
}

static uint32_t
roundrobin_preview(const struct lineup *lineup, const struct choice *choice)
{
	const struct cycle *cycle = cycle_of(lineup, CYCLE_NEW);
	uint64_t taken = cycle_taken(cycle);

	return take_step(lineup, choice, cycle, &taken);
}

static void
roundrobin_score(const struct lineup *lineup, double *ret_scores)
{
	const struct cycle *cycle = cycle_of(lineup, CYCLE_NEW);

	cycle_steps_until(cycle, cycle_taken(cycle), ret_scores);
}

static void
roundrobin_explain(const struct lineup *lineup, const struct choice *choice,
    uint32_t place, char ret_why[BALANCE_WHY_SIZE])
{
	const struct cycle *cycle = cycle_of(lineup, CYCLE_NEW);
	uint64_t at = cycle_taken(cycle);
	uint32_t first = cycle_turn(cycle, at);

	(void)choice;
	if (place == first)
		snprintf(ret_why, BALANCE_WHY_SIZE,
		    "turn %zu of the cycle of %zu is its own",
		    (size_t)(at % cycle->n) + 1, cycle->n);
	else
		snprintf(ret_why, BALANCE_WHY_SIZE,
		    "turn %zu of the cycle of %zu is that of %.60s, which is "
		    "full and loses it to one with room",
		    (size_t)(at % cycle->n) + 1, cycle->n,
		    lineup->servers[first]->spec->name);
}

const struct balance_ops balance_roundrobin = {.name = "roundrobin",
    .measure = "turns until its own",
    .prepare = roundrobin_prepare,
    .begin = roundrobin_begin,
    .settle = roundrobin_settle,
    .choose = roundrobin_choose,
    .preview = roundrobin_preview,
    .score = roundrobin_score,
    .explain = roundrobin_explain};
