/* SPDX-License-Identifier: MIT
 * The relay between two pairs of sockets, where the kernel or the clock has to
 * do something that it does not do to order.
 */
#include "proxy/accesslog.h"
#include "proxy/session_deadline.h"
#include "relay_stage.h"

static void
expect_wait(struct verdict v)
{
	if (v.step == STEP_RELAY)
		v = relay_step(stage.session, &stage.self);
	assert_int_equal(v.step, STEP_WAIT);
}

static uint64_t
deadline(void)
{
	return stage.proxy.deadlines[stage.session->index];
}

/* So much waits for the client. */
static void
keep(const char *text)
{
	struct pending *pending = pending_take(&stage.proxy.pending_pool);

	pending->from = 0;
	pending->to = (uint32_t)strlen(text);
	memcpy(pending->data, text, pending->to);
	stage.session->pending[HANDLE_CLIENT].buffer = pending;
}

static void
expect(enum handle_side side, const char *wanted)
{
	char got[64] = "";

	assert_int_equal(
	    recv(stage.peer[side], got, sizeof(got) - 1, 0), strlen(wanted));
	assert_string_equal(got, wanted);
}

/* Symptom: a session whose client took its bytes a little later than they came,
 * as in every large download, lacked some of log_every's lines. */
static void
a_deadline_that_has_passed_is_not_moved_on_by_bytes(void **state)
{
	struct stage *st = &stage;

	(void)state;
	st->frontend_spec.log_every_ms = 1000;
	session_set_deadline(st->session, &st->self);
	assert_int_equal(deadline(), NOW_MS + 1000);
	st->self.now_ns += 1001 * UINT64_C(1000000);
	keep("late");
	expect_wait(relay_step(st->session, &st->self));
	expect(HANDLE_CLIENT, "late");
	assert_int_equal(deadline(), NOW_MS + 1000);
	/* Who looks at it does. */
	expect_wait(session_relay_timeout(st->session, &st->self));
	assert_int_equal(deadline(), NOW_MS + 2000);
}

/* Symptom: a line was left out if another deadline, a little earlier, was
 * noticed after it was due. */
static void
a_line_is_due_behind_another_deadline(void **state)
{
	const struct session *s = stage.session;

	(void)state;
	stage.frontend_spec.log_every_ms = 1000;
	assert_true(accesslog_is_due(s, NOW_MS + 1000, NOW_MS + 1000));
	assert_true(accesslog_is_due(s, NOW_MS + 999, NOW_MS + 1001));
	assert_true(accesslog_is_due(s, NOW_MS + 1500, NOW_MS + 2000));
	assert_false(accesslog_is_due(s, NOW_MS + 999, NOW_MS + 999));
	assert_false(accesslog_is_due(s, NOW_MS + 1001, NOW_MS + 1999));
	assert_false(accesslog_is_due(s, NOW_MS + 1000, NOW_MS + 999));
	/* When the session was connected its first line was not due. */
	assert_false(accesslog_is_due(s, NOW_MS, NOW_MS + 500));
	assert_false(accesslog_is_due(s, 0, NOW_MS + 5000));
	assert_false(accesslog_is_due(s, UINT64_MAX, NOW_MS + 5000));
	stage.frontend_spec.log_every_ms = 0;
	assert_false(accesslog_is_due(s, NOW_MS + 1000, NOW_MS + 1000));
}

/* Sends the text, and standard error's descriptor with it. */
static void
send_with_descriptor(int fd, char *text)
{
	struct iovec bytes = {.iov_base = text, .iov_len = strlen(text)};
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr head;
	} control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)),
	                 .cmsg_level = SOL_SOCKET,
	                 .cmsg_type = SCM_RIGHTS}};
	struct msghdr msg = {.msg_iov = &bytes,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = sizeof(control.space)};
	int passed = STDERR_FILENO;

	memcpy(CMSG_DATA(&control.head), &passed, sizeof(passed));
	assert_int_equal(sendmsg(fd, &msg, 0), strlen(text));
}

/* Symptom: what a client of a unix socket had sent behind a descriptor stayed
 * there until it sent something more. */
static void
bytes_behind_a_descriptor_do_not_stay(void **state)
{
	struct stage *st = &stage;
	char first[] = "one ";

	(void)state;
	send_with_descriptor(st->peer[HANDLE_CLIENT], first);
	assert_int_equal(send(st->peer[HANDLE_CLIENT], "two", 3, 0), 3);
	st->session->side[HANDLE_CLIENT].readable = true;
	expect_wait(relay_step(st->session, &st->self));
	expect(HANDLE_SERVER, "one two");
	assert_false(st->session->side[HANDLE_CLIENT].readable);
}

/* Symptom: with tfo = on a connection to a server was taken for reset, where
 * the cookie was lost between the connect and the first bytes: the kernel then
 * begins to connect without them. */
static void
a_fast_open_without_its_cookie_goes_on(void **state)
{
	struct stage *st = &stage;
	struct side *server = &st->session->side[HANDLE_SERVER];

	(void)state;
	assert_int_equal(send(st->peer[HANDLE_CLIENT], "one", 3, 0), 3);
	st->session->side[HANDLE_CLIENT].readable = true;
	send_error = EINPROGRESS;
	expect_wait(relay_step(st->session, &st->self));
	assert_false(
	    side_is_broken(server) || server->wrote || server->writable);
	/* Once it is connected. */
	server->writable = true;
	expect_wait(relay_step(st->session, &st->self));
	expect(HANDLE_SERVER, "one");
}

static void
end_of(enum handle_side which)
{
	assert_int_equal(shutdown(stage.peer[which], SHUT_WR), 0);
	stage.session->side[which].readable = true;
	stage.session->side[which].read_on = true;
}

static void
the_end_of_either_side_may_end_both(void **state)
{
	struct stage *st = &stage;
	char byte;

	(void)state;
	st->frontend_spec.half_close = false;
	assert_int_equal(send(st->peer[HANDLE_SERVER], "last", 4, 0), 4);
	end_of(HANDLE_SERVER);
	assert_int_equal(relay_step(st->session, &st->self).step, STEP_CLOSE);
	expect(HANDLE_CLIENT, "last");
	assert_int_equal(recv(st->peer[HANDLE_CLIENT], &byte, 1, 0), 0);
}

static void
a_backend_may_end_both(void **state)
{
	(void)state;
	end_of(HANDLE_CLIENT);
	expect_wait(relay_step(stage.session, &stage.self));
	assert_int_equal(stage.session->state, SESSION_CLIENT_EOF);
	stage.backend_spec.half_close = false;
	assert_int_equal(
	    relay_step(stage.session, &stage.self).step, STEP_CLOSE);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    T(a_deadline_that_has_passed_is_not_moved_on_by_bytes),
	    T(a_line_is_due_behind_another_deadline),
	    T(bytes_behind_a_descriptor_do_not_stay),
	    T(a_fast_open_without_its_cookie_goes_on),
	    T(the_end_of_either_side_may_end_both),
	    T(a_backend_may_end_both),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
