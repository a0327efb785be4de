/* SPDX-License-Identifier: MIT
 * Options of a socket that listens, changed and read back from the kernel.
 */
#include "net/sock_options.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/sock.h"
#include "unit.h"

static const struct sock_options none;
static const struct sock_options many = {
    .keepalive = {SWITCH_ON, 61, 11, 4},
    .user_timeout_ms = 31000,
    .mss = 1000,
    .sndbuf = 48 * 1024,
    .rcvbuf = 24 * 1024,
    .dscp = 34,
    .congestion = "reno",
    .fast_open = 16,
    .backlog = 7,
    .defer_accept_s = 7,
};

static int
open_listener(const struct sock_options *options, struct addr *ret_addr)
{
	struct addr a = {.in = {.sin_family = AF_INET,
	                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
	    .len = sizeof(struct sockaddr_in)};
	struct err err;
	int fd = sock_listen_with(&a, false, 0, options, &err);

	assert_true(fd >= 0 && sock_local_addr(fd, ret_addr));
	return fd;
}

#define FACTS_SIZE 400

/* All that can be changed, in a line. */
static const char *
facts(int fd, char out[FACTS_SIZE])
{
	static const int names[][2] = {{SOL_SOCKET, SO_KEEPALIVE},
	    {SOL_SOCKET, SO_SNDBUF}, {SOL_SOCKET, SO_RCVBUF},
	    {IPPROTO_TCP, TCP_KEEPIDLE}, {IPPROTO_TCP, TCP_KEEPINTVL},
	    {IPPROTO_TCP, TCP_KEEPCNT}, {IPPROTO_TCP, TCP_USER_TIMEOUT},
	    {IPPROTO_TCP, TCP_MAXSEG}, {IPPROTO_TCP, TCP_DEFER_ACCEPT},
	    {IPPROTO_TCP, TCP_FASTOPEN}, {IPPROTO_IP, IP_TOS},
	    {SOL_SOCKET, SO_BUF_LOCK}};
	char congestion[SOCK_CONGESTION_SIZE] = "";
	socklen_t len = sizeof(congestion);
	uint32_t waiting, backlog = 0;
	size_t n = 0;

	unit_skip_when_emulated("TCP_INFO and TCP_CONGESTION");
	assert_true(sock_backlog(fd, &waiting, &backlog));
	assert_int_equal(
	    getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, congestion, &len), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		socklen_t size = sizeof(int);
		int value = 0;

		assert_int_equal(
		    getsockopt(fd, names[i][0], names[i][1], &value, &size), 0);
		n += (size_t)snprintf(out + n, FACTS_SIZE - n, "%d ", value);
	}
	snprintf(out + n, FACTS_SIZE - n, "%u %s", backlog, congestion);
	return out;
}

static void
change(int fd, const struct sock_options *from, const struct sock_options *to)
{
	struct sock_refusal refusal = {.option = "none"};

	if (!sock_options_change(fd, true, from, to, &refusal))
		fail_msg("%s: %s", refusal.option, strerror(refusal.error));
}

static void
a_changed_socket_is_as_one_that_was_made_so(void **state)
{
	char before[FACTS_SIZE], made[FACTS_SIZE], changed[FACTS_SIZE];
	struct addr a;
	int fd = open_listener(&none, &a), model = open_listener(&many, &a);

	(void)state;
	facts(fd, before);
	change(fd, &none, &many);
	assert_string_equal(facts(fd, changed), facts(model, made));
	change(fd, &many, &none);
	assert_string_equal(facts(fd, changed), before);
	/* Also one that had them from its beginning. */
	change(model, &many, &none);
	assert_string_equal(facts(model, changed), before);
	close(fd);
	close(model);
}

/* Another process changes the socket, and does not know what it had. */
static void
what_was_read_is_put_back(void **state)
{
	static const struct sock_options *const both[] = {&none, &many};
	char before[FACTS_SIZE], made[FACTS_SIZE], after[FACTS_SIZE];
	struct addr a;

	(void)state;
	for (int i = 0; i < 2; i++) {
		int fd = open_listener(both[i], &a);
		int model = open_listener(both[1 - i], &a);
		struct sock_options had, has;
		struct sock_refusal refusal;

		facts(fd, before);
		sock_options_read(fd, &had);
		change(fd, &had, both[1 - i]);
		assert_string_equal(facts(fd, after), facts(model, made));
		sock_options_read(fd, &has);
		assert_true(
		    sock_options_put_back(fd, true, &has, &had, &refusal));
		assert_string_equal(facts(fd, after), before);
		close(fd);
		close(model);
	}
}

static void
what_is_refused_leaves_all_as_it_was(void **state)
{
	struct sock_options to = many;
	struct sock_refusal refusal = {.option = NULL};
	char before[FACTS_SIZE], after[FACTS_SIZE];
	struct addr a;
	int fd = open_listener(&none, &a);

	(void)state;
	facts(fd, before);
	to.mss = 7; /* the configuration allows none below 88 */
	assert_false(sock_options_change(fd, true, &none, &to, &refusal));
	assert_string_equal(refusal.option, "mss");
	assert_int_equal(refusal.error, EINVAL);
	assert_string_equal(facts(fd, after), before);
	close(fd);
}

static void
putting_back_goes_on_past_a_refusal(void **state)
{
	struct sock_options to = {.congestion = "nosuch"};
	struct sock_options had = {.congestion = "reno"};
	struct sock_refusal refusal;
	char before[FACTS_SIZE], after[FACTS_SIZE];
	struct addr a;
	int fd = open_listener(&many, &a), model = open_listener(&had, &a);

	(void)state;
	assert_false(sock_options_put_back(fd, true, &many, &to, &refusal));
	assert_string_equal(refusal.option, "congestion");
	assert_int_equal(refusal.error, ENOENT);
	/* All but that one, and what comes after it, too. */
	assert_string_equal(facts(fd, after), facts(model, before));
	close(fd);
	close(model);
}

static void
who_waits_in_the_backlog_stays_there(void **state)
{
	uint32_t waiting, backlog;
	bool connected;
	struct addr a;
	int fd = open_listener(&none, &a), client;

	(void)state;
	unit_skip_when_emulated("TCP_INFO and TCP_CONGESTION");
	client = sock_connect(&a, &connected);
	assert_true(client >= 0);
	for (int i = 0; i < 3; i++) {
		change(fd, &none, &many);
		change(fd, &many, &none);
	}
	assert_true(sock_backlog(fd, &waiting, &backlog));
	assert_int_equal(waiting, 1);
	close(client);
	close(fd);
}

/* Or it would listen again. */
static void
a_socket_that_is_held_takes_no_backlog(void **state)
{
	uint32_t waiting, backlog;
	struct sock_refusal refusal;
	struct addr a;
	int fd = open_listener(&none, &a);

	(void)state;
	assert_int_equal(shutdown(fd, SHUT_RDWR), 0);
	assert_true(sock_options_change(fd, false, &none, &many, &refusal));
	assert_false(sock_backlog(fd, &waiting, &backlog));
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_changed_socket_is_as_one_that_was_made_so),
	    cmocka_unit_test(what_was_read_is_put_back),
	    cmocka_unit_test(what_is_refused_leaves_all_as_it_was),
	    cmocka_unit_test(putting_back_goes_on_past_a_refusal),
	    cmocka_unit_test(who_waits_in_the_backlog_stays_there),
	    cmocka_unit_test(a_socket_that_is_held_takes_no_backlog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
