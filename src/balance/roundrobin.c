/* SPDX-License-Identifier: MIT
 * Round robin: weighted, smooth, and exact across threads, because all threads
 * take steps of one cycle (model/cycle.h).  A lineup starts with the credits
 * that its servers had in the former one, from new sessions and retries
 * together.  A server that returns has the credit that it had when it left.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"
#include "balance/draw.h"
#include "base/atomics.h"
#include "model/cycle.h"
#include "model/lineup.h"
#include "model/server.h"

/* The bound of a server's credit, positive or negative.  Credits grow beyond it
 * only while no lineup can settle them. */
#define CREDIT_MAX (4 * CYCLE_TURN)

/* Note: retries.
 *
 * A retry takes no step of the cycle.  With two servers, one of them dead, it
 * would take each step of the other server, and every new session would begin
 * at the dead one.  A retry goes to the server to which the most is owed, and
 * is charged to it: the servers that it could go to are entitled to it by
 * weight, as they are to a step.  The next lineup begins with credits from
 * steps and retries.
 *
 * During a lineup the cycle takes no notice of retries, so they have to fit to
 * it: `owed` is what it owes to a server on average.  A server whose first turn
 * is late has had less than its share for most of the time. */
struct retries {
	/* Turns that retries have entitled a server to, for each unit of its
	 * weight.  Any thread, relaxed; wraps together with charged. */
	uint64_t due CACHE_LINE_ALIGNED;
	struct {
		uint64_t charged; /* turns, less those it was no part of */
		int64_t owed;     /* constant once the lineup is published */
	} servers[];
};

static struct cycle *
cycle_of(const struct lineup *lineup)
{
	return lineup->plan;
}

/* Returns the second part of the lineup's plan. */
static struct retries *
retries_of(const struct lineup *lineup)
{
	return (struct retries *)(void *)((char *)lineup->plan +
	                                  cycle_size(lineup->servers_n));
}

static int
roundrobin_prepare(struct lineup *lineup, const struct lineup *former)
{
	uint32_t n = lineup->servers_n;
	const struct retries *r;
	size_t size = sizeof(*r) + n * sizeof(r->servers[0]);

	(void)former;
	size = (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	lineup->plan = aligned_alloc(CACHE_LINE, cycle_size(n) + size);
	if (!lineup->plan)
		return -ENOMEM;
	cycle_init(lineup->plan, lineup->weights, n);
	memset(retries_of(lineup), 0, size);
	return 0;
}

/* Returns what retries alone owe to the server at this place. */
static int64_t
retry_credit(const struct lineup *lineup, uint32_t place)
{
	const struct retries *r = retries_of(lineup);

	return (int64_t)(atomic_load_relaxed(&r->due) * lineup->weights[place] -
	                 atomic_load_relaxed(&r->servers[place].charged));
}

static int64_t
bounded(int64_t credit)
{
	if (credit > CREDIT_MAX)
		return CREDIT_MAX;
	return credit < -CREDIT_MAX ? -CREDIT_MAX : credit;
}

/* Writes the servers' credits at this time. */
static void
sum_credits(const struct lineup *lineup, int64_t *ret_credits)
{
	const struct cycle *c = cycle_of(lineup);

	cycle_credits(c, cycle_taken(c), ret_credits);
	for (uint32_t i = 0; i < lineup->servers_n; i++)
		ret_credits[i] += retry_credit(lineup, i);
}

/* Writes the credits of the former lineup's servers to their states, and leaves
 * them in the scratch of its cycle as well, which is the control thread's. */
static void
close_accounts(const struct lineup *former)
{
	int64_t *credits = cycle_of(former)->scratch;

	sum_credits(former, credits);
	for (uint32_t i = 0; i < former->servers_n; i++)
		former->states[i]->credit = bounded(credits[i]);
}

static bool
has_cycle(const struct lineup *former)
{
	return former && former->ops->prepare == roundrobin_prepare &&
	       former->servers_n > 0;
}

/* Sets what the cycle owes to each server on average: as much as at its first
 * turn, less half a turn, which is the same for all.  Adds its share of one
 * retry, as the one that is about to be chosen. */
static void
note_owed(const struct lineup *lineup)
{
	struct retries *r = retries_of(lineup);
	const struct cycle *c = cycle_of(lineup);
	double *first = c->scratch;

	cycle_steps_until(c, 0, first);
	for (uint32_t i = 0; i < lineup->servers_n; i++)
		r->servers[i].owed =
		    c->credits[i] +
		    (int64_t)((first[i] + 1) * lineup->weights[i] *
		              (double)CYCLE_TURN / (double)c->weight_sum);
}

static void
roundrobin_begin(struct lineup *lineup, const struct lineup *former)
{
	struct cycle *c = cycle_of(lineup);

	if (has_cycle(former))
		close_accounts(former);
	for (uint32_t i = 0; i < lineup->servers_n; i++)
		c->credits[i] = lineup->states[i]->credit;
	cycle_begin(c);
	note_owed(lineup);
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
roundrobin_settle(struct lineup *lineup, const struct lineup *former)
{
	struct cycle *c = cycle_of(lineup);
	int64_t *before, *after;

	if (!has_cycle(former))
		return;
	before = cycle_of(former)->scratch;
	after = before + former->servers_n;
	sum_credits(former, after);
	for (uint32_t i = 0; i < former->servers_n; i++) {
		uint32_t place = place_in(lineup, former, i);
		int64_t late = after[i] - before[i];

		if (place == PLACE_NONE)
			former->states[i]->credit += late;
		else
			c->credits[place] += late;
	}
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

/* Charges the retry to the server at that place, in turns.  weight: of all
 * servers that it could go to. */
static void
charge_retry(const struct lineup *lineup, const struct choice *choice,
    uint32_t place, uint64_t weight)
{
	struct retries *r = retries_of(lineup);
	uint64_t each = (uint64_t)CYCLE_TURN / weight;

	atomic_add_relaxed(&r->due, each);
	for (uint32_t i = 0; i < lineup->servers_n; i++)
		if (i != place && lineup_passes_over(lineup, choice, i))
			atomic_add_relaxed(
			    &r->servers[i].charged, each * lineup->weights[i]);
	atomic_add_relaxed(&r->servers[place].charged, (uint64_t)CYCLE_TURN);
}

/* Chooses the server to which the most is owed, of those that are not passed
 * over if there is one.  Looks at all servers, as retries are rare. */
static uint32_t
choose_for_retry(const struct lineup *lineup, const struct choice *choice)
{
	const struct retries *r = retries_of(lineup);
	uint32_t best = PLACE_NONE;
	uint64_t weight = 0;
	int64_t most = 0;

	for (uint32_t i = 0; i < lineup->servers_n; i++) {
		int64_t owed = r->servers[i].owed + retry_credit(lineup, i);

		if (lineup_passes_over(lineup, choice, i))
			continue;
		weight += lineup->weights[i];
		if (best == PLACE_NONE || owed > most) {
			most = owed;
			best = i;
		}
	}
	if (best == PLACE_NONE) {
		best = (uint32_t)(choice->random % lineup->servers_n);
		weight = lineup->weights[best];
	}
	charge_retry(lineup, choice, best, weight);
	return best;
}

static uint32_t
roundrobin_choose(const struct lineup *lineup, const struct choice *choice)
{
	struct cycle *cycle = cycle_of(lineup);

	return choice->tried_n > 0
	           ? choose_for_retry(lineup, choice)
	           : take_step(lineup, choice, cycle, &cycle->taken);
}

static uint32_t
roundrobin_preview(const struct lineup *lineup, const struct choice *choice)
{
	const struct cycle *cycle = cycle_of(lineup);
	uint64_t taken = cycle_taken(cycle);

	return take_step(lineup, choice, cycle, &taken);
}

static void
roundrobin_score(const struct lineup *lineup, double *ret_scores)
{
	const struct cycle *cycle = cycle_of(lineup);

	cycle_steps_until(cycle, cycle_taken(cycle), ret_scores);
}

static void
roundrobin_explain(const struct lineup *lineup, const struct choice *choice,
    uint32_t place, char ret_why[BALANCE_WHY_SIZE])
{
	const struct cycle *cycle = cycle_of(lineup);
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
