/* SPDX-License-Identifier: MIT
 * See lineup.h.
 */
#include "model/lineup.h"

#include <errno.h>
#include <stdlib.h>

#include "base/atomics.h"
#include "model/server.h"
#include "model/spec.h"

const struct balance_ops *
balance_ops_of(int kind)
{
	static const struct balance_ops *const kinds[] = {
	    [BALANCE_ROUNDROBIN] = &balance_roundrobin,
	    [BALANCE_LEASTCONN] = &balance_leastconn,
	    [BALANCE_RANDOM] = &balance_random,
	    [BALANCE_SOURCE] = &balance_source,
	    [BALANCE_HASH] = &balance_hash,
	    [BALANCE_FIRST] = &balance_first,
	    [BALANCE_EWMA] = &balance_ewma,
	};

	return kinds[kind];
}

void
lineup_free(void *lineup)
{
	struct lineup *l = lineup;

	if (!l)
		return;
	free(l->servers);
	free(l->states);
	free(l->weights);
	free(l->limits);
	free(l->places);
	free(l->since);
	free(l->moved);
	if (l->plan && l->ops->release)
		l->ops->release(l->plan);
	else
		free(l->plan);
	free(l);
}

bool
choice_tried(const struct choice *choice, const struct server *server)
{
	for (unsigned i = 0; i < choice->tried_n; i++)
		if (choice->tried[i] == server)
			return true;
	return false;
}

static bool
has_joined(const struct lineup *former, const struct server *server)
{
	uint32_t place = PLACE_NONE;

	if (former && server->id <= former->places_n)
		place = former->places[server->id - 1];
	return place == PLACE_NONE || former->states[place] != server->state;
}

static uint64_t
former_since(const struct lineup *former, const struct server *server)
{
	return former->since[former->places[server->id - 1]];
}

void
lineup_number(
    struct lineup *lineup, const struct lineup *former, uint64_t number)
{
	struct lineup *l = lineup;

	l->number = number;
	l->joined = former ? former->joined : 0;
	for (uint32_t i = 0; i < l->servers_n; i++) {
		struct server_state *s = l->states[i];
		bool joined = has_joined(former, l->servers[i]);

		if (s->moved || (joined && !s->passive.served_time))
			l->since[i] = number;
		else
			l->since[i] =
			    joined ? 0 : former_since(former, l->servers[i]);
		if (joined || s->moved)
			l->joined = number;
		if (l->since[i] > l->refreshed)
			l->refreshed = l->since[i];
		s->moved = s->passive.served_time = false;
	}
}

unsigned
lineup_forgive(const struct lineup *lineup, uint64_t seen,
    struct server **tried, unsigned tried_n, unsigned kept)
{
	if (lineup->refreshed <= seen)
		return tried_n;
	for (uint32_t i = 0; i < lineup->servers_n; i++) {
		if (lineup->since[i] <= seen)
			continue;
		for (unsigned j = kept; j < tried_n; j++)
			if (tried[j] == lineup->servers[i])
				tried[j--] = tried[--tried_n];
	}
	return tried_n;
}

bool
lineup_has_room(const struct lineup *lineup, uint32_t place)
{
	uint32_t limit = lineup->limits[place];

	return limit == 0 ||
	       atomic_load_seq(&lineup->states[place]->sessions.now) <
	           limit; /* [P19] */
}

bool
lineup_passes_over(
    const struct lineup *lineup, const struct choice *choice, uint32_t place)
{
	return choice_tried(choice, lineup->servers[place]) ||
	       !lineup_has_room(lineup, place);
}

bool
lineup_less_loaded(const struct lineup *lineup, uint32_t a, uint32_t b)
{
	const struct server_state *x = lineup->states[a];
	const struct server_state *y = lineup->states[b];
	uint64_t of_x = atomic_load_relaxed(&x->sessions.now) + 1ull;
	uint64_t of_y = atomic_load_relaxed(&y->sessions.now) + 1ull;

	if (lineup->limited) {
		bool room = lineup_has_room(lineup, a);

		if (room != lineup_has_room(lineup, b))
			return room;
	}
	return of_x * lineup->weights[b] < of_y * lineup->weights[a];
}

void
lineup_tell_loads(const struct lineup *lineup, struct reasons *reasons)
{
	reasons->measure = LINEUP_LOAD;
	for (uint32_t i = 0; i < lineup->servers_n; i++)
		reasons->scores[i] =
		    (atomic_load_relaxed(&lineup->states[i]->sessions.now) +
		        1.0) /
		    lineup->weights[i];
}

unsigned
lineup_open_n(const struct lineup *lineup)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < lineup->servers_n; i++)
		n += lineup_has_room(lineup, i);
	return n;
}

/* The alias method (Walker 1974, in Vose's linear form, 1991): every cell holds
 * a place, another one, and how much of the cell is the first one's. */
struct alias_cell {
	uint32_t share; /* of 2^32 */
	uint32_t other;
};

int
lineup_draw_prepare(struct lineup *lineup, const struct lineup *former)
{
	unsigned n = lineup->servers_n;
	struct alias_cell *cells = malloc(n * sizeof(*cells));
	double *left = malloc(n * sizeof(*left));
	uint32_t *stack = malloc(n * sizeof(*stack));
	unsigned small = 0, large = n; /* two stacks that grow towards */

	(void)former;
	if (!cells || !left || !stack) {
		free(cells);
		free(left);
		free(stack);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < n; i++) {
		cells[i] = (struct alias_cell){.share = UINT32_MAX, .other = i};
		left[i] =
		    (double)lineup->weights[i] * n / (double)lineup->weight_sum;
		stack[left[i] < 1.0 ? small++ : --large] = i;
	}
	while (small > 0 && large < n) {
		uint32_t s = stack[--small], l = stack[large];

		cells[s].share = (uint32_t)(left[s] * 4294967295.0);
		cells[s].other = l;
		left[l] -= 1.0 - left[s];
		if (left[l] < 1.0) {
			large++;
			stack[small++] = l;
		}
	}
	free(left);
	free(stack);
	lineup->plan = cells;
	return 0;
}

uint32_t
lineup_draw(const struct lineup *lineup, uint64_t random)
{
	const struct alias_cell *cells = lineup->plan;
	uint32_t i = (uint32_t)(((random >> 32) * lineup->servers_n) >> 32);

	return (uint32_t)random <= cells[i].share ? i : cells[i].other;
}
