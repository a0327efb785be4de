/* SPDX-License-Identifier: MIT
 * How much checks and agents are trusted: rise and fall, and what they, the
 * administrative state and the server that is tracked come to together.
 */
#include "balance/balance.h"
#include "rig.h"

#include <stdlib.h>
#include <string.h>

#include "base/events.h"
#include "base/grace.h"
#include "model/lineup.h"
#include "model/server_operator.h"
#include "stopped_clock.h"

/* s0 and s1 are checked, s1 with numbers of its own; t tracks s0. */
struct world {
	struct grace *grace;
	struct model *model;
	struct server *s[2], *t;
};

static void
add_server(struct backend_spec *b, const char *name, const char *address)
{
	struct server_spec *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	b->servers[b->servers_n++] = s;
	*s = (struct server_spec){
	    .name = strdup(name), .address = strdup(address), .weight = 100};
	assert_true(addr_parse(address, ADDR_CONNECT, &s->addr, NULL));
}

static struct spec *
make_spec(bool tracking)
{
	struct spec *spec = calloc(1, sizeof(*spec));
	struct backend_spec *b = calloc(2, sizeof(*b));

	spec->backends = b;
	spec->backends_n = 2;
	b[0].name = strdup("app");
	b[1].name = strdup("other");
	b[0].check =
	    (struct check_spec){.kind = CHECK_CONNECT, .fall = 3, .rise = 2};
	b[0].agent = (struct agent_spec){.on = true, .port = 9};
	for (int i = 0; i < 2; i++) {
		b[i].balance = &balance_roundrobin;
		b[i].servers = calloc(2, sizeof(*b[i].servers));
	}
	add_server(&b[0], "s0", "10.0.0.1:80");
	add_server(&b[0], "s1", "10.0.0.2:80");
	b[0].servers[1]->check = (struct check_own){.fall = 1, .rise = 4};
	add_server(&b[1], "t", "10.0.0.3:80");
	if (tracking)
		b[1].servers[0]->track = strdup("app/s0");
	return spec;
}

static void
find(struct world *w)
{
	w->s[0] = w->model->backends[0]->servers[0];
	w->s[1] = w->model->backends[0]->servers[1];
	w->t = w->model->backends[1]->servers[0];
}

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	stop_clock();
	w->grace = grace_new();
	w->model = model_new(make_spec(true), w->grace, NULL);
	find(w);
	*state = w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	model_free(w->model);
	grace_free(w->grace);
	free(w);
	let_clock_go();
	return 0;
}

static void
reload(struct world *w, struct spec *spec)
{
	struct model *next = model_new(spec, w->grace, w->model);

	assert_non_null(next);
	model_publish(next, w->model);
	model_retire(w->model);
	w->model = next;
	find(w);
}

/* The results of checks in a row, `+` and `-`: whether the last one changed the
 * server's state. */
static bool
report(struct server *server, const char *results)
{
	bool changed = false;

	for (; *results; results++) {
		struct check_result r = {.passed = *results == '+',
		    .status = *results == '+' ? CHECK_STATUS_L4OK
		                              : CHECK_STATUS_L4CON};

		assert_false(changed);
		changed = server_report_check(server, &r);
		model_update(server->backend->model);
	}
	return changed;
}

/* Whether new sessions may go there, as the lineup has it. */
static bool
is_chosen(const struct server *server)
{
	const struct lineup *l = server->backend->state->lineup;

	return server->id <= l->places_n &&
	       l->places[server->id - 1] != PLACE_NONE;
}

static void
fall_in_a_row_take_it_down_and_rise_bring_it_back(void **state)
{
	struct world *w = *state;
	struct server *s = w->s[0];

	assert_false(report(s, "--"));
	assert_int_equal(s->state->streak, 2);
	assert_false(report(s, "+"));
	assert_int_equal(s->state->streak, 0);
	assert_false(report(s, "--"));
	assert_true(is_chosen(s));
	assert_true(report(s, "-"));
	assert_false(server_is_up(s));
	assert_false(is_chosen(s));
	assert_int_equal(s->state->checks_failed, 5);
	assert_int_equal(s->state->times_down, 1);

	assert_false(report(s, "-+-+"));
	assert_false(is_chosen(s));
	assert_true(report(s, "+"));
	assert_true(is_chosen(s));
	assert_int_equal(s->state->streak, 0);
	/* Failures of one that is down do not count. */
	assert_int_equal(s->state->checks_failed, 5);
}

static void
a_server_s_own_fall_and_rise_hold(void **state)
{
	struct world *w = *state;

	assert_true(report(w->s[1], "-"));
	assert_false(report(w->s[1], "+++"));
	assert_true(report(w->s[1], "+"));
}

static void
a_reload_keeps_the_streak_and_judges_by_the_new_numbers(void **state)
{
	struct world *w = *state;
	struct spec *spec = make_spec(true);

	report(w->s[0], "--");
	spec->backends[0].servers[0]->check.fall = 5;
	reload(w, spec);
	assert_int_equal(w->s[0]->state->streak, 2);
	assert_false(report(w->s[0], "--"));
	assert_true(report(w->s[0], "-"));
}

static void
downtime_is_from_down_to_up(void **state)
{
	struct world *w = *state;

	report(w->s[0], "---");
	now_ms += 7000;
	assert_int_equal(server_downtime_s(w->s[0]), 7);
	assert_int_equal(server_since_change_s(w->s[0]), 7);
	report(w->s[0], "++");
	now_ms += 5000;
	assert_int_equal(server_downtime_s(w->s[0]), 7);
	assert_int_equal(server_since_change_s(w->s[0]), 5);
}

static void
downtime_goes_on_through_drain_and_maintenance(void **state)
{
	struct world *w = *state;
	struct server *s = w->s[0];

	report(s, "---");
	now_ms += 7000;
	server_set_admin(s, SERVER_DRAIN, "test");
	model_update(s->backend->model);
	assert_int_equal(server_downtime_s(s), 7);
	assert_int_equal(server_since_change_s(s), 0);
	now_ms += 2000;
	server_set_agent(s, false, "");
	model_update(s->backend->model);
	operator_set_admin(s, SERVER_MAINT);
	model_update(s->backend->model);
	assert_int_equal(server_downtime_s(s), 9);
	now_ms += 1000;
	/* It is taken for well, but its agent has said otherwise. */
	operator_set_admin(s, SERVER_READY);
	model_update(s->backend->model);
	assert_int_equal(server_downtime_s(s), 10);
	now_ms += 1000;
	server_set_agent(s, true, "");
	model_update(s->backend->model);
	now_ms += 1000;
	assert_int_equal(server_downtime_s(s), 11);
	assert_true(server_is_up(s));
}

static void
downtime_of_a_server_without_checks_goes_on_in_maintenance(void **state)
{
	struct world *w = *state;
	struct spec *spec = make_spec(true);

	spec->backends[0].servers[1]->check.on = SWITCH_OFF;
	reload(w, spec);
	operator_set_health(w->s[1], OPERATOR_DOWN);
	model_update(w->model);
	now_ms += 4000;
	operator_set_admin(w->s[1], SERVER_MAINT);
	model_update(w->model);
	now_ms += 1000;
	operator_set_admin(w->s[1], SERVER_READY);
	model_update(w->model);
	assert_true(server_is_up(w->s[1]));
	now_ms += 1000;
	assert_int_equal(server_downtime_s(w->s[1]), 5);
}

/* As the check has not passed either. */
static void
downtime_goes_on_when_an_agent_is_forgotten(void **state)
{
	struct world *w = *state;
	struct spec *spec = make_spec(true);

	w->s[0]->state->agent_heard = true;
	report(w->s[0], "---");
	server_set_agent(w->s[0], false, "");
	model_update(w->model);
	now_ms += 5000;
	spec->backends[0].servers[0]->agent.on = SWITCH_OFF;
	reload(w, spec);
	assert_int_equal(server_downtime_s(w->s[0]), 5);
	assert_int_equal(server_since_change_s(w->s[0]), 5);
}

/* The operator stops the server as soon as it is in maintenance; a check may be
 * under way. */
static void
checks_that_end_in_maintenance_do_not_count(void **state)
{
	struct world *w = *state;
	uint64_t events;

	server_set_admin(w->s[1], SERVER_MAINT, "test");
	model_update(w->model);
	events = events_count();
	assert_false(report(w->s[1], "-"));
	assert_true(server_is_up(w->s[1]));
	assert_int_equal(w->s[1]->state->times_down, 0);
	assert_int_equal(w->s[1]->state->checks_failed, 0);
	assert_int_equal(events_count(), events);
	server_set_admin(w->s[1], SERVER_READY, "test");
	model_update(w->model);
	assert_true(is_chosen(w->s[1]));
}

static void
check_and_agent_both_have_to_say_up(void **state)
{
	struct world *w = *state;
	struct server *s = w->s[0];

	server_set_agent(s, false, "");
	model_update(s->backend->model);
	assert_false(server_is_up(s));
	assert_false(is_chosen(s));
	assert_int_equal(s->state->times_down, 1);
	/* Down is down: the check adds nothing to it. */
	assert_true(report(s, "---"));
	assert_int_equal(s->state->times_down, 1);
	server_set_agent(s, true, "");
	model_update(s->backend->model);
	assert_false(server_is_up(s));
	assert_true(report(s, "++"));
	assert_true(is_chosen(s));
	assert_int_equal(s->state->times_down, 1);
}

static void
the_agent_s_maxconn_and_weight_hold_until_the_file_has_others(void **state)
{
	struct world *w = *state;
	struct spec *spec;

	w->s[0]->state->agent_heard = true;
	server_set_maxconn(w->s[0], 3, "test");
	model_update(w->model);
	server_set_weight(w->s[0], 7, "test");
	model_update(w->model);
	assert_int_equal(w->s[0]->backend->state->lineup->limits[0], 3);
	assert_true(w->s[0]->backend->state->lineup->limited);
	reload(w, make_spec(true));
	assert_int_equal(server_maxconn(w->s[0]), 3);
	assert_int_equal(server_weight(w->s[0]), 7);

	spec = make_spec(true);
	spec->backends[0].servers[0]->maxconn = 9;
	reload(w, spec);
	assert_int_equal(server_maxconn(w->s[0]), 9);
	assert_int_equal(server_weight(w->s[0]), 7);
	server_set_maxconn(w->s[0], 0, "test");
	model_update(w->model);
	assert_int_equal(server_maxconn(w->s[0]), 0);
}

static void
without_its_agent_what_it_said_is_forgotten(void **state)
{
	struct world *w = *state;
	struct spec *spec = make_spec(true);

	w->s[0]->state->agent_heard = true;
	server_set_maxconn(w->s[0], 3, "test");
	model_update(w->model);
	server_set_weight(w->s[0], 7, "test");
	model_update(w->model);
	server_set_admin(w->s[0], SERVER_DRAIN, "test");
	model_update(w->model);
	server_set_agent(w->s[0], false, "");
	model_update(w->model);
	spec->backends[0].servers[0]->agent.on = SWITCH_OFF;
	reload(w, spec);
	assert_true(server_is_up(w->s[0]));
	assert_true(is_chosen(w->s[0]));
	assert_int_equal(server_weight(w->s[0]), 100);
	assert_int_equal(server_maxconn(w->s[0]), 0);
	assert_int_equal(server_admin_of(w->s[0]), SERVER_READY);
}

static void
drain_and_maint_take_no_sessions_and_say_nothing_of_health(void **state)
{
	struct world *w = *state;

	for (enum server_admin a = SERVER_DRAIN; a <= SERVER_MAINT; a++) {
		server_set_admin(w->s[1], a, "test");
		model_update(w->model);
		assert_false(is_chosen(w->s[1]));
		assert_true(server_is_up(w->s[1]));
		assert_int_equal(w->s[1]->state->times_down, 0);
	}
	server_set_admin(w->s[1], SERVER_READY, "test");
	model_update(w->model);
	assert_true(is_chosen(w->s[1]));
}

static void
a_tracker_goes_with_the_server_it_tracks(void **state)
{
	struct world *w = *state;

	report(w->s[0], "---");
	assert_false(server_is_up(w->t));
	assert_false(is_chosen(w->t));
	assert_int_equal(w->t->state->times_down, 1);
	now_ms += 3000;
	report(w->s[0], "++");
	assert_true(is_chosen(w->t));
	assert_int_equal(server_downtime_s(w->t), 3);

	server_set_agent(w->s[0], false, "");
	model_update(w->model);
	assert_false(is_chosen(w->t));
	server_set_agent(w->s[0], true, "");
	model_update(w->model);
	server_set_admin(w->s[0], SERVER_MAINT, "test");
	model_update(w->model);
	assert_int_equal(server_admin_of(w->t), SERVER_MAINT);
	assert_false(is_chosen(w->t));
	server_set_admin(w->s[0], SERVER_READY, "test");
	model_update(w->model);
	assert_true(is_chosen(w->t));
	/* And not the other way, nor with others. */
	server_set_admin(w->t, SERVER_DRAIN, "test");
	model_update(w->model);
	assert_true(is_chosen(w->s[0]));
	server_set_admin(w->t, SERVER_READY, "test");
	model_update(w->model);
	report(w->s[1], "-");
	assert_true(is_chosen(w->t));
}

static void
a_tracker_s_state_survives_reloads_and_ends_with_tracking(void **state)
{
	struct world *w = *state;

	report(w->s[0], "---");
	reload(w, make_spec(true));
	assert_false(is_chosen(w->t));
	assert_int_equal(w->t->state->times_down, 1);
	reload(w, make_spec(false));
	assert_true(is_chosen(w->t));
	assert_true(w->t->state->up);
	/* The tracked one is down already. */
	reload(w, make_spec(true));
	assert_false(is_chosen(w->t));
	assert_false(w->t->state->up);
	report(w->s[0], "++");
	assert_true(is_chosen(w->t));
}

static void
init_state_down_comes_up_with_the_first_check_that_passes(void **state)
{
	struct world *w = *state;
	struct spec *spec = make_spec(true);

	free(spec->backends[0].servers[1]->address);
	spec->backends[0].servers[1]->address = strdup("10.0.0.9:80");
	assert_true(addr_parse("10.0.0.9:80", ADDR_CONNECT,
	    &spec->backends[0].servers[1]->addr, NULL));
	spec->backends[0].servers[1]->check.init = optional_of(CHECK_INIT_DOWN);
	reload(w, spec);
	assert_false(is_chosen(w->s[1]));
	assert_true(report(w->s[1], "+"));
	assert_true(is_chosen(w->s[1]));
	assert_int_equal(w->s[1]->state->times_down, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(fall_in_a_row_take_it_down_and_rise_bring_it_back),
	    TEST(a_server_s_own_fall_and_rise_hold),
	    TEST(a_reload_keeps_the_streak_and_judges_by_the_new_numbers),
	    TEST(downtime_is_from_down_to_up),
	    TEST(downtime_goes_on_through_drain_and_maintenance),
	    TEST(downtime_of_a_server_without_checks_goes_on_in_maintenance),
	    TEST(downtime_goes_on_when_an_agent_is_forgotten),
	    TEST(checks_that_end_in_maintenance_do_not_count),
	    TEST(check_and_agent_both_have_to_say_up),
	    TEST(the_agent_s_maxconn_and_weight_hold_until_the_file_has_others),
	    TEST(without_its_agent_what_it_said_is_forgotten),
	    TEST(drain_and_maint_take_no_sessions_and_say_nothing_of_health),
	    TEST(a_tracker_goes_with_the_server_it_tracks),
	    TEST(a_tracker_s_state_survives_reloads_and_ends_with_tracking),
	    TEST(init_state_down_comes_up_with_the_first_check_that_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
