/* SPDX-License-Identifier: MIT
 * See explain.h.
 */
#include "model/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mix.h"
#include "model/cycle.h"
#include "model/limit.h"
#include "model/rules.h"
#include "model/sni_map.h"
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
		uint32_t place = lineup_place_of(l, s);
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
			    "that is usable (sticky = stay)");
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

/* Returns the limit of the file, if it is for the client, else 0. */
static uint64_t
rate_for(const struct bandwidth *bandwidth, const struct bandwidth_spec *spec,
    enum band_scope scope, const struct endpoint *client,
    enum band_direction direction)
{
	return bandwidth_is_for(&bandwidth->clients[scope], client)
	           ? spec->rate[scope][direction]
	           : 0;
}

/* Notes the limits on bandwidth that are for the client.  b may be NULL. */
static void
explain_bandwidth(const struct frontend *f, const struct backend *b,
    const struct endpoint *client, struct explained_bandwidth *bandwidth)
{
	const struct bandwidth *front = &f->state->bandwidth;

	for (enum band_direction d = 0; d < BAND_DIRECTIONS; d++) {
		bandwidth->session[d] = bandwidth_of_session(f, b, client, d);
		bandwidth->source[d] = rate_for(
		    front, &f->spec->bandwidth, BAND_SOURCE, client, d);
		bandwidth->frontend[d] =
		    rate_for(front, &f->spec->bandwidth, BAND_PROXY, client, d);
		if (!b)
			continue;
		bandwidth->backend[d] = rate_for(&b->state->bandwidth,
		    &b->spec->bandwidth, BAND_PROXY, client, d);
		bandwidth->backend_source[d] = rate_for(&b->state->bandwidth,
		    &b->spec->bandwidth, BAND_SOURCE, client, d);
	}
}

static bool
explain_backend(const struct backend *b, const struct explained_client *client,
    struct explanation *e)
{
	struct choice choice = {0};
	bool ok = true;

	if (!b)
		return true;
	e->backend = copy_name(b->spec->name, &ok);
	e->balance = backend_lineup(b)->ops->name;
	e->panic = b->state->panic;
	e->waiting = atomic_load_relaxed(&b->state->queue.waiting.now);
	e->otherwise = queue_peek(b);
	e->unknown = unknown_of(b, client);
	e->keyed = b->spec->balance->key != BALANCE_KEY_NONE;
	if (!explain_servers(b, client, e) || !ok)
		return false;
	if (e->unknown != UNKNOWN_NOTHING)
		return true;
	e->sni.hashed = backend_hashes(b, HASH_KEY_SNI) && client->sni;
	e->key = choice.key =
	    backend_key(b, &client->client, &client->local, client->sni);
	choice.sticky = backend_sticky_key(b, &client->client, e->key);
	return explain_choice(b, &choice, e);
}

static bool
explain_routes(const struct frontend *f, struct explanation *e)
{
	size_t n = f->spec->routes_n;
	bool ok = true;

	e->routes = calloc(n + 1, sizeof(*e->routes));
	if (!e->routes)
		return false;
	if (f->split) {
		e->turns = f->split->n;
		e->turn = cycle_taken(f->split) % e->turns + 1;
	}
	for (; e->routes_n < n; e->routes_n++) {
		const struct backend *b = f->backends[e->routes_n];

		e->routes[e->routes_n] = (struct explained_route){
		    .backend = copy_name(b->spec->name, &ok),
		    .weight = f->spec->routes[e->routes_n].weight,
		    .has_servers = backend_has_servers(b)};
	}
	return ok;
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

/* Returns false when memory is short. */
static bool
explain_entry(const struct acl_list *list, const struct endpoint *client,
    struct explained_entry *e)
{
	char range[CIDR_TEXT_SIZE];
	struct acl_listed entry;
	bool ok = true;

	if (!acl_list_find(list, client, &entry))
		return true;
	e->range = copy_name(cidr_text(&entry.range, range), &ok);
	if (entry.source)
		e->file = copy_name(entry.source, &ok);
	e->line = entry.line;
	return ok;
}

/* Notes the entry of the first list in src or dst that has the address, unless
 * src or dst names the address.  Returns false when memory is short. */
static bool
note_rule_entry(const struct frontend *f, const struct rule_ranges *ranges,
    const struct endpoint *address, struct explained_entry *e)
{
	for (size_t i = 0; i < ranges->n; i++)
		if (cidr_has(&ranges->all[i], address))
			return true;
	for (size_t i = 0; i < ranges->lists_n && !e->range; i++)
		if (!explain_entry(
		        f->model->lists[ranges->lists[i].list], address, e))
			return false;
	return true;
}

/* Notes the rule that matches.  Returns false when memory is short. */
static bool
note_rule(const struct frontend *f, const struct rule_found *found,
    const struct explained_client *client, struct explained_sni *sni)
{
	const struct rule_spec *rule = &f->spec->rules[found->rule];
	const struct spec_place *place = &rule->place;
	const struct sni_entry *name = found->name;
	bool ok = true;

	sni->matches = true;
	sni->index = found->rule;
	sni->line = place->line;
	sni->file = copy_name(place->file ? place->file : "", &ok);
	if (name && asprintf(&sni->rule, "%s%.*s", name->wild ? "*." : "",
	                (int)name->len, name->name) < 0) {
		sni->rule = NULL;
		return false;
	}
	return ok &&
	       note_rule_entry(f, &rule->src, &client->client, &sni->entry) &&
	       note_rule_entry(f, &rule->dst, &client->local, &sni->dst_entry);
}

static void
note_fallback(
    const struct frontend *f, struct explanation *e, unsigned *route, bool *ok)
{
	unsigned usable =
	    *route == f->backends_n ? *route : frontend_usable_route(f, *route);

	if (usable != *route)
		e->fallback_of = copy_name(f->backends[*route]->spec->name, ok);
	*route = usable;
}

/* Explains the rule.  *ret_route is the route that frontend_route_by and then
 * frontend_usable_route would return, without taking a step.  Returns false
 * when memory is short. */
static bool
explain_rule(const struct frontend *f, const struct explained_client *client,
    struct explanation *e, unsigned *ret_route)
{
	enum rules_answer answer = RULES_NONE;
	struct rule_found found;
	bool ok = true;

	e->sni.inspects = f->inspects;
	e->sni.rules = f->rules;
	e->sni.name = copy_name(client->sni ? client->sni : "", &ok);
	if (f->rules) {
		struct rule_facts facts = client_rule_facts(f, client);

		answer = rules_find(f->rules, &facts, &found);
	}
	if (answer == RULES_UNKNOWN)
		e->unknown = UNKNOWN_RULE;
	*ret_route = answer == RULES_MATCH     ? found.route
	             : answer == RULES_UNKNOWN ? f->backends_n
	             : f->spec->routes_n > 0   ? frontend_peek_route(f)
	                                       : f->backends_n;
	note_fallback(f, e, ret_route, &ok);
	return ok &&
	       (answer != RULES_MATCH || note_rule(f, &found, client, &e->sni));
}

/* Explains what gate_client would answer.  Returns false when memory is short.
 */
static bool
explain_access(const struct frontend *f, const struct endpoint *client,
    struct explained_access *a)
{
	size_t rule =
	    f->access ? access_find(f->access, client) : ACCESS_NO_RULE;
	char text[ACCESS_TEXT_SIZE];
	const struct access_spec *r;
	bool ok = true;

	a->rules = f->access;
	if (rule == ACCESS_NO_RULE)
		return true;
	r = &f->spec->access[rule];
	a->denied = !access_admits(f->spec, rule);
	a->reply = f->spec->on_deny;
	a->rule = copy_name(access_spec_text(r, text), &ok);
	a->file = copy_name(r->place.file ? r->place.file : "", &ok);
	a->line = r->place.line;
	if (r->kind == ACCESS_LIST)
		ok &=
		    explain_entry(f->model->lists[r->list], client, &a->entry);
	return ok;
}

/* Explains what the limits say about a client that no rule denies.  Returns
 * false when memory is short. */
static bool
explain_limits(const struct frontend *f, const struct endpoint *client,
    bool denied, struct explained_limit *x)
{
	struct limit_answer answer;
	const struct limit_spec *spec;
	char text[LIMIT_TEXT_SIZE];
	bool ok = true;

	x->limits = f->limits && !denied;
	if (!x->limits)
		return true;
	answer = limits_peek(f->limits, client, clock_now_ns());
	x->wait_ms = answer.wait_ms;
	if (!answer.by)
		return true;
	spec = answer.by->spec;
	x->what = limit_what(answer.what);
	x->reply = limit_reply(spec);
	x->limit = copy_name(limit_spec_text(spec, text), &ok);
	x->table = copy_name(answer.by->name, &ok);
	x->file = copy_name(spec->place.file ? spec->place.file : "", &ok);
	x->line = spec->place.line;
	return ok;
}

struct explanation *
explanation_new(
    const struct frontend *frontend, const struct explained_client *client)
{
	struct explanation *e = calloc(1, sizeof(*e));
	unsigned route;

	if (!e)
		return NULL;
	e->chosen = SERVER_NONE;
	e->balance = "";
	if (explain_access(frontend, &client->client, &e->access) &&
	    explain_limits(
	        frontend, &client->client, e->access.denied, &e->limit) &&
	    explain_routes(frontend, e) &&
	    explain_rule(frontend, client, e, &route)) {
		const struct backend *b = e->access.denied || e->limit.limit
		                              ? NULL
		                              : frontend->backends[route];

		explain_bandwidth(frontend, b, &client->client, &e->bandwidth);
		if (explain_backend(b, client, e))
			return e;
	}
	explanation_free(e);
	return NULL;
}

void
explanation_free(struct explanation *explanation)
{
	struct explanation *e = explanation;

	if (!e)
		return;
	for (size_t i = 0; i < e->routes_n; i++)
		free(e->routes[i].backend);
	for (size_t i = 0; i < e->servers_n; i++) {
		free(e->servers[i].name);
		free(e->servers[i].address);
		free(e->servers[i].set);
	}
	free(e->access.rule);
	free(e->access.file);
	free(e->limit.limit);
	free(e->limit.table);
	free(e->limit.file);
	free(e->access.entry.range);
	free(e->access.entry.file);
	free(e->sni.entry.range);
	free(e->sni.entry.file);
	free(e->sni.dst_entry.range);
	free(e->sni.dst_entry.file);
	free(e->sni.name);
	free(e->sni.rule);
	free(e->sni.file);
	free(e->backend);
	free(e->fallback_of);
	free(e->routes);
	free(e->servers);
	free(e);
}
