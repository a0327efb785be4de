/* SPDX-License-Identifier: MIT
 * What failures of sessions do to a server, and the budget of retries.
 */
#include "model/passive.h"

#include <errno.h>

#include "base/events.h"
#include "model/ejection.h"
#include "model/server_change.h"
#include "model/server_operator.h"
#include "rig.h"
#include "stopped_clock.h"

static unsigned notices;

static void
count_notice(void *arg)
{
	(void)arg;
	notices++;
}

static void
begin(struct rig *rig, unsigned servers_n)
{
	/* The limit of one event a second is by it, too. */
	stop_clock();
	notices = 0;
	rig_init(rig, &balance_roundrobin, servers_n, NULL, false);
	rig->model->state->notify = count_notice;
	for (unsigned i = 0; i < servers_n; i++) {
		rig->backend->servers[i]->check.fall = 3;
		rig->backend->servers[i]->check.rise = 2;
	}
	rig->spec->error_limit = 10;
	rig->spec->eject_time_ms = 1000;
	rig->spec->eject_time_max_ms = 5000;
	rig->spec->eject_max_percent = 100;
}

/* As many failures of the server; what the control thread then does. */
static bool
fail_times(struct rig *rig, unsigned server, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		server_note_failure(rig->backend->servers[server],
		    FAILURE_CONNECT, ECONNREFUSED);
	bool soon = server_review(rig->backend->servers[server], now_ms);

	model_update(rig->model);
	return soon;
}

static struct passive *
passive_of(struct rig *rig, unsigned server)
{
	return &rig->backend->servers[server]->state->passive;
}

static bool
usable(struct rig *rig, unsigned server)
{
	bool is = server_is_usable(rig->backend->servers[server]);
	const struct lineup *l = rig->backend->state->lineup;

	assert_int_equal(is, l->places[server] != PLACE_NONE);
	return is;
}

/* Of backups, usable is not yet chosen from. */
static bool
serves(struct rig *rig, unsigned server)
{
	return rig->backend->state->lineup->places[server] != PLACE_NONE;
}

static void
check(struct rig *rig, unsigned server, bool passed)
{
	struct check_result r = {.passed = passed,
	    .status = passed ? CHECK_STATUS_L4OK : CHECK_STATUS_L4CON};

	server_report_check(rig->backend->servers[server], &r);
	model_update(rig->model);
}

static void
so_many_failures_in_a_row_eject(void **state)
{
	struct rig rig;

	begin(&rig, 3);
	rig.spec->eject_after = 5;
	fail_times(&rig, 1, 4);
	assert_int_equal(notices, 0);
	assert_true(usable(&rig, 1));
	/* An answer, and it begins anew. */
	passive_note_answer(passive_of(&rig, 1));
	fail_times(&rig, 1, 4);
	assert_int_equal(notices, 0);
	assert_true(usable(&rig, 1));
	fail_times(&rig, 1, 1);
	assert_int_equal(notices, 1);
	assert_false(usable(&rig, 1));
	assert_true(usable(&rig, 0) && usable(&rig, 2));
	assert_int_equal(rig.backend->state->usable, 2);
	assert_string_equal(events_at(events_count() - 1)->text,
	    "server app/s1 is ejected for 1s: 5 failures in a row, the last: "
	    "Connection refused; 2 of 3 servers usable");
	assert_int_equal(
	    events_at(events_count() - 1)->kind, EVENT_SERVER_EJECTED);
	rig_fini(&rig);
}

static void
many_failures_are_one_notice(void **state)
{
	struct rig rig;

	begin(&rig, 2);
	rig.spec->eject_after = 1;
	fail_times(&rig, 0, 1000);
	assert_int_equal(notices, 1);
	assert_false(usable(&rig, 0));
	assert_int_equal(passive_of(&rig, 0)->times_ejected, 1);
	rig_fini(&rig);
}

/* How long the server is out, from now on, to the millisecond. */
static uint64_t
time_out(struct rig *rig, unsigned server)
{
	uint64_t from_ms = now_ms, until_ms;

	fail_times(rig, server, 1);
	assert_false(usable(rig, server));
	until_ms = backend_readmit(rig->backend, now_ms);
	model_update(rig->model);
	now_ms = until_ms - 1;
	assert_int_equal(backend_readmit(rig->backend, now_ms), until_ms);
	model_update(rig->model);
	assert_false(usable(rig, server));
	now_ms = until_ms;
	assert_int_equal(backend_readmit(rig->backend, now_ms), UINT64_MAX);
	model_update(rig->model);
	assert_true(usable(rig, server));
	return until_ms - from_ms;
}

static void
each_ejection_is_twice_as_long_up_to_the_cap_and_health_decays_it(void **state)
{
	struct rig rig;

	begin(&rig, 2);
	rig.spec->eject_after = 1;
	assert_int_equal(time_out(&rig, 0), 1000);
	assert_int_equal(time_out(&rig, 0), 2000);
	assert_int_equal(time_out(&rig, 0), 4000);
	assert_int_equal(time_out(&rig, 0), 5000);
	assert_int_equal(time_out(&rig, 0), 5000);
	/* The fifth was at level 5; three eject_times later it is at 2, and the
	 * next one at 3. */
	now_ms += 3999;
	assert_int_equal(time_out(&rig, 0), 4000);
	/* One of its own. */
	assert_int_equal(time_out(&rig, 1), 1000);
	now_ms += 100000;
	assert_int_equal(time_out(&rig, 0), 1000);
	assert_int_equal(passive_of(&rig, 0)->times_ejected, 7);
	rig_fini(&rig);
}

static void
the_share_is_capped_one_always_may_and_never_the_last(void **state)
{
	struct rig rig;
	unsigned out = 0;

	begin(&rig, 10);
	rig.spec->eject_after = 1;
	rig.spec->eject_max_percent = 30;
	for (unsigned i = 0; i < 10; i++) {
		fail_times(&rig, i, 1);
		out += !usable(&rig, i);
		assert_int_equal(out, i < 3 ? i + 1 : 3);
	}
	rig_fini(&rig);

	begin(&rig, 3);
	rig.spec->eject_after = 1;
	rig.spec->eject_max_percent = 1;
	fail_times(&rig, 0, 1);
	fail_times(&rig, 1, 1);
	assert_false(usable(&rig, 0));
	assert_true(usable(&rig, 1));
	rig_fini(&rig);

	begin(&rig, 3);
	rig.spec->eject_after = 1;
	for (unsigned i = 0; i < 3; i++)
		fail_times(&rig, i, 1);
	assert_false(usable(&rig, 0) || usable(&rig, 1));
	assert_true(usable(&rig, 2));
	rig_fini(&rig);
}

static void
when_the_last_one_goes_the_ejected_come_back(void **state)
{
	struct rig rig;

	begin(&rig, 3);
	rig.spec->eject_after = 1;
	fail_times(&rig, 0, 1);
	fail_times(&rig, 1, 1);
	for (unsigned i = 0; i < 3; i++)
		check(&rig, 2, false);
	assert_false(usable(&rig, 2));
	assert_true(usable(&rig, 0) && usable(&rig, 1));
	assert_int_equal(rig.backend->state->times_down, 0);
	rig_fini(&rig);
}

static void
as_many_checks_as_rise_bring_it_back(void **state)
{
	struct check_result early = {
	    .passed = true, .status = CHECK_STATUS_L4OK, .duration_ms = 100};
	struct rig rig;

	begin(&rig, 2);
	rig.spec->eject_after = 1;
	fail_times(&rig, 0, 1);
	now_ms += 99;
	/* Began before. */
	server_report_check(rig.backend->servers[0], &early);
	model_update(rig.model);
	check(&rig, 0, true);
	assert_false(usable(&rig, 0));
	check(&rig, 0, true);
	assert_true(usable(&rig, 0));
	rig_fini(&rig);
}

static void
back_from_an_ejection_a_slow_start_begins_anew(void **state)
{
	const struct server *s;
	struct rig rig;

	begin(&rig, 2);
	s = rig.backend->servers[0];
	rig.spec->eject_after = 1;
	rig.spec->slow_start_ms = 10000;
	assert_int_equal(server_throttle(s), 100);
	fail_times(&rig, 0, 1);
	assert_false(usable(&rig, 0));
	now_ms += 1000;
	backend_readmit(rig.backend, now_ms);
	model_update(rig.model);
	assert_true(usable(&rig, 0));
	assert_int_equal(server_throttle(s), 2);
	now_ms += 5000;
	assert_int_equal(server_throttle(s), 52);
	/* The only one left is not held back. */
	fail_times(&rig, 0, 1);
	assert_false(usable(&rig, 0));
	now_ms += 10000;
	rig_set_up(&rig, 1, false);
	assert_true(usable(&rig, 0));
	assert_int_equal(server_throttle(s), 100);
	rig_fini(&rig);
}

static const char *
last_event(void)
{
	return events_at(events_count() - 1)->text;
}

static void
an_operator_ends_an_ejection_and_what_is_remembered_of_it(void **state)
{
	struct server *s;
	struct rig rig;

	begin(&rig, 3);
	s = rig.backend->servers[0];
	rig.spec->eject_after = 1;
	rig.spec->slow_start_ms = 10000;
	assert_int_equal(time_out(&rig, 0), 1000);
	assert_int_equal(time_out(&rig, 0), 2000);
	fail_times(&rig, 0, 1);
	assert_false(usable(&rig, 0));
	operator_set_health(s, OPERATOR_STOPPING);
	model_update(s->backend->model);
	operator_set_health(s, OPERATOR_DOWN);
	model_update(s->backend->model);
	assert_true(passive_of(&rig, 0)->ejected);
	operator_set_health(s, OPERATOR_UP);
	model_update(s->backend->model);
	assert_true(usable(&rig, 0));
	assert_int_equal(server_throttle(s), 2);
	assert_string_equal(last_event(),
	    "server app/s0 is not ejected any more: by operator; "
	    "3 of 3 servers usable");
	assert_int_equal(time_out(&rig, 0), 1000);
	/* Also when it is in; and an ejection that nobody ended is no news. */
	operator_set_health(s, OPERATOR_UP);
	model_update(s->backend->model);
	assert_int_equal(time_out(&rig, 0), 1000);
	rig_fini(&rig);
}

static void
a_server_comes_back_from_maintenance_without_its_ejection(void **state)
{
	struct server *s;
	struct rig rig;

	begin(&rig, 2);
	s = rig.backend->servers[0];
	rig.spec->eject_after = 1;
	fail_times(&rig, 0, 1);
	/* A drain is about new sessions, of which it has none. */
	operator_set_admin(s, SERVER_DRAIN);
	model_update(s->backend->model);
	operator_set_admin(s, SERVER_READY);
	model_update(s->backend->model);
	assert_false(usable(&rig, 0));
	operator_set_admin(s, SERVER_MAINT);
	model_update(s->backend->model);
	operator_set_health(s, OPERATOR_UP);
	model_update(s->backend->model);
	assert_true(passive_of(&rig, 0)->ejected);
	operator_set_admin(s, SERVER_READY);
	model_update(s->backend->model);
	assert_true(usable(&rig, 0));
	assert_string_equal(last_event(),
	    "server app/s0 is not ejected any more: by operator; "
	    "2 of 2 servers usable");
	rig_fini(&rig);
}

static void
at_another_address_failures_begin_anew(void **state)
{
	struct server *s;
	struct addr addr;
	struct rig rig;

	begin(&rig, 2);
	assert_true(addr_parse("10.0.0.9:80", ADDR_CONNECT, &addr, NULL));
	s = rig.backend->servers[0];
	rig.spec->eject_after = 2;
	fail_times(&rig, 0, 2);
	assert_false(usable(&rig, 0));
	assert_true(operator_set_addr(s, &addr));
	model_update(s->backend->model);
	assert_true(usable(&rig, 0));
	assert_string_equal(last_event(), "server app/s0 is not ejected any "
	                                  "more: it is at another address; 2 "
	                                  "of 2 servers usable");
	fail_times(&rig, 0, 1);
	addr_set_port(&addr, 81);
	assert_true(operator_set_addr(s, &addr));
	model_update(s->backend->model);
	fail_times(&rig, 0, 1);
	assert_true(usable(&rig, 0));
	fail_times(&rig, 0, 1);
	assert_false(usable(&rig, 0));
	rig_fini(&rig);
}

static void
an_ejection_ends_when_the_name_comes_back_with_another_address(void **state)
{
	char host[] = "a.test";
	struct server *s;
	struct addr addr;
	struct rig rig;

	begin(&rig, 2);
	assert_true(addr_parse("10.0.0.9:80", ADDR_CONNECT, &addr, NULL));
	s = rig.backend->servers[0];
	rig.spec->servers[0]->host = host;
	rig.spec->eject_after = 1;
	assert_true(server_resolve(s, &addr));
	model_update(s->backend->model);
	fail_times(&rig, 0, 1);
	assert_true(passive_of(&rig, 0)->ejected);
	/* At the former address the server is as it was. */
	assert_true(server_lapse(s));
	assert_true(server_resolve(s, &addr));
	assert_true(passive_of(&rig, 0)->ejected);
	assert_true(server_lapse(s));
	assert_true(addr_parse("10.0.0.10:80", ADDR_CONNECT, &addr, NULL));
	assert_true(server_resolve(s, &addr));
	server_mark_changed(s);
	model_update(s->backend->model);
	assert_false(passive_of(&rig, 0)->ejected);
	assert_true(usable(&rig, 0));
	assert_string_equal(last_event(), "server app/s0 is not ejected any "
	                                  "more: it is at another address; 2 "
	                                  "of 2 servers usable");
	rig.spec->servers[0]->host = NULL;
	rig_fini(&rig);
}

static void
an_operator_ends_the_ejection_of_one_that_tracks(void **state)
{
	struct rig rig;

	begin(&rig, 3);
	rig.spec->eject_after = 1;
	server_track(rig.backend->servers[1], rig.backend->servers[0]);
	fail_times(&rig, 1, 1);
	assert_false(usable(&rig, 1));
	operator_set_health(rig.backend->servers[1], OPERATOR_UP);
	model_update(rig.model);
	assert_true(usable(&rig, 1));
	rig_fini(&rig);
}

static enum server_end
end_of(const struct rig *rig, unsigned server)
{
	const struct server_state *s = rig->backend->servers[server]->state;

	return (enum server_end)(s->ending & ((1u << SERVER_END_BITS) - 1));
}

/* Ejection is about new sessions: those that a server has are as well as they
 * are.  But a backup's are needed no more when the others serve again. */
static void
ejection_ends_no_sessions_and_its_end_those_of_backups(void **state)
{
	struct rig rig;

	begin(&rig, 2);
	rig.spec->eject_after = 1;
	rig.spec->on_down = ON_DOWN_CLOSE;
	rig.spec->on_up = ON_UP_CLOSE_BACKUP;
	rig.spec->servers[1]->backup = true;
	assert_int_equal(backend_rebuild(rig.backend), 0);
	assert_false(serves(&rig, 1));
	fail_times(&rig, 0, 1);
	assert_false(serves(&rig, 0));
	assert_true(serves(&rig, 1));
	assert_int_equal(end_of(&rig, 0), SERVER_END_NONE);
	assert_int_equal(end_of(&rig, 1), SERVER_END_NONE);
	now_ms += 1000;
	backend_readmit(rig.backend, now_ms);
	model_update(rig.model);
	assert_true(serves(&rig, 0));
	assert_false(serves(&rig, 1));
	assert_int_equal(end_of(&rig, 0), SERVER_END_NONE);
	assert_int_equal(end_of(&rig, 1), SERVER_END_UP);
	model_end_sessions(rig.model);
	/* A drain as well. */
	server_set_admin(rig.backend->servers[0], SERVER_DRAIN, "a test");
	model_update(rig.model);
	assert_true(serves(&rig, 1));
	server_set_admin(rig.backend->servers[0], SERVER_READY, "a test");
	model_update(rig.model);
	assert_int_equal(end_of(&rig, 1), SERVER_END_UP);
	rig_fini(&rig);
}

/* Goes on with the ejection of a former process. */
static void
restore(struct rig *rig, unsigned server, const struct passive *former)
{
	ejection_restore(rig->backend->servers[server], former);
	model_update(rig->model);
}

static void
a_former_process_s_ejection_ends_when_it_was_to_and_counts(void **state)
{
	struct passive former = {.ejected = true, .level = 2};
	struct rig rig;

	begin(&rig, 3);
	former.ejected_ms = now_ms - 500;
	former.until_ms = now_ms + 1500;
	restore(&rig, 0, &former);
	assert_true(usable(&rig, 0));
	rig.spec->eject_after = 1;
	restore(&rig, 0, &former);
	assert_false(usable(&rig, 0));
	assert_int_equal(backend_readmit(rig.backend, now_ms), now_ms + 1500);
	now_ms += 1500;
	backend_readmit(rig.backend, now_ms);
	model_update(rig.model);
	assert_true(usable(&rig, 0));
	assert_int_equal(time_out(&rig, 0), 4000);
	/* The file bounds it. */
	former.until_ms = now_ms + 60000;
	restore(&rig, 1, &former);
	assert_int_equal(backend_readmit(rig.backend, now_ms), now_ms + 5000);
	/* An ejection that has ended meanwhile lengthens the next one. */
	former.until_ms = now_ms - 1;
	restore(&rig, 2, &former);
	assert_true(usable(&rig, 2));
	assert_int_equal(passive_of(&rig, 2)->level, 2);
	assert_int_equal(passive_of(&rig, 2)->back_ms, now_ms - 1);
	rig_fini(&rig);
}

static void
ejections_of_a_former_process_leave_a_usable_server(void **state)
{
	struct passive former = {.ejected = true, .level = 1};
	struct rig rig;

	begin(&rig, 2);
	former.ejected_ms = now_ms;
	former.until_ms = now_ms + 1000;
	rig.spec->eject_after = 1;
	for (unsigned i = 0; i < 2; i++)
		ejection_restore(rig.backend->servers[i], &former);
	model_update(rig.model);
	assert_true(usable(&rig, 0) && usable(&rig, 1));
	rig_fini(&rig);
}

/* Too few are usable, whatever the reason: all are tried. */
static void
in_a_panic_ejected_servers_serve(void **state)
{
	struct rig rig;

	begin(&rig, 4);
	rig.spec->eject_after = 1;
	rig.spec->panic_percent = 50;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(rig.backend->state->lineup->servers_n, 4 - i);
		fail_times(&rig, i, 1);
	}
	assert_true(rig.backend->state->panic);
	assert_int_equal(rig.backend->state->lineup->servers_n, 4);
	/* There it fails as before, and is no further out. */
	fail_times(&rig, 0, 5);
	assert_int_equal(passive_of(&rig, 0)->times_ejected, 1);
	now_ms += 1000;
	backend_readmit(rig.backend, now_ms);
	model_update(rig.model);
	assert_false(rig.backend->state->panic);
	for (unsigned i = 0; i < 4; i++)
		assert_true(usable(&rig, i));
	rig_fini(&rig);
}

/* What sessions find out is about their own way; who tracks a server goes by
 * its checks and by what people say. */
static void
an_ejection_is_not_tracked_but_what_observe_finds_is(void **state)
{
	struct rig rig;
	struct server *tracker;

	begin(&rig, 3);
	rig.spec->eject_after = 2;
	rig.spec->observe = OBSERVE_CONNECT;
	rig.spec->on_error = ON_ERROR_MARK_DOWN;
	rig.backend->servers[0]->check.on = true;
	tracker = rig.backend->servers[1];
	tracker->check.on = false;
	server_track(tracker, rig.backend->servers[0]);
	fail_times(&rig, 0, 2);
	assert_false(usable(&rig, 0));
	assert_true(usable(&rig, 1));
	/* The tracker itself can be, and comes back by time. */
	now_ms += 1000;
	backend_readmit(rig.backend, now_ms);
	model_update(rig.model);
	fail_times(&rig, 1, 2);
	assert_true(usable(&rig, 0));
	assert_false(usable(&rig, 1));
	now_ms += 1000;
	backend_readmit(rig.backend, now_ms);
	model_update(rig.model);
	assert_true(usable(&rig, 1));
	fail_times(&rig, 0, 10);
	assert_false(server_is_up(rig.backend->servers[0]));
	assert_false(usable(&rig, 1));
	rig_fini(&rig);
}

static void
a_reload_without_ejection_brings_it_back(void **state)
{
	struct rig rig;

	begin(&rig, 2);
	rig.spec->eject_after = 1;
	fail_times(&rig, 0, 1);
	server_settle(rig.backend->servers[0]);
	assert_false(server_is_usable(rig.backend->servers[0]));
	rig.spec->eject_after = 0;
	/* The lineup is made before that. */
	assert_int_equal(backend_rebuild(rig.backend), 0);
	assert_true(usable(&rig, 0));
	server_settle(rig.backend->servers[0]);
	rig.spec->eject_after = 1;
	assert_true(server_is_usable(rig.backend->servers[0]));
	rig_fini(&rig);
}

static void
observe_acts_after_error_limit(void **state)
{
	static const struct {
		enum on_error on_error;
		unsigned streak; /* after it happened once */
		bool up;
	} cases[] = {
	    {ON_ERROR_FAST_CHECK, 0, true},
	    {ON_ERROR_FAIL_CHECK, 1, true},
	    {ON_ERROR_SUDDEN_DEATH, 2, true},
	    {ON_ERROR_MARK_DOWN, 0, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct server_state *s;
		struct rig rig;

		begin(&rig, 2);
		rig.spec->observe = OBSERVE_CONNECT;
		rig.spec->on_error = cases[i].on_error;
		s = rig.backend->servers[0]->state;
		assert_false(fail_times(&rig, 0, 9));
		assert_int_equal(s->passive.times_observed, 0);
		assert_true(fail_times(&rig, 0, 1));
		assert_int_equal(s->passive.times_observed, 1);
		assert_int_equal(s->streak, cases[i].streak);
		assert_int_equal(s->up, cases[i].up);
		assert_int_equal(usable(&rig, 0), cases[i].up);
		assert_int_equal(
		    s->last.status, cases[i].on_error == ON_ERROR_FAST_CHECK
		                        ? CHECK_STATUS_INI
		                        : CHECK_STATUS_HANA);
		/* The count begins anew. */
		assert_false(fail_times(&rig, 0, 9));
		rig_fini(&rig);
	}
}

/* Its time would be 0, among those of checks. */
static void
what_sessions_find_is_no_check_that_took_a_time(void **state)
{
	struct histogram times;
	struct rig rig;

	begin(&rig, 2);
	rig.spec->observe = OBSERVE_CONNECT;
	rig.spec->on_error = ON_ERROR_FAIL_CHECK;
	check(&rig, 0, true);
	fail_times(&rig, 0, 10);
	assert_int_equal(
	    rig.backend->servers[0]->state->last.status, CHECK_STATUS_HANA);
	timings_read(rig.backend->state->timings, TIMING_CHECK, &times);
	assert_int_equal(histogram_count(&times), 1);
	rig_fini(&rig);
}

static void
failed_checks_and_failures_add_up(void **state)
{
	struct rig rig;

	begin(&rig, 2);
	rig.spec->observe = OBSERVE_CONNECT;
	rig.spec->on_error = ON_ERROR_FAIL_CHECK;
	check(&rig, 0, false);
	fail_times(&rig, 0, 10);
	assert_true(usable(&rig, 0));
	check(&rig, 0, false);
	assert_false(usable(&rig, 0));
	assert_int_equal(rig.backend->servers[0]->state->checks_failed, 3);
	assert_int_equal(rig.backend->servers[0]->state->times_down, 1);
	rig_fini(&rig);
}

static void
sudden_death_is_exact_for_every_fall(void **state)
{
	struct rig rig;

	for (unsigned fall = 1; fall <= 5; fall++) {
		begin(&rig, 2);
		rig.backend->servers[0]->check.fall = fall;
		rig.spec->observe = OBSERVE_CONNECT;
		rig.spec->on_error = ON_ERROR_SUDDEN_DEATH;
		fail_times(&rig, 0, 10);
		assert_int_equal(usable(&rig, 0), fall > 1);
		check(&rig, 0, false);
		assert_false(usable(&rig, 0));
		rig_fini(&rig);
	}
}

static unsigned
retries_begun(struct rig *rig)
{
	unsigned n = 0;

	while (n < 10000 && backend_begin_retry(rig->backend))
		n++;
	for (unsigned i = 0; i < n; i++)
		backend_end_retry(rig->backend);
	assert_int_equal(rig->backend->state->retries.now, 0);
	return n;
}

static void
the_budget_is_a_share_of_the_sessions_or_the_minimum(void **state)
{
	static const struct {
		unsigned sessions, percent, min, allowed;
	} cases[] = {{0, 20, 0, 0}, {4, 20, 0, 0}, {5, 20, 0, 1},
	    {100, 20, 0, 20}, {104, 20, 0, 20}, {100, 20, 20, 20},
	    {100, 20, 21, 21}, {0, 20, 7, 7}, {1000, 0, 0, 0}, {1000, 0, 3, 3},
	    {1000, 100, 3, 1000}, {1, 100, 0, 1}};
	struct rig rig;

	begin(&rig, 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rig.spec->retry_budget = cases[i].percent;
		rig.spec->retry_budget_min = cases[i].min;
		rig.backend->state->sessions.now = cases[i].sessions;
		assert_int_equal(retries_begun(&rig), cases[i].allowed);
	}
	/* One that ends makes room for one. */
	rig.spec->retry_budget_min = 2;
	rig.spec->retry_budget = 0;
	assert_true(backend_begin_retry(rig.backend));
	assert_true(backend_begin_retry(rig.backend));
	assert_false(backend_begin_retry(rig.backend));
	backend_end_retry(rig.backend);
	assert_true(backend_begin_retry(rig.backend));
	assert_false(backend_begin_retry(rig.backend));
	rig_fini(&rig);
}

static struct rig shared;

static void *
retry_many(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < 50000; i++)
		if (backend_begin_retry(shared.backend)) {
			assert_true(
			    atomic_load_relaxed(
			        &shared.backend->state->retries.now) <= 3);
			backend_end_retry(shared.backend);
		}
	return NULL;
}

static void
threads_never_exceed_the_budget(void **state)
{
	pthread_t threads[8];

	begin(&shared, 1);
	shared.spec->retry_budget_min = 3;
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, retry_many, NULL), 0);
	for (unsigned i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(shared.backend->state->retries.now, 0);
	assert_true(shared.backend->state->retries.peak <= 3);
	rig_fini(&shared);
}

/* Failures from many threads: the one that reaches the limit is told of. */
static void *
fail_many(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < 50000; i++)
		server_note_failure(
		    shared.backend->servers[0], FAILURE_RESET, 0);
	return NULL;
}

static void
failures_of_threads_are_counted_exactly(void **state)
{
	pthread_t threads[8];

	begin(&shared, 2);
	shared.model->state->notify = NULL;
	shared.spec->eject_after = 8 * 50000;
	shared.spec->eject_on = EJECT_ON_RESET;
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, fail_many, NULL), 0);
	for (unsigned i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	server_review(shared.backend->servers[0], now_ms);
	model_update(shared.backend->servers[0]->backend->model);
	assert_false(usable(&shared, 0));
	rig_fini(&shared);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(so_many_failures_in_a_row_eject),
	    cmocka_unit_test(many_failures_are_one_notice),
	    cmocka_unit_test(
	        each_ejection_is_twice_as_long_up_to_the_cap_and_health_decays_it),
	    cmocka_unit_test(
	        the_share_is_capped_one_always_may_and_never_the_last),
	    cmocka_unit_test(when_the_last_one_goes_the_ejected_come_back),
	    cmocka_unit_test(as_many_checks_as_rise_bring_it_back),
	    cmocka_unit_test(back_from_an_ejection_a_slow_start_begins_anew),
	    cmocka_unit_test(
	        an_operator_ends_an_ejection_and_what_is_remembered_of_it),
	    cmocka_unit_test(
	        a_server_comes_back_from_maintenance_without_its_ejection),
	    cmocka_unit_test(at_another_address_failures_begin_anew),
	    cmocka_unit_test(
	        an_ejection_ends_when_the_name_comes_back_with_another_address),
	    cmocka_unit_test(an_operator_ends_the_ejection_of_one_that_tracks),
	    cmocka_unit_test(
	        ejection_ends_no_sessions_and_its_end_those_of_backups),
	    cmocka_unit_test(
	        a_former_process_s_ejection_ends_when_it_was_to_and_counts),
	    cmocka_unit_test(
	        ejections_of_a_former_process_leave_a_usable_server),
	    cmocka_unit_test(in_a_panic_ejected_servers_serve),
	    cmocka_unit_test(
	        an_ejection_is_not_tracked_but_what_observe_finds_is),
	    cmocka_unit_test(a_reload_without_ejection_brings_it_back),
	    cmocka_unit_test(observe_acts_after_error_limit),
	    cmocka_unit_test(what_sessions_find_is_no_check_that_took_a_time),
	    cmocka_unit_test(failed_checks_and_failures_add_up),
	    cmocka_unit_test(sudden_death_is_exact_for_every_fall),
	    cmocka_unit_test(
	        the_budget_is_a_share_of_the_sessions_or_the_minimum),
	    cmocka_unit_test(threads_never_exceed_the_budget),
	    cmocka_unit_test(failures_of_threads_are_counted_exactly),
	};

	unit_watchdog();
	counters_set_stripes(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
