/* SPDX-License-Identifier: MIT
 * The servers of a lineup and their weights: see lineup_new.
 */
#include <stdlib.h>
#include <string.h>

#include "model/backend.h"
#include "model/cycle.h"
#include "model/limit.h"
#include "model/model.h"
#include "model/lineup.h"
#include "model/loops.h"
#include "model/server.h"

/* Weights are not scaled beyond this sum for the sake of a slow start: a part
 * of a weight is fine enough by then. */
#define SCALED_SUM_MAX (1u << 17)

enum group_kind { GROUP_PRIMARY, GROUP_BACKUP, GROUPS };

/* Counts of the servers of a kind. */
struct group {
	unsigned wanted; /* ready, with a weight */
	unsigned usable; /* of these, the usable ones */
};

static enum group_kind
group_of(const struct server *server)
{
	return server->spec->backup ? GROUP_BACKUP : GROUP_PRIMARY;
}

static void
count_groups(const struct backend *backend, struct group groups[GROUPS])
{
	backend_for_each_server (s, backend) {
		groups[group_of(s)].wanted += server_is_wanted(s);
		groups[group_of(s)].usable += server_is_usable(s);
	}
}

/* Returns the group that serves.  Backups serve when no other server is usable.
 * When no server is usable at all, the others are tried in a panic, if there
 * are any. */
static enum group_kind
group_that_serves(const struct group groups[GROUPS])
{
	if (groups[GROUP_PRIMARY].usable > 0)
		return GROUP_PRIMARY;
	if (groups[GROUP_BACKUP].usable > 0 ||
	    groups[GROUP_PRIMARY].wanted == 0)
		return GROUP_BACKUP;
	return GROUP_PRIMARY;
}

/* Returns whether there is a panic: so few servers are usable that the checks
 * are more likely wrong, or that the load is too much for the few.  There is
 * none while a backup is usable, which is healthy and idle. */
static bool
is_panic(const struct backend *backend, const struct group groups[GROUPS],
    enum group_kind serves)
{
	const struct group *g = &groups[serves];

	return groups[GROUP_BACKUP].usable == 0 &&
	       100ull * g->usable <
	           (uint64_t)backend->spec->panic_percent * g->wanted;
}

/* Makes an empty lineup with room for the backend's servers, in one block. */
static struct lineup *
lineup_alloc(const struct backend *backend)
{
	size_t n = backend->spec->servers_n;
	unsigned places_n = 0;
	struct lineup *l;

	backend_for_each_server (s, backend)
		if (s->id > places_n)
			places_n = s->id;
	l = calloc(1, sizeof(*l) +
	                  n * (sizeof(*l->servers) + sizeof(*l->states) +
	                          sizeof(*l->since) + sizeof(*l->weights) +
	                          sizeof(*l->limits)) +
	                  places_n * sizeof(*l->places));
	if (!l)
		return NULL;
	l->servers = (struct server **)(l + 1);
	l->states = (struct server_state **)(l->servers + n);
	l->since = (uint64_t *)(l->states + n);
	l->weights = (uint32_t *)(l->since + n);
	l->limits = l->weights + n;
	l->places = l->limits + n;
	l->places_n = places_n;
	memset(l->places, 0xff, places_n * sizeof(*l->places));
	return l;
}

/* Returns the most sessions of the server; 0: no limit. */
static unsigned
session_limit(const struct server *s)
{
	unsigned limit = server_maxconn(s);

	return s->loops && (limit == 0 || limit > LOOPS_SESSIONS_MAX)
	           ? LOOPS_SESSIONS_MAX
	           : limit;
}

static void
put_server(struct lineup *l, struct server *s, uint32_t place)
{
	l->places[s->id - 1] = place;
	l->weights[place] = server_weight(s);
	l->limits[place] = session_limit(s);
	l->limited |= session_limit(s) > 0;
	l->states[place] = s->state;
	l->servers[place] = s;
}

static void
add_servers(struct lineup *l, const struct backend *backend)
{
	const struct backend_spec *spec = backend->spec;
	struct group groups[GROUPS] = {0};
	enum group_kind serves;

	count_groups(backend, groups);
	serves = group_that_serves(groups);
	l->active_n = groups[GROUP_PRIMARY].usable;
	l->backup_n = groups[GROUP_BACKUP].usable;
	l->panic = is_panic(backend, groups, serves);
	for (size_t i = 0; i < spec->servers_n; i++) {
		struct server *s = backend->servers[i];

		if (group_of(s) != serves ||
		    !(l->panic ? server_is_wanted(s) : server_is_usable(s)))
			continue;
		put_server(l, s, l->servers_n++);
		if (serves == GROUP_BACKUP && !l->panic && !spec->all_backups)
			return;
	}
}

/* Adds the servers that keep their sources and do not serve others now, behind
 * the others. */
static void
add_reserves(struct lineup *l, const struct backend *backend)
{
	if (!backend->sticky)
		return;
	l->choices = backend->sticky->all[0].table;
	backend_for_each_server (s, backend)
		if (l->places[s->id - 1] == PLACE_NONE &&
		    server_keeps_sources(s))
			put_server(l, s, l->servers_n + l->reserves_n++);
}

/* The present part of a server's weight and maxconn, in RAMP_STEPS-ths. */
struct part {
	unsigned of_weight, of_limit;
};

/* Returns the factor for the weights, after division by their common divisor,
 * that makes a part of the lightest weight a whole number, which half of 1 is
 * not. */
static uint32_t
scale_for(const struct lineup *l, unsigned common, const struct part *parts)
{
	uint32_t scale = 1;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l->servers_n; i++) {
		uint32_t weight = l->weights[i] / common;
		uint32_t wanted = (RAMP_STEPS + weight - 1) / weight;

		sum += weight;
		if (parts[i].of_weight < RAMP_STEPS && wanted > scale)
			scale = wanted;
	}
	if (scale * sum > SCALED_SUM_MAX)
		scale = (uint32_t)(SCALED_SUM_MAX / sum);
	return scale > 0 ? scale : 1;
}

static uint32_t
part_of(uint64_t whole, unsigned steps)
{
	return (uint32_t)((whole * steps + RAMP_STEPS - 1) / RAMP_STEPS);
}

/* Reduces weight and maxconn of servers in their slow start, and the weight of
 * servers that fade. */
static void
throttle(struct lineup *l, const struct part *parts)
{
	unsigned common = l->weights[0];
	uint32_t scale;

	for (uint32_t i = 1; i < l->servers_n; i++)
		common = common_divisor(l->weights[i], common);
	scale = scale_for(l, common, parts);
	for (uint32_t i = 0; i < l->servers_n; i++) {
		l->weights[i] =
		    part_of((uint64_t)l->weights[i] / common * scale,
		        parts[i].of_weight);
		l->limits[i] = part_of(l->limits[i], parts[i].of_limit);
	}
}

void
lineup_note_step(struct lineup *l, uint64_t at_ms)
{
	if (at_ms != 0 && (l->next_step_ms == 0 || at_ms < l->next_step_ms))
		l->next_step_ms = at_ms;
}

/* Fills in parts.  Returns true if a server has less than the whole. */
static bool
list_parts(struct lineup *l, uint64_t now_ms, struct part *parts)
{
	bool any = false;

	for (uint32_t i = 0; i < l->servers_n; i++) {
		uint64_t ramp_ms = 0, fade_ms = 0;
		unsigned ramp, fade;

		ramp = server_ramp_step(l->servers[i], now_ms, &ramp_ms);
		fade = server_fade_step(l->servers[i], now_ms, &fade_ms);
		parts[i] = (struct part){
		    .of_weight = part_of(ramp, fade), .of_limit = ramp};
		any |= parts[i].of_weight < RAMP_STEPS;
		lineup_note_step(l, ramp_ms);
		lineup_note_step(l, fade_ms);
	}
	return any;
}

struct lineup *
lineup_new(const struct backend *backend, uint64_t now_ms)
{
	struct part *parts =
	    calloc(backend->spec->servers_n + 1, sizeof(*parts));
	struct lineup *l = lineup_alloc(backend);

	if (!l || !parts)
		goto fail;
	l->ops = backend->spec->balance;
	l->made_ms = now_ms;
	add_servers(l, backend);
	add_reserves(l, backend);
	if (list_parts(l, now_ms, parts))
		throttle(l, parts);
	for (uint32_t i = 0; i < l->servers_n; i++)
		l->weight_sum += l->weights[i];
	if (l->servers_n > 0 && l->ops->prepare &&
	    l->ops->prepare(l, backend->state->lineup) < 0)
		goto fail;
	free(parts);
	return l;
fail:
	free(parts);
	lineup_free(l);
	return NULL;
}
