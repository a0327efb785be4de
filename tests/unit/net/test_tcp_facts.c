/* SPDX-License-Identifier: MIT
 * TCP_INFO: what is known of a connection, and that nothing is of one that was
 * never up.
 */
#include "net/tcp_facts.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"

static struct sockaddr_in at;
static int listener;

static int
set_up(void **state)
{
	socklen_t len = sizeof(at);

	(void)state;
	at = (struct sockaddr_in){
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(
	    getsockname(listener, (struct sockaddr *)&at, &len), 0);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	close(listener);
	return 0;
}

static int
connected(int flags)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);

	assert_true(fd >= 0);
	(void)!connect(fd, (struct sockaddr *)&at, sizeof(at));
	return fd;
}

static void
a_connection_that_is_up_is_measured(void **state)
{
	int client = connected(0), server = accept(listener, NULL, NULL);
	struct tcp_facts facts;

	(void)state;
	unit_skip_when_emulated("TCP_INFO");
	assert_true(tcp_facts_read(client, &facts));
	assert_in_range(facts.rtt_us, 1, TCP_FACT_UNKNOWN - 1);
	assert_in_range(facts.min_rtt_us, 0, TCP_FACT_UNKNOWN - 1);
	assert_true(facts.cwnd > 0 && facts.mss > 0);
	assert_true(tcp_facts_read(server, &facts));
	close(client);
	close(server);
}

static void
a_connection_that_was_reset_keeps_its_facts(void **state)
{
	const struct linger now = {.l_onoff = 1};
	int client = connected(0), server = accept(listener, NULL, NULL);
	struct pollfd p = {.fd = client, .events = POLLIN};
	struct tcp_facts facts;

	(void)state;
	unit_skip_when_emulated("TCP_INFO");
	setsockopt(server, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(server);
	assert_int_equal(poll(&p, 1, UNIT_DEADLINE_S * 1000), 1);
	assert_true(tcp_facts_read(client, &facts));
	assert_in_range(facts.rtt_us, 1, TCP_FACT_UNKNOWN - 1);
	close(client);
}

static void
a_refused_connect_has_no_facts(void **state)
{
	struct tcp_facts facts;
	int fd;

	(void)state;
	unit_skip_when_emulated("TCP_INFO");
	close(listener);
	listener = -1;
	fd = connected(0);
	assert_false(tcp_facts_read(fd, &facts));
	close(fd);
}

/* A full backlog: the handshake is never answered. */
static void
a_connect_under_way_has_no_facts(void **state)
{
	struct tcp_facts facts;
	int fds[8];
	bool any = false;

	(void)state;
	for (int i = 0; i < 8; i++) {
		struct pollfd p = {.events = POLLOUT};

		fds[i] = connected(SOCK_NONBLOCK);
		p.fd = fds[i];
		if (poll(&p, 1, 100) > 0)
			continue;
		any = true;
		assert_false(tcp_facts_read(fds[i], &facts));
	}
	assert_true(any);
	for (int i = 0; i < 8; i++)
		close(fds[i]);
}

static void
other_sockets_have_no_facts(void **state)
{
	struct tcp_facts facts;
	int fds[2];

	(void)state;
	assert_false(tcp_facts_read(listener, &facts));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_false(tcp_facts_read(fds[0], &facts));
	close(fds[0]);
	close(fds[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_connection_that_is_up_is_measured),
	    TEST(a_connection_that_was_reset_keeps_its_facts),
	    TEST(a_refused_connect_has_no_facts),
	    TEST(a_connect_under_way_has_no_facts),
	    TEST(other_sockets_have_no_facts),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
