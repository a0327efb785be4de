/* SPDX-License-Identifier: MIT
 * What is said of the next client's way is what happens to it, and to say it
 * changes nothing.
 */
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/mix.h"
#include "base/grace.h"
#include "orders/explain.h"
#include "model/sni_map.h"
#include "model/rules.h"
#include "model/server_operator.h"
#include "model/rig.h"
#include "servers.h"
#include "unit.h"

#define SERVERS 6

static const struct balance_ops *const all_kinds[] = {&balance_roundrobin,
    &balance_leastconn, &balance_random, &balance_source, &balance_hash,
    &balance_first, &balance_ewma};

struct world {
	struct grace *grace;
	struct model *model;
	struct frontend *web;
	struct backend *app;
};

static void
set_backend(
    struct backend_spec *b, const char *name, const struct balance_ops *kind)
{
	b->name = strdup(name);
	b->balance = kind;
	make_servers(b, SERVERS);
	for (unsigned i = 0; i < SERVERS; i++) {
		struct server_spec *s = b->servers[i];

		assert_true(asprintf(&s->name, "s%u", i) > 0);
		s->address = strdup("127.0.0.1:1");
		s->weight = 1 + i * 7 % 5;
	}
}

/* Whether the next world has some, to other. */
static bool rules;

/* Frontend web -> backend app, and 3 to 1 to other if split. */
static void
world_init(struct world *w, const struct balance_ops *kind, bool split)
{
	struct spec *spec = calloc(1, sizeof(*spec));
	struct frontend_spec *f;

	assert_non_null(spec);
	spec->backends_n = 2;
	spec->backends = calloc(2, sizeof(*spec->backends));
	set_backend(&spec->backends[0], "app", kind);
	set_backend(&spec->backends[1], "other", kind);
	spec->frontends_n = 1;
	spec->frontends = f = calloc(1, sizeof(*f));
	f->name = strdup("web");
	f->routes_n = split ? 2 : 1;
	f->routes = calloc(f->routes_n, sizeof(*f->routes));
	f->routes[0] = (struct route_spec){.backend = 0, .weight = 3};
	if (split)
		f->routes[1] = (struct route_spec){.backend = 1, .weight = 1};
	if (rules) {
		f->rules = calloc(1, sizeof(*f->rules));
		f->rules[0] = (struct rule_spec){.place = {"f.ini", 7},
		    .backend = 1,
		    .names = strdup("a.b *.example.com")};
		f->rules_n = 1;
	}
	w->grace = grace_new();
	w->model = model_new(spec, w->grace, NULL);
	assert_non_null(w->model);
	w->web = w->model->frontends[0];
	w->app = w->model->backends[0];
}

static void
world_fini(struct world *w)
{
	model_free(w->model);
	grace_free(w->grace);
}

static struct backend_spec *
spec_of(const struct world *w)
{
	return &w->model->spec->backends[0];
}

static void
rebuild(const struct world *w)
{
	assert_int_equal(backend_rebuild(w->app), 0);
}

static struct server *
choose(const struct world *w, uint64_t key, uint64_t random)
{
	struct choice choice = {.key = key, .random = random};

	return rig_pick(w->app, &choice);
}

/* Sessions come and go, some stay; before each the look says who gets it. */
static void
play(const struct world *w)
{
	struct server *kept[300];
	unsigned kept_n = 0;

	for (uint64_t i = 0; i < 3000; i++) {
		struct choice choice = {.key = mix64(i), .random = mix64(~i)};
		uint32_t place = backend_peek(w->app, &choice);
		struct server *s = rig_pick(w->app, &choice);

		if (!s) {
			assert_int_equal(place, PLACE_NONE);
		} else {
			assert_int_not_equal(place, PLACE_NONE);
			assert_ptr_equal(
			    s, w->app->state->lineup->servers[place]);
			kept[kept_n++] = s;
		}
		if (kept_n == UNIT_N(kept) || !s || i % 3 == 0) {
			unsigned at = (unsigned)(mix64(i * 3) % kept_n);

			backend_release(kept[at]);
			kept[at] = kept[--kept_n];
		}
	}
	while (kept_n > 0)
		backend_release(kept[--kept_n]);
}

static void
a_look_says_who_is_chosen_next(void **state)
{
	for (unsigned k = 0; k < UNIT_N(all_kinds); k++) {
		struct world w;

		world_init(&w, all_kinds[k], false);
		for (unsigned i = 0; i < SERVERS; i++)
			server_note_connect(w.app->servers[i]->state,
			    1000000 * (i + 1), UINT32_MAX);
		play(&w);
		/* With limits, so that some are full and at times all are. */
		for (unsigned i = 0; i < SERVERS; i++)
			spec_of(&w)->servers[i]->maxconn = 3 + 5 * i;
		rebuild(&w);
		play(&w);
		spec_of(&w)->hash_balance_factor = 110;
		w.app->servers[2]->state->forced_down = true;
		rebuild(&w);
		play(&w);
		world_fini(&w);
	}
}

struct snapshot {
	unsigned char bytes[1 << 20];
	size_t n;
};

static void
keep(struct snapshot *s, const void *from, size_t n)
{
	assert_true(s->n + n <= sizeof(s->bytes));
	memcpy(s->bytes + s->n, from, n);
	s->n += n;
}

/* Every word that a choice may change, and more. */
static void
snap(const struct world *w, struct snapshot *s)
{
	const struct lineup *l = w->app->state->lineup;

	s->n = 0;
	keep(s, w->web->state, sizeof(*w->web->state));
	keep(s, w->app->state, sizeof(*w->app->state));
	keep(s, l, sizeof(*l));
	if (l->plan)
		keep(s, l->plan, malloc_usable_size(l->plan));
	for (unsigned i = 0; i < SERVERS; i++) {
		keep(s, w->app->servers[i], sizeof(*w->app->servers[i]));
		keep(s, w->app->servers[i]->state,
		    sizeof(*w->app->servers[i]->state));
	}
}

static const struct explained_client client = {
    .client = {.family = AF_INET, .port = 4711, .ip = {10, 0, 0, 1}},
    .has_port = true};

static struct explanation
explain_client(const struct world *w, const struct explained_client *c)
{
	struct explanation e;

	assert_true(explanation_make(w->web, c, &e));
	return e;
}

static struct explanation
explain(const struct world *w)
{
	return explain_client(w, &client);
}

static void
explain_and_forget(const struct world *w)
{
	struct explanation e = explain(w);

	explanation_fini(&e);
}

static void
to_explain_changes_nothing(void **state)
{
	static struct snapshot before, after;

	for (unsigned k = 0; k < UNIT_N(all_kinds); k++) {
		struct world w;

		world_init(&w, all_kinds[k], true);
		for (unsigned i = 0; i < 17; i++)
			(void)choose(&w, mix64(i), mix64(~i));
		snap(&w, &before);
		for (unsigned i = 0; i < 10; i++)
			explain_and_forget(&w);
		snap(&w, &after);
		assert_int_equal(before.n, after.n);
		assert_memory_equal(before.bytes, after.bytes, before.n);
		world_fini(&w);
	}
}

static void
the_chosen_one_gets_the_session(void **state)
{
	for (unsigned k = 0; k < UNIT_N(all_kinds); k++) {
		struct world w;

		world_init(&w, all_kinds[k], false);
		for (unsigned i = 0; i < 50; i++) {
			struct explanation e = explain(&w);
			const struct server *s =
			    choose(&w, e.key, mix64(i * 77));

			if (e.random)
				assert_int_equal(e.chosen, SERVER_NONE);
			else
				assert_string_equal(
				    e.servers[e.chosen].name, s->spec->name);
			assert_true(e.why[0]);
			explanation_fini(&e);
		}
		world_fini(&w);
	}
}

/* Four standard deviations of the share in n draws, and of the estimate. */
static double
tolerance(double p, double n, double draws)
{
	return 4 * sqrt(p * (1 - p) * (1 / n + 1 / draws)) + 1e-3;
}

static void
probabilities_are_how_often_each_is_chosen(void **state)
{
	static const struct balance_ops *const kinds[] = {
	    &balance_random, &balance_ewma};
	const unsigned n = 40000;

	for (unsigned k = 0; k < UNIT_N(kinds); k++) {
		unsigned counts[SERVERS] = {0};
		struct explanation e;
		struct world w;

		world_init(&w, kinds[k], false);
		for (unsigned i = 0; i < SERVERS; i++) {
			server_note_connect(w.app->servers[i]->state,
			    10000 * (i + 1), UINT32_MAX);
			for (unsigned j = 0; j < i * i; j++)
				gauge_up(w.app->servers[i]->sessions);
		}
		spec_of(&w)->servers[1]->maxconn = 1; /* full */
		rebuild(&w);
		e = explain(&w);
		assert_true(e.random);
		assert_in_range(e.draws, EXPLAIN_DRAWS_MIN, EXPLAIN_DRAWS_MAX);
		for (unsigned i = 0; i < n; i++) {
			struct server *s = choose(&w, 0, mix64(~(uint64_t)i));

			counts[s->id - 1]++;
			backend_release(s);
		}
		assert_int_equal(e.servers[1].standing, STANDING_FULL);
		assert_int_equal(counts[1], 0);
		for (unsigned i = 0; i < SERVERS; i++) {
			double p = e.servers[i].probability;
			double share = (double)counts[i] / n;

			if (fabs(p - share) > tolerance(share, n, e.draws))
				fail_msg("kind %u, s%u: %f said, %f seen", k, i,
				    p, share);
		}
		explanation_fini(&e);
		world_fini(&w);
	}
}

static void
one_that_is_left_is_no_matter_of_chance(void **state)
{
	struct explanation e;
	struct world w;

	world_init(&w, &balance_random, false);
	for (unsigned i = 1; i < SERVERS; i++)
		w.app->servers[i]->state->forced_down = true;
	rebuild(&w);
	e = explain(&w);
	assert_false(e.random);
	assert_int_equal(e.chosen, 0);
	assert_true(e.servers[0].probability == 1);
	explanation_fini(&e);
	world_fini(&w);
}

static void
each_server_says_why_it_is_out(void **state)
{
	static const enum standing expected[SERVERS] = {STANDING_ELIGIBLE,
	    STANDING_MAINT, STANDING_DRAIN, STANDING_DOWN, STANDING_BACKUP,
	    STANDING_NO_WEIGHT};
	struct explanation e;
	struct world w;

	world_init(&w, &balance_leastconn, false);
	operator_set_admin(w.app->servers[1], SERVER_MAINT);
	model_update(w.app->servers[1]->backend->model);
	operator_set_admin(w.app->servers[2], SERVER_DRAIN);
	model_update(w.app->servers[2]->backend->model);
	w.app->servers[3]->state->forced_down = true;
	spec_of(&w)->servers[4]->backup = true;
	spec_of(&w)->servers[5]->weight = 0;
	rebuild(&w);
	e = explain(&w);
	for (unsigned i = 0; i < SERVERS; i++)
		assert_int_equal(e.servers[i].standing, expected[i]);
	assert_int_equal(e.chosen, 0);
	explanation_fini(&e);

	/* The backup's hour has come. */
	w.app->servers[0]->state->forced_down = true;
	rebuild(&w);
	e = explain(&w);
	assert_int_equal(e.chosen, 4);
	explanation_fini(&e);

	/* And is over. */
	w.app->servers[4]->state->forced_down = true;
	rebuild(&w);
	e = explain(&w);
	assert_int_equal(e.chosen, SERVER_NONE);
	assert_int_equal(e.otherwise, WAIT_QUEUED);
	explanation_fini(&e);
	spec_of(&w)->timeout_queue_ms = QUEUE_NEVER;
	e = explain(&w);
	assert_int_equal(e.otherwise, WAIT_NO_SERVER);
	explanation_fini(&e);
	world_fini(&w);
}

static void
whose_turn_of_a_split_it_is_shows_and_stays(void **state)
{
	struct world w;

	world_init(&w, &balance_first, true);
	for (unsigned i = 0; i < 12; i++) {
		struct explanation e = explain(&w);
		unsigned route;

		assert_int_equal(e.turns, 4);
		assert_int_equal(e.turn, i % 4 + 1);
		route = frontend_peek_route(w.web);
		assert_int_equal(route, frontend_route(w.web));
		assert_string_equal(
		    e.backend->spec->name, w.web->backends[route]->spec->name);
		explanation_fini(&e);
	}
	world_fini(&w);
}

/* The rule is the one that frontend_route_named goes by, and nobody's turn of
 * the split is used up. */
static unsigned
route_named(const struct frontend *f, const char *name)
{
	struct rule_facts facts = {.known = FACT_HELLO,
	    .client = &client.client,
	    .tls = true,
	    .name = name,
	    .name_len = strlen(name)};

	return frontend_route_by(f, &facts);
}

static void
a_rule_on_the_name_decides(void **state)
{
	struct explained_client named = client;
	struct explanation e;
	struct world w;

	rules = true;
	world_init(&w, &balance_first, false);
	rules = false;
	assert_true(w.web->inspects);
	named.sni = "x.y.example.com";
	e = explain_client(&w, &named);
	assert_string_equal(e.backend->spec->name, "other");
	assert_int_equal(e.answer, RULES_MATCH);
	assert_true(e.rule.name->wild);
	assert_int_equal(e.rule.name->len, strlen("example.com"));
	assert_int_equal(w.web->spec->rules[e.rule.rule].place.line, 7);
	assert_ptr_equal(w.model->backends[1],
	    w.web->backends[route_named(w.web, named.sni)]);
	explanation_fini(&e);
	named.sni = "example.com";
	e = explain_client(&w, &named);
	assert_int_equal(e.answer, RULES_NONE);
	assert_string_equal(e.backend->spec->name, "app");
	explanation_fini(&e);
	/* Nowhere else to go. */
	w.model->spec->frontends[0].routes_n = 0;
	e = explain_client(&w, &named);
	assert_null(e.backend);
	assert_int_equal(e.servers_n, 0);
	assert_int_equal(e.chosen, SERVER_NONE);
	assert_null(w.web->backends[route_named(w.web, "a")]);
	assert_null(w.web->backends[route_named(w.web, "")]);
	explanation_fini(&e);
	w.model->spec->frontends[0].routes_n = 1;
	world_fini(&w);
}

/* With a name its hash is the key, without one the address. */
static void
the_name_is_the_key_where_it_is_hashed(void **state)
{
	struct explained_client named = client;
	struct explanation e;
	struct world w;

	world_init(&w, &balance_hash, false);
	spec_of(&w)->hash_key = HASH_KEY_SNI;
	named.sni = "a.example";
	e = explain_client(&w, &named);
	assert_true(e.key == XXH64("a.example", 9, 0));
	assert_true(e.sni_hashed);
	explanation_fini(&e);
	named.sni = NULL;
	e = explain_client(&w, &named);
	assert_true(e.key == endpoint_hash(&client.client, false));
	assert_false(e.sni_hashed);
	explanation_fini(&e);
	world_fini(&w);
}

static void
what_the_key_lacks_is_said(void **state)
{
	struct explained_client less = client;
	struct explanation e;
	struct world w;

	world_init(&w, &balance_hash, false);
	spec_of(&w)->hash_key = HASH_KEY_SOURCE_PORT;
	less.has_port = false;
	e = explain_client(&w, &less);
	assert_int_equal(e.unknown, UNKNOWN_PORT);
	assert_int_equal(e.chosen, SERVER_NONE);
	explanation_fini(&e);
	spec_of(&w)->hash_key = HASH_KEY_DESTINATION;
	e = explain_client(&w, &less);
	assert_int_equal(e.unknown, UNKNOWN_DESTINATION);
	explanation_fini(&e);
	less.has_local = true;
	less.local.family = AF_INET;
	e = explain_client(&w, &less);
	assert_int_equal(e.unknown, UNKNOWN_NOTHING);
	assert_true(e.key == endpoint_hash(&less.local, true));
	explanation_fini(&e);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_look_says_who_is_chosen_next),
	    cmocka_unit_test(to_explain_changes_nothing),
	    cmocka_unit_test(the_chosen_one_gets_the_session),
	    cmocka_unit_test(probabilities_are_how_often_each_is_chosen),
	    cmocka_unit_test(one_that_is_left_is_no_matter_of_chance),
	    cmocka_unit_test(each_server_says_why_it_is_out),
	    cmocka_unit_test(whose_turn_of_a_split_it_is_shows_and_stays),
	    cmocka_unit_test(a_rule_on_the_name_decides),
	    cmocka_unit_test(the_name_is_the_key_where_it_is_hashed),
	    cmocka_unit_test(what_the_key_lacks_is_said),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
