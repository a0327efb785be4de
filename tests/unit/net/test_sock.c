/* SPDX-License-Identifier: MIT
 * Stream sockets, against the kernel's own.
 */
#include "net/sock.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "unit.h"

static char dir[] = "/tmp/lfproxy-sock-XXXXXX";

static int
make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int
remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static struct addr
v4(uint32_t ip, uint16_t port)
{
	return (struct addr){.in = {.sin_family = AF_INET,
	                         .sin_port = htons(port),
	                         .sin_addr.s_addr = htonl(ip)},
	    .len = sizeof(struct sockaddr_in)};
}

static struct addr
v6(const struct in6_addr *ip, uint16_t port)
{
	return (struct addr){.in6 = {.sin6_family = AF_INET6,
	                         .sin6_port = htons(port),
	                         .sin6_addr = *ip},
	    .len = sizeof(struct sockaddr_in6)};
}

static struct addr
in_dir(const char *name)
{
	struct addr a = {.un = {.sun_family = AF_UNIX}};

	snprintf(a.un.sun_path, sizeof(a.un.sun_path), "%s/%s", dir, name);
	a.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
	                    strlen(a.un.sun_path) + 1);
	return a;
}

static uint16_t
port_of(int fd)
{
	struct addr a;

	assert_true(sock_local_addr(fd, &a));
	return ntohs(
	    a.sa.sa_family == AF_INET6 ? a.in6.sin6_port : a.in.sin_port);
}

static int
listen_on(const struct addr *addr, bool both_families)
{
	struct err err = {""};
	int fd = sock_listen(addr, both_families, 0600, &err);

	if (fd < 0)
		print_error("%s\n", err.text);
	assert_true(fd >= 0);
	return fd;
}

static bool
ready(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};

	return poll(&p, 1, UNIT_DEADLINE_S * 1000) == 1;
}

/* Connects and accepts; the two ends. */
static void
pair(int listener, const struct addr *to, int ret_ends[2])
{
	bool connected = false;
	int fd = sock_connect(to, &connected);

	assert_true(fd >= 0);
	assert_true(ready(listener, POLLIN));
	ret_ends[1] = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	assert_true(ret_ends[1] >= 0);
	assert_true(ready(fd, POLLOUT));
	assert_int_equal(sock_take_error(fd), 0);
	ret_ends[0] = fd;
}

static void
assert_carries_bytes(const int ends[2])
{
	char text[8] = "";

	assert_int_equal(write(ends[0], "ping", 4), 4);
	assert_true(ready(ends[1], POLLIN));
	assert_int_equal(read(ends[1], text, sizeof(text)), 4);
	assert_memory_equal(text, "ping", 4);
}

static int
flag(int fd, int level, int option)
{
	socklen_t len = sizeof(int);
	int on = -1;

	assert_int_equal(getsockopt(fd, level, option, &on, &len), 0);
	return on;
}

static void
assert_is_ours(int fd)
{
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static void
close_pair(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

static void
v4_listens_and_connects(void **state)
{
	struct addr any_port = v4(INADDR_LOOPBACK, 0), to, peer;
	int listener = listen_on(&any_port, false), ends[2];

	(void)state;
	assert_is_ours(listener);
	assert_true(sock_local_addr(listener, &to));
	assert_int_not_equal(to.in.sin_port, 0);
	assert_int_equal(to.len, sizeof(struct sockaddr_in));
	pair(listener, &to, ends);
	assert_is_ours(ends[0]);
	assert_carries_bytes(ends);
	assert_true(sock_local_addr(ends[1], &peer));
	assert_true(addr_equal(&peer, &to));
	close_pair(ends);
	close(listener);
}

static void
both_ends_of_tcp_have_nodelay(void **state)
{
	struct addr any_port = v4(INADDR_LOOPBACK, 0), to;
	int listener = listen_on(&any_port, false), ends[2];

	(void)state;
	sock_local_addr(listener, &to);
	pair(listener, &to, ends);
	assert_int_equal(flag(ends[0], IPPROTO_TCP, TCP_NODELAY), 1);
	assert_int_equal(flag(ends[1], IPPROTO_TCP, TCP_NODELAY), 1);
	close_pair(ends);
	close(listener);
}

static bool
host_has_v6(void)
{
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	struct addr a = v6(&in6addr_loopback, 0);
	bool has = fd >= 0 && bind(fd, &a.sa, a.len) == 0;

	if (fd >= 0)
		close(fd);
	return has;
}

static void
v6_listens_and_connects(void **state)
{
	struct addr any_port = v6(&in6addr_loopback, 0), to;
	int listener, ends[2];

	(void)state;
	if (!host_has_v6())
		skip();
	listener = listen_on(&any_port, false);
	assert_true(sock_local_addr(listener, &to));
	assert_int_equal(to.len, sizeof(struct sockaddr_in6));
	pair(listener, &to, ends);
	assert_carries_bytes(ends);
	close_pair(ends);
	close(listener);
}

static void
both_families_take_v4_and_v6(void **state)
{
	struct addr wildcard = v6(&in6addr_any, 0), to;
	int listener = listen_on(&wildcard, true), ends[2];

	(void)state;
	to = v4(INADDR_LOOPBACK, port_of(listener));
	pair(listener, &to, ends);
	assert_carries_bytes(ends);
	close_pair(ends);
	if (host_has_v6()) {
		to = v6(&in6addr_loopback, port_of(listener));
		pair(listener, &to, ends);
		assert_carries_bytes(ends);
		close_pair(ends);
	}
	close(listener);
}

static void
v6_alone_leaves_v4_to_others(void **state)
{
	struct addr wildcard = v6(&in6addr_any, 0), other;
	int listener, fd;
	struct err err;

	(void)state;
	if (!host_has_v6())
		skip();
	listener = listen_on(&wildcard, false);
	assert_int_equal(flag(listener, IPPROTO_IPV6, IPV6_V6ONLY), 1);
	other = v4(INADDR_ANY, port_of(listener));
	fd = sock_listen(&other, false, 0, &err);
	/* Somebody else may have taken just this port for IPv4. */
	if (fd >= 0)
		close(fd);
	else
		assert_non_null(strstr(err.text, "in use"));
	close(listener);
}

static void
a_port_in_use_is_an_error_that_says_what_to_do(void **state)
{
	struct addr a = v4(INADDR_LOOPBACK, 0);
	int listener = listen_on(&a, false);
	char expected[256];
	struct err err;

	(void)state;
	a = v4(INADDR_LOOPBACK, port_of(listener));
	assert_int_equal(sock_listen(&a, false, 0, &err), -1);
	snprintf(expected, sizeof(expected),
	    "cannot listen on 127.0.0.1:%u: Address already in use; another "
	    "program listens there, stop it or choose another address",
	    port_of(listener));
	assert_string_equal(err.text, expected);
	close(listener);
}

static void
an_address_of_another_host_is_an_error(void **state)
{
	struct addr a = v4(0xc0000201, 0); /* 192.0.2.1, for documents */
	struct err err;

	(void)state;
	assert_int_equal(sock_listen(&a, false, 0, &err), -1);
	assert_non_null(strstr(err.text, "not an address of this host"));
}

static void
a_port_just_left_can_be_listened_on_again(void **state)
{
	struct addr a = v4(INADDR_LOOPBACK, 0), to;
	int listener = listen_on(&a, false), ends[2];

	(void)state;
	sock_local_addr(listener, &to);
	pair(listener, &to, ends);
	/* Our side closes first, so our port stays in TIME_WAIT. */
	close(ends[1]);
	assert_true(ready(ends[0], POLLIN));
	close(ends[0]);
	close(listener);
	listener = listen_on(&to, false);
	assert_int_equal(port_of(listener), ntohs(to.in.sin_port));
	close(listener);
}

static uint32_t
mode_of(const struct addr *a)
{
	struct stat st;

	assert_int_equal(stat(a->un.sun_path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	return st.st_mode & 07777;
}

static void
a_unix_socket_gets_its_mode_whatever_the_umask(void **state)
{
	static const uint32_t modes[] = {0600, 0660, 0666, 0777};
	struct addr a = in_dir("mode");
	mode_t old = umask(027);
	struct err err;

	(void)state;
	for (size_t i = 0; i < UNIT_N(modes); i++) {
		int fd = sock_listen(&a, false, modes[i], &err);

		assert_true(fd >= 0);
		assert_int_equal(mode_of(&a), modes[i]);
		close(fd);
		unlink(a.un.sun_path);
	}
	assert_int_equal(umask(old), 027);
}

static void
unix_listens_and_connects_at_once(void **state)
{
	struct addr a = in_dir("stream"), real;
	int listener = listen_on(&a, false), fd, ends[2];
	bool connected = false;

	(void)state;
	assert_true(sock_local_addr(listener, &real));
	assert_true(addr_equal(&real, &a));
	fd = sock_connect(&a, &connected);
	assert_true(fd >= 0);
	assert_true(connected);
	ends[0] = fd;
	ends[1] = accept(listener, NULL, NULL);
	assert_carries_bytes(ends);
	close_pair(ends);
	close(listener);
	unlink(a.un.sun_path);
}

static void
the_file_of_a_listener_that_is_gone_is_replaced(void **state)
{
	struct addr a = in_dir("stale");
	int listener = listen_on(&a, false), ends[2];
	struct err err;

	(void)state;
	close(listener);
	assert_int_equal(access(a.un.sun_path, F_OK), 0);
	listener = sock_listen(&a, false, 0640, &err);
	assert_true(listener >= 0);
	assert_int_equal(mode_of(&a), 0640);
	pair(listener, &a, ends);
	assert_carries_bytes(ends);
	close_pair(ends);
	close(listener);
	unlink(a.un.sun_path);
}

static void
a_live_unix_listener_is_left_alone(void **state)
{
	struct addr a = in_dir("live");
	int listener = listen_on(&a, false), ends[2];
	struct err err;

	(void)state;
	assert_int_equal(sock_listen(&a, false, 0600, &err), -1);
	assert_non_null(strstr(err.text, "another program listens there"));
	/* The look whether it lives has left a connection behind. */
	close(accept(listener, NULL, NULL));
	pair(listener, &a, ends);
	assert_carries_bytes(ends);
	close_pair(ends);
	close(listener);
	unlink(a.un.sun_path);
}

static void
a_file_that_is_no_socket_is_left_alone(void **state)
{
	struct addr a = in_dir("precious");
	struct err err;
	int fd = open(a.un.sun_path, O_CREAT | O_WRONLY, 0600);
	struct stat st;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "data", 4), 4);
	close(fd);
	fd = sock_listen(&a, false, 0600, &err);
	assert_int_equal(stat(a.un.sun_path, &st), 0);
	unlink(a.un.sun_path);
	assert_int_equal(fd, -1);
	assert_non_null(strstr(err.text, "a file that is not a socket"));
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_size, 4);
}

static void
a_refused_connect_is_reported(void **state)
{
	struct addr a = v4(INADDR_LOOPBACK, 0);
	int fd = listen_on(&a, false), error;
	bool connected = false;

	(void)state;
	sock_local_addr(fd, &a);
	close(fd);
	fd = sock_connect(&a, &connected);
	if (fd >= 0) {
		assert_false(connected);
		assert_true(ready(fd, POLLOUT));
		error = sock_take_error(fd);
		assert_int_equal(sock_take_error(fd), 0);
		close(fd);
	} else {
		error = -fd;
	}
	assert_int_equal(error, ECONNREFUSED);
}

static void
a_connect_to_a_missing_unix_socket_fails_at_once(void **state)
{
	struct addr a = in_dir("nobody");
	bool connected = false;

	(void)state;
	assert_int_equal(sock_connect(&a, &connected), -ENOENT);
	assert_false(connected);
}

static void
close_reset_arrives_as_econnreset(void **state)
{
	struct addr a = v4(INADDR_LOOPBACK, 0);
	int listener = listen_on(&a, false), ends[2];
	char byte;

	(void)state;
	sock_local_addr(listener, &a);
	pair(listener, &a, ends);
	sock_close_reset(ends[0]);
	assert_true(ready(ends[1], POLLIN));
	assert_int_equal(read(ends[1], &byte, 1), -1);
	assert_int_equal(errno, ECONNRESET);
	close(ends[1]);

	/* And an ordinary close as the end of the stream. */
	pair(listener, &a, ends);
	close(ends[0]);
	assert_true(ready(ends[1], POLLIN));
	assert_int_equal(read(ends[1], &byte, 1), 0);
	close(ends[1]);
	close(listener);
}

static void
take_error_fetches_a_reset_once(void **state)
{
	struct addr a = v4(INADDR_LOOPBACK, 0);
	int listener = listen_on(&a, false), ends[2];

	(void)state;
	sock_local_addr(listener, &a);
	pair(listener, &a, ends);
	assert_int_equal(sock_take_error(ends[1]), 0);
	sock_close_reset(ends[0]);
	assert_true(ready(ends[1], POLLIN));
	assert_int_equal(sock_take_error(ends[1]), ECONNRESET);
	assert_int_equal(sock_take_error(ends[1]), 0);
	close(ends[1]);
	close(listener);
	assert_int_equal(sock_take_error(-1), EBADF);
}

/* Writes until the peer, which does not read, can take no more. */
static size_t
stuff(int fd)
{
	static const char filling[65536];
	size_t sent = 0;
	ssize_t n;

	while ((n = write(fd, filling, sizeof(filling))) > 0)
		sent += (size_t)n;
	assert_int_equal(errno, EAGAIN);
	return sent;
}

static void
drain(int fd, size_t bytes)
{
	static char sink[65536];
	ssize_t n;

	while (bytes > 0) {
		assert_true(ready(fd, POLLIN));
		n = read(fd, sink, sizeof(sink));
		assert_true(n > 0);
		bytes -= (size_t)n;
	}
}

static void
unacknowledged_tells_what_the_peer_lacks(void **state)
{
	struct addr a = v4(INADDR_LOOPBACK, 0);
	int listener = listen_on(&a, false), ends[2];
	size_t sent;

	(void)state;
	sock_local_addr(listener, &a);
	pair(listener, &a, ends);
	assert_int_equal(sock_unacknowledged(ends[0]), 0);
	sent = stuff(ends[0]);
	assert_true(sock_unacknowledged(ends[0]) > 0);
	assert_true((size_t)sock_unacknowledged(ends[0]) <= sent);
	drain(ends[1], sent);
	assert_true(unit_wait(sock_unacknowledged(ends[0]) == 0));
	close_pair(ends);
	close(listener);
}

static void
unacknowledged_is_nothing_for_a_unix_socket(void **state)
{
	struct addr a = in_dir("unacked");
	int listener = listen_on(&a, false), ends[2];

	(void)state;
	pair(listener, &a, ends);
	stuff(ends[0]);
	assert_int_equal(sock_unacknowledged(ends[0]), 0);
	close_pair(ends);
	close(listener);
	unlink(a.un.sun_path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(v4_listens_and_connects),
	    cmocka_unit_test(both_ends_of_tcp_have_nodelay),
	    cmocka_unit_test(v6_listens_and_connects),
	    cmocka_unit_test(both_families_take_v4_and_v6),
	    cmocka_unit_test(v6_alone_leaves_v4_to_others),
	    cmocka_unit_test(a_port_in_use_is_an_error_that_says_what_to_do),
	    cmocka_unit_test(an_address_of_another_host_is_an_error),
	    cmocka_unit_test(a_port_just_left_can_be_listened_on_again),
	    cmocka_unit_test(a_unix_socket_gets_its_mode_whatever_the_umask),
	    cmocka_unit_test(unix_listens_and_connects_at_once),
	    cmocka_unit_test(the_file_of_a_listener_that_is_gone_is_replaced),
	    cmocka_unit_test(a_live_unix_listener_is_left_alone),
	    cmocka_unit_test(a_file_that_is_no_socket_is_left_alone),
	    cmocka_unit_test(a_refused_connect_is_reported),
	    cmocka_unit_test(a_connect_to_a_missing_unix_socket_fails_at_once),
	    cmocka_unit_test(close_reset_arrives_as_econnreset),
	    cmocka_unit_test(take_error_fetches_a_reset_once),
	    cmocka_unit_test(unacknowledged_tells_what_the_peer_lacks),
	    cmocka_unit_test(unacknowledged_is_nothing_for_a_unix_socket),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
