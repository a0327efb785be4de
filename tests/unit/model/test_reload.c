/* SPDX-License-Identifier: MIT
 * How one model follows the other: what stays, what goes, and when.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"
#include "base/mix.h"
#include "base/grace.h"
#include "model/model.h"
#include "model/removed.h"
#include "model/server_operator.h"
#include "stopped_clock.h"
#include "rig.h"
#include "servers.h"
#include "unit.h"

static char *
copy(const char *s)
{
	char *c = strdup(s);

	assert_non_null(c);
	return c;
}

/* `NAME ADDRESS` each, up to three. */
static struct spec *
spec_of(const char *backend, const char *const *servers, size_t n)
{
	struct spec *spec = calloc(1, sizeof(*spec));
	struct err err;

	assert_non_null(spec);
	spec->frontends = calloc(1, sizeof(*spec->frontends));
	spec->backends = calloc(1, sizeof(*spec->backends));
	spec->frontends_n = spec->backends_n = 1;
	spec->frontends[0].name = copy("web");
	spec->backends[0].name = copy(backend);
	spec->backends[0].balance = &balance_roundrobin;
	spec->backends[0].timeout_drain_ms = 50;
	spec->backends[0].check =
	    (struct check_spec){.kind = CHECK_CONNECT, .fall = 1, .rise = 1};
	make_servers(&spec->backends[0], n);
	for (size_t i = 0; i < n; i++) {
		struct server_spec *s = spec->backends[0].servers[i];
		const char *blank = strchr(servers[i], ' ');

		s->name = strndup(servers[i], (size_t)(blank - servers[i]));
		s->address = copy(blank + 1);
		s->weight = 100;
		assert_true(
		    addr_parse(s->address, ADDR_CONNECT, &s->addr, &err));
	}
	return spec;
}

#define SPEC(backend, ...)                                                     \
	spec_of(backend, (const char *const[]){__VA_ARGS__},                   \
	    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static struct grace *grace;
static struct grace_reader reader;

static struct model *
follow(struct model *before, struct spec *spec)
{
	struct model *m = model_new(spec, grace, before);

	assert_non_null(m);
	model_publish(m, before);
	model_retire(before);
	return m;
}

static int
setup(void **state)
{
	grace = grace_new();
	assert_non_null(grace);
	reader.epoch = 0;
	grace_register(grace, &reader);
	return 0;
}

static int
teardown(void **state)
{
	grace_unregister(grace, &reader);
	grace_free(grace);
	return 0;
}

static void
states_and_ids_stay_by_name(void **state)
{
	struct model *a =
	    model_new(SPEC("app", "x 10.0.0.1:1", "y 10.0.0.2:1"), grace, NULL);
	struct server_state *y = a->backends[0]->servers[1]->state;
	unsigned backend_id = a->backends[0]->id;
	struct model *b;

	atomic_store_relaxed(&y->up, false);
	counters_add(a->frontends[0]->counters, 0, COUNTER_SESSIONS, 5);
	b = follow(a, SPEC("app", "z 10.0.0.3:1", "y 10.0.0.2:1"));
	assert_ptr_equal(b->backends[0]->servers[1]->state, y);
	assert_int_equal(b->backends[0]->servers[1]->id, 2);
	assert_int_equal(b->backends[0]->servers[0]->id, 3);
	assert_int_equal(b->backends[0]->id, backend_id);
	assert_int_equal(b->frontends[0]->id, 2);
	assert_int_equal(
	    counters_sum(b->frontends[0]->counters, COUNTER_SESSIONS), 5);
	/* y is down, x is gone: only z. */
	assert_int_equal(b->backends[0]->state->usable, 1);
	assert_ptr_equal(rig_pick(b->backends[0], &(struct choice){0}),
	    b->backends[0]->servers[0]);
	assert_int_equal(model_reclaim(b), 0);
	model_free(b);
}

static void
another_address_is_another_server_of_that_id(void **state)
{
	struct model *a = model_new(SPEC("app", "x 10.0.0.1:1"), grace, NULL);
	struct server_state *old = a->backends[0]->servers[0]->state;
	struct model *b = follow(a, SPEC("app", "x 10.0.0.1:2"));

	assert_ptr_not_equal(b->backends[0]->servers[0]->state, old);
	assert_int_equal(b->backends[0]->servers[0]->id, 1);
	model_free(b);
}

static void
a_session_of_the_old_model_chooses_from_the_new_lineup(void **state)
{
	struct model *a = model_new(SPEC("app", "x 10.0.0.1:1"), grace, NULL);
	struct model *b;

	model_pin(a);
	b = follow(a, SPEC("app", "y 10.0.0.2:1"));
	assert_ptr_equal(rig_pick(a->backends[0], &(struct choice){0}),
	    b->backends[0]->servers[0]);
	model_unpin(a);
	assert_int_equal(model_reclaim(b), 0);
	model_free(b);
}

static void
a_model_stays_until_readers_and_sessions_have_left(void **state)
{
	struct model *a = model_new(SPEC("app", "x 10.0.0.1:1"), grace, NULL);
	struct model *b;

	grace_enter(grace, &reader);
	b = follow(a, SPEC("app", "x 10.0.0.1:1"));
	assert_int_equal(model_reclaim(b), 1);
	model_pin(a);
	grace_leave(&reader);
	assert_int_equal(model_reclaim(b), 1);
	grace_enter(grace, &reader);
	model_unpin(a);
	/* Freed now, for good only when the reader has left. */
	assert_int_equal(model_reclaim(b), 0);
	assert_string_equal(a->frontends[0]->spec->name, "web");
	grace_leave(&reader);
	assert_int_equal(model_reclaim(b), 0);
	model_free(b);
}

static void
the_last_lineup_of_a_removed_backend_stays_for_older_sessions(void **state)
{
	struct model *a = model_new(SPEC("app", "x 10.0.0.1:1"), grace, NULL);
	struct model *b, *c;

	model_pin(a);
	b = follow(a, SPEC("app", "y 10.0.0.2:1"));
	c = follow(b, SPEC("other", "y 10.0.0.2:1"));
	/* b has no session, but a's session would get b's server. */
	assert_int_equal(model_reclaim(c), 2);
	assert_ptr_equal(rig_pick(a->backends[0], &(struct choice){0}),
	    b->backends[0]->servers[0]);
	model_unpin(a);
	(void)model_reclaim(c);
	assert_int_equal(model_reclaim(c), 0);
	model_free(c);
}

static void
a_removed_server_expires_and_goes_with_its_last_session(void **state)
{
	struct model *a =
	    model_new(SPEC("app", "x 10.0.0.1:1", "y 10.0.0.2:1"), grace, NULL);
	struct server_state *x = a->backends[0]->servers[0]->state;
	struct model *b;

	gauge_up(&x->sessions);
	b = follow(a, SPEC("app", "y 10.0.0.2:1"));
	assert_false(removed_watch(b, clock_now_ms()));
	assert_false(x->expired);
	assert_true(removed_watch(b, clock_now_ms() + 50));
	assert_true(x->expired);
	gauge_down(&x->sessions);
	assert_false(removed_watch(b, clock_now_ms() + 50));
	assert_int_equal(b->state->removed.n, 0);
	model_free(b);
}

/* One that waited for its client's first bytes, say. */
static void
a_removed_server_gets_a_session_that_was_late(void **state)
{
	struct model *a =
	    model_new(SPEC("app", "x 10.0.0.1:1", "y 10.0.0.2:1"), grace, NULL);
	struct server_state *x = a->backends[0]->servers[0]->state;
	struct model *b;

	model_pin(a);
	b = follow(a, SPEC("app", "y 10.0.0.2:1"));
	assert_false(removed_watch(b, clock_now_ms() + 50));
	assert_int_not_equal(b->state->removed.n, 0);
	gauge_up(&x->sessions);
	assert_true(removed_watch(b, clock_now_ms() + 50));
	assert_true(x->expired);
	gauge_down(&x->sessions);
	assert_false(removed_watch(b, clock_now_ms() + 50));
	assert_int_not_equal(b->state->removed.n, 0);
	model_unpin(a);
	assert_false(removed_watch(b, clock_now_ms() + 50));
	assert_int_equal(b->state->removed.n, 0);
	(void)model_reclaim(b);
	assert_int_equal(model_reclaim(b), 0);
	model_free(b);
}

static void
a_removed_server_that_comes_back_keeps_its_state(void **state)
{
	struct model *a =
	    model_new(SPEC("app", "x 10.0.0.1:1", "y 10.0.0.2:1"), grace, NULL);
	struct server_state *x = a->backends[0]->servers[0]->state;
	struct model *b, *c;

	gauge_up(&x->sessions);
	b = follow(a, SPEC("app", "y 10.0.0.2:1"));
	assert_true(removed_watch(b, clock_now_ms() + 50));
	c = follow(b, SPEC("app", "y 10.0.0.2:1", "x 10.0.0.1:1"));
	assert_ptr_equal(c->backends[0]->servers[1]->state, x);
	assert_int_equal(c->backends[0]->servers[1]->id, 1);
	assert_false(x->expired);
	assert_int_equal(c->state->removed.n, 0);
	gauge_down(&x->sessions);
	model_free(c);
}

static void
a_refused_model_leaves_nothing_behind(void **state)
{
	struct model *a = model_new(SPEC("app", "x 10.0.0.1:1"), grace, NULL);
	struct model *b =
	    model_new(SPEC("app", "x 10.0.0.1:1", "y 10.0.0.2:1"), grace, a);

	model_free(b);
	assert_ptr_equal(rig_pick(a->backends[0], &(struct choice){0}),
	    a->backends[0]->servers[0]);
	assert_int_equal(a->backends[0]->state->refs, 1);
	assert_int_equal(a->backends[0]->servers[0]->state->refs, 1);
	assert_int_equal(model_reclaim(a), 0);
	model_free(a);
}

static void
a_server_without_checks_is_up(void **state)
{
	struct spec *unchecked = SPEC("app", "x 10.0.0.1:1");
	struct model *a = model_new(SPEC("app", "x 10.0.0.1:1"), grace, NULL);
	struct check_result bad = {
	    .passed = false, .status = CHECK_STATUS_L4CON};
	struct model *b;

	assert_true(server_report_check(a->backends[0]->servers[0], &bad));
	model_update(a);
	assert_int_equal(a->backends[0]->state->usable, 0);
	unchecked->backends[0].check.kind = CHECK_OFF;
	b = follow(a, unchecked);
	assert_int_equal(b->backends[0]->state->usable, 1);
	assert_true(b->backends[0]->servers[0]->state->up);
	model_free(b);
}

static void
a_server_without_checks_waits_for_none_to_pass(void **state)
{
	struct spec *unchecked = SPEC("app", "x 10.0.0.1:1");
	struct spec *again = SPEC("app", "x 10.0.0.1:1");
	struct model *a = model_new(SPEC("app", "x 10.0.0.1:1"), grace, NULL);
	struct model *b, *c;

	unchecked->backends[0].check.kind = CHECK_OFF;
	again->backends[0].check.kind = CHECK_OFF;
	operator_set_health(a->backends[0]->servers[0], OPERATOR_STOPPING);
	model_update(a);
	assert_int_equal(a->backends[0]->state->usable, 0);
	b = follow(a, unchecked);
	assert_int_equal(b->backends[0]->state->usable, 1);
	assert_false(b->backends[0]->servers[0]->state->stopping);
	/* What is said of one without checks holds. */
	operator_set_health(b->backends[0]->servers[0], OPERATOR_STOPPING);
	model_update(b);
	c = follow(b, again);
	assert_int_equal(c->backends[0]->state->usable, 0);
	model_free(c);
}

static unsigned
id_of(const struct model *m, const char *name)
{
	return backend_find_server(m->backends[0], name)->id;
}

static void
a_new_server_has_the_lowest_id_that_is_free(void **state)
{
	struct model *a = model_new(
	    SPEC("app", "x 10.0.0.1:1", "y 10.0.0.2:1", "z 10.0.0.3:1"), grace,
	    NULL);
	struct server_state *y = a->backends[0]->servers[1]->state;
	struct model *b, *c, *d;

	gauge_up(&y->sessions);
	b = follow(a, SPEC("app", "x 10.0.0.1:1", "z 10.0.0.3:1"));
	/* y's sessions go on, so its id is not free. */
	c = follow(
	    b, SPEC("app", "w 10.0.0.4:1", "x 10.0.0.1:1", "z 10.0.0.3:1"));
	assert_int_equal(id_of(c, "x"), 1);
	assert_int_equal(id_of(c, "z"), 3);
	assert_int_equal(id_of(c, "w"), 4);
	gauge_down(&y->sessions);
	assert_false(removed_watch(c, clock_now_ms()));
	assert_int_equal(c->state->removed.n, 0);
	d = follow(
	    c, SPEC("app", "v 10.0.0.5:1", "w 10.0.0.4:1", "u 10.0.0.6:1"));
	assert_int_equal(id_of(d, "v"), 2);
	assert_int_equal(id_of(d, "w"), 4);
	/* Those of x and z were theirs until now. */
	assert_int_equal(id_of(d, "u"), 5);
	model_free(d);
}

static void
a_deleted_server_leaves_its_id_and_nothing_else(void **state)
{
	struct model *a =
	    model_new(SPEC("app", "x 10.0.0.1:1", "y 10.0.0.2:1"), grace, NULL);
	struct server_state *x = a->backends[0]->servers[0]->state;
	struct model *b, *c;

	counters_add(x->counters, 0, COUNTER_SESSIONS, 5);
	x->deleted = true;
	b = follow(a, SPEC("app", "y 10.0.0.2:1"));
	/* At once, and at the same address. */
	c = follow(b, SPEC("app", "y 10.0.0.2:1", "x 10.0.0.1:1"));
	assert_int_equal(id_of(c, "x"), 1);
	assert_ptr_not_equal(c->backends[0]->servers[1]->state, x);
	assert_int_equal(counters_sum(c->backends[0]->servers[1]->counters,
	                     COUNTER_SESSIONS),
	    0);
	model_free(c);
}

static void
a_session_that_comes_too_late_keeps_the_id_of_a_deleted_server(void **state)
{
	struct model *a =
	    model_new(SPEC("app", "x 10.0.0.1:1", "y 10.0.0.2:1"), grace, NULL);
	struct server_state *x = a->backends[0]->servers[0]->state;
	struct model *b, *c;

	x->deleted = true;
	b = follow(a, SPEC("app", "y 10.0.0.2:1"));
	gauge_up(&x->sessions); /* from a turn that had the old lineup */
	c = follow(b, SPEC("app", "y 10.0.0.2:1", "z 10.0.0.3:1"));
	assert_int_equal(id_of(c, "z"), 3);
	gauge_down(&x->sessions);
	model_free(c);
}

static void
an_added_server_begins_in_maintenance_with_nothing_begun(void **state)
{
	struct spec *more = SPEC("app", "x 10.0.0.1:1", "y 10.0.0.2:1");
	struct model *a = model_new(SPEC("app", "x 10.0.0.1:1"), grace, NULL);
	struct model *b;
	const struct server *y;

	more->backends[0].servers[1]->added = true;
	more->backends[0].on_down = ON_DOWN_CLOSE;
	b = follow(a, more);
	y = b->backends[0]->servers[1];
	assert_int_equal(server_admin_of(y), SERVER_MAINT);
	assert_true(y->state->overrides.check_paused);
	assert_false(y->state->overrides.agent_paused);
	assert_int_equal(b->backends[0]->state->usable, 1);
	/* Nobody has gone down, so no session is to end. */
	assert_null(b->state->ending);
	model_free(b);
}

/* Which servers get keys, as bits by their names, from x on. */
static unsigned
who_is_hashed_to(struct model *m)
{
	unsigned seen = 0;

	for (uint64_t i = 0; i < 2000; i++) {
		struct choice choice = {.key = mix64(i)};
		struct server *s = rig_pick(m->backends[0], &choice);

		seen |= 1u << (s->spec->name[0] - 'x');
		backend_release(s);
	}
	return seen;
}

/* Of 210 parts x has 10, so the table may do without it for a while. */
static struct model *
follow_hash(struct model *before, struct spec *spec)
{
	struct backend_spec *b = &spec->backends[0];

	b->balance = &balance_hash;
	for (size_t i = 0; i < b->servers_n; i++)
		if (b->servers[i]->name[0] == 'x')
			b->servers[i]->weight = 10;
	return before ? follow(before, spec) : model_new(spec, grace, NULL);
}

/* The table of hashes is older than the model, whose servers are others. */
static void
a_table_that_is_due_goes_from_model_to_model(void **state)
{
	struct model *a, *b, *c;
	const void *table;

	stop_clock();
	a = follow_hash(
	    NULL, SPEC("app", "x 10.0.0.1:1", "y 10.0.0.2:1", "z 10.0.0.3:1"));
	table = a->backends[0]->state->lineup->plan;
	b = follow_hash(a, SPEC("app", "z 10.0.0.3:1", "y 10.0.0.2:1"));
	assert_ptr_equal(b->backends[0]->state->lineup->plan, table);
	assert_int_equal(who_is_hashed_to(b), 6);
	assert_int_equal(b->state->next_step_ms, now_ms + 50);
	/* Another server of a name that the table has, by another id. */
	c = follow_hash(
	    b, SPEC("app", "x 10.0.0.4:1", "z 10.0.0.3:1", "y 10.0.0.2:1"));
	assert_ptr_equal(c->backends[0]->state->lineup->plan, table);
	assert_int_not_equal(c->backends[0]->servers[0]->id, 1);
	assert_int_equal(who_is_hashed_to(c), 6);
	now_ms += 50;
	assert_int_equal(model_step(c, now_ms), 0);
	assert_int_equal(who_is_hashed_to(c), 7);
	/* It may go while one is due. */
	b = follow_hash(c, SPEC("app", "y 10.0.0.2:1", "z 10.0.0.3:1"));
	assert_int_equal(who_is_hashed_to(b), 6);
	assert_true(b->state->next_step_ms > now_ms);
	model_free(b);
	let_clock_go();
}

static void
a_backend_may_have_no_server(void **state)
{
	struct model *a = model_new(SPEC("app", "x 10.0.0.1:1"), grace, NULL);
	struct spec *none = SPEC("app", "x 10.0.0.1:1");
	struct model *b, *c;

	server_spec_free(none->backends[0].servers[0]);
	none->backends[0].servers_n = 0;
	b = follow(a, none);
	assert_false(backend_has_servers(b->backends[0]));
	assert_null(rig_pick(b->backends[0], &(struct choice){0}));
	c = follow(b, SPEC("app", "x 10.0.0.1:1"));
	assert_non_null(rig_pick(c->backends[0], &(struct choice){0}));
	model_free(c);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(states_and_ids_stay_by_name),
	    TEST(another_address_is_another_server_of_that_id),
	    TEST(a_session_of_the_old_model_chooses_from_the_new_lineup),
	    TEST(a_model_stays_until_readers_and_sessions_have_left),
	    TEST(the_last_lineup_of_a_removed_backend_stays_for_older_sessions),
	    TEST(a_removed_server_expires_and_goes_with_its_last_session),
	    TEST(a_removed_server_gets_a_session_that_was_late),
	    TEST(a_removed_server_that_comes_back_keeps_its_state),
	    TEST(a_refused_model_leaves_nothing_behind),
	    TEST(a_server_without_checks_is_up),
	    TEST(a_server_without_checks_waits_for_none_to_pass),
	    TEST(a_new_server_has_the_lowest_id_that_is_free),
	    TEST(a_deleted_server_leaves_its_id_and_nothing_else),
	    TEST(
	        a_session_that_comes_too_late_keeps_the_id_of_a_deleted_server),
	    TEST(an_added_server_begins_in_maintenance_with_nothing_begun),
	    TEST(a_table_that_is_due_goes_from_model_to_model),
	    TEST(a_backend_may_have_no_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
