/* SPDX-License-Identifier: MIT
 * See explain.h.
 */
#include "orders/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mix.h"
#include "model/cycle.h"
#include "model/sticky.h"
#include "net/tls_hello.h"

const char *const standing_names[] = {
#define X(id, name, text) [id] = (name),
    STANDINGS_TABLE(X)
#undef X
};

/* Returns why a server is not in the lineup. */
static enum standing
reason_out(const struct server *s)
{
	enum server_admin admin = server_admin_of(s);

	if (server_is_unresolved(s))
		return STANDING_UNRESOLVED;
	if (admin != SERVER_READY)
		return admin == SERVER_MAINT ? STANDING_MAINT : STANDING_DRAIN;
	if (server_weight(s) == 0)
		return STANDING_NO_WEIGHT;
	if (!server_is_up(s))
		return STANDING_DOWN;
	if (server_is_ejected(s))
		return STANDING_EJECTED;
	if (!server_is_usable(s))
		return STANDING_STOPPING;
	return s->spec->backup ? STANDING_BACKUP : STANDING_OTHERS;
}

static enum standing
standing_of(const struct lineup *l, uint32_t place, const struct server *s)
{
	if (place == PLACE_NONE)
		return reason_out(s);
	if (!lineup_has_room(l, place))
		return STANDING_FULL;
	return server_is_usable(s) ? STANDING_ELIGIBLE : STANDING_PANIC;
}

/* Returns a copy.  Sets *ok to false when memory is short. */
static char *
copy_name(const char *name, bool *ok)
{
	char *copy = strdup(name);

	*ok &= copy != NULL;
	return copy;
}

/* Returns the limit of the server's sessions, if it is for the client, else 0.
 */
static uint64_t
rate_at_server(const struct server *s, const struct explained_client *client,
    enum band_direction direction)
{
	return bandwidth_is_for(
	           &s->state->bandwidth.clients[direction], &client->client)
	           ? bandwidth_of_server(s->backend->spec, s->spec, direction)
	           : 0;
}

static bool
explain_servers(const struct backend *b, const struct explained_client *client,
    struct explanation *e)
{
	const struct lineup *l = backend_lineup(b);
	bool ok = true;

	e->servers = calloc(b->spec->servers_n + 1, sizeof(*e->servers));
	if (!e->servers)
		return false;
	backend_for_each_server (s, b) {
		uint32_t at = lineup_place_of(l, s);
		/* A reserve has no score and no chance. */
		uint32_t place = at < l->servers_n ? at : PLACE_NONE;
		char address[ADDR_TEXT_SIZE];

		e->servers[e->servers_n++] = (struct explained_server){
		    .name = copy_name(s->spec->name, &ok),
		    .address = copy_name(
		        server_address_at(s,
		            server_mapped_port(s, client->local.port), address),
		        &ok),
		    .set =
		        s->spec->set.is_set
		            ? copy_name(
		                  b->spec->sets[s->spec->set.value].prefix, &ok)
		            : NULL,
		    .standing = standing_of(l, place, s),
		    .up = server_is_up(s),
		    .backup = s->spec->backup,
		    .tls = s->tls != NULL,
		    .starttls = s->tls && s->starttls != STARTTLS_OFF,
		    .weight = server_weight(s),
		    .effective_weight = server_effective_weight(s),
		    .sessions = atomic_load_relaxed(&s->sessions->now),
		    .maxconn = place == PLACE_NONE ? server_maxconn(s)
		                                   : l->limits[place],
		    .bandwidth = {rate_at_server(s, client, BAND_IN),
		        rate_at_server(s, client, BAND_OUT)},
		    .place = place};
	}
	return ok;
}

/* Counts how often each place is drawn, and returns the number of draws.  A
 * formula would be a second copy of the algorithm, which could come to differ.
 */
static unsigned
draw(const struct backend *b, struct choice choice, uint32_t *counts)
{
	uint64_t until_ns = clock_now_ns() + EXPLAIN_NS;
	unsigned n = 0;

	while (n < EXPLAIN_DRAWS_MIN ||
	       (n < EXPLAIN_DRAWS_MAX &&
	           (n % 64 != 0 || clock_now_ns() < until_ns))) {
		uint32_t place;

		choice.random = mix64(n++);
		place = backend_peek(b, &choice);
		if (place != PLACE_NONE)
			counts[place]++;
	}
	return n;
}

/* Returns the index of the server that is at this place, which may be that of a
 * reserve. */
static size_t
explained_index(const struct backend *b, const struct lineup *l, uint32_t place)
{
	size_t i = 0;

	backend_for_each_server (s, b) {
		if (s == l->servers[place])
			return i;
		i++;
	}
	return SERVER_NONE;
}

/* Fills in scores and probabilities.  scores and counts are by place.  counts:
 * how often each place was drawn; NULL if the choice is not random. */
static void
fill_in(struct explanation *e, const double *scores, const uint32_t *counts)
{
	for (size_t i = 0; i < e->servers_n; i++) {
		struct explained_server *s = &e->servers[i];

		if (!counts)
			s->probability = i == e->chosen;
		if (s->place == PLACE_NONE)
			continue;
		if (e->measure)
			s->score = scores[s->place];
		if (counts)
			s->probability = (double)counts[s->place] / e->draws;
	}
}

static bool
explain_choice(
    const struct backend *b, const struct choice *choice, struct explanation *e)
{
	const struct lineup *l = backend_lineup(b);
	uint32_t place = backend_peek(b, choice);
	uint32_t *counts = calloc(l->servers_n + 1, sizeof(*counts));
	double *scores = calloc(l->servers_n + 1, sizeof(*scores));
	bool ok = counts && scores;

	if (ok && place != PLACE_NONE) {
		bool kept = sticky_place(l, choice, false) == place;

		if (kept)
			snprintf(e->why, sizeof(e->why),
			    "the client's last server, which it keeps while "
			    "that is up (sticky = stay)");
		else if (l->ops->why)
			snprintf(e->why, sizeof(e->why), "%s", l->ops->why);
		else
			l->ops->explain(l, choice, place, e->why);
		e->measure = l->ops->measure;
		if (e->measure)
			l->ops->score(l, scores);
		e->random = !kept && l->ops->random && lineup_open_n(l) > 1;
		e->chosen =
		    e->random ? SERVER_NONE : explained_index(b, l, place);
		if (e->random)
			e->draws = draw(b, *choice, counts);
		fill_in(e, scores, e->random ? counts : NULL);
	}
	free(counts);
	free(scores);
	return ok;
}

static enum unknown
unknown_of(const struct backend *b, const struct explained_client *client)
{
	if (backend_hashes(b, HASH_KEY_DESTINATION) && !client->has_local)
		return UNKNOWN_DESTINATION;
	if (backend_hashes(b, HASH_KEY_SOURCE_PORT) && !client->has_port)
		return UNKNOWN_PORT;
	return UNKNOWN_NOTHING;
}

static bool
explain_backend(const struct backend *b, const struct explained_client *client,
    struct explanation *e)
{
	struct choice choice = {0};

	if (!b)
		return true;
	e->backend = b;
	e->otherwise = queue_peek(b);
	e->unknown = unknown_of(b, client);
	if (!explain_servers(b, client, e))
		return false;
	if (e->unknown != UNKNOWN_NOTHING)
		return true;
	e->sni_hashed = backend_hashes(b, HASH_KEY_SNI) && client->sni;
	e->key = choice.key =
	    backend_key(b, &client->client, &client->local, client->sni);
	choice.sticky = backend_sticky_key(b, &client->client, e->key);
	return explain_choice(b, &choice, e);
}

static struct rule_facts
client_rule_facts(const struct frontend *f, const struct explained_client *c)
{
	bool tls = c->tls || c->sni || c->alpn_size > 0 || c->versions > 0;

	return (struct rule_facts){
	    .known = FACT_HELLO | (c->has_local ? FACT_DESTINATION : 0u) |
	             (c->has_local || c->local.port > 0 ? FACT_PORT : 0u),
	    .client = &c->client,
	    .destination = &c->local,
	    .tls = tls,
	    .versions = c->versions > 0 ? c->versions
	                : tls           ? 1u << TLS_VERSION_MAX
	                                : 0,
	    .name = c->sni,
	    .name_len = c->sni ? strlen(c->sni) : 0,
	    .protocols = rules_protocols(f->rules, c->alpn, c->alpn_size),
	};
}

/* Explains the rule.  Returns the route that frontend_route_by and then
 * frontend_usable_route would return, without taking a step. */
static unsigned
explain_rule(const struct frontend *f, const struct explained_client *client,
    struct explanation *e)
{
	unsigned route = f->backends_n, usable;

	e->answer = RULES_NONE;
	if (f->rules) {
		struct rule_facts facts = client_rule_facts(f, client);

		e->answer = rules_find(f->rules, &facts, &e->rule);
	}
	if (e->answer == RULES_UNKNOWN)
		e->unknown = UNKNOWN_RULE;
	else if (e->answer == RULES_MATCH)
		route = e->rule.route;
	else if (f->spec->routes_n > 0)
		route = frontend_peek_route(f);
	if (route == f->backends_n)
		return route;
	usable = frontend_usable_route(f, route);
	if (usable != route)
		e->fallback_of = f->backends[route];
	return usable;
}

bool
explanation_make(const struct frontend *frontend,
    const struct explained_client *client, struct explanation *ret_explanation)
{
	const struct frontend *f = frontend;
	struct explanation *e = ret_explanation;
	unsigned route;

	*e = (struct explanation){.frontend = f,
	    .access = f->access ? access_find(f->access, &client->client)
	                        : ACCESS_NO_RULE,
	    .chosen = SERVER_NONE};
	e->denied =
	    e->access != ACCESS_NO_RULE && !access_admits(f->spec, e->access);
	if (f->limits && !e->denied)
		e->limit =
		    limits_peek(f->limits, &client->client, clock_now_ns());
	if (f->split) {
		e->turns = f->split->n;
		e->turn = cycle_taken(f->split) % e->turns + 1;
	}
	route = explain_rule(f, client, e);
	return explain_backend(
	    e->denied || e->limit.by ? NULL : f->backends[route], client, e);
}

void
explanation_fini(struct explanation *explanation)
{
	struct explanation *e = explanation;

	for (size_t i = 0; i < e->servers_n; i++) {
		free(e->servers[i].name);
		free(e->servers[i].address);
		free(e->servers[i].set);
	}
	free(e->servers);
}
