/* SPDX-License-Identifier: MIT
 * See lineup.h.
 */
#include "model/lineup.h"

#include <stdlib.h>

#include "base/atomics.h"
#include "model/backend.h"
#include "model/sticky.h"

void
lineup_free(void *lineup)
{
	struct lineup *l = lineup;

	if (!l)
		return;
	free(l->moved);
	if (l->plan && l->ops->release)
		l->ops->release(l->plan);
	else
		free(l->plan);
	free(l);
}

uint32_t
lineup_place_of(const struct lineup *lineup, const struct server *server)
{
	uint32_t place = server->id <= lineup->places_n
	                     ? lineup->places[server->id - 1]
	                     : PLACE_NONE;

	return place < lineup->servers_n ? place : PLACE_NONE;
}

bool
choice_tried(const struct choice *choice, const struct server *server)
{
	for (unsigned i = 0; i < choice->tried_n; i++)
		if (choice->tried[i] == server->serial)
			return true;
	return false;
}

static bool
has_joined(const struct lineup *former, const struct server *server)
{
	uint32_t place = former ? lineup_place_of(former, server) : PLACE_NONE;

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
lineup_forgive(const struct lineup *lineup, uint64_t seen, uint32_t *tried,
    unsigned tried_n, unsigned kept)
{
	if (lineup->refreshed <= seen)
		return tried_n;
	for (uint32_t i = 0; i < lineup->servers_n; i++) {
		if (lineup->since[i] <= seen)
			continue;
		for (unsigned j = kept; j < tried_n; j++)
			if (tried[j] == lineup->servers[i]->serial)
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

uint32_t
lineup_next_open(
    const struct lineup *lineup, const struct choice *choice, uint32_t from)
{
	for (uint32_t i = 0, place = from; i < lineup->servers_n; i++) {
		if (!lineup_passes_over(lineup, choice, place))
			return place;
		if (++place == lineup->servers_n)
			place = 0;
	}
	return PLACE_NONE;
}

bool
lineup_less_loaded(const struct lineup *lineup, uint32_t a, uint32_t b)
{
	const struct server_state *x = lineup->states[a];
	const struct server_state *y = lineup->states[b];
	uint64_t of_x = atomic_load_relaxed(&x->sessions.now);
	uint64_t of_y = atomic_load_relaxed(&y->sessions.now);

	if (lineup->limited) {
		bool room = lineup_has_room(lineup, a);

		if (room != lineup_has_room(lineup, b))
			return room;
	}
	return of_x * lineup->weights[b] < of_y * lineup->weights[a];
}

void
lineup_score_loads(const struct lineup *lineup, double *ret_scores)
{
	for (uint32_t i = 0; i < lineup->servers_n; i++)
		ret_scores[i] = (double)atomic_load_relaxed(
		                    &lineup->states[i]->sessions.now) /
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

void
lineup_note_load(const struct server *server)
{
	const struct lineup *l =
	    atomic_load_seq(&server->backend->state->lineup); /* [P4] */
	uint32_t place;

	if (!l->ops->load_changed)
		return;
	place = lineup_place_of(l, server);
	if (place != PLACE_NONE)
		l->ops->load_changed(l, place);
}

/* Returns the place of a server with room, preferably one not tried yet, in the
 * stead of the server at the place `full`.  A reserve is waited for: the others
 * may not serve its sources. */
static uint32_t
place_with_room(
    const struct lineup *l, const struct choice *choice, uint32_t full)
{
	uint32_t tried = PLACE_NONE;

	if (full >= l->servers_n)
		return PLACE_NONE;
	for (uint32_t i = 0; i < l->servers_n; i++) {
		if (!lineup_has_room(l, i))
			continue;
		if (!choice_tried(choice, l->servers[i]))
			return i;
		tried = i;
	}
	return tried;
}

struct server *
lineup_take_slot(
    const struct lineup *l, const struct choice *choice, uint64_t *ret_lineup)
{
	uint32_t place;
	bool kept;

	place = sticky_place(l, choice, true);
	kept = place != PLACE_NONE;
	if (!kept && l->servers_n == 0)
		return NULL;
	if (!kept)
		place = l->ops->choose(l, choice);
	while (
	    !gauge_up_within(l->servers[place]->sessions, l->limits[place])) {
		place = place_with_room(l, choice, place);
		if (place == PLACE_NONE)
			return NULL;
	}
	if (!kept)
		sticky_note(l, choice, place);
	lineup_note_load(l->servers[place]);
	*ret_lineup = l->number;
	return l->servers[place];
}

uint32_t
lineup_preview_slot(const struct lineup *l, const struct choice *choice)
{
	uint32_t place;

	place = sticky_place(l, choice, false);
	if (place == PLACE_NONE && l->servers_n == 0)
		return PLACE_NONE;
	if (place == PLACE_NONE)
		place = l->ops->preview(l, choice);
	return lineup_has_room(l, place) ? place
	                                 : place_with_room(l, choice, place);
}
