/* SPDX-License-Identifier: MIT
 * Symptom: a session stalled after urgent data (send with MSG_OOB, as telnet
 * and FTP clients do), until the peer sent again: a read stops at the mark, and
 * a short read was taken for an empty queue.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "lf/handle_set.h"

static void
tcp_pair(int *ret_client, int *ret_server)
{
	struct sockaddr_in a = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr *sa = (struct sockaddr *)(void *)&a;
	socklen_t len = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(listener >= 0);
	assert_int_equal(bind(listener, sa, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, sa, &len), 0);
	*ret_client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(*ret_client, sa, len), 0);
	*ret_server = accept(listener, NULL, NULL);
	assert_true(*ret_server >= 0);
	close(listener);
}

static void
urgent_data_say_that_a_short_read_is_not_the_last(void **state)
{
	struct handle_event event = {0};
	struct handle_set *set;
	int client, server;
	char buffer[64];

	(void)state;
	tcp_pair(&client, &server);
	assert_int_equal(handle_set_epoll_new(&set), 0);
	assert_int_equal(send(client, "abc", 3, 0), 3);
	assert_int_equal(send(client, "X", 1, MSG_OOB), 1);
	assert_int_equal(send(client, "def", 3, 0), 3);
	assert_int_equal(handle_set_add(set, server, 1, HANDLE_READABLE), 0);
	assert_int_equal(handle_set_wait(set, &event, 1, 5000), 1);
	assert_true(event.ready & HANDLE_READABLE);
	assert_true(event.ready & HANDLE_READ_ON);
	/* What it is about: more lies behind the short read, and no event
	 * will tell. */
	assert_int_equal(recv(server, buffer, sizeof(buffer), 0), 3);
	assert_int_equal(handle_set_wait(set, &event, 1, 0), 0);
	assert_int_equal(recv(server, buffer, sizeof(buffer), 0), 3);
	assert_memory_equal(buffer, "def", 3);
	handle_set_free(set);
	close(client);
	close(server);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(urgent_data_say_that_a_short_read_is_not_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
