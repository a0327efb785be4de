/* SPDX-License-Identifier: MIT
 * The connect check, and the schedule, over real sockets.
 */
#include "check/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static void
check_of_a_listener_is_l4ok(void **state)
{
	struct fixture *f = *state;

	peer_listen(f, NULL);
	start_checks(f, CHECK_CONNECT, 1000);
	run_until_checked(f);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L4OK);
	assert_true(f->server->state->last.passed);
	assert_string_equal(f->server->state->last.text, "");
}

static void
check_of_a_closed_port_is_l4con_with_the_reason(void **state)
{
	struct fixture *f = *state;

	peer_listen(f, NULL);
	peer_shut(f);
	start_checks(f, CHECK_CONNECT, 1000);
	run_until_checked(f);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L4CON);
	assert_false(f->server->state->last.passed);
	assert_string_equal(f->server->state->last.text, "Connection refused");
}

static void
check_of_a_unix_socket_is_l4ok_and_without_its_file_l4con(void **state)
{
	struct fixture *f = *state;
	char dir[] = "/tmp/lfproxy-check-XXXXXX", path[64];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s", dir);
	peer_listen(f, path);
	start_checks(f, CHECK_CONNECT, 1000);
	run_until_checked(f);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L4OK);

	assert_int_equal(unlink(path), 0);
	f->server->state->last.status = CHECK_STATUS_INI;
	run_until_checked(f);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L4CON);
	rmdir(dir);
}

static void
check_without_an_answer_is_l4tout_within_the_timeout(void **state)
{
	struct fixture *f = *state;

	peer_listen_full(f);
	start_checks(f, CHECK_CONNECT, 100);
	run_until_checked(f);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L4TOUT);
	assert_in_range(
	    f->server->state->last.duration_ms, 90, UNIT_DEADLINE_S * 1000u);
}

static bool
is_down(struct fixture *f)
{
	return !f->server->state->up;
}

static bool
is_up(struct fixture *f)
{
	return f->server->state->up;
}

static void
server_goes_down_after_fall_and_up_after_rise(void **state)
{
	struct fixture *f = *state;

	peer_listen(f, NULL);
	start_checks(f, CHECK_CONNECT, 1000);
	run_until_checked(f);
	assert_true(f->server->state->up);

	peer_shut(f);
	run_until(f, is_down);
	assert_int_equal(f->server->state->checks_failed, 3);
	assert_int_equal(f->server->state->times_down, 1);
	assert_int_equal(f->model->backends[0]->state->usable, 0);

	f->peer.accepted = f->peer.closed = 0;
	peer_again(f);
	run_until(f, is_up);
	assert_int_equal(f->model->backends[0]->state->usable, 1);
	assert_in_range(f->peer.accepted, 1, 2);
}

static bool
accepted_ten(struct fixture *f)
{
	return f->peer.accepted >= 10;
}

/* Ten checks are nine intervals of 20 ms, each at least 18.  The best of ten
 * tries is not much longer: a machine that stalls delays some. */
static void
checks_keep_their_interval(void **state)
{
	struct fixture *f = *state;
	uint64_t before_ms, took_ms, best_ms = UINT64_MAX;

	peer_listen(f, NULL);
	start_checks(f, CHECK_CONNECT, 1000);
	for (int i = 0; i < 10 && best_ms > 9 * 22 + 200; i++) {
		f->peer.accepted = 0;
		before_ms = unit_now_ms();
		run_until(f, accepted_ten);
		took_ms = unit_now_ms() - before_ms;
		assert_true(took_ms >= 9 * 18 - 5);
		best_ms = took_ms < best_ms ? took_ms : best_ms;
	}
	assert_true(best_ms <= 9 * 22 + 200);
}

static void
ended_checks_leave_no_descriptor(void **state)
{
	struct fixture *f = *state;
	size_t before;

	peer_listen(f, NULL);
	start_checks(f, CHECK_CONNECT, 1000);
	run_until_checked(f);
	before = open_descriptors();
	run_until(f, accepted_ten);
	assert_true(open_descriptors() <= before + 2);
}

/* With a limit of 0 nothing can be opened; what is open stays.  The checks
 * begin on the loop, when curl has opened what it needs. */
static void
without_descriptors(struct fixture *f, enum check_kind kind)
{
	struct rlimit all, none;

	f->peer.reply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	peer_listen(f, NULL);
	ev_run(f->loop, EVRUN_NOWAIT); /* libev opens what it needs */
	start_checks(f, kind, 1000);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	none = all;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (double end = ev_time() + 0.2; ev_time() < end;)
		ev_run(f->loop, EVRUN_ONCE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	assert_true(f->server->state->up);
	assert_int_equal(f->server->state->checks_failed, 0);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_INI);
	run_until_checked(f);
	assert_true(f->server->state->last.passed);
}

static void
lack_of_descriptors_is_no_result_of_a_connect_check(void **state)
{
	without_descriptors(*state, CHECK_CONNECT);
}

static void
lack_of_descriptors_is_no_result_of_an_http_check(void **state)
{
	without_descriptors(*state, CHECK_HTTP);
}

static void
checker_without_checks_does_nothing(void **state)
{
	struct fixture *f = *state;

	peer_listen(f, NULL);
	start_checks(f, CHECK_OFF, 1000);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_NONE);
	ev_run(f->loop, EVRUN_NOWAIT);
	assert_int_equal(f->peer.accepted, 0);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(check_of_a_listener_is_l4ok),
	    TEST(check_of_a_closed_port_is_l4con_with_the_reason),
	    TEST(check_of_a_unix_socket_is_l4ok_and_without_its_file_l4con),
	    TEST(check_without_an_answer_is_l4tout_within_the_timeout),
	    TEST(server_goes_down_after_fall_and_up_after_rise),
	    TEST(checks_keep_their_interval),
	    TEST(ended_checks_leave_no_descriptor),
	    TEST(lack_of_descriptors_is_no_result_of_a_connect_check),
	    TEST(lack_of_descriptors_is_no_result_of_an_http_check),
	    TEST(checker_without_checks_does_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
