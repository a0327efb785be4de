/* SPDX-License-Identifier: MIT
 * Sessions of a frontend, shared out among several backends.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"
#include "base/grace.h"
#include "model/model.h"
#include "servers.h"
#include "unit.h"

#define THREADS 8

/* A frontend with a backend of one server for each weight. */
static struct spec *
spec_of(const unsigned *weights, size_t n)
{
	struct spec *spec = calloc(1, sizeof(*spec));

	assert_non_null(spec);
	spec->frontends = calloc(1, sizeof(*spec->frontends));
	spec->frontends_n = 1;
	spec->frontends[0].name = strdup("web");
	spec->frontends[0].routes = calloc(n, sizeof(struct route_spec));
	spec->frontends[0].routes_n = n;
	spec->backends = calloc(n, sizeof(*spec->backends));
	spec->backends_n = n;
	for (size_t i = 0; i < n; i++) {
		struct backend_spec *b = &spec->backends[i];

		/* The last backend of the file is the frontend's first. */
		spec->frontends[0].routes[i] = (struct route_spec){
		    .backend = n - 1 - i, .weight = weights[i]};
		assert_true(asprintf(&b->name, "b%zu", i) > 0);
		b->balance = &balance_roundrobin;
		b->check.kind = CHECK_CONNECT;
		make_servers(b, 1);
		b->servers[0]->name = strdup("s");
		b->servers[0]->weight = 1;
	}
	return spec;
}

struct shares {
	unsigned of[ROUTES_MAX];
};

static void
share_out(struct model *m, unsigned n, struct shares *ret_shares)
{
	*ret_shares = (struct shares){0};
	for (unsigned i = 0; i < n; i++)
		ret_shares->of[frontend_route(m->frontends[0])]++;
}

static void
set_up(struct model *m, size_t route, bool up)
{
	struct backend *b = m->frontends[0]->backends[route];

	b->servers[0]->state->up = up;
	assert_int_equal(backend_rebuild(b), 0);
}

struct worker {
	pthread_t thread;
	struct model *model;
	unsigned n;
	struct shares shares;
};

static void *
work(void *arg)
{
	struct worker *w = arg;

	share_out(w->model, w->n, &w->shares);
	return NULL;
}

static void
shares_are_exact_over_8_threads(void **state)
{
	static const unsigned weights[] = {95, 5};
	struct worker workers[THREADS];
	unsigned sums[2] = {0};
	struct grace *grace = grace_new();
	struct model *m = model_new(spec_of(weights, 2), grace, NULL);

	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.model = m, .n = 2500};
		assert_int_equal(
		    pthread_create(&workers[i].thread, NULL, work, &workers[i]),
		    0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		sums[0] += workers[i].shares.of[0];
		sums[1] += workers[i].shares.of[1];
	}
	assert_int_equal(sums[0], 19000);
	assert_int_equal(sums[1], 1000);
	assert_string_equal(m->frontends[0]->backends[0]->spec->name, "b1");
	model_free(m);
	grace_free(grace);
}

static void
turns_are_spread_evenly(void **state)
{
	static const unsigned weights[] = {30, 10};
	struct grace *grace = grace_new();
	struct model *m = model_new(spec_of(weights, 2), grace, NULL);

	for (unsigned i = 0; i < 100; i++) {
		struct shares shares;

		share_out(m, 4, &shares);
		assert_int_equal(shares.of[0], 3);
		assert_int_equal(shares.of[1], 1);
	}
	model_free(m);
	grace_free(grace);
}

static void
the_share_of_one_without_a_server_goes_to_the_others(void **state)
{
	static const unsigned weights[] = {2, 1, 1, 0};
	struct grace *grace = grace_new();
	struct model *m = model_new(spec_of(weights, 4), grace, NULL);
	struct shares shares;

	set_up(m, 1, false);
	share_out(m, 300, &shares);
	assert_int_equal(shares.of[0], 200);
	assert_int_equal(shares.of[2], 100);
	set_up(m, 1, true);
	set_up(m, 0, false);
	share_out(m, 400, &shares);
	assert_int_equal(shares.of[0], 0);
	assert_int_equal(shares.of[1], 200);
	assert_int_equal(shares.of[2], 200);
	set_up(m, 1, false);
	share_out(m, 400, &shares);
	assert_int_equal(shares.of[2], 400);
	/* None has a server: as if all had one. */
	set_up(m, 2, false);
	share_out(m, 400, &shares);
	assert_int_equal(shares.of[0], 200);
	assert_int_equal(shares.of[1], 100);
	assert_int_equal(shares.of[2], 100);
	set_up(m, 0, true);
	set_up(m, 1, true);
	set_up(m, 2, true);
	share_out(m, 400, &shares);
	assert_int_equal(shares.of[0], 200);
	assert_int_equal(shares.of[3], 0);
	model_free(m);
	grace_free(grace);
}

static void
a_reload_changes_the_shares(void **state)
{
	static const unsigned one[] = {1}, few[] = {9, 1}, many[] = {1, 1, 2};
	struct grace *grace = grace_new();
	struct model *a = model_new(spec_of(few, 2), grace, NULL), *b, *c;
	struct shares shares;

	share_out(a, 15, &shares);
	b = model_new(spec_of(many, 3), grace, a);
	assert_non_null(b);
	model_publish(b, a);
	model_retire(a);
	share_out(b, 400, &shares);
	assert_int_equal(shares.of[0], 100);
	assert_int_equal(shares.of[1], 100);
	assert_int_equal(shares.of[2], 200);
	c = model_new(spec_of(one, 1), grace, b);
	assert_non_null(c);
	model_publish(c, b);
	model_retire(b);
	share_out(c, 400, &shares);
	assert_int_equal(shares.of[0], 400);
	model_free(c);
	grace_free(grace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(shares_are_exact_over_8_threads),
	    cmocka_unit_test(turns_are_spread_evenly),
	    cmocka_unit_test(
	        the_share_of_one_without_a_server_goes_to_the_others),
	    cmocka_unit_test(a_reload_changes_the_shares),
	};

	unit_watchdog();
	counters_set_stripes(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
