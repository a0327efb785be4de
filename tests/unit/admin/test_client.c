/* SPDX-License-Identifier: MIT
 * A connection: lines, modes, limits and time, over a socket pair.
 */
#include "commands/fixture.h"

#include <errno.h>
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "admin/client.h"
#include "base/clock.h"
#include "unit.h"

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
setup_with_timeout(double timeout_s)
{
	const struct command_mode mode = {
	    .level = LEVEL_ADMIN, .timeout_s = timeout_s};
	int pair[2];

	loop = ev_loop_new(EVFLAG_AUTO);
	if (!loop ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
	        pair) < 0)
		return -1;
	peer = pair[1];
	gone = got_end = false;
	got_n = 0;
	client = client_new(loop, pair[0], &env, &mode, NULL, on_gone);
	return client ? 0 : -1;
}

static int
setup(void **state)
{
	(void)state;
	return setup_with_timeout(10);
}

static int
setup_patient(void **state)
{
	(void)state;
	return setup_with_timeout(3600);
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
slice(void)
{
	ssize_t n;

	ev_run(loop, EVRUN_NOWAIT);
	n = recv(peer, got + got_n, sizeof(got) - got_n - 1, 0);
	if (n > 0)
		got_n += (size_t)n;
	got_end |= n == 0;
	got[got_n] = '\0';
}

/* Turns until nothing has come for a while, in which the client did not just
 * pause between two turns, or the end has. */
static const char *
talk(const char *text)
{
	assert_int_equal(
	    send(peer, text, strlen(text), 0), (ssize_t)strlen(text));
	for (int i = 0; i < 200 && !got_end; i++) {
		slice();
		if (!gone && ev_is_active(&client->pause))
			i = 0;
	}
	return got;
}

/* True once the client is gone; waits for it. */
static bool
gone_soon(void)
{
	uint64_t deadline = clock_now_ms() + UNIT_DEADLINE_S * 1000u;

	while (!gone && clock_now_ms() < deadline) {
		struct timespec ms = {.tv_nsec = 1000000};

		slice();
		nanosleep(&ms, NULL);
	}
	return gone;
}

/* Before any timeout of the client's could have ended it. */
static void
assert_gone_at_once(void)
{
	uint64_t from_ms = clock_now_ms();

	assert_true(gone_soon());
	assert_true(!unit_judges_time() || clock_now_ms() - from_ms < 1000);
}

static void
one_line_is_answered_and_the_connection_closed(void **state)
{
	(void)state;
	assert_string_equal(talk("show cli level\n"), "admin\n\n");
	assert_true(got_end);
	close(peer);
	peer = -1;
	assert_true(gone_soon());
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
lines_that_came_together_are_answered_without_prompt(void **state)
{
	(void)state;
	assert_string_equal(talk("show cli level\nuser\nshow cli level\n"),
	    "admin\n\n\nuser\n\n");
	assert_true(got_end);
}

/* Up to the empty line; what follows is a command again. */
static void
payload_is_not_taken_for_commands(void **state)
{
	(void)state;
	assert_string_equal(talk("prompt\n"), "\n> ");
	assert_string_equal(talk("show cli level <<\n"), "\n> + ");
	assert_string_equal(talk("user\nus"), "\n> + + ");
	assert_string_equal(
	    talk("er\n\nshow cli level\n"), "\n> + + + admin\n\n> admin\n\n> ");
	assert_false(got_end);
}

/* However long it is, it takes no room. */
static void
payload_of_any_length_is_dropped(void **state)
{
	char line[1024];

	(void)state;
	memset(line, 'x', sizeof(line) - 2);
	strcpy(line + sizeof(line) - 2, "\n");
	talk("show cli level <<\n");
	for (int i = 0; i < 100; i++)
		assert_string_equal(talk(line), "");
	assert_string_equal(talk("\n"), "admin\n\n");
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
	assert_gone_at_once();
	assert_int_equal(got_n, 0);
}

static void
answer_comes_after_the_peer_has_ended_its_side(void **state)
{
	(void)state;
	assert_true(send(peer, "show cli level\n", 15, 0) == 15);
	shutdown(peer, SHUT_WR);
	assert_gone_at_once();
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
	assert_true(gone_soon());
}

static void
idle_connection_is_closed_after_its_timeout(void **state)
{
	uint64_t before = clock_now_ms();

	(void)state;
	assert_string_equal(talk("prompt;set timeout cli 1\n"), "\n> \n> ");
	assert_true(gone_soon());
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
	command_run(&env, &mode, line, NULL, out);
	fclose(out);
	free(text);
	return n + strlen("\n> ");
}

static bool
waits_to_write(void)
{
	return (client->io.events & (EV_READ | EV_WRITE)) == EV_WRITE;
}

/* Asks with a prompt, and takes nothing, until nothing is read any more; how
 * many answers are due. */
static size_t
ask_too_much(void)
{
	static const char help[] = "help;help;help;help;help;help;help;help\n";
	uint64_t deadline = clock_now_ms() + 60000;
	size_t sent = 0, refused = 0, answer = help_size();

	assert_true(send(peer, "prompt\n", 7, 0) == 7);
	/* Between two turns the client pauses: it may still have answers to
	 * make. */
	while (
	    (refused < 200 || !waits_to_write()) && clock_now_ms() < deadline) {
		ssize_t n = send(peer, help, sizeof(help) - 1, MSG_NOSIGNAL);

		if (n < 0) {
			assert_int_equal(errno, EAGAIN);
			refused++;
		} else {
			assert_int_equal(n, sizeof(help) - 1);
			sent += 8;
		}
		ev_run(loop, EVRUN_NOWAIT);
		assert_true(client->answer.size <= answer);
	}
	assert_false(gone);
	/* Or the loop would spin on the input that waits. */
	assert_true(waits_to_write());
	return sent;
}

/* What comes, up to so many bytes or the end. */
static size_t
take_all(size_t most)
{
	uint64_t deadline = clock_now_ms() + 60000;
	size_t received = 0;

	while (received < most && !got_end && clock_now_ms() < deadline) {
		got_n = 0;
		slice();
		received += got_n;
	}
	return received;
}

/* A thousand answers do not pile up: reading stops while the peer takes
 * nothing, and goes on where it stopped. */
static void
peer_that_does_not_read_is_not_read_from(void **state)
{
	size_t wanted;

	(void)state;
	wanted = 3 + ask_too_much() * help_size();
	assert_false(client_is_idle(client));
	assert_int_equal(take_all(wanted), wanted);
}

/* Of the lines that it had read at most: whoever goes on asking does not stay.
 */
static void
who_leaves_has_the_answer_that_is_under_way(void **state)
{
	size_t all, received;

	(void)state;
	all = ask_too_much() * help_size();
	client_leave(client);
	assert_false(gone);
	received = take_all(all) - 3;
	assert_true(got_end);
	assert_int_equal(received % (8 * help_size()), 0);
	assert_in_range(received, 8 * help_size(), all - 8 * help_size());
}

static void
who_leaves_has_a_second_for_a_line(void **state)
{
	(void)state;
	assert_string_equal(talk("prompt\nshow cli "), "\n> ");
	client_leave(client);
	assert_string_equal(talk("level\n"), "\n> admin\n\n> ");
	assert_true(got_end);
	close(peer);
	peer = -1;
	assert_true(gone_soon());
}

static void
who_leaves_and_says_nothing_goes(void **state)
{
	uint64_t from_ms;

	(void)state;
	from_ms = clock_now_ms();
	client_leave(client);
	/* Half a line gives no new time. */
	assert_string_equal(talk("show"), "");
	assert_true(gone_soon());
	assert_true(clock_now_ms() - from_ms >= 900);
}

static uint64_t
a_hundred_seconds_later(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec + 100) * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* Symptom: with the wall clock set back nobody was stalled for long enough to
 * make room for others. */
static void
who_is_stalled_is_told_by_no_clock_that_can_be_set(void **state)
{
	(void)state;
	assert_string_equal(talk("prompt;show"), "");
	assert_true(client_stalled_for(client) < 50.);
	clock_replace(a_hundred_seconds_later);
	assert_true(client_stalled_for(client) >= 50.);
	clock_replace(NULL);
}

/* Symptom: one byte now and then kept a connection for as long as the peer
 * liked, however long ago its line had begun. */
static void
line_that_has_begun_must_end_in_time(void **state)
{
	(void)state;
	assert_string_equal(talk("prompt\n"), "\n> ");
	assert_true(ev_timer_remaining(loop, &client->timer) > 3000.);
	assert_string_equal(talk("s"), "\n> ");
	assert_true(ev_timer_remaining(loop, &client->timer) <= CLIENT_LINE_S);
	clock_replace(a_hundred_seconds_later);
	talk("h");
	assert_true(gone_soon());
	clock_replace(NULL);
	assert_non_null(strstr(got, "a line must end within 10 s"));
}

static void
prompt_without_a_line_has_the_whole_timeout(void **state)
{
	(void)state;
	assert_string_equal(talk("prompt\n"), "\n> ");
	assert_string_equal(talk("us"), "\n> ");
	assert_string_equal(talk("er\n"), "\n> \n> ");
	assert_true(ev_timer_remaining(loop, &client->timer) > 3000.);
}

static void
each_line_of_a_payload_has_its_time(void **state)
{
	(void)state;
	talk("prompt;show cli level <<\nsome");
	assert_true(ev_timer_remaining(loop, &client->timer) <= CLIENT_LINE_S);
	talk("thing\n");
	assert_true(ev_timer_remaining(loop, &client->timer) > 3000.);
}

/* Symptom: a byte counted as progress, so whoever sent one each 150 ms never
 * made room for another. */
static void
bytes_of_a_line_are_no_progress(void **state)
{
	double since;

	(void)state;
	talk("prompt\n");
	since = client->progress_at;
	talk("show cli level");
	assert_true(client->progress_at == since);
	talk("\n");
	assert_true(client->progress_at > since);
}

static void
send_bytes(const char *bytes, size_t n)
{
	assert_int_equal(send(peer, bytes, n, 0), (ssize_t)n);
}

/* Symptom: what stood behind a NUL was cut off in silence. */
static void
nul_in_a_line_is_refused(void **state)
{
	static const char line[] = "show cli level\0;user\nuser\n";

	(void)state;
	send_bytes(line, sizeof(line) - 1);
	assert_string_equal(
	    talk(""), "Closed: a line must not have NUL bytes.\n\n");
	assert_true(got_end);
}

/* Symptom: a NUL ended a payload, and what followed were commands. */
static void
nul_does_not_end_a_payload(void **state)
{
	static const char lines[] =
	    "prompt;show cli level <<\n\0x\nshow cli level\nshow cli level\n";

	(void)state;
	send_bytes(lines, sizeof(lines) - 1);
	assert_string_equal(
	    talk(""), "Closed: a line must not have NUL bytes.\n\n");
	assert_true(got_end);
}

static void
lines_before_one_with_a_nul_are_answered(void **state)
{
	static const char lines[] = "show cli level\nsh\0\n";

	(void)state;
	send_bytes(lines, sizeof(lines) - 1);
	assert_string_equal(
	    talk(""), "admin\n\nClosed: a line must not have NUL bytes.\n\n");
}

#define NO_HTTP "Closed: this is not an HTTP port.\n\n"

/* Symptom: the lines of the body of a request that a web page had made a
 * browser send were run as commands. */
static void
http_request_is_refused_and_its_body_not_run(void **state)
{
	(void)state;
	assert_string_equal(talk("POST / HTTP/1.1\r\nHost: localhost:9999\r\n"
	                         "Content-Length: 15\r\n\r\nshow cli level\n"),
	    NO_HTTP);
	assert_true(got_end);
}

static void
host_header_is_refused_wherever_it_comes(void **state)
{
	(void)state;
	assert_string_equal(
	    talk("prompt\nhOsT: a\nshow cli level\n"), "\n> " NO_HTTP);
	assert_true(got_end);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define PATIENT(name)                                                          \
	cmocka_unit_test_setup_teardown(name, setup_patient, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(one_line_is_answered_and_the_connection_closed),
	    TEST(crlf_ends_a_line_too),
	    TEST(semicolons_separate_commands_each_with_its_empty_line),
	    TEST(lines_that_came_together_are_answered_without_prompt),
	    TEST(payload_is_not_taken_for_commands),
	    TEST(payload_of_any_length_is_dropped),
	    TEST(prompt_keeps_the_connection_until_it_is_given_again),
	    TEST(quit_closes_and_the_rest_is_not_run),
	    TEST(half_a_line_waits_for_the_other_half),
	    TEST(who_is_stalled_is_told_by_no_clock_that_can_be_set),
	    TEST(half_a_line_and_the_end_is_not_run),
	    TEST(answer_comes_after_the_peer_has_ended_its_side),
	    TEST(longest_line_is_taken_and_a_longer_one_refused),
	    TEST(lingering_peer_is_given_up_after_a_second),
	    TEST(idle_connection_is_closed_after_its_timeout),
	    TEST(peer_that_does_not_read_is_not_read_from),
	    TEST(who_leaves_has_the_answer_that_is_under_way),
	    TEST(who_leaves_has_a_second_for_a_line),
	    PATIENT(who_leaves_and_says_nothing_goes),
	    PATIENT(line_that_has_begun_must_end_in_time),
	    PATIENT(prompt_without_a_line_has_the_whole_timeout),
	    PATIENT(each_line_of_a_payload_has_its_time),
	    TEST(bytes_of_a_line_are_no_progress),
	    TEST(nul_in_a_line_is_refused),
	    TEST(nul_does_not_end_a_payload),
	    TEST(lines_before_one_with_a_nul_are_answered),
	    TEST(http_request_is_refused_and_its_body_not_run),
	    TEST(host_header_is_refused_wherever_it_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
