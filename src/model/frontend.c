/* SPDX-License-Identifier: MIT
 * Frontends, and which of its backends a session of a frontend gets: see
 * frontend.h.
 */
#include "model/frontend.h"

#include <stdlib.h>

#include "base/events.h"
#include "base/log.h"
#include "model/cycle.h"
#include "model/limit.h"
#include "model/model.h"
#include "model/rules.h"

static struct frontend_state *
frontend_state_new(unsigned id)
{
	struct frontend_state *s = aligned_alloc(CACHE_LINE, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct frontend_state){.refs = 1,
	    .id = id,
	    .maxconn = FRONTEND_NO_LIMIT,
	    .counters = counters_new()};
	if (!s->counters) {
		free(s);
		return NULL;
	}
	lock_init(&s->newcomers_lock);
	list_init(&s->newcomers);
	return s;
}

static void
frontend_state_unref(struct frontend_state *state)
{
	if (--state->refs > 0)
		return;
	lock_fini(&state->newcomers_lock);
	free(state->counters);
	free(state);
}

void
frontend_free(struct frontend *frontend)
{
	if (!frontend)
		return;
	frontend_state_unref(frontend->state);
	for (size_t i = 0; i < frontend->logs_n; i++)
		log_target_close(frontend->logs[i].target);
	free(frontend->logs);
	cycle_unref(frontend->split);
	free(frontend->listens);
	rules_free(frontend->rules);
	free(frontend->fallbacks);
	free(frontend->told_routes);
	free(frontend->access);
	limits_free(frontend->limits);
	free(frontend);
}

static bool
same_routes(const struct frontend *f, const struct frontend *before)
{
	if (f->spec->routes_n != before->spec->routes_n)
		return false;
	for (size_t i = 0; i < f->spec->routes_n; i++)
		if (f->spec->routes[i].weight !=
		        before->spec->routes[i].weight ||
		    f->backends[i]->state != before->backends[i]->state)
			return false;
	return true;
}

/* Gives each backend the credit that it had in the former cycle. */
static void
carry_credits(struct frontend *f, const struct frontend *before)
{
	int64_t credits[ROUTES_MAX];

	cycle_credits(before->split, cycle_taken(before->split), credits);
	for (size_t i = 0; i < f->spec->routes_n; i++)
		for (size_t j = 0; j < before->spec->routes_n; j++)
			if (f->backends[i]->state == before->backends[j]->state)
				f->split->credits[i] = credits[j];
	cycle_begin(f->split);
}

/* Keeps the former cycle while the routes are the same.  Returns false when
 * memory is short. */
static bool
split_backends(struct frontend *f, const struct frontend *before)
{
	uint32_t weights[ROUTES_MAX];
	uint32_t n = (uint32_t)f->spec->routes_n;

	if (n < 2)
		return true;
	if (before && before->split && same_routes(f, before)) {
		f->split = cycle_ref(before->split);
		return true;
	}
	for (uint32_t i = 0; i < n; i++)
		weights[i] = f->spec->routes[i].weight;
	f->split = cycle_new(weights, n);
	if (f->split && before && before->split)
		carry_credits(f, before);
	return f->split;
}

unsigned
frontend_next_route(const struct frontend *frontend, unsigned route)
{
	const struct frontend *f = frontend;
	unsigned at = route;

	/* The configuration has no circles. */
	while (f->fallbacks && f->fallbacks[at] != ROUTE_NONE) {
		at = f->fallbacks[at];
		if (backend_has_usable(f->backends[at]))
			return at;
	}
	return route;
}

unsigned
frontend_usable_route(const struct frontend *frontend, unsigned route)
{
	return !frontend->fallbacks ||
	               backend_has_usable(frontend->backends[route])
	           ? route
	           : frontend_next_route(frontend, route);
}

/* Returns whether sessions of the route find servers: those of its backend or
 * of a fallback. */
static bool
has_servers(const struct frontend *f, unsigned route)
{
	return backend_has_servers(
	    f->backends[frontend_usable_route(f, route)]);
}

static bool
any_has_servers(const struct frontend *f)
{
	for (unsigned i = 0; i < f->spec->routes_n; i++)
		if (f->spec->routes[i].weight > 0 && has_servers(f, i))
			return true;
	return false;
}

/* Takes a step, and returns its backend.  A backend without servers loses its
 * steps: otherwise the next backend in the cycle would get all of them. */
static unsigned
take_turn(const struct frontend *f, uint64_t *taken)
{
	unsigned first =
	    cycle_turn(f->split, atomic_add_relaxed(taken, UINT64_C(1)));
	unsigned route = first;

	if (has_servers(f, route) || !any_has_servers(f))
		return route;
	for (size_t i = 1; i < f->split->n; i++) {
		route = cycle_turn(
		    f->split, atomic_add_relaxed(taken, UINT64_C(1)));
		if (has_servers(f, route))
			return route;
	}
	return first;
}

unsigned
frontend_route(const struct frontend *frontend)
{
	return frontend->split ? take_turn(frontend, &frontend->split->taken)
	                       : 0;
}

unsigned
frontend_peek_route(const struct frontend *frontend)
{
	uint64_t taken;

	if (!frontend->split)
		return 0;
	taken = cycle_taken(frontend->split);
	return take_turn(frontend, &taken);
}

bool
frontend_needs_hello(
    const struct frontend *frontend, const struct rule_facts *facts)
{
	const struct frontend *f = frontend;
	struct rule_found found;

	if (!f->inspects)
		return false;
	if (f->spec->on_no_hello == ON_NO_HELLO_CLOSE)
		return true;
	if (!f->rules)
		return f->split_hashes;
	switch (rules_find(f->rules, facts, &found)) {
	case RULES_MATCH:
		return backend_hashes(f->backends[found.route], HASH_KEY_SNI);
	case RULES_NONE:
		return f->split_hashes;
	case RULES_UNKNOWN:
		break;
	}
	return true;
}

unsigned
frontend_route_by(
    const struct frontend *frontend, const struct rule_facts *facts)
{
	const struct frontend *f = frontend;
	struct rule_found found;

	if (f->rules && rules_find(f->rules, facts, &found) == RULES_MATCH)
		return found.route;
	return f->spec->routes_n > 0 ? frontend_route(f) : f->backends_n;
}

static bool
make_listens(struct frontend *f)
{
	const struct spec *spec = f->model->spec;

	f->listens = calloc(f->spec->listens_n + 1, sizeof(*f->listens));
	for (size_t i = 0; f->listens && i < f->spec->listens_n; i++) {
		const struct listen_spec *l = &f->spec->listens[i];

		f->listens[i] = (struct frontend_listen){.frontend = f,
		    .number = (unsigned)i + 1,
		    .accept_proxy = l->accept_proxy,
		    .starttls = (enum starttls)l->starttls.value};
		if (l->tls.is_set)
			f->listens[i].tls =
			    spec->tls[l->tls.value].context[TLS_ACCEPTS];
	}
	return f->listens;
}

struct frontend *
frontend_new(const struct frontend_spec *spec, struct model *model,
    const struct frontend *before)
{
	/* An upper bound, with the NULL at the end. */
	size_t backends = 2 * spec->routes_n + spec->rules_n + 1;
	struct frontend *f =
	    calloc(1, sizeof(*f) + backends * sizeof(f->backends[0]));

	if (!f)
		return NULL;
	f->spec = spec;
	f->model = model;
	if (before) {
		f->state = before->state;
		f->state->refs++;
	} else {
		f->state = frontend_state_new(model->state->next_id++);
	}
	if (!f->state) {
		free(f);
		return NULL;
	}
	if (!make_listens(f)) {
		frontend_free(f);
		return NULL;
	}
	f->id = f->state->id;
	f->counters = f->state->counters;
	f->sessions = &f->state->sessions;
	return f;
}

enum frontend_admin
frontend_admin_next(const struct frontend *frontend)
{
	enum frontend_admin file =
	    frontend->spec->disabled ? FRONTEND_PAUSED : FRONTEND_OPEN;
	enum frontend_admin own =
	    (enum frontend_admin)override_or(&frontend->state->admin_set, file);

	return own == FRONTEND_SHUT ? file : own;
}

void
frontend_set_admin(struct frontend *frontend, enum frontend_admin admin)
{
	frontend->state->admin = admin;
	override_set(&frontend->state->admin_set, admin,
	    frontend->spec->disabled ? FRONTEND_PAUSED : FRONTEND_OPEN);
}

void
frontend_follow_disabled(struct frontend *frontend)
{
	struct frontend_state *s = frontend->state;

	s->admin = frontend_admin_next(frontend);
	/* A reload opens what was shut down. */
	if (s->admin_set.value == FRONTEND_SHUT)
		s->admin_set.is_set = false;
	override_follow(&s->admin_set,
	    frontend->spec->disabled ? FRONTEND_PAUSED : FRONTEND_OPEN);
}

/* Returns the backend's index in the frontend, adding the backend if needed. */
static uint16_t
place_backend(
    const struct model *m, struct frontend *f, size_t backend, uint16_t *places)
{
	if (places[backend] == 0) {
		f->backends[f->backends_n] = m->backends[backend];
		places[backend] = ++f->backends_n;
	}
	return (uint16_t)(places[backend] - 1);
}

/* Returns false when memory is short. */
static bool
connect_fallbacks(const struct model *m, struct frontend *f, uint16_t *places)
{
	bool any = false;

	for (size_t i = 0; i < f->spec->routes_n; i++) {
		struct optional fallback = f->spec->routes[i].fallback;

		any |= fallback.is_set;
		if (fallback.is_set)
			(void)place_backend(m, f, fallback.value, places);
	}
	if (!any)
		return true;
	f->fallbacks = calloc(f->backends_n, sizeof(*f->fallbacks));
	f->told_routes = calloc(f->backends_n, sizeof(*f->told_routes));
	if (!f->fallbacks || !f->told_routes)
		return false;
	for (uint16_t i = 0; i < f->backends_n; i++) {
		f->fallbacks[i] = ROUTE_NONE;
		f->told_routes[i] = i;
	}
	for (size_t i = 0; i < f->spec->routes_n; i++) {
		struct optional fallback = f->spec->routes[i].fallback;

		if (fallback.is_set)
			f->fallbacks[i] =
			    place_backend(m, f, fallback.value, places);
	}
	return true;
}

static bool
connect_rules(const struct model *m, struct frontend *f)
{
	const struct frontend_spec *spec = f->spec;
	/* By backend of the model: its index in the frontend plus 1, 0: none.
	 */
	uint16_t *places = calloc(m->spec->backends_n + 1, sizeof(*places));
	uint16_t *routes = calloc(spec->rules_n + 1, sizeof(*routes));
	bool ok = places && routes;

	for (size_t i = 0; ok && i < spec->routes_n; i++)
		(void)place_backend(m, f, spec->routes[i].backend, places);
	for (size_t i = 0; ok && i < spec->rules_n; i++)
		routes[i] = place_backend(m, f, spec->rules[i].backend, places);
	ok = ok && connect_fallbacks(m, f, places);
	if (ok && spec->rules_n > 0) {
		f->rules = rules_new(spec, m, routes);
		ok = f->rules;
	}
	free(places);
	free(routes);
	return ok;
}

void
frontend_report_fallbacks(struct frontend *frontend)
{
	const struct frontend *f = frontend;

	for (unsigned i = 0; f->fallbacks && i < f->spec->routes_n; i++) {
		uint16_t serves = (uint16_t)frontend_usable_route(f, i);
		const char *wanted = f->backends[i]->spec->name;

		if (serves == f->told_routes[i])
			continue;
		f->told_routes[i] = serves;
		if (serves == i)
			event_add(EVENT_FALLBACK, LOG_LEVEL_INFO, f->spec->name,
			    NULL,
			    "frontend %s: backend %s serves again in place of "
			    "its fallback",
			    f->spec->name, wanted);
		else
			event_add(EVENT_FALLBACK, LOG_LEVEL_WARNING,
			    f->spec->name, NULL,
			    "frontend %s: backend %s serves in place of %s, "
			    "which has no usable server",
			    f->spec->name, f->backends[serves]->spec->name,
			    wanted);
	}
}

/* Returns the index of the backend that has this state, or ROUTE_NONE. */
static uint16_t
find_state_route(const struct frontend *f, const struct backend_state *state)
{
	for (uint16_t i = 0; i < f->backends_n; i++)
		if (f->backends[i]->state == state)
			return i;
	return ROUTE_NONE;
}

/* Notes what the events have said of the routes of the former frontend. */
static void
carry_told_routes(struct frontend *f, const struct frontend *before)
{
	for (uint16_t i = 0; i < before->backends_n; i++) {
		uint16_t told = before->told_routes[i];
		uint16_t at = find_state_route(f, before->backends[i]->state);

		if (at != ROUTE_NONE)
			told =
			    find_state_route(f, before->backends[told]->state);
		if (at != ROUTE_NONE && told != ROUTE_NONE)
			f->told_routes[at] = told;
	}
}

bool
frontend_connect(struct frontend *f, const struct frontend *before,
    const struct model *former)
{
	const struct limit_origin from = {.model = f->model,
	    .before = before ? before->limits : NULL,
	    .former = former};

	if (!connect_rules(f->model, f))
		return false;
	if (f->told_routes && before && before->told_routes)
		carry_told_routes(f, before);
	if (f->spec->access_n > 0) {
		f->access = access_new(f->spec, f->model);
		if (!f->access)
			return false;
	}
	if (limits_are_needed(f->spec)) {
		f->limits = limits_new(f->spec, &from);
		if (!f->limits)
			return false;
	}
	f->inspects = (f->rules && rules_facts(f->rules) & FACT_HELLO) ||
	              f->spec->on_no_hello == ON_NO_HELLO_CLOSE;
	for (size_t i = 0; i < f->backends_n; i++) {
		bool hashes = backend_hashes(f->backends[i], HASH_KEY_SNI);

		f->inspects |= hashes;
		f->split_hashes |= hashes && i < f->spec->routes_n;
	}
	return split_backends(f, before);
}
