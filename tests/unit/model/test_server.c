/* SPDX-License-Identifier: MIT
 * A server by itself: what it derives from its spec and its state, and how it
 * marks its backend.
 *
 * The linker holds the promise that servers do not call backends: the functions
 * below stand for those of backend.c, lineup.c and model.c, so that a call that
 * pulled one of these objects in would define them twice.
 */
#include "model/model.h"
#include "model/server_change.h"
#include "model/server_operator.h"
#include "unit.h"

int
backend_rebuild(struct backend *backend)
{
	(void)backend;
	fail();
	return 0;
}

void
lineup_free(void *lineup)
{
	(void)lineup;
	fail();
}

void
model_free(struct model *model)
{
	(void)model;
	fail();
}

struct world {
	struct server_spec server_spec, *server_specs[1];
	struct backend_spec spec;
	struct model model;
	struct backend backend;
	struct server *servers[2]; /* NULL ends them */
	struct server *server;
};

static int
setup(void **state)
{
	struct world *w = aligned_alloc(CACHE_LINE, sizeof(*w));

	assert_non_null(w);
	*w = (struct world){
	    .server_spec = {.name = (char *)"a",
	        .address = (char *)"10.0.0.1:80",
	        .weight = 10},
	    .spec = {.name = (char *)"app",
	        .check = {.kind = CHECK_CONNECT, .fall = 2, .rise = 1},
	        .servers_n = 1},
	};
	assert_true(addr_parse(
	    w->server_spec.address, ADDR_CONNECT, &w->server_spec.addr, NULL));
	w->server_specs[0] = &w->server_spec;
	w->spec.servers = w->server_specs;
	list_init(&w->model.changed);
	w->backend = (struct backend){
	    .spec = &w->spec, .model = &w->model, .servers = w->servers};
	list_init(&w->backend.changed);
	w->server = server_new(&w->server_spec, &w->backend, NULL, 1);
	assert_non_null(w->server);
	w->servers[0] = w->server;
	*state = w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	server_free(w->server);
	free(w);
	return 0;
}

/* Whether the backend is marked, and unmarks it. */
static bool
take_mark(struct world *w)
{
	bool marked = !list_empty(&w->backend.changed);

	assert_int_equal(marked, w->server->changed);
	list_remove(&w->backend.changed);
	assert_true(list_empty(&w->model.changed));
	w->server->changed = false;
	return marked;
}

static void
a_new_server_is_usable_and_unmarked(void **state)
{
	struct world *w = *state;

	assert_true(server_is_usable(w->server));
	assert_int_equal(server_weight(w->server), 10);
	assert_int_equal(backend_usable_n(&w->backend), 1);
	assert_false(take_mark(w));
}

static void
a_change_marks_the_backend_once(void **state)
{
	struct world *w = *state;

	operator_set_weight(w->server, 5);
	operator_set_admin(w->server, SERVER_DRAIN);
	assert_int_equal(server_weight(w->server), 5);
	assert_false(server_is_usable(w->server));
	assert_int_equal(backend_usable_n(&w->backend), 0);
	assert_true(take_mark(w));
	assert_false(take_mark(w));
}

static void
a_change_to_the_same_value_marks_nothing(void **state)
{
	struct world *w = *state;

	operator_set_weight(w->server, 10);
	operator_set_admin(w->server, SERVER_READY);
	operator_set_health(w->server, OPERATOR_UP);
	assert_false(take_mark(w));
}

static void
the_last_failed_check_marks_the_backend(void **state)
{
	struct world *w = *state;
	struct timings *timings = timings_new();
	struct backend_state backend_state = {.timings = timings};
	struct check_result bad = {.status = CHECK_STATUS_L4CON};

	w->backend.state = &backend_state;
	assert_false(server_report_check(w->server, &bad));
	assert_false(take_mark(w));
	assert_true(server_report_check(w->server, &bad));
	assert_true(take_mark(w));
	assert_false(server_is_up(w->server));
	free(timings);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
	        a_new_server_is_usable_and_unmarked, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        a_change_marks_the_backend_once, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        a_change_to_the_same_value_marks_nothing, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        the_last_failed_check_marks_the_backend, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
