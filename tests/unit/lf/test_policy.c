/* SPDX-License-Identifier: MIT
 * When a leader promotes, and what it believes a turn to take.
 */
#include "lf/policy.h"

#include "unit.h"

/* Averages that make the sums easy. */
static const struct service_time times = {
    .average_ns = {[TURN_RELAY] = 5000, [TURN_ACCEPT] = 12500}};

#define WAKE_NS 25000u

static bool
adaptive(unsigned relays, unsigned accepts, unsigned parked)
{
	struct backlog rest = {.relays = relays,
	    .accepts = accepts,
	    .busy_ns = POLICY_BUSY_NS + 1};

	return policy_promotes(POLICY_ADAPTIVE, &times, &rest, parked, WAKE_NS);
}

static void
always_promotes_whatever_the_backlog(void **state)
{
	struct backlog none = {0}, some = {.relays = 3, .accepts = 1};

	(void)state;
	for (unsigned parked = 0; parked < 3; parked++) {
		assert_true(policy_promotes(
		    POLICY_ALWAYS, &times, &none, parked, WAKE_NS));
		assert_true(policy_promotes(
		    POLICY_ALWAYS, &times, &some, parked, WAKE_NS));
	}
}

static void
adaptive_keeps_leading_when_nobody_is_parked(void **state)
{
	(void)state;
	assert_false(adaptive(64, 64, 0));
	assert_true(adaptive(64, 64, 1));
}

static void
adaptive_promotes_when_the_rest_is_worth_more_than_a_wake(void **state)
{
	(void)state;
	assert_false(adaptive(0, 0, 1));
	assert_false(adaptive(5, 0, 1)); /* exactly a wake's worth */
	assert_true(adaptive(6, 0, 1));
	assert_false(adaptive(0, 2, 1));
	assert_true(adaptive(0, 3, 1));
}

static void
adaptive_adds_relays_and_accepts(void **state)
{
	(void)state;
	assert_false(adaptive(2, 1, 1)); /* 22.5 us */
	assert_true(adaptive(3, 1, 1));  /* 27.5 us */
	assert_true(adaptive(1, 2, 1));  /* 30 us */
}

static void
adaptive_goes_by_the_experience_of_the_thread(void **state)
{
	struct service_time slow = {.average_ns = {[TURN_RELAY] = 30000}};
	struct service_time quick = {.average_ns = {[TURN_RELAY] = 300}};
	struct backlog one = {.relays = 1, .busy_ns = POLICY_BUSY_NS + 1};
	struct backlog batch = {.relays = 63, .busy_ns = POLICY_BUSY_NS + 1};

	(void)state;
	assert_true(policy_promotes(POLICY_ADAPTIVE, &slow, &one, 1, WAKE_NS));
	assert_false(
	    policy_promotes(POLICY_ADAPTIVE, &quick, &batch, 1, WAKE_NS));
}

static void
adaptive_goes_by_what_a_wake_costs_on_this_machine(void **state)
{
	/* 20 us */
	struct backlog four = {.relays = 4, .busy_ns = POLICY_BUSY_NS + 1};

	(void)state;
	assert_true(policy_promotes(POLICY_ADAPTIVE, &times, &four, 1, 19999));
	assert_false(policy_promotes(POLICY_ADAPTIVE, &times, &four, 1, 20000));
}

static void
adaptive_wants_more_from_a_leader_that_has_rested(void **state)
{
	struct backlog rest = {.relays = 1, .busy_ns = POLICY_BUSY_NS};
	uint64_t relay_ns = service_time_ns(&times, TURN_RELAY);

	(void)state;
	assert_false(policy_promotes(
	    POLICY_ADAPTIVE, &times, &rest, 1, relay_ns / POLICY_BURST));
	rest.relays = 2;
	assert_true(policy_promotes(
	    POLICY_ADAPTIVE, &times, &rest, 1, relay_ns / POLICY_BURST));
}

static void
the_wake_is_measured_within_bounds(void **state)
{
	uint64_t shortest_ms = UINT64_MAX;

	(void)state;
	for (int i = 0; i < 3; i++) {
		uint64_t from_ms = unit_now_ms();

		assert_in_range(policy_calibrate(), 5000, 200000);
		if (unit_now_ms() - from_ms < shortest_ms)
			shortest_ms = unit_now_ms() - from_ms;
	}
	unit_skip_unless_time_is_judged();
	/* A machine that stalls may make the others longer. */
	assert_true(shortest_ms < 2000);
}

static void
before_the_first_turn_an_accept_counts_for_more(void **state)
{
	struct service_time fresh = {{0}};

	(void)state;
	assert_true(service_time_ns(&fresh, TURN_RELAY) > 0);
	assert_true(service_time_ns(&fresh, TURN_ACCEPT) >=
	            2 * service_time_ns(&fresh, TURN_RELAY));
}

static void
the_average_moves_a_sixteenth_of_the_way(void **state)
{
	struct service_time t = {.average_ns = {[TURN_RELAY] = 16000}};

	(void)state;
	service_time_add(&t, TURN_RELAY, 32000);
	assert_int_equal(t.average_ns[TURN_RELAY], 17000);
	service_time_add(&t, TURN_RELAY, 1000);
	assert_int_equal(t.average_ns[TURN_RELAY], 17000 - 1062 + 62);
}

static void
the_average_arrives_where_the_turns_are(void **state)
{
	struct service_time t = {{0}};

	(void)state;
	for (int i = 0; i < 200; i++)
		service_time_add(&t, TURN_RELAY, 80000);
	assert_in_range(t.average_ns[TURN_RELAY], 79000, 81000);
	for (int i = 0; i < 200; i++)
		service_time_add(&t, TURN_RELAY, 2000);
	assert_in_range(t.average_ns[TURN_RELAY], 1900, 2100);
}

static void
kinds_have_averages_of_their_own(void **state)
{
	struct service_time t = {{0}};
	uint64_t accept = service_time_ns(&t, TURN_ACCEPT);

	(void)state;
	service_time_add(&t, TURN_RELAY, 1000000);
	assert_int_equal(service_time_ns(&t, TURN_ACCEPT), accept);
	assert_true(service_time_ns(&t, TURN_RELAY) > 60000);
}

static void
one_slow_turn_does_not_make_relaying_look_slow(void **state)
{
	struct service_time t = {.average_ns = {[TURN_RELAY] = 4000}};

	(void)state;
	service_time_add(&t, TURN_RELAY, 100000);
	assert_true(t.average_ns[TURN_RELAY] < 10100);
}

static void
policies_have_the_names_of_the_configuration(void **state)
{
	(void)state;
	assert_string_equal(policy_name(POLICY_ALWAYS), "always");
	assert_string_equal(policy_name(POLICY_ADAPTIVE), "adaptive");
	assert_string_equal(policy_name(POLICY_KERNEL), "kernel");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(always_promotes_whatever_the_backlog),
	    cmocka_unit_test(adaptive_keeps_leading_when_nobody_is_parked),
	    cmocka_unit_test(
	        adaptive_promotes_when_the_rest_is_worth_more_than_a_wake),
	    cmocka_unit_test(adaptive_adds_relays_and_accepts),
	    cmocka_unit_test(adaptive_goes_by_the_experience_of_the_thread),
	    cmocka_unit_test(
	        adaptive_goes_by_what_a_wake_costs_on_this_machine),
	    cmocka_unit_test(adaptive_wants_more_from_a_leader_that_has_rested),
	    cmocka_unit_test(the_wake_is_measured_within_bounds),
	    cmocka_unit_test(before_the_first_turn_an_accept_counts_for_more),
	    cmocka_unit_test(the_average_moves_a_sixteenth_of_the_way),
	    cmocka_unit_test(the_average_arrives_where_the_turns_are),
	    cmocka_unit_test(kinds_have_averages_of_their_own),
	    cmocka_unit_test(one_slow_turn_does_not_make_relaying_look_slow),
	    cmocka_unit_test(policies_have_the_names_of_the_configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
