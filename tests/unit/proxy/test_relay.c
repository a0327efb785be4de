/* SPDX-License-Identifier: MIT
 * The relay between two pairs of sockets, where the kernel or the clock has to
 * do something that it does not do to order.
 */
#include <errno.h>
#include <sys/socket.h>

#include "lf/pool.h"
#include "proxy/relay.h"
#include "proxy/session_deadline.h"
#include "unit.h"

#define NOW_MS 100000u

/* A session that relays; its client and its server are the other ends. */
struct stage {
	struct session *session;
	struct frontend_spec frontend_spec;
	struct backend_spec backend_spec;
	struct server_state server_state;
	struct server server;
	struct backend backend;
	struct proxy proxy;
	struct proxy_thread local;
	struct pool_thread self;
	struct {
		struct frontend frontend;
		struct backend *backends[1];
	} front;
	int peer[2];
};

static struct stage stage;
static int send_error; /* of the next send; 0: none */

/* In the place of the C library's. */
ssize_t
send(int fd, const void *data, size_t size, int flags)
{
	if (send_error == 0)
		return sendto(fd, data, size, flags, NULL, 0);
	errno = send_error;
	send_error = 0;
	return -1;
}

static int
set_up(void **state)
{
	struct stage *st = &stage;
	struct session *s;
	uint32_t index;

	(void)state;
	memset(st, 0, sizeof(*st));
	st->frontend_spec = (struct frontend_spec){
	    .timeout_client_ms = 60000, .timeout_client_fin_ms = 60000};
	st->backend_spec = (struct backend_spec){
	    .timeout_server_ms = 60000, .timeout_server_fin_ms = 60000};
	st->backend.spec = &st->backend_spec;
	st->server.backend = &st->backend;
	st->server.state = &st->server_state;
	st->front.frontend.spec = &st->frontend_spec;
	st->front.frontend.counters = counters_new();
	st->front.frontend.backends[0] = &st->backend;
	st->local.proxy = &st->proxy;
	st->self.local = &st->local;
	st->self.now_ns = (uint64_t)NOW_MS * 1000000;
	assert_int_equal(proxy_init(&st->proxy, 1, 0, 0), 0);
	s = st->session = slab_take(&st->proxy.sessions, &index);
	s->frontend = &st->front.frontend;
	s->server = &st->server;
	s->accepted_ms = s->counted_ms = s->connected_ms = NOW_MS;
	for (int i = 0; i < 2; i++) {
		int ends[2];

		assert_int_equal(
		    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends),
		    0);
		st->peer[i] = ends[0];
		side_reset(&s->side[i], ends[1], NOW_MS);
		s->side[i].writable = true;
	}
	s->state = SESSION_CONNECTING;
	session_set_state(s, SESSION_RELAYING, &st->self);
	return 0;
}

static int
tear_down(void **state)
{
	struct stage *st = &stage;

	(void)state;
	relay_drop_pending(st->session, &st->self);
	for (int i = 0; i < 2; i++) {
		close(st->peer[i]);
		close(st->session->side[i].fd);
	}
	free(st->front.frontend.counters);
	proxy_fini(&st->proxy);
	return 0;
}

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

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    T(a_deadline_that_has_passed_is_not_moved_on_by_bytes),
	    T(bytes_behind_a_descriptor_do_not_stay),
	    T(a_fast_open_without_its_cookie_goes_on),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
