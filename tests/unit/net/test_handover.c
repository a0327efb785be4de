/* SPDX-License-Identifier: MIT
 * Messages of a hand-over, and what is none.
 */
#include "net/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"

/* The most that is pending for a side of a session. */
#define RELAY_LIKE (64u << 10)

static int ends[2];
static struct handover sent, got;

static int
make_ends(void **state)
{
	(void)state;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends);
}

static int
close_ends(void **state)
{
	(void)state;
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static void
sockets_arrive_with_their_addresses(void **state)
{
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	memset(&sent, 0, sizeof(sent));
	sent.kind = HANDOVER_SOCKETS;
	sent.version = HANDOVER_VERSION;
	sent.n = HANDOVER_SOCKETS_MAX;
	for (size_t i = 0; i < sent.n; i++) {
		struct addr *a = &sent.asked[i];

		a->in.sin_family = AF_INET;
		a->in.sin_port = htons((uint16_t)(1000 + i));
		a->len = sizeof(a->in);
		sent.fds[i] = pipes[i % 2];
	}
	assert_int_equal(handover_send(ends[0], &sent), 0);
	assert_int_equal(handover_receive(ends[1], &got), 1);
	assert_int_equal(got.kind, HANDOVER_SOCKETS);
	assert_int_equal(got.n, sent.n);
	for (size_t i = 0; i < got.n; i++) {
		assert_true(addr_equal(&got.asked[i], &sent.asked[i]));
		assert_int_equal(fcntl(got.fds[i], F_GETFD), FD_CLOEXEC);
		close(got.fds[i]);
	}
	close(pipes[0]);
	close(pipes[1]);
}

static void
texts_arrive_and_an_end_is_an_end(void **state)
{
	(void)state;
	sent = (struct handover){
	    .kind = HANDOVER_FAILED, .version = HANDOVER_VERSION};
	memset(sent.text, 'x', sizeof(sent.text) - 1);
	assert_int_equal(handover_receive(ends[1], &got), -EAGAIN);
	assert_int_equal(handover_send(ends[0], &sent), 0);
	assert_int_equal(handover_receive(ends[1], &got), 1);
	assert_string_equal(got.text, sent.text);
	close(ends[0]);
	assert_int_equal(handover_receive(ends[1], &got), 0);
	assert_int_equal(handover_send(ends[1], &sent), -EPIPE);
	ends[0] = dup(ends[1]);
}

static void
a_session_arrives_in_one_piece(void **state)
{
	static uint8_t large[RELAY_LIKE], small[7] = "parts";
	const struct iovec parts[] = {{small, sizeof(small)},
	    {large, sizeof(large)}, {small, sizeof(small)},
	    {large, sizeof(large)}};
	int rc, n = 0;

	(void)state;
	memset(large, 'L', sizeof(large));
	/* More than the socket takes at a time. */
	while ((rc = handover_send_session(ends[0], parts, 4, ends, 2)) == 0)
		n++;
	assert_int_equal(rc, -EAGAIN);
	assert_in_range(n, 1, 1000);
	for (; n > 0; n--) {
		assert_int_equal(handover_receive(ends[1], &got), 1);
		assert_int_equal(got.kind, HANDOVER_SESSION);
		assert_int_equal(got.n, 2);
		assert_int_equal(got.size, 2 * (sizeof(small) + sizeof(large)));
		assert_memory_equal(got.data, small, sizeof(small));
		assert_memory_equal(
		    got.data + got.size - sizeof(large), large, sizeof(large));
		handover_drop(&got);
	}
	assert_int_equal(handover_receive(ends[1], &got), -EAGAIN);
}

static void
lines_are_sent_whole(void **state)
{
	char lines[HANDOVER_TEXT_MAX + 100];

	(void)state;
	for (size_t i = 0; i < sizeof(lines) - 1; i++)
		lines[i] = i % 10 == 9 ? '\n' : 'x';
	lines[sizeof(lines) - 1] = '\0';
	assert_int_equal(handover_put_lines(&sent, lines),
	    (HANDOVER_TEXT_MAX - 1) / 10 * 10);
	assert_int_equal(handover_put_lines(&sent, "a\nb\n"), 4);
	assert_string_equal(sent.text, "a\nb\n");
	assert_int_equal(handover_put_lines(&sent, ""), 0);
}

static void
another_version_is_told_and_not_read(void **state)
{
	(void)state;
	sent = (struct handover){
	    .kind = HANDOVER_READY, .version = HANDOVER_VERSION + 1};
	assert_int_equal(handover_send(ends[0], &sent), 0);
	assert_int_equal(handover_receive(ends[1], &got), -EBADMSG);
	assert_int_equal(got.version, HANDOVER_VERSION + 1);
}

/* Sends the bytes with one descriptor, which must not stay open. */
static void
send_wrong(const uint8_t *bytes, size_t size)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.align = {.cmsg_len = CMSG_LEN(sizeof(int)),
	                 .cmsg_level = SOL_SOCKET,
	                 .cmsg_type = SCM_RIGHTS}};
	struct iovec part = {(uint8_t *)(uintptr_t)bytes, size};
	struct msghdr msg = {.msg_iov = &part,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof(control.bytes)};

	memcpy(CMSG_DATA(&control.align), &ends[0], sizeof(int));
	assert_int_equal(sendmsg(ends[0], &msg, 0), size);
}

static void
wrong_messages_leave_no_descriptor(void **state)
{
	uint8_t bytes[400] = "lfproxy";
	uint32_t version = HANDOVER_VERSION, kind;
	int free_before = dup(ends[0]);

	(void)state;
	close(free_before);
	memcpy(bytes + 8, &version, 4);
	for (kind = 0; kind <= HANDOVER_KINDS; kind++) {
		memcpy(bytes + 12, &kind, 4);
		for (size_t size = 1; size < sizeof(bytes); size++) {
			int rc;

			/* A proper message of one socket. */
			if (kind == HANDOVER_SOCKETS &&
			    size == 16 + 4 + sizeof(struct sockaddr_un))
				continue;
			/* Any data may be a session. */
			if (kind == HANDOVER_SESSION && size >= 16)
				continue;
			send_wrong(bytes, size);
			rc = handover_receive(ends[1], &got);
			assert_int_equal(rc, -EBADMSG);
		}
	}
	assert_int_equal(dup(ends[0]), free_before);
	close(free_before);
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, make_ends, close_ends)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(sockets_arrive_with_their_addresses),
	    TEST(texts_arrive_and_an_end_is_an_end),
	    TEST(a_session_arrives_in_one_piece),
	    TEST(lines_are_sent_whole),
	    TEST(another_version_is_told_and_not_read),
	    TEST(wrong_messages_leave_no_descriptor),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
