/* SPDX-License-Identifier: MIT
 * Which servers are chosen from, with how much weight, and whose sessions end:
 * backups, panic, slow start, on_down and on_up.
 */
#include <errno.h>
#include <malloc.h>
#include <sys/resource.h>

#include "base/mix.h"
#include "base/events.h"
#include "base/grace.h"
#include "model/lineup.h"
#include "rig.h"
#include "stopped_clock.h"

static const struct balance_ops *const all_kinds[] = {&balance_roundrobin,
    &balance_leastconn, &balance_random, &balance_source, &balance_hash,
    &balance_first, &balance_ewma};

/* The servers from this number on are backups. */
static void
make_backups(struct rig *rig, unsigned from)
{
	for (size_t i = from; i < rig->spec->servers_n; i++)
		rig->spec->servers[i]->backup = true;
	assert_int_equal(backend_rebuild(rig->backend), 0);
}

/* The numbers of those that get sessions, as bits; they are ended at once. */
static unsigned
who_serves(struct rig *rig)
{
	unsigned seen = 0;

	for (unsigned i = 0; i < 500; i++) {
		struct server *s = rig_choose(rig, mix64(i), mix64(~i));

		if (!s)
			return 0;
		seen |= 1u << rig_number(s);
		backend_release(s);
	}
	return seen;
}

/* `first` takes the first of any, the others all. */
static unsigned
first_of(unsigned kind, unsigned bits)
{
	return all_kinds[kind] == &balance_first ? bits & -bits : bits;
}

static void
a_backup_serves_only_while_no_other_server_is_usable(void **state)
{
	for (unsigned k = 0; k < UNIT_N(all_kinds); k++) {
		struct rig rig;

		rig_init(&rig, all_kinds[k], 4, NULL, false);
		make_backups(&rig, 2);
		assert_int_equal(who_serves(&rig), first_of(k, 0x3));
		rig_set_up(&rig, 0, false);
		assert_int_equal(who_serves(&rig), 0x2);
		rig_set_up(&rig, 1, false);
		assert_int_equal(who_serves(&rig), 0x4);
		assert_int_equal(rig.backend->state->usable, 2);
		assert_int_equal(rig.backend->state->active, 0);
		rig_set_up(&rig, 2, false);
		assert_int_equal(who_serves(&rig), 0x8);
		rig_set_up(&rig, 2, true);
		rig.spec->all_backups = true;
		rig_set_up(&rig, 3, true);
		assert_int_equal(who_serves(&rig), first_of(k, 0xc));
		rig_set_up(&rig, 1, true);
		assert_int_equal(who_serves(&rig), 0x2);
		rig_fini(&rig);
	}
}

/* Also when the others are only not wanted. */
static void
a_backup_serves_while_the_others_are_drained_or_have_no_weight(void **state)
{
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 3, NULL, false);
	make_backups(&rig, 2);
	server_set_admin(rig.backend->servers[0], SERVER_DRAIN, "test");
	model_update(rig.model);
	server_set_weight(rig.backend->servers[1], 0, "test");
	model_update(rig.model);
	assert_int_equal(who_serves(&rig), 0x4);
	server_set_admin(rig.backend->servers[0], SERVER_READY, "test");
	model_update(rig.model);
	assert_int_equal(who_serves(&rig), 0x1);
	rig_fini(&rig);
}

static void
in_a_panic_all_are_tried_that_operators_want_to_serve(void **state)
{
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 5, NULL, false);
	rig.spec->panic_percent = 50;
	server_set_admin(rig.backend->servers[4], SERVER_MAINT, "test");
	model_update(rig.model);
	assert_int_equal(who_serves(&rig), 0xf);
	rig_set_up(&rig, 0, false);
	rig_set_up(&rig, 1, false);
	/* 2 of the 4 that are wanted: half is enough. */
	assert_int_equal(who_serves(&rig), 0xc);
	assert_false(rig.backend->state->panic);
	rig_set_up(&rig, 2, false);
	assert_int_equal(who_serves(&rig), 0xf);
	assert_true(rig.backend->state->panic);
	assert_int_equal(rig.backend->state->usable, 1);
	rig_set_up(&rig, 3, false);
	assert_int_equal(who_serves(&rig), 0xf);
	assert_int_equal(rig.backend->state->usable, 0);
	server_set_admin(rig.backend->servers[1], SERVER_DRAIN, "test");
	model_update(rig.model);
	assert_int_equal(who_serves(&rig), 0xd);
	rig_set_up(&rig, 2, true);
	rig_set_up(&rig, 3, true);
	assert_int_equal(who_serves(&rig), 0xc);
	assert_false(rig.backend->state->panic);
	rig.spec->panic_percent = 0;
	rig_set_up(&rig, 2, false);
	rig_set_up(&rig, 3, false);
	assert_int_equal(who_serves(&rig), 0);
	rig_fini(&rig);
}

static void
there_is_no_panic_while_a_backup_is_usable(void **state)
{
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 4, NULL, false);
	rig.spec->panic_percent = 100;
	make_backups(&rig, 2);
	rig_set_up(&rig, 0, false);
	assert_int_equal(who_serves(&rig), 0x2);
	rig_set_up(&rig, 1, false);
	assert_int_equal(who_serves(&rig), 0x4);
	assert_false(rig.backend->state->panic);
	rig_set_up(&rig, 2, false);
	rig_set_up(&rig, 3, false);
	assert_int_equal(who_serves(&rig), 0x3);
	assert_true(rig.backend->state->panic);
	server_set_admin(rig.backend->servers[0], SERVER_MAINT, "test");
	model_update(rig.model);
	server_set_admin(rig.backend->servers[1], SERVER_MAINT, "test");
	model_update(rig.model);
	assert_int_equal(who_serves(&rig), 0xc);
	rig_fini(&rig);
}

/* As server_ramp_step, in words: the first step at once, and then one more each
 * fiftieth of the time. */
static unsigned
step_at(uint64_t past_ms, uint64_t whole_ms)
{
	return past_ms < whole_ms ? (unsigned)(past_ms * 50 / whole_ms) + 1
	                          : 50;
}

static void
slow_start_ramps_weight_and_maxconn_in_steps_within_2_percent(void **state)
{
	const uint64_t whole_ms = 10000, from_ms = 5000;
	static const unsigned weights[] = {100, 100};
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 2, weights, false);
	rig.spec->slow_start_ms = whole_ms;
	rig.spec->servers[1]->maxconn = 30;
	rig.backend->servers[1]->state->ramp_from_ms = from_ms;
	for (uint64_t past_ms = 0; past_ms <= whole_ms; past_ms += 10) {
		struct lineup *l = lineup_new(rig.backend, from_ms + past_ms);
		unsigned step = step_at(past_ms, whole_ms);
		uint64_t next_ms = from_ms + step * whole_ms / 50;

		/* Not before a quarter of a step, for others that ramp. */
		if (next_ms < from_ms + past_ms + whole_ms / 200)
			next_ms = from_ms + past_ms + whole_ms / 200;
		assert_non_null(l);
		assert_int_equal(
		    l->weights[1] * RAMP_STEPS, l->weights[0] * step);
		/* Ahead of past_ms / whole_ms by 0 to 1/50. */
		assert_true(step * whole_ms >= 50 * past_ms);
		assert_true(step * whole_ms <= 50 * past_ms + whole_ms);
		assert_int_equal(l->limits[1], (30 * step + 49) / 50);
		assert_int_equal(l->limits[0], 0);
		assert_int_equal(l->next_step_ms, step < 50 ? next_ms : 0);
		lineup_free(l);
	}
	rig_fini(&rig);
}

static void
many_slow_starts_make_few_lineups(void **state)
{
	const uint64_t whole_ms = 10000;
	unsigned lineups = 0;
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 100, NULL, false);
	rig.spec->slow_start_ms = whole_ms;
	for (unsigned i = 0; i < 100; i++)
		rig.backend->servers[i]->state->ramp_from_ms = 1000 + 3 * i;
	for (uint64_t at_ms = 1300; at_ms != 0; lineups++) {
		struct lineup *l = lineup_new(rig.backend, at_ms);

		assert_non_null(l);
		at_ms = l->next_step_ms;
		lineup_free(l);
	}
	/* Each server has 50 steps. */
	assert_in_range(lineups, 50, 210);
	rig_fini(&rig);
}

/* The weights are 1: a fiftieth of that is none, so they are multiplied. */
static void
slow_start_of_one_among_equals_of_weight_1_is_exact(void **state)
{
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 4, NULL, false);
	rig.spec->slow_start_ms = 1000;
	rig.backend->servers[2]->state->ramp_from_ms = 1;
	for (unsigned step = 1; step < 50; step++) {
		struct lineup *l = lineup_new(rig.backend, 1 + (step - 1) * 20);
		unsigned got[4] = {0};

		assert_non_null(l);
		for (unsigned i = 0; i < 3 * 50 + step; i++)
			got[l->ops->choose(l, &(struct choice){0})]++;
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(got[i], i == 2 ? step : 50);
		lineup_free(l);
	}
	rig_fini(&rig);
}

static void
slow_start_of_every_algorithm_gives_a_part(void **state)
{
	for (unsigned k = 0; k < UNIT_N(all_kinds); k++) {
		unsigned got[3] = {0};
		struct lineup *l;
		struct rig rig;

		if (all_kinds[k] == &balance_first)
			continue; /* knows no weights */
		rig_init(&rig, all_kinds[k], 3, NULL, false);
		rig.spec->slow_start_ms = 1000;
		rig.backend->servers[1]->state->ramp_from_ms = 1;
		l = lineup_new(rig.backend, 500); /* step 25 of 50 */
		lineup_free(rig.backend->state->lineup);
		rig.backend->state->lineup = l;
		for (unsigned i = 0; i < 10000; i++)
			got[rig_number(
			    rig_choose(&rig, mix64(i), mix64(~i)))]++;
		/* One half, one and one. */
		assert_in_range(got[1], 1900, 2100);
		assert_in_range(got[0], 3850, 4150);
		rig_fini(&rig);
	}
}

static void
slow_start_is_for_those_that_come_up_and_not_for_the_start(void **state)
{
	const struct check_result good = {
	    .passed = true, .status = CHECK_STATUS_L4OK};
	const struct check_result bad = {.status = CHECK_STATUS_L4CON};
	struct server *s;
	struct rig rig;

	stop_clock();
	rig_init(&rig, &balance_roundrobin, 2, NULL, false);
	rig.spec->slow_start_ms = 3600 * 1000;
	rig.spec->check.rise = rig.spec->check.fall = 1;
	s = rig.backend->servers[0];
	assert_int_equal(backend_rebuild(rig.backend), 0);
	assert_int_equal(server_throttle(s), 100);
	assert_int_equal(rig.model->state->next_step_ms, 0);
	server_report_check(s, &bad);
	model_update(s->backend->model);
	assert_int_equal(server_throttle(s), 100);
	server_report_check(s, &good);
	model_update(s->backend->model);
	assert_int_equal(server_throttle(s), 2);
	assert_int_equal(server_throttle(rig.backend->servers[1]), 100);
	assert_true(rig.model->state->next_step_ms > clock_now_ms());
	/* A drained one goes on where it is, one in maintenance anew. */
	now_ms += 1800 * 1000;
	assert_int_equal(server_throttle(s), 52);
	server_set_admin(s, SERVER_DRAIN, "test");
	model_update(s->backend->model);
	server_set_admin(s, SERVER_READY, "test");
	model_update(s->backend->model);
	assert_int_equal(server_throttle(s), 52);
	server_set_admin(s, SERVER_MAINT, "test");
	model_update(s->backend->model);
	server_set_admin(s, SERVER_READY, "test");
	model_update(s->backend->model);
	assert_int_equal(server_throttle(s), 2);
	/* The server's own comes first. */
	rig.spec->servers[0]->slow_start_ms = SLOW_START_OFF;
	assert_int_equal(server_throttle(s), 100);
	rig.spec->servers[0]->slow_start_ms = 7200 * 1000;
	now_ms += 3600 * 1000;
	assert_int_equal(server_throttle(s), 52);
	rig_fini(&rig);
	let_clock_go();
}

/* model_step makes each step when it is due, and ends. */
static void
slow_start_goes_on_by_itself(void **state)
{
	struct rig rig;

	stop_clock();
	rig_init(&rig, &balance_roundrobin, 2, NULL, false);
	rig.spec->slow_start_ms = 1000;
	rig_set_up(&rig, 0, false);
	rig_set_up(&rig, 0, true);
	now_ms += 500;
	assert_true(model_step(rig.model, now_ms) > now_ms);
	assert_in_range(rig.backend->state->lineup->weights[0], 26, 49);
	now_ms += 500;
	assert_int_equal(model_step(rig.model, now_ms), 0);
	assert_int_equal(rig.backend->state->lineup->weights[0], 1);
	assert_int_equal(rig.model->state->next_step_ms, 0);
	rig_fini(&rig);
	let_clock_go();
}

static void
many_servers_do_not_make_a_cycle_without_bounds(void **state)
{
	unsigned weights[1000];
	struct lineup *l;
	struct rig rig;

	for (unsigned i = 0; i < 1000; i++)
		weights[i] = 255 + i % 2;
	rig_init(&rig, &balance_roundrobin, 1000, weights, false);
	rig.spec->slow_start_ms = 1000;
	for (unsigned i = 0; i < 1000; i += 3)
		rig.backend->servers[i]->state->ramp_from_ms = 1;
	l = lineup_new(rig.backend, 500);
	assert_non_null(l);
	assert_true(l->weight_sum < 256 * 1000);
	assert_in_range(l->weights[0], 127, 129);
	lineup_free(l);
	rig_fini(&rig);
}

static uint64_t
present_number(const struct rig *rig)
{
	return rig->backend->state->lineup->number;
}

static uint64_t
choose_number(struct rig *rig)
{
	uint64_t number;

	assert_non_null(
	    backend_choose(rig->backend, &(struct choice){0}, &number));
	return number;
}

/* Down and up again, both before the sessions of the time before are told. */
static void
on_down_close_spares_the_sessions_that_come_after_a_short_outage(void **state)
{
	struct grace_reader reader = {0};
	uint64_t first, second, third;
	struct server_state *s;
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 1, NULL, false);
	grace_register(rig.grace, &reader);
	rig.spec->on_down = ON_DOWN_CLOSE;
	s = rig.backend->servers[0]->state;
	grace_enter(rig.grace, &reader);
	first = choose_number(&rig);
	rig_set_up(&rig, 0, false);
	rig_set_up(&rig, 0, true);
	second = choose_number(&rig);
	grace_leave(&reader);
	assert_true(model_end_sessions(rig.model));
	assert_int_equal(server_end_of(s, first), SERVER_END_DOWN);
	assert_int_equal(server_end_of(s, second), SERVER_END_NONE);

	/* A second outage, begun before the first one was told, ends both. */
	grace_enter(rig.grace, &reader);
	rig_set_up(&rig, 0, false);
	rig_set_up(&rig, 0, true);
	second = choose_number(&rig);
	rig_set_up(&rig, 0, false);
	rig_set_up(&rig, 0, true);
	third = choose_number(&rig);
	grace_leave(&reader);
	assert_true(model_end_sessions(rig.model));
	assert_int_equal(server_end_of(s, second), SERVER_END_DOWN);
	assert_int_equal(server_end_of(s, third), SERVER_END_NONE);
	grace_unregister(rig.grace, &reader);
	rig_fini(&rig);
}

/* The server stays in the lineup, and is chosen while it is down. */
static void
on_down_close_spares_the_sessions_that_are_tried_in_a_panic(void **state)
{
	uint64_t before, after;
	struct server_state *s;
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 1, NULL, false);
	rig.spec->on_down = ON_DOWN_CLOSE;
	rig.spec->panic_percent = 100;
	s = rig.backend->servers[0]->state;
	before = choose_number(&rig);
	rig_set_up(&rig, 0, false);
	after = choose_number(&rig);
	assert_true(model_end_sessions(rig.model));
	assert_int_equal(server_end_of(s, before), SERVER_END_DOWN);
	assert_int_equal(server_end_of(s, after), SERVER_END_NONE);
	rig_fini(&rig);
}

static void
on_down_close_ends_the_sessions_that_were_there_before(void **state)
{
	struct grace_reader reader = {0};
	struct server_state *s, *other;
	uint64_t before;
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 2, NULL, false);
	grace_register(rig.grace, &reader);
	s = rig.backend->servers[0]->state;
	other = rig.backend->servers[1]->state;
	rig_set_up(&rig, 0, false);
	assert_null(rig.model->state->ending); /* on_down is keep */
	rig_set_up(&rig, 0, true);
	rig.spec->on_down = ON_DOWN_CLOSE;

	/* Whoever is in a turn may be about to choose it. */
	grace_enter(rig.grace, &reader);
	before = present_number(&rig);
	rig_set_up(&rig, 0, false);
	assert_false(model_end_sessions(rig.model));
	assert_int_equal(server_end_of(s, before), SERVER_END_NONE);
	grace_leave(&reader);
	assert_true(model_end_sessions(rig.model));
	assert_null(rig.model->state->ending);
	assert_int_equal(server_end_of(s, before), SERVER_END_DOWN);
	assert_int_equal(server_end_of(other, before), SERVER_END_NONE);

	/* Maintenance counts as down, a drain does not. */
	rig_set_up(&rig, 0, true);
	before = present_number(&rig);
	server_set_admin(rig.backend->servers[0], SERVER_DRAIN, "test");
	model_update(rig.model);
	assert_null(rig.model->state->ending);
	server_set_admin(rig.backend->servers[0], SERVER_MAINT, "test");
	model_update(rig.model);
	assert_true(model_end_sessions(rig.model));
	assert_int_equal(server_end_of(s, before), SERVER_END_DOWN);
	grace_unregister(rig.grace, &reader);
	rig_fini(&rig);
}

static void
on_up_close_backup_ends_the_sessions_of_backups_alone(void **state)
{
	uint64_t before;
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 4, NULL, false);
	make_backups(&rig, 2);
	rig.spec->on_up = ON_UP_CLOSE_BACKUP;
	rig_set_up(&rig, 0, false);
	rig_set_up(&rig, 2, false);
	before = present_number(&rig);
	/* Not when it is a backup that comes up. */
	rig_set_up(&rig, 2, true);
	assert_null(rig.model->state->ending);
	rig_set_up(&rig, 0, true);
	assert_true(model_end_sessions(rig.model));
	for (unsigned i = 0; i < 4; i++) {
		const struct server *s = rig.backend->servers[i];

		assert_int_equal(server_end_of(s->state, before),
		    i >= 2 ? SERVER_END_UP : SERVER_END_NONE);
	}
	rig_fini(&rig);
}

static void
on_down_of_a_server_goes_before_that_of_its_backend(void **state)
{
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 3, NULL, false);
	rig.spec->servers[0]->on_down = optional_of(ON_DOWN_CLOSE);
	rig_set_up(&rig, 1, false);
	assert_null(rig.model->state->ending);
	rig_set_up(&rig, 0, false);
	assert_true(model_end_sessions(rig.model));
	assert_int_equal(
	    server_end_of(rig.backend->servers[0]->state, 1), SERVER_END_DOWN);
	assert_int_equal(
	    server_end_of(rig.backend->servers[1]->state, 1), SERVER_END_NONE);

	rig_set_up(&rig, 0, true);
	rig_set_up(&rig, 1, true);
	rig.spec->on_down = ON_DOWN_CLOSE;
	rig.spec->servers[0]->on_down = optional_of(ON_DOWN_KEEP);
	rig_set_up(&rig, 0, false);
	assert_null(rig.model->state->ending);
	rig_set_up(&rig, 1, false);
	assert_true(model_end_sessions(rig.model));
	rig_fini(&rig);
}

/* It is asked of whoever comes up, or serves again. */
static void
on_up_of_a_server_goes_before_that_of_its_backend(void **state)
{
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 3, NULL, false);
	make_backups(&rig, 2);
	rig.spec->servers[0]->on_up = optional_of(ON_UP_CLOSE_BACKUP);
	rig_set_up(&rig, 0, false);
	rig_set_up(&rig, 1, false);
	rig_set_up(&rig, 1, true);
	assert_null(rig.model->state->ending);
	rig_set_up(&rig, 0, true);
	assert_true(model_end_sessions(rig.model));
	assert_int_equal(
	    server_end_of(rig.backend->servers[2]->state, 1), SERVER_END_UP);

	/* Back from drains, which are not downs. */
	server_set_admin(rig.backend->servers[0], SERVER_DRAIN, "test");
	model_update(rig.model);
	server_set_admin(rig.backend->servers[1], SERVER_DRAIN, "test");
	model_update(rig.model);
	server_set_admin(rig.backend->servers[1], SERVER_READY, "test");
	model_update(rig.model);
	assert_null(rig.model->state->ending);
	server_set_admin(rig.backend->servers[1], SERVER_DRAIN, "test");
	model_update(rig.model);
	server_set_admin(rig.backend->servers[0], SERVER_READY, "test");
	model_update(rig.model);
	assert_true(model_end_sessions(rig.model));

	rig.spec->on_up = ON_UP_CLOSE_BACKUP;
	rig.spec->servers[0]->on_up = optional_of(ON_UP_KEEP);
	rig_set_up(&rig, 0, false);
	rig_set_up(&rig, 0, true);
	assert_null(rig.model->state->ending);
	rig_fini(&rig);
}

static void
a_backend_comes_up_whatever_was_cleared_meanwhile(void **state)
{
	struct backend_state *b;
	struct rig rig;

	stop_clock();
	rig_init(&rig, &balance_roundrobin, 1, NULL, false);
	b = rig.backend->state;
	assert_int_equal(b->down_ms, 0);
	rig_set_up(&rig, 0, false);
	model_clear_counters(rig.model, true);
	now_ms += 5000;
	rig_set_up(&rig, 0, true);
	assert_int_equal(b->down_ms, 5000);
	assert_int_equal(b->changed_ms, now_ms);
	assert_string_equal(events_at(events_count() - 1)->text,
	    "backend app has a usable server again");
	rig_fini(&rig);
	let_clock_go();
}

/* One that is freed while sessions are still to end. */
static void
a_model_may_go_while_sessions_are_to_end(void **state)
{
	struct rig rig;

	rig_init(&rig, &balance_roundrobin, 2, NULL, false);
	rig.spec->on_down = ON_DOWN_CLOSE;
	rig_set_up(&rig, 0, false);
	rig_set_up(&rig, 1, false);
	assert_non_null(rig.model->state->ending);
	rig_fini(&rig);
}

/* A table of hashes is more than the heap has at hand. */
static void
a_lineup_that_memory_was_short_for_is_made_later(void **state)
{
	struct rlimit before, none;
	struct server_state *s;
	struct rig rig;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	print_message("a sanitizer has memory of its own\n");
	skip();
#endif
	unit_skip_when_emulated("limit of memory (RLIMIT_AS)");
	(void)mallopt(M_MMAP_THRESHOLD, 64 * 1024);
	stop_clock();
	rig_init(&rig, &balance_hash, 2, NULL, false);
	s = rig.backend->servers[0]->state;
	rig.spec->on_down = ON_DOWN_CLOSE;
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	none = (struct rlimit){.rlim_cur = 1, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
	s->up = false;
	assert_int_equal(backend_rebuild(rig.backend), -ENOMEM);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	assert_int_equal(who_serves(&rig), 0x3);
	assert_true(s->alive);
	now_ms += 1000;
	assert_in_range(rig.model->state->next_step_ms, 1, now_ms);
	assert_int_equal(model_step(rig.model, now_ms), 0);
	assert_int_equal(who_serves(&rig), 0x2);
	assert_false(s->alive);
	rig_fini(&rig);
	let_clock_go();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    /* The first, while the heap is small. */
	    cmocka_unit_test(a_lineup_that_memory_was_short_for_is_made_later),
	    cmocka_unit_test(
	        a_backup_serves_only_while_no_other_server_is_usable),
	    cmocka_unit_test(
	        a_backup_serves_while_the_others_are_drained_or_have_no_weight),
	    cmocka_unit_test(
	        in_a_panic_all_are_tried_that_operators_want_to_serve),
	    cmocka_unit_test(there_is_no_panic_while_a_backup_is_usable),
	    cmocka_unit_test(
	        slow_start_ramps_weight_and_maxconn_in_steps_within_2_percent),
	    cmocka_unit_test(many_slow_starts_make_few_lineups),
	    cmocka_unit_test(
	        slow_start_of_one_among_equals_of_weight_1_is_exact),
	    cmocka_unit_test(slow_start_of_every_algorithm_gives_a_part),
	    cmocka_unit_test(
	        slow_start_is_for_those_that_come_up_and_not_for_the_start),
	    cmocka_unit_test(slow_start_goes_on_by_itself),
	    cmocka_unit_test(many_servers_do_not_make_a_cycle_without_bounds),
	    cmocka_unit_test(
	        on_down_close_ends_the_sessions_that_were_there_before),
	    cmocka_unit_test(
	        on_down_close_spares_the_sessions_that_come_after_a_short_outage),
	    cmocka_unit_test(
	        on_down_close_spares_the_sessions_that_are_tried_in_a_panic),
	    cmocka_unit_test(
	        on_up_close_backup_ends_the_sessions_of_backups_alone),
	    cmocka_unit_test(
	        on_down_of_a_server_goes_before_that_of_its_backend),
	    cmocka_unit_test(on_up_of_a_server_goes_before_that_of_its_backend),
	    cmocka_unit_test(a_backend_comes_up_whatever_was_cleared_meanwhile),
	    cmocka_unit_test(a_model_may_go_while_sessions_are_to_end),
	};

	unit_watchdog();
	counters_set_stripes(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
