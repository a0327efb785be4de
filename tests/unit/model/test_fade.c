/* SPDX-License-Identifier: MIT
 * A server's weight that fades.
 */
#include "rig.h"
#include "stopped_clock.h"

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
	    cmocka_unit_test(fade_goes_down_in_even_steps),
	    cmocka_unit_test(
	        fading_server_has_a_part_of_its_weight_and_all_of_its_maxconn),
	    cmocka_unit_test(fade_in_a_slow_start_is_a_part_of_a_part),
	    cmocka_unit_test(end_of_a_fade_gives_the_weight_back),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
