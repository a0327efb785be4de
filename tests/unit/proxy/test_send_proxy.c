/* SPDX-License-Identifier: MIT
 * The PROXY header that a server gets first, where it does not take it at once.
 */
#include <errno.h>
#include <sys/socket.h>

#include "proxy/upstream.h"
#include "unit.h"

/* A session that has connected to one end of a pair; the other end is peer. */
struct stage {
	struct session session;
	struct server server;
	int peer;
};

static struct stage *
begin(struct stage *s, enum proxy_version version)
{
	int ends[2];

	memset(s, 0, sizeof(*s));
	assert_int_equal(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	s->peer = ends[1];
	s->server.send_proxy = version;
	s->session.server = &s->server;
	s->session.client = (struct endpoint){
	    .family = AF_INET, .port = 50000, .ip = {192, 0, 2, 7}};
	s->session.side[HANDLE_CLIENT].fd = -1;
	s->session.side[HANDLE_SERVER].fd = ends[0];
	s->session.side[HANDLE_SERVER].writable = true;
	return s;
}

/* The end that the client has connected to, without which there is no address
 * to be told. */
static int
listen_for_client(struct stage *s)
{
	struct addr any = {.in = {.sin_family = AF_INET,
	                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
	    .len = sizeof(any.in)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, &any.sa, any.len), 0);
	assert_int_equal(getsockname(fd, &any.sa, &any.len), 0);
	s->session.side[HANDLE_CLIENT].fd = fd;
	return addr_port(&any);
}

static void
end(struct stage *s)
{
	close(s->peer);
	close(s->session.side[HANDLE_SERVER].fd);
	if (s->session.side[HANDLE_CLIENT].fd >= 0)
		close(s->session.side[HANDLE_CLIENT].fd);
}

static size_t
fill(int fd)
{
	static const char zeros[512];
	size_t n = 0;
	ssize_t sent;

	while ((sent = send(fd, zeros, sizeof(zeros), MSG_NOSIGNAL)) > 0)
		n += (size_t)sent;
	assert_int_equal(errno, EAGAIN);
	return n;
}

static void
the_header_is_sent_whole(void **state)
{
	char wanted[PROXY_V1_MAX + 1], got[PROXY_V1_MAX + 1] = "";
	struct stage s;
	int port;

	(void)state;
	assert_true(upstream_wants_header(&begin(&s, PROXY_V1)->session));
	port = listen_for_client(&s);
	assert_int_equal(upstream_send_header(&s.session), 1);
	snprintf(wanted, sizeof(wanted),
	    "PROXY TCP4 192.0.2.7 127.0.0.1 50000 %d\r\n", port);
	assert_int_equal(s.session.header_sent, strlen(wanted));
	assert_int_equal(recv(s.peer, got, PROXY_V1_MAX, 0), strlen(wanted));
	assert_string_equal(got, wanted);
	/* None of it is the client's. */
	assert_false(s.session.side[HANDLE_SERVER].wrote);
	end(&s);
}

static void
what_a_full_socket_leaves_is_sent_when_there_is_room(void **state)
{
	struct stage s;
	char got[600];
	size_t filled;

	(void)state;
	begin(&s, PROXY_V2);
	filled = fill(s.session.side[HANDLE_SERVER].fd);
	assert_int_equal(upstream_send_header(&s.session), 0);
	assert_false(s.session.side[HANDLE_SERVER].writable);
	assert_int_equal(s.session.header_sent, 0);
	while (filled > 0) {
		ssize_t n = recv(s.peer, got, 512, 0);

		assert_true(n > 0);
		filled -= (size_t)n;
	}
	assert_int_equal(upstream_send_header(&s.session), 1);
	assert_int_equal(recv(s.peer, got, sizeof(got), 0), 16);
	assert_memory_equal(got, "\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", 16);
	end(&s);
}

static void
the_rest_of_a_short_write_follows(void **state)
{
	struct stage s;
	char got[64];

	(void)state;
	begin(&s, PROXY_V1);
	s.session.header_sent = 6;
	assert_int_equal(upstream_send_header(&s.session), 1);
	assert_int_equal(recv(s.peer, got, sizeof(got), 0), 9);
	assert_memory_equal(got, "UNKNOWN\r\n", 9);
	/* And nothing when all of it is there. */
	assert_int_equal(upstream_send_header(&s.session), 1);
	assert_int_equal(recv(s.peer, got, sizeof(got), 0), -1);
	end(&s);
}

static void
a_server_that_is_gone_is_an_error(void **state)
{
	struct stage s;

	(void)state;
	begin(&s, PROXY_V1);
	close(s.peer);
	assert_int_equal(upstream_send_header(&s.session), -EPIPE);
	s.peer = -1;
	end(&s);
}

static void
without_send_proxy_there_is_none(void **state)
{
	struct stage s;

	(void)state;
	assert_false(upstream_wants_header(&begin(&s, PROXY_OFF)->session));
	end(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_header_is_sent_whole),
	    cmocka_unit_test(
	        what_a_full_socket_leaves_is_sent_when_there_is_room),
	    cmocka_unit_test(the_rest_of_a_short_write_follows),
	    cmocka_unit_test(a_server_that_is_gone_is_an_error),
	    cmocka_unit_test(without_send_proxy_there_is_none),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
