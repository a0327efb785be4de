/* SPDX-License-Identifier: MIT
 * When a client's first byte is due, and what counts as one.
 */
#include <sys/socket.h>

#include "proxy/session_deadline.h"
#include "proxy/inspection.h"
#include "unit.h"

#define NOW_MS   UINT64_C(100000)
#define LIMIT_MS UINT64_C(3000)

static struct frontend_spec spec;
static struct frontend frontend;
static struct session session;
static struct inspection inspection;
static struct pool_thread self;
static int peer;

static int
set_up(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	peer = ends[0];
	memset(&session, 0, sizeof(session));
	memset(&inspection, 0, sizeof(inspection));
	spec = (struct frontend_spec){.timeout_first_byte_ms = LIMIT_MS};
	frontend.spec = &spec;
	session.frontend = &frontend;
	session.accepted_ms = NOW_MS;
	session.state = SESSION_QUEUED;
	side_reset(&session.side[HANDLE_CLIENT], ends[1], NOW_MS);
	side_reset(&session.side[HANDLE_SERVER], -1, NOW_MS);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	close(peer);
	close(session.side[HANDLE_CLIENT].fd);
	return 0;
}

static bool
late_after(uint64_t ms)
{
	self.now_ns = (NOW_MS + ms) * 1000000;
	return session_first_byte_is_late(&session, &self);
}

static void
a_silent_client_is_late_in_every_state(void **state)
{
	static const enum session_state states[] = {SESSION_ACCEPTED,
	    SESSION_INSPECTING, SESSION_QUEUED, SESSION_CONNECTING,
	    SESSION_PAUSING, SESSION_RELAYING, SESSION_SERVER_EOF};

	(void)state;
	for (size_t i = 0; i < UNIT_N(states); i++) {
		session.state = (uint8_t)states[i];
		assert_int_equal(
		    session_first_byte_ends_ms(&session), NOW_MS + LIMIT_MS);
		assert_false(late_after(LIMIT_MS - 1));
		assert_true(late_after(LIMIT_MS));
	}
	spec.timeout_first_byte_ms = 0;
	assert_int_equal(session_first_byte_ends_ms(&session), UINT64_MAX);
	assert_false(late_after(LIMIT_MS));
}

static void
a_byte_that_waits_unread_counts(void **state)
{
	char byte = 'x';

	(void)state;
	assert_int_equal(write(peer, &byte, 1), 1);
	assert_false(late_after(LIMIT_MS));
	assert_int_equal(session_first_byte_ends_ms(&session), UINT64_MAX);
	/* The byte is still there. */
	assert_int_equal(read(session.side[HANDLE_CLIENT].fd, &byte, 1), 1);
}

static void
a_byte_that_was_read_counts_and_the_servers_do_not(void **state)
{
	(void)state;
	session.state = SESSION_RELAYING;
	session_received(&session, HANDLE_SERVER, 1, NOW_MS);
	assert_true(late_after(LIMIT_MS));
	session_received(&session, HANDLE_CLIENT, 1, NOW_MS);
	assert_false(late_after(LIMIT_MS));
	assert_int_equal(session_first_byte_ends_ms(&session), UINT64_MAX);
}

static void
a_client_that_has_finished_is_not_late(void **state)
{
	(void)state;
	session.side[HANDLE_CLIENT].read_on = true;
	assert_false(late_after(LIMIT_MS));
	session.spoke = session.side[HANDLE_CLIENT].read_on = false;
	assert_true(late_after(LIMIT_MS));
	session.side[HANDLE_CLIENT].end = SIDE_EOF;
	assert_false(late_after(LIMIT_MS));
}

static void
a_proxy_header_is_no_first_byte(void **state)
{
	(void)state;
	session.inspection = &inspection;
	session.state = SESSION_INSPECTING;
	inspection.steps = INSPECT_PROXY | INSPECT_HELLO;
	inspection.spoke = true;
	assert_false(late_after(10 * LIMIT_MS));
	inspection.steps = INSPECT_HELLO;
	inspection.spoke = false;
	inspection.header_ms = NOW_MS + 5000;
	assert_int_equal(
	    session_first_byte_ends_ms(&session), NOW_MS + 5000 + LIMIT_MS);
	assert_true(late_after(5000 + LIMIT_MS));
	/* The beginning of a TLS hello is one. */
	inspection.spoke = true;
	assert_false(late_after(5000 + LIMIT_MS));
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    T(a_silent_client_is_late_in_every_state),
	    T(a_byte_that_waits_unread_counts),
	    T(a_byte_that_was_read_counts_and_the_servers_do_not),
	    T(a_client_that_has_finished_is_not_late),
	    T(a_proxy_header_is_no_first_byte),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
