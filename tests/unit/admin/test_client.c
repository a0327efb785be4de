/* SPDX-License-Identifier: MIT
 * A connection: lines, modes, limits and time, over a socket pair.
 */
#include "admin/fixture.h"

#include <errno.h>
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "admin/client.h"
#include "base/clock.h"

static const struct command_env env = {NULL};
static struct ev_loop *loop;
static struct client *client;
static int peer;
static bool gone;
static char got[256 * 1024];
static size_t got_n;
static bool got_end;

static void
on_gone(struct client *c)
{
	(void)c;
	gone = true;
}

static int
setup(void **state)
{
	int pair[2];

	(void)state;
	loop = ev_loop_new(EVFLAG_AUTO);
	if (!loop ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
	        pair) < 0)
		return -1;
	peer = pair[1];
	gone = got_end = false;
	got_n = 0;
	client = client_new(loop, pair[0], &env, NULL, on_gone);
	return client ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	if (!gone)
		client_close(client);
	if (peer >= 0)
		close(peer);
	ev_loop_destroy(loop);
	return 0;
}

static void
turn(void)
{
	ssize_t n;

	ev_run(loop, EVRUN_NOWAIT);
	n = recv(peer, got + got_n, sizeof(got) - got_n - 1, 0);
	if (n > 0)
		got_n += (size_t)n;
	got_end |= n == 0;
	got[got_n] = '\0';
}

/* Turns until nothing has come for a while or the end has. */
static const char *
talk(const char *text)
{
	assert_int_equal(
	    send(peer, text, strlen(text), 0), (ssize_t)strlen(text));
	for (int i = 0; i < 200 && !got_end; i++)
		turn();
	return got;
}

/* True once the client is gone; waits for at most so long. */
static bool
gone_within(double seconds)
{
	uint64_t deadline = clock_now_ms() + (uint64_t)(seconds * 1e3);

	while (!gone && clock_now_ms() < deadline) {
		struct timespec ms = {.tv_nsec = 1000000};

		turn();
		nanosleep(&ms, NULL);
	}
	return gone;
}

static void
one_line_is_answered_and_the_connection_closed(void **state)
{
	(void)state;
	assert_string_equal(talk("show cli level\n"), "admin\n\n");
	assert_true(got_end);
	close(peer);
	peer = -1;
	assert_true(gone_within(5));
}

static void
crlf_ends_a_line_too(void **state)
{
	(void)state;
	assert_string_equal(talk("show cli level\r\n"), "admin\n\n");
}

static void
semicolons_separate_commands_each_with_its_empty_line(void **state)
{
	(void)state;
	assert_string_equal(talk("show cli level;user; show cli level\n"),
	    "admin\n\n\nuser\n\n");
}

static void
second_line_is_not_read_without_prompt(void **state)
{
	(void)state;
	assert_string_equal(
	    talk("show cli level\nshow cli level\n"), "admin\n\n");
	assert_true(got_end);
}

static void
prompt_keeps_the_connection_until_it_is_given_again(void **state)
{
	(void)state;
	assert_string_equal(talk("prompt\n"), "\n> ");
	assert_string_equal(talk("show cli level\n"), "\n> admin\n\n> ");
	assert_false(got_end);
	assert_string_equal(talk("prompt\n"), "\n> admin\n\n> \n");
	assert_true(got_end);
}

static void
quit_closes_and_the_rest_is_not_run(void **state)
{
	(void)state;
	assert_string_equal(talk("prompt;quit;show cli level\n"), "\n> ");
	assert_true(got_end);
}

static void
half_a_line_waits_for_the_other_half(void **state)
{
	(void)state;
	assert_string_equal(talk("show cli "), "");
	assert_false(got_end);
	assert_string_equal(talk("level\n"), "admin\n\n");
}

static void
half_a_line_and_the_end_is_not_run(void **state)
{
	(void)state;
	assert_string_equal(talk("show cli level"), "");
	shutdown(peer, SHUT_WR);
	assert_true(gone_within(1));
	assert_int_equal(got_n, 0);
}

static void
answer_comes_after_the_peer_has_ended_its_side(void **state)
{
	(void)state;
	assert_true(send(peer, "show cli level\n", 15, 0) == 15);
	shutdown(peer, SHUT_WR);
	assert_true(gone_within(1));
	assert_string_equal(got, "admin\n\n");
}

static void
longest_line_is_taken_and_a_longer_one_refused(void **state)
{
	char line[CLIENT_LINE_MAX + 1];

	(void)state;
	memset(line, ' ', sizeof(line));
	memcpy(line, "prompt;user", 11);
	line[CLIENT_LINE_MAX - 1] = '\n';
	line[CLIENT_LINE_MAX] = '\0';
	assert_string_equal(talk(line), "\n> \n> ");
	got_n = 0;
	line[CLIENT_LINE_MAX - 1] = ' ';
	assert_string_equal(
	    talk(line), "Line too long: a line has at most 16384 bytes.\n\n");
	assert_true(got_end);
}

static void
lingering_peer_is_given_up_after_a_second(void **state)
{
	(void)state;
	talk("show cli level\n");
	assert_false(gone);
	assert_true(client_is_idle(client));
	assert_true(gone_within(5));
}

static void
idle_connection_is_closed_after_its_timeout(void **state)
{
	uint64_t before = clock_now_ms();

	(void)state;
	assert_string_equal(talk("prompt;set timeout cli 1\n"), "\n> \n> ");
	assert_true(gone_within(5));
	assert_true(clock_now_ms() - before >= 900);
}

/* Of one answer to `help` with its prompt. */
static size_t
help_size(void)
{
	struct command_mode mode = {.level = LEVEL_ADMIN};
	char line[] = "help", *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	command_run(&env, &mode, line, out);
	fclose(out);
	free(text);
	return n + strlen("\n> ");
}

/* A thousand answers do not pile up: reading stops while the peer takes
 * nothing, and goes on where it stopped. */
static void
peer_that_does_not_read_is_not_read_from(void **state)
{
	static const char help[] = "help;help;help;help;help;help;help;help\n";
	uint64_t deadline = clock_now_ms() + 10000;
	size_t sent = 0, refused = 0, received = 0, wanted;

	(void)state;
	assert_true(send(peer, "prompt\n", 7, 0) == 7);
	while (refused < 200) {
		ssize_t n = send(peer, help, sizeof(help) - 1, MSG_NOSIGNAL);

		if (n < 0) {
			assert_int_equal(errno, EAGAIN);
			refused++;
		} else {
			assert_int_equal(n, sizeof(help) - 1);
			sent += 8;
		}
		ev_run(loop, EVRUN_NOWAIT);
		assert_true(client->out_n < 8192);
	}
	assert_false(gone);
	assert_false(client_is_idle(client));
	/* Or the loop would spin on the input that waits. */
	assert_int_equal(client->io.events & (EV_READ | EV_WRITE), EV_WRITE);
	wanted = 3 + sent * help_size();
	while (received < wanted && clock_now_ms() < deadline) {
		got_n = 0;
		turn();
		received += got_n;
	}
	assert_int_equal(received, wanted);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(one_line_is_answered_and_the_connection_closed),
	    TEST(crlf_ends_a_line_too),
	    TEST(semicolons_separate_commands_each_with_its_empty_line),
	    TEST(second_line_is_not_read_without_prompt),
	    TEST(prompt_keeps_the_connection_until_it_is_given_again),
	    TEST(quit_closes_and_the_rest_is_not_run),
	    TEST(half_a_line_waits_for_the_other_half),
	    TEST(half_a_line_and_the_end_is_not_run),
	    TEST(answer_comes_after_the_peer_has_ended_its_side),
	    TEST(longest_line_is_taken_and_a_longer_one_refused),
	    TEST(lingering_peer_is_given_up_after_a_second),
	    TEST(idle_connection_is_closed_after_its_timeout),
	    TEST(peer_that_does_not_read_is_not_read_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
