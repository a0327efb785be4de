/* SPDX-License-Identifier: MIT
 * The http check, against a peer that answers as told.
 */
#include "check/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK_REPLY "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static void
checked_with(struct fixture *f, const char *reply, uint64_t timeout_ms)
{
	f->peer.reply = reply;
	peer_listen(f, NULL);
	start_checks(f, CHECK_HTTP, timeout_ms);
	run_until_checked(f);
}

static void
answer_in_the_range_is_l7ok(void **state)
{
	struct fixture *f = *state;

	checked_with(f, OK_REPLY, 2000);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L7OK);
	assert_int_equal(f->server->state->last.code, 200);
	assert_true(f->server->state->last.passed);
	assert_string_equal(f->server->state->last.text, "OK");
}

static void
request_is_what_was_configured(void **state)
{
	struct fixture *f = *state;
	char host[160], text[ADDR_TEXT_SIZE];

	checked_with(f, OK_REPLY, 2000);
	snprintf(host, sizeof(host), "\r\nHost: %s\r\n",
	    addr_text(&f->peer.addr, text));
	assert_ptr_equal(strstr(f->peer.request, "GET /healthz HTTP/1.1\r\n"),
	    f->peer.request);
	assert_non_null(strstr(f->peer.request, host));
	assert_non_null(strstr(f->peer.request,
	    "\r\nUser-Agent: lfproxy/" LFPROXY_VERSION "\r\n"));
	assert_non_null(strstr(f->peer.request, "\r\nConnection: close\r\n"));
}

static void
path_host_and_method_go_out_as_written(void **state)
{
	struct fixture *f = *state;
	struct check_spec *check;

	f->peer.reply = OK_REPLY;
	peer_listen(f, NULL);
	start_checks(f, CHECK_HTTP, 2000);
	check = &f->model->spec->backends[0].check;
	free(check->path);
	free(check->method);
	check->path = strdup("/a/../b?c=d#e");
	check->host = strdup("www.example.com");
	check->method = strdup("OPTIONS");
	run_until_checked(f);
	assert_ptr_equal(
	    strstr(f->peer.request, "OPTIONS /a/../b?c=d#e HTTP/1.1\r\n"),
	    f->peer.request);
	assert_non_null(
	    strstr(f->peer.request, "\r\nHost: www.example.com\r\n"));
}

static void
head_does_not_wait_for_a_body(void **state)
{
	struct fixture *f = *state;
	struct check_spec *check;

	f->peer.reply = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n";
	peer_listen(f, NULL);
	start_checks(f, CHECK_HTTP, 2000);
	check = &f->model->spec->backends[0].check;
	free(check->method);
	check->method = strdup("HEAD");
	run_until_checked(f);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L7OK);
	assert_ptr_equal(
	    strstr(f->peer.request, "HEAD /healthz"), f->peer.request);
}

static void
other_status_is_l7sts_with_code_and_reason(void **state)
{
	struct fixture *f = *state;

	checked_with(
	    f, "HTTP/1.1 503 Out of tea\r\nContent-Length: 0\r\n\r\n", 2000);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L7STS);
	assert_int_equal(f->server->state->last.code, 503);
	assert_false(f->server->state->last.passed);
	assert_string_equal(f->server->state->last.text, "Out of tea");
}

static void
redirect_is_not_followed(void **state)
{
	struct fixture *f = *state;

	checked_with(f,
	    "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
	    "Content-Length: 0\r\n\r\n",
	    2000);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L7OK);
	assert_int_equal(f->server->state->last.code, 302);
}

static bool
was_asked(struct fixture *f)
{
	return f->peer.closed > 0;
}

/* The loop may have stood still for longer than the timeout, not the server. */
static void
an_answer_that_has_come_goes_before_the_timeout(void **state)
{
	struct fixture *f = *state;

	f->peer.reply = OK_REPLY;
	peer_listen(f, NULL);
	start_checks(f, CHECK_HTTP, 1000);
	run_until(f, was_asked);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_INI);
	usleep(1100000);
	run_until_checked(f);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L7OK);
}

static void
silence_is_l7tout(void **state)
{
	struct fixture *f = *state;

	checked_with(f, NULL, 100);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L7TOUT);
	assert_in_range(
	    f->server->state->last.duration_ms, 90, UNIT_DEADLINE_S * 1000u);
}

static void
closed_port_is_l4con(void **state)
{
	struct fixture *f = *state;

	peer_listen(f, NULL);
	peer_shut(f);
	start_checks(f, CHECK_HTTP, 2000);
	run_until_checked(f);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L4CON);
	assert_string_equal(f->server->state->last.text, "Connection refused");
}

static void
no_connect_in_time_is_l4tout(void **state)
{
	struct fixture *f = *state;

	peer_listen_full(f);
	start_checks(f, CHECK_HTTP, 100);
	run_until_checked(f);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L4TOUT);
}

static void
answer_that_is_not_http_is_l7rsp(void **state)
{
	struct fixture *f = *state;

	checked_with(f, "-ERR unknown command\r\n", 2000);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L7RSP);
	assert_int_equal(f->server->state->last.code, 0);
	assert_true(f->server->state->last.text[0] != '\0');
}

/* curl is content with it. */
static void
answer_that_ends_in_its_head_is_l7rsp(void **state)
{
	struct fixture *f = *state;

	checked_with(f, "HTTP/1.1 200 OK\r\nContent-", 2000);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L7RSP);
	assert_string_equal(f->server->state->last.text,
	    "the connection ended in the head of the answer");
}

static void
interim_answer_is_not_the_answer(void **state)
{
	struct fixture *f = *state;

	checked_with(f, "HTTP/1.1 103 Early Hints\r\n\r\n" OK_REPLY, 2000);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L7OK);
	assert_int_equal(f->server->state->last.code, 200);
}

static void
endless_body_does_not_matter(void **state)
{
	struct fixture *f = *state;

	f->peer.endless = true;
	checked_with(f, "HTTP/1.1 200 OK\r\n\r\nx", 5000);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L7OK);
}

static void
endless_head_is_l7rsp(void **state)
{
	struct fixture *f = *state;

	f->peer.endless = true;
	checked_with(f, "HTTP/1.1 200 OK\r\nX: x", 5000);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L7RSP);
}

static void
unix_server_is_asked_as_localhost(void **state)
{
	struct fixture *f = *state;
	char dir[] = "/tmp/lfproxy-check-XXXXXX", path[64];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s", dir);
	f->peer.reply = OK_REPLY;
	peer_listen(f, path);
	start_checks(f, CHECK_HTTP, 2000);
	run_until_checked(f);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L7OK);
	assert_non_null(strstr(f->peer.request, "\r\nHost: localhost\r\n"));
	unlink(path);
	rmdir(dir);
}

static void
proxy_in_the_environment_is_not_used(void **state)
{
	struct fixture *f = *state;

	setenv("http_proxy", "http://127.0.0.1:1", 1);
	setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
	checked_with(f, OK_REPLY, 2000);
	unsetenv("http_proxy");
	unsetenv("ALL_PROXY");
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_L7OK);
}

static bool
accepted_five(struct fixture *f)
{
	return f->peer.accepted >= 5;
}

static void
every_check_connects_anew_and_leaves_no_descriptor(void **state)
{
	struct fixture *f = *state;
	size_t before;

	checked_with(f, OK_REPLY, 2000);
	before = open_descriptors();
	run_until(f, accepted_five);
	assert_true(open_descriptors() <= before + 2);
}

static bool
accepted_one(struct fixture *f)
{
	return f->peer.accepted >= 1;
}

static bool
peer_saw_the_end(struct fixture *f)
{
	return f->peer.closed == f->peer.accepted;
}

static void
cancelled_check_closes_its_connection(void **state)
{
	struct fixture *f = *state;

	f->peer.reply = NULL;
	peer_listen(f, NULL);
	start_checks(f, CHECK_HTTP, 60000);
	run_until(f, accepted_one);
	assert_int_equal(f->peer.closed, 0);
	checker_free(f->checker);
	f->checker = NULL;
	run_until(f, peer_saw_the_end);
	assert_int_equal(f->server->state->last.status, CHECK_STATUS_INI);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(answer_in_the_range_is_l7ok),
	    TEST(request_is_what_was_configured),
	    TEST(path_host_and_method_go_out_as_written),
	    TEST(head_does_not_wait_for_a_body),
	    TEST(other_status_is_l7sts_with_code_and_reason),
	    TEST(redirect_is_not_followed),
	    TEST(an_answer_that_has_come_goes_before_the_timeout),
	    TEST(silence_is_l7tout),
	    TEST(closed_port_is_l4con),
	    TEST(no_connect_in_time_is_l4tout),
	    TEST(answer_that_is_not_http_is_l7rsp),
	    TEST(answer_that_ends_in_its_head_is_l7rsp),
	    TEST(interim_answer_is_not_the_answer),
	    TEST(endless_body_does_not_matter),
	    TEST(endless_head_is_l7rsp),
	    TEST(unix_server_is_asked_as_localhost),
	    TEST(proxy_in_the_environment_is_not_used),
	    TEST(every_check_connects_anew_and_leaves_no_descriptor),
	    TEST(cancelled_check_closes_its_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
