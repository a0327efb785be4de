/* SPDX-License-Identifier: MIT
 * See sticky.h.
 */
#include "model/sticky.h"

#include "base/clock.h"
#include "model/backend.h"
#include "model/limit.h"
#include "model/model.h"
#include "model/source_facts.h"

/* Returns the place of the server with that name.  The id finds it at once,
 * unless a reload or an upgrade has numbered the servers differently. */
static uint32_t
find_place(const struct lineup *l, const struct source_choice *choice)
{
	uint32_t n = l->servers_n + l->reserves_n;
	uint32_t place = choice->server - 1u < l->places_n
	                     ? l->places[choice->server - 1]
	                     : PLACE_NONE;

	if (place < n && l->servers[place]->name_hash == choice->name)
		return place;
	for (place = 0; place < n; place++)
		if (l->servers[place]->name_hash == choice->name)
			return place;
	return PLACE_NONE;
}

static uint64_t
expiry_ns(const struct lineup *l)
{
	return l->servers[0]->backend->spec->sticky_expire_ms * NS_PER_MS;
}

uint32_t
sticky_place(const struct lineup *l, const struct choice *choice, bool touch)
{
	struct source_choice last;
	uint32_t place;

	if (!l->choices || l->servers_n + l->reserves_n == 0)
		return PLACE_NONE;
	last = source_table_chosen(
	    l->choices, &choice->sticky, expiry_ns(l), clock_now_ns(), touch);
	place = last.name != 0 ? find_place(l, &last) : PLACE_NONE;
	if (place == PLACE_NONE || choice_tried(choice, l->servers[place]))
		return PLACE_NONE;
	if (touch && last.server != l->servers[place]->id)
		sticky_note(l, choice, place);
	return place;
}

void
sticky_note(const struct lineup *l, const struct choice *choice, uint32_t place)
{
	const struct server *s = l->servers[place];
	struct source_choice now = {.name = s->name_hash, .server = s->id};

	if (l->choices)
		source_table_choose(
		    l->choices, &choice->sticky, &now, clock_now_ns());
}

bool
sticky_expires(const struct limit *limit)
{
	return limit->backend && limit->backend->spec->sticky_expire_ms > 0;
}

bool
sticky_is_expired(const struct limit *limit, const struct source_facts *facts)
{
	return sticky_expires(limit) &&
	       facts->due_ns +
	               limit->backend->spec->sticky_expire_ms * NS_PER_MS <=
	           clock_now_ns();
}

const struct server *
sticky_server(const struct limit *limit, const struct source_choice *choice)
{
	backend_for_each_server (s, limit->backend)
		if (s->name_hash == choice->name)
			return s;
	return NULL;
}
