/* SPDX-License-Identifier: MIT
 * What an operator says of a server, beside its agent and its checks.
 */
#include "model/server_operator.h"

#include "rig.h"

struct operated {
	struct rig rig;
	struct server *s; /* the first of two */
};

static int
setup(void **state)
{
	static struct operated o;

	rig_init(&o.rig, &balance_roundrobin, 2, (unsigned[]){10, 10}, false);
	o.s = o.rig.backend->servers[0];
	o.s->check.on = true;
	o.s->check.fall = 3;
	o.s->check.rise = 2;
	o.s->agent.on = true;
	*state = &o;
	return 0;
}

static int
teardown(void **state)
{
	struct operated *o = *state;

	rig_fini(&o->rig);
	return 0;
}

/* As a reload does that takes the agent out of the file. */
static void
lose_agent(struct server *s)
{
	s->agent.on = false;
	server_forget_agent(s);
}

static struct server_spec *
file_of(struct operated *o)
{
	return o->rig.spec->servers[0];
}

static unsigned
usable(struct operated *o)
{
	return o->rig.backend->state->usable;
}

static void
last_word_holds_and_without_the_agent_the_operators(void **state)
{
	struct operated *o = *state;

	operator_set_weight(o->s, 3);
	model_update(o->rig.model);
	operator_set_maxconn(o->s, 5);
	model_update(o->rig.model);
	operator_set_admin(o->s, SERVER_DRAIN);
	model_update(o->rig.model);
	o->s->state->agent_heard = true;
	server_set_weight(o->s, 7, "the agent");
	model_update(o->rig.model);
	server_set_maxconn(o->s, 9, "the agent");
	model_update(o->rig.model);
	server_set_admin(o->s, SERVER_READY, "the agent");
	model_update(o->rig.model);
	assert_int_equal(server_weight(o->s), 7);
	assert_int_equal(server_maxconn(o->s), 9);
	assert_int_equal(server_admin_of(o->s), SERVER_READY);
	lose_agent(o->s);
	assert_int_equal(server_weight(o->s), 3);
	assert_int_equal(server_maxconn(o->s), 5);
	assert_int_equal(server_admin_of(o->s), SERVER_DRAIN);
}

/* A lineup is made before the servers are settled. */
static void
lineup_of_a_reload_that_takes_the_agent_away_heeds_the_operator(void **state)
{
	struct operated *o = *state;

	operator_set_admin(o->s, SERVER_MAINT);
	model_update(o->rig.model);
	o->s->state->agent_heard = true;
	server_set_admin(o->s, SERVER_READY, "the agent");
	model_update(o->rig.model);
	assert_int_equal(usable(o), 2);
	o->s->agent.on = false;
	assert_int_equal(backend_rebuild(o->rig.backend), 0);
	assert_int_equal(usable(o), 1);
}

static void
each_word_holds_while_the_file_says_the_same(void **state)
{
	struct operated *o = *state;

	operator_set_weight(o->s, 3);
	model_update(o->rig.model);
	operator_set_maxconn(o->s, 5);
	model_update(o->rig.model);
	file_of(o)->weight = 11;
	assert_int_equal(server_weight(o->s), 11);
	assert_int_equal(server_maxconn(o->s), 5);
	file_of(o)->maxconn = 100;
	assert_int_equal(server_maxconn(o->s), 100);
	file_of(o)->weight = 10;
	assert_int_equal(server_weight(o->s), 3);
}

static void
word_that_the_file_has_replaced_does_not_come_back(void **state)
{
	struct operated *o = *state;

	operator_set_weight(o->s, 3);
	operator_set_maxconn(o->s, 5);
	operator_set_admin(o->s, SERVER_DRAIN);
	model_update(o->rig.model);
	file_of(o)->weight = 11;
	file_of(o)->disabled = true;
	server_settle(o->s);
	assert_false(o->s->state->overrides.set.weight.is_set);
	file_of(o)->weight = 10;
	file_of(o)->disabled = false;
	server_settle(o->s);
	assert_int_equal(server_weight(o->s), 10);
	assert_int_equal(server_own_admin(o->s), SERVER_READY);
	assert_int_equal(server_maxconn(o->s), 5);
}

static struct check_result
result(bool passed)
{
	return (struct check_result){.passed = passed,
	    .status = passed ? CHECK_STATUS_L4OK : CHECK_STATUS_L4CON};
}

static void
stopping_ends_with_a_check_that_passes(void **state)
{
	struct check_result passed = result(true), failed = result(false);
	struct operated *o = *state;

	operator_set_health(o->s, OPERATOR_STOPPING);
	model_update(o->rig.model);
	assert_true(server_is_up(o->s));
	assert_int_equal(usable(o), 1);
	assert_false(server_report_check(o->s, &failed));
	model_update(o->rig.model);
	assert_int_equal(usable(o), 1);
	assert_true(server_report_check(o->s, &passed));
	model_update(o->rig.model);
	assert_int_equal(usable(o), 2);
}

static void
health_down_takes_rise_checks_to_come_back(void **state)
{
	struct check_result passed = result(true);
	struct operated *o = *state;

	operator_set_health(o->s, OPERATOR_DOWN);
	model_update(o->rig.model);
	assert_false(server_is_up(o->s));
	assert_int_equal(o->s->state->times_down, 1);
	assert_false(server_report_check(o->s, &passed));
	model_update(o->rig.model);
	assert_true(server_report_check(o->s, &passed));
	model_update(o->rig.model);
	assert_true(server_is_up(o->s));
}

static void
health_of_a_server_without_checks_is_what_was_said(void **state)
{
	struct operated *o = *state;

	((struct server_spec *)(uintptr_t)o->s->spec)->check.on = SWITCH_OFF;
	server_set_rules(o->s);
	operator_set_health(o->s, OPERATOR_DOWN);
	model_update(o->rig.model);
	assert_int_equal(usable(o), 1);
	server_settle(o->s);
	assert_false(server_is_up(o->s));
	operator_set_health(o->s, OPERATOR_UP);
	model_update(o->rig.model);
	assert_int_equal(usable(o), 2);
}

static void
after_maintenance_one_failure_is_enough(void **state)
{
	struct check_result failed = result(false);
	struct operated *o = *state;

	operator_set_health(o->s, OPERATOR_DOWN);
	model_update(o->rig.model);
	operator_set_admin(o->s, SERVER_MAINT);
	model_update(o->rig.model);
	operator_set_health(o->s, OPERATOR_UP);
	model_update(o->rig.model);
	assert_false(server_is_up(o->s));
	operator_set_admin(o->s, SERVER_READY);
	model_update(o->rig.model);
	assert_true(server_is_up(o->s));
	assert_true(server_report_check(o->s, &failed));
	model_update(o->rig.model);
	assert_false(server_is_up(o->s));
}

static void
paused_checks_do_not_count(void **state)
{
	struct check_result failed = result(false);
	struct operated *o = *state;

	operator_pause_check(o->s, true);
	for (int i = 0; i < 5; i++)
		assert_false(server_report_check(o->s, &failed));
	model_update(o->rig.model);
	assert_true(server_is_up(o->s));
	operator_pause_check(o->s, false);
	assert_false(server_report_check(o->s, &failed));
	model_update(o->rig.model);
}

static struct addr
ip(const char *text, unsigned port)
{
	struct addr a;

	assert_true(addr_parse_ip(text, &a));
	addr_set_port(&a, port);
	return a;
}

static void
is_at(const struct addr *addr, const char *text)
{
	char out[ADDR_TEXT_SIZE];

	assert_string_equal(addr_text(addr, out), text);
}

static void
checks_and_agent_follow_the_address_unless_they_have_their_own(void **state)
{
	struct operated *o = *state;
	struct addr first = ip("10.0.0.1", 80), second = ip("10.0.0.2", 81);
	struct addr check = ip("10.0.0.9", 0);

	assert_true(operator_set_addr(o->s, &first));
	model_update(o->rig.model);
	is_at(server_addr(o->s), "10.0.0.1:80");
	is_at(&o->s->check.addr, "10.0.0.1:80");
	operator_set_agent_at(o->s, NULL, 90);
	operator_set_check_at(o->s, &check, -1);
	is_at(&o->s->check.addr, "10.0.0.9:80");
	is_at(&o->s->agent.addr, "10.0.0.1:90");
	assert_true(operator_set_addr(o->s, &second));
	model_update(o->rig.model);
	is_at(&o->s->check.addr, "10.0.0.9:81");
	is_at(&o->s->agent.addr, "10.0.0.2:90");
	operator_set_check_at(o->s, NULL, 70);
	is_at(&o->s->check.addr, "10.0.0.9:70");
	operator_set_check_at(o->s, NULL, 0);
	is_at(&o->s->check.addr, "10.0.0.9:81");
}

static void
a_server_follows_its_name_again_to_where_that_is_by_now(void **state)
{
	struct operated *o = *state;
	struct addr first = ip("10.0.0.1", 0), second = ip("10.0.0.2", 0),
	            own = ip("10.0.0.9", 90);
	char host[] = "db";

	file_of(o)->host = host;
	file_of(o)->port = 80;
	assert_true(operator_set_addr(o->s, &own));
	assert_false(server_is_unresolved(o->s));
	assert_true(operator_follow_name(o->s));
	assert_true(server_is_unresolved(o->s));
	assert_true(server_resolve(o->s, &first));
	is_at(server_addr(o->s), "10.0.0.1:80");
	assert_true(operator_set_addr(o->s, &own));
	assert_false(server_resolve(o->s, &second));
	is_at(server_addr(o->s), "10.0.0.9:90");
	assert_true(operator_follow_name(o->s));
	is_at(server_addr(o->s), "10.0.0.2:80");
	assert_false(o->s->state->overrides.addr.is_set);
	/* So does a server whose name has come to be what the operator has set.
	 */
	own = ip("10.0.0.1", 80);
	assert_true(operator_set_addr(o->s, &own));
	assert_false(server_resolve(o->s, &first));
	assert_true(operator_follow_name(o->s));
	assert_true(server_resolve(o->s, &second));
	is_at(server_addr(o->s), "10.0.0.2:80");
	file_of(o)->host = NULL;
}

static void
agent_send_is_bytes(void **state)
{
	struct operated *o = *state;

	assert_true(operator_set_agent_send(o->s, "a \"b\\n"));
	assert_int_equal(o->s->agent.send->n, 6);
	assert_memory_equal(o->s->agent.send->bytes, "a \"b\\n", 6);
	assert_true(operator_set_agent_send(o->s, ""));
	assert_int_equal(o->s->agent.send->n, 0);
}

static void
counters_are_cleared_and_peaks_begin_at_what_there_is(void **state)
{
	struct operated *o = *state;
	struct gauge *g = o->s->sessions;

	gauge_up(g);
	gauge_up(g);
	gauge_down(g);
	counters_add(o->s->counters, 0, COUNTER_SESSIONS, 2);
	o->s->state->rate =
	    (struct rate){.total_before = 2, .per_second = 2, .peak = 9};
	model_clear_counters(o->rig.model, false);
	assert_int_equal(g->peak, 1);
	assert_int_equal(counters_sum(o->s->counters, COUNTER_SESSIONS), 2);
	model_clear_counters(o->rig.model, true);
	assert_int_equal(counters_sum(o->s->counters, COUNTER_SESSIONS), 0);
	model_tick(o->rig.model);
	assert_int_equal(o->s->state->rate.per_second, 0);
	assert_int_equal(o->s->state->rate.peak, 0);
	gauge_down(g);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(last_word_holds_and_without_the_agent_the_operators),
	    TEST(
	        lineup_of_a_reload_that_takes_the_agent_away_heeds_the_operator),
	    TEST(each_word_holds_while_the_file_says_the_same),
	    TEST(word_that_the_file_has_replaced_does_not_come_back),
	    TEST(stopping_ends_with_a_check_that_passes),
	    TEST(health_down_takes_rise_checks_to_come_back),
	    TEST(health_of_a_server_without_checks_is_what_was_said),
	    TEST(after_maintenance_one_failure_is_enough),
	    TEST(paused_checks_do_not_count),
	    TEST(
	        checks_and_agent_follow_the_address_unless_they_have_their_own),
	    TEST(a_server_follows_its_name_again_to_where_that_is_by_now),
	    TEST(agent_send_is_bytes),
	    TEST(counters_are_cleared_and_peaks_begin_at_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
