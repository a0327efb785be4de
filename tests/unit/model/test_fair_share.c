/* SPDX-License-Identifier: MIT
 * Fair shares, and a server's weight that fades.
 */
#include "model/fair_share.h"

#include "rig.h"
#include "stopped_clock.h"

static uint32_t
sum_of_fair(const struct share *shares, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += shares[i].fair;
	return sum;
}

static void
shares_follow_the_weights(void **state)
{
	struct share s[] = {{.sessions = 100, .weight = 100},
	    {.sessions = 0, .weight = 300}, {.sessions = 20, .weight = 200}};

	fair_shares(s, 3);
	assert_int_equal(s[0].fair, 20);
	assert_int_equal(s[1].fair, 60);
	assert_int_equal(s[2].fair, 40);
	assert_int_equal(s[0].excess, 80);
	assert_int_equal(s[1].excess, 0);
	assert_int_equal(s[2].excess, 0);
}

static void
nobody_is_over_a_share_by_less_than_the_tolerance(void **state)
{
	struct share s[] = {
	    {.sessions = 105, .weight = 1}, {.sessions = 95, .weight = 1}};
	struct share few[] = {
	    {.sessions = 2, .weight = 1}, {.sessions = 1, .weight = 1}};

	fair_shares(s, 2);
	assert_int_equal(s[0].fair, 100);
	assert_int_equal(s[0].excess, 0);
	s[0].sessions = 107;
	s[1].sessions = 93;
	fair_shares(s, 2);
	assert_int_equal(s[0].excess, 7);
	fair_shares(few, 2);
	assert_int_equal(few[0].excess + few[1].excess, 0);
	assert_int_equal(fair_tolerance(0), 1);
	assert_int_equal(fair_tolerance(1000), 50);
}

static void
full_servers_leave_the_rest_to_the_others(void **state)
{
	struct share s[] = {{.sessions = 90, .weight = 1},
	    {.sessions = 0, .weight = 1, .limit = 10},
	    {.sessions = 0, .weight = 1}};

	fair_shares(s, 3);
	assert_int_equal(s[0].fair, 40);
	assert_int_equal(s[1].fair, 10);
	assert_int_equal(s[2].fair, 40);
	/* Nowhere else: by weight then, so that nothing is closed in vain. */
	s[0].limit = s[2].limit = 20;
	fair_shares(s, 3);
	assert_int_equal(sum_of_fair(s, 3), 90);
	/* The second filling makes a third full. */
	s[0] = (struct share){.sessions = 0, .weight = 8, .limit = 4};
	s[1] = (struct share){.sessions = 0, .weight = 1, .limit = 12};
	s[2] = (struct share){.sessions = 30, .weight = 1};
	fair_shares(s, 3);
	assert_int_equal(s[0].fair, 4);
	assert_int_equal(s[1].fair, 12);
	assert_int_equal(s[2].fair, 14);
	assert_int_equal(s[2].excess, 16);
}

static void
no_server_and_no_session_are_nothing_special(void **state)
{
	struct share s[] = {{.sessions = 0, .weight = 7, .limit = 1}};

	fair_shares(s, 0);
	fair_shares(s, 1);
	assert_int_equal(s[0].fair + s[0].excess, 0);
}

/* Whatever the numbers: shares add up, are within 1 of the exact ones, and what
 * is to be closed is never more than others have too few, but for rounding. */
static void
shares_of_any_servers_add_up(void **state)
{
	uint32_t seed = 4711;

	for (unsigned round = 0; round < 2000; round++) {
		struct share s[12];
		size_t n = unit_random(&seed) % UNIT_N(s) + 1;
		uint64_t sum = 0, weight = 0;
		uint32_t excess = 0, lack = 0;

		for (size_t i = 0; i < n; i++) {
			s[i] = (struct share){
			    .sessions = unit_random(&seed) % 5000,
			    .weight = unit_random(&seed) % 256 + 1};
			sum += s[i].sessions;
			weight += s[i].weight;
		}
		fair_shares(s, n);
		assert_int_equal(sum_of_fair(s, n), sum);
		for (size_t i = 0; i < n; i++) {
			uint64_t exact = sum * s[i].weight / weight;

			assert_in_range(s[i].fair, exact, exact + 1);
			excess += s[i].excess;
			if (s[i].sessions < s[i].fair)
				lack += s[i].fair - s[i].sessions;
		}
		assert_true(excess <= lack);
	}
}

/* All at the begin, a fiftieth at the end, never more than before, and each
 * step when fade_next_ms says so. */
static void
fade_goes_down_in_even_steps(void **state)
{
	static const uint64_t times[] = {50, 1000, 1001, 60007, 86400000};

	for (size_t t = 0; t < UNIT_N(times); t++) {
		uint64_t over_ms = times[t], at_ms = 0;
		unsigned step = fade_step_at(RAMP_STEPS, 0, over_ms);

		assert_int_equal(step, RAMP_STEPS);
		while (step > 1) {
			at_ms = fade_next_ms(RAMP_STEPS, step, over_ms);
			assert_int_equal(
			    fade_step_at(RAMP_STEPS, at_ms - 1, over_ms), step);
			assert_int_equal(
			    fade_step_at(RAMP_STEPS, at_ms, over_ms), --step);
		}
		assert_true(at_ms < over_ms);
		assert_int_equal(
		    fade_step_at(RAMP_STEPS, over_ms + 5, over_ms), 1);
	}
	/* From what is left of it already. */
	assert_int_equal(fade_step_at(10, 0, 1000), 10);
	assert_int_equal(fade_step_at(10, 500, 1000), 5);
	assert_int_equal(fade_step_at(1, 500, 1000), 1);
}

/* The proportions are what counts, and 1 of 1 has parts, too. */
static void
fading_server_has_a_part_of_its_weight_and_all_of_its_maxconn(void **state)
{
	struct server_state *s;
	struct rig rig;
	struct lineup *l;

	rig_init(&rig, &balance_roundrobin, 2, NULL, false);
	rig.spec->servers[1]->maxconn = 30;
	s = rig.backend->servers[1]->state;
	s->fade_from_ms = 5000;
	s->fade_ms = 100000;
	s->fade_first = RAMP_STEPS;
	l = lineup_new(rig.backend, 5000 + 60000);
	assert_non_null(l);
	assert_int_equal(l->weights[1] * 5, l->weights[0] * 2);
	assert_int_equal(l->limits[1], 30);
	assert_int_equal(l->next_step_ms, 5000 + 62000);
	lineup_free(l);
	/* Steps of 20 ms are taken together. */
	s->fade_ms = 1000;
	l = lineup_new(rig.backend, 5000 + 500);
	assert_int_equal(l->next_step_ms, 5000 + 500 + FADE_PAUSE_MS);
	lineup_free(l);
	rig_fini(&rig);
}

static void
fade_in_a_slow_start_is_a_part_of_a_part(void **state)
{
	struct server_state *s;
	struct rig rig;
	struct lineup *l;

	rig_init(&rig, &balance_leastconn, 2, (unsigned[]){100, 100}, false);
	rig.spec->slow_start_ms = 100000;
	s = rig.backend->servers[1]->state;
	s->ramp_from_ms = 5000;
	s->fade_from_ms = 5000;
	s->fade_ms = 100000;
	s->fade_first = RAMP_STEPS;
	l = lineup_new(rig.backend, 5000 + 49999);
	assert_non_null(l);
	/* 25 fiftieths of 26. */
	assert_int_equal(l->weights[1] * 50, l->weights[0] * 13);
	lineup_free(l);
	rig_fini(&rig);
}

static void
end_of_a_fade_gives_the_weight_back(void **state)
{
	struct server *s;
	struct rig rig;

	stop_clock();
	rig_init(&rig, &balance_roundrobin, 2, (unsigned[]){100, 100}, false);
	s = rig.backend->servers[0];
	server_fade(s, 3600 * 1000);
	model_update(s->backend->model);
	assert_true(rig.model->state->next_step_ms > clock_now_ms());
	now_ms += 1800 * 1000;
	assert_in_range(server_effective_weight(s), 49, 50);
	assert_int_equal(server_weight(s), 100);
	/* Another one begins where the first was. */
	server_fade(s, 1000 * 1000);
	model_update(s->backend->model);
	assert_in_range(server_effective_weight(s), 49, 50);
	server_end_fade(s);
	model_update(s->backend->model);
	assert_int_equal(server_effective_weight(s), 100);
	assert_int_equal(rig.backend->state->next_step_ms, 0);
	rig_fini(&rig);
	let_clock_go();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(shares_follow_the_weights),
	    cmocka_unit_test(nobody_is_over_a_share_by_less_than_the_tolerance),
	    cmocka_unit_test(full_servers_leave_the_rest_to_the_others),
	    cmocka_unit_test(no_server_and_no_session_are_nothing_special),
	    cmocka_unit_test(shares_of_any_servers_add_up),
	    cmocka_unit_test(fade_goes_down_in_even_steps),
	    cmocka_unit_test(
	        fading_server_has_a_part_of_its_weight_and_all_of_its_maxconn),
	    cmocka_unit_test(fade_in_a_slow_start_is_a_part_of_a_part),
	    cmocka_unit_test(end_of_a_fade_gives_the_weight_back),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
