/* SPDX-License-Identifier: MIT
 * Talks, step by step, against a peer that says its lines when it is told to.
 */
#include "check/fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check/talk.h"

#define STEPS_MAX 8

struct stage {
	struct check_step steps[STEPS_MAX];
	size_t n;
	struct talk *talk;
	/* The last result. */
	bool ended;
	int error;
	enum check_status status;
	char text[256], data[256];
	int fd;
	bool keep;
};

static struct stage stage;
static int listener, peer;

static void
step(enum step_kind kind, const char *pattern)
{
	struct check_step *s = &stage.steps[stage.n++];
	struct err err;

	assert_true(stage.n <= STEPS_MAX);
	s->kind = kind;
	if (!pattern_parse(pattern, &s->pattern, &err))
		fail_msg("%s", err.text);
}

static void
on_done(void *arg, const struct talk_result *result)
{
	(void)arg;
	assert_false(stage.ended);
	stage.ended = true;
	stage.error = result->error;
	stage.status = result->status;
	snprintf(stage.text, sizeof(stage.text), "%s", result->text);
	snprintf(stage.data, sizeof(stage.data), "%.*s", (int)result->n,
	    result->data ? result->data : "");
	if (stage.keep && result->fd) {
		stage.fd = *result->fd;
		*result->fd = -1;
	}
}

/* Starts the talk and takes its connection. */
static void
start(struct fixture *f, enum proxy_version proxy, uint64_t timeout_ms)
{
	struct talk_plan plan = {
	    .addr = {.in = {.sin_family = AF_INET,
	                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
	        .len = sizeof(plan.addr.in)},
	    .timeout_ms = timeout_ms,
	    .proxy = proxy,
	    .steps = stage.steps,
	    .steps_n = stage.n};
	static const struct sock_options none;

	plan.way.options = &none;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, &plan.addr.sa, plan.addr.len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(
	    getsockname(listener, &plan.addr.sa, &plan.addr.len), 0);
	stage.talk = talk_start(f->loop, &plan, on_done, NULL);
	assert_non_null(stage.talk);
	peer = accept(listener, NULL, NULL);
	assert_true(peer >= 0);
}

static bool
ended(struct fixture *f)
{
	(void)f;
	return stage.ended;
}

/* Lets the talk do what it can with what there is. */
static void
settle(struct fixture *f)
{
	for (int i = 0; i < 20; i++) {
		ev_run(f->loop, EVRUN_NOWAIT);
		usleep(1000);
	}
}

static void
say_bytes(const char *bytes, size_t n)
{
	assert_int_equal(send(peer, bytes, n, MSG_NOSIGNAL), n);
}

static void
say(const char *text)
{
	say_bytes(text, strlen(text));
}

static size_t heard_n;
static char heard[256];

static bool
hears_more(struct fixture *f)
{
	ssize_t n = recv(peer, heard, sizeof(heard), MSG_DONTWAIT | MSG_PEEK);

	(void)f;
	return n >= (ssize_t)heard_n;
}

static void
hears(struct fixture *f, const char *bytes, size_t n)
{
	heard_n = n;
	run_until(f, hears_more);
	assert_int_equal(recv(peer, heard, sizeof(heard), MSG_DONTWAIT), n);
	assert_memory_equal(heard, bytes, n);
}

static void
ends_with(struct fixture *f, enum check_status status, const char *text)
{
	run_until(f, ended);
	assert_int_equal(stage.error, 0);
	assert_int_equal(stage.status, status);
	if (!strstr(stage.text, text))
		fail_msg("it said: %s", stage.text);
}

static void
steps_are_taken_in_their_order(void **state)
{
	struct fixture *f = *state;

	step(STEP_EXPECT, "hello");
	step(STEP_SEND, "one");
	step(STEP_EXPECT, "\"a b\"");
	step(STEP_SEND, "hex 00ff");
	step(STEP_EXPECT, "regex \"^x+$\"");
	start(f, PROXY_OFF, 20000);
	settle(f);
	assert_int_equal(recv(peer, (char[1]){0}, 1, MSG_DONTWAIT), -1);
	say("hel");
	settle(f);
	assert_int_equal(recv(peer, (char[1]){0}, 1, MSG_DONTWAIT), -1);
	say("lo");
	hears(f, "one", 3);
	say("a b");
	hears(f, "\0\xff", 2);
	say("\nxx\n");
	ends_with(f, CHECK_STATUS_L7OK, "");
	/* What came since the last step that sent. */
	assert_string_equal(stage.data, "\nxx\n");
}

static void
without_steps_a_connection_is_enough(void **state)
{
	struct fixture *f = *state;

	start(f, PROXY_OFF, 20000);
	ends_with(f, CHECK_STATUS_L4OK, "");
}

static void
an_answer_before_the_send_is_not_its_answer(void **state)
{
	struct fixture *f = *state;

	step(STEP_EXPECT, "hello");
	step(STEP_SEND, "x");
	step(STEP_EXPECT, "hello");
	start(f, PROXY_OFF, 20000);
	say("hello");
	hears(f, "x", 1);
	assert_false(stage.ended);
	say("hello");
	ends_with(f, CHECK_STATUS_L7OK, "");
}

static void
a_refusal_fails_before_what_is_expected_is_there(void **state)
{
	struct fixture *f = *state;

	step(STEP_REFUSE, "no");
	step(STEP_EXPECT, "yes");
	start(f, PROXY_OFF, 20000);
	say("yes and no");
	ends_with(f, CHECK_STATUS_L7RSP, "was refused by no: yes and no");
}

static void
a_refusal_holds_until_the_next_send(void **state)
{
	struct fixture *f = *state;

	step(STEP_REFUSE, "no");
	step(STEP_EXPECT, "a");
	step(STEP_EXPECT, "b");
	step(STEP_SEND, "x");
	step(STEP_EXPECT, "no");
	start(f, PROXY_OFF, 20000);
	say("ab");
	hears(f, "x", 1);
	say("no");
	ends_with(f, CHECK_STATUS_L7OK, "");
}

static void
an_end_in_the_middle_is_told_with_what_came(void **state)
{
	struct fixture *f = *state;

	step(STEP_EXPECT, "hello");
	start(f, PROXY_OFF, 20000);
	say_bytes("he\0l", 4);
	shutdown(peer, SHUT_WR);
	ends_with(
	    f, CHECK_STATUS_L7RSP, "the connection ended without hello: he?l");
}

static void
silence_is_a_timeout(void **state)
{
	struct fixture *f = *state;

	step(STEP_EXPECT, "hello");
	start(f, PROXY_OFF, 100);
	ends_with(f, CHECK_STATUS_L7TOUT, "no answer");
}

/* The loop may have stood still for longer than the timeout, not the server. */
static void
an_answer_that_has_come_goes_before_the_timeout(void **state)
{
	struct fixture *f = *state;

	step(STEP_EXPECT, "hello");
	start(f, PROXY_OFF, 20);
	say("hello");
	usleep(50000);
	ends_with(f, CHECK_STATUS_L7OK, "");
}

static void
half_an_answer_at_the_timeout_is_a_wrong_one(void **state)
{
	struct fixture *f = *state;

	step(STEP_EXPECT, "hello");
	start(f, PROXY_OFF, 1000);
	say("hel");
	ends_with(f, CHECK_STATUS_L7RSP, "no hello: hel");
}

static void
more_than_16_kib_are_not_read(void **state)
{
	struct fixture *f = *state;
	char block[4096];

	memset(block, 'x', sizeof(block));
	step(STEP_EXPECT, "hello");
	start(f, PROXY_OFF, 20000);
	for (int i = 0; i < 5; i++)
		say_bytes(block, sizeof(block));
	ends_with(f, CHECK_STATUS_L7RSP, "16 KiB without hello: xxx");
}

static void
a_reset_ends_it(void **state)
{
	struct fixture *f = *state;
	struct linger now = {.l_onoff = 1, .l_linger = 0};

	step(STEP_EXPECT, "hello");
	start(f, PROXY_OFF, 20000);
	settle(f);
	setsockopt(peer, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(peer);
	peer = -1;
	ends_with(f, CHECK_STATUS_L7RSP, "the connection ended without hello");
}

/* Hears the line of the connection's addresses, and the text behind it. */
static void
hears_header(struct fixture *f, const char *behind)
{
	struct sockaddr_in own, from;
	socklen_t own_len = sizeof(own), from_len = sizeof(from);
	char text[128];
	int n;

	assert_int_equal(
	    getsockname(peer, (struct sockaddr *)&own, &own_len), 0);
	assert_int_equal(
	    getpeername(peer, (struct sockaddr *)&from, &from_len), 0);
	n = snprintf(text, sizeof(text),
	    "PROXY TCP4 127.0.0.1 127.0.0.1 %u %u\r\n%s", ntohs(from.sin_port),
	    ntohs(own.sin_port), behind);
	hears(f, text, (size_t)n);
}

static void
the_proxy_header_comes_first(void **state)
{
	struct fixture *f = *state;

	step(STEP_SEND, "x");
	step(STEP_EXPECT, "y");
	start(f, PROXY_V1, 20000);
	hears_header(f, "x");
	say("y");
	ends_with(f, CHECK_STATUS_L7OK, "");
}

static void
the_binary_proxy_header_says_local(void **state)
{
	struct fixture *f = *state;

	start(f, PROXY_V2, 20000);
	ends_with(f, CHECK_STATUS_L4OK, "");
	hears(f, "\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", 16);
}

static void
who_ends_it_may_keep_the_connection(void **state)
{
	struct fixture *f = *state;

	stage.keep = true;
	start(f, PROXY_V1, 20000);
	ends_with(f, CHECK_STATUS_L4OK, "");
	assert_true(stage.fd >= 0);
	assert_int_equal(send(stage.fd, "more", 4, 0), 4);
	hears_header(f, "more");
}

static void
a_cancelled_talk_is_never_done(void **state)
{
	struct fixture *f = *state;

	step(STEP_EXPECT, "hello");
	start(f, PROXY_OFF, 20000);
	settle(f);
	talk_cancel(stage.talk);
	stage.talk = NULL;
	say("hello");
	settle(f);
	assert_false(stage.ended);
	assert_int_equal(recv(peer, (char[1]){0}, 1, 0), 0);
}

static int
setup(void **state)
{
	stage = (struct stage){.fd = -1};
	listener = peer = -1;
	return fixture_setup(state);
}

static int
teardown(void **state)
{
	/* After a failure. */
	if (stage.talk && !stage.ended)
		talk_cancel(stage.talk);
	for (size_t i = 0; i < stage.n; i++)
		pattern_fini(&stage.steps[i].pattern);
	if (stage.fd >= 0)
		close(stage.fd);
	if (peer >= 0)
		close(peer);
	close(listener);
	return fixture_teardown(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(steps_are_taken_in_their_order),
	    TEST(without_steps_a_connection_is_enough),
	    TEST(an_answer_before_the_send_is_not_its_answer),
	    TEST(a_refusal_fails_before_what_is_expected_is_there),
	    TEST(a_refusal_holds_until_the_next_send),
	    TEST(an_end_in_the_middle_is_told_with_what_came),
	    TEST(silence_is_a_timeout),
	    TEST(an_answer_that_has_come_goes_before_the_timeout),
	    TEST(half_an_answer_at_the_timeout_is_a_wrong_one),
	    TEST(more_than_16_kib_are_not_read),
	    TEST(a_reset_ends_it),
	    TEST(the_proxy_header_comes_first),
	    TEST(the_binary_proxy_header_says_local),
	    TEST(who_ends_it_may_keep_the_connection),
	    TEST(a_cancelled_talk_is_never_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
