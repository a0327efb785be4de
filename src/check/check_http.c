/* SPDX-License-Identifier: MIT
 * The http and https checks: the server answers a request with a status that
 * counts as healthy, and with a body that has what it must have.
 *
 * libcurl speaks HTTP.  Every check makes a new connection, because an old one
 * proves nothing about new ones.  If the connection has to begin with a header
 * of the PROXY protocol, a talk makes the connection and gives it to curl:
 * curl's own header would have the addresses of a client, and there is none.
 */
#include <errno.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "check/check_http_run.h"
#include "tls/server_name.h"

/* An answer with a longer head is invalid.  A longer body is not read to its
 * end: the status is known by then, and an expected text must come within this
 * length. */
#define HTTP_HEAD_MAX_BYTES (64 * 1024)
#define HTTP_BODY_MAX_BYTES (64 * 1024)

/* Copies the reason from a line like `HTTP/1.1 503 Service Unavailable\r\n`. */
static void
http_keep_reason(struct http_run *run, const char *line, size_t n)
{
	const char *end = line + n;
	const char *at;

	if (n < 5 || memcmp(line, "HTTP/", 5) != 0)
		return;
	run->reason[0] = '\0';
	at = memchr(line, ' ', n);
	at = at ? memchr(at + 1, ' ', (size_t)(end - at - 1)) : NULL;
	if (!at)
		return;
	while (end > at && (end[-1] == '\r' || end[-1] == '\n'))
		end--;
	if (at < end)
		snprintf(run->reason, sizeof(run->reason), "%.*s",
		    (int)(end - at - 1), at + 1);
}

static size_t
http_on_header(char *data, size_t size, size_t n, void *arg)
{
	struct http_run *run = arg;

	run->head_bytes += size * n;
	if (run->head_bytes > HTTP_HEAD_MAX_BYTES)
		return 0;
	http_keep_reason(run, data, size * n);
	run->head_ended = data[0] == '\r' || data[0] == '\n';
	return size * n;
}

static size_t
http_on_body(char *data, size_t size, size_t n, void *arg)
{
	struct http_run *run = arg;
	size_t room = run->body_bytes < HTTP_BODY_MAX_BYTES
	                  ? HTTP_BODY_MAX_BYTES - run->body_bytes
	                  : 0;

	n *= size;
	if (run->body)
		memcpy(run->body + run->body_bytes, data, n < room ? n : room);
	run->body_bytes += n;
	return n > room ? 0 : n;
}

/* Gives curl the socket of the talk, or opens one.  Keeps the errno of a
 * failure, which curl does not report. */
static curl_socket_t
http_on_open_socket(
    void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct http_run *run = arg;
	const struct addr addr = run->check->server->check.addr;
	const struct sock_way way = server_way_to(run->check->server, &addr);
	struct sock_refusal refusal;
	int fd = run->fd;

	(void)purpose;
	run->fd = -1;
	if (fd >= 0)
		return fd;
	fd = socket(address->family,
	    address->socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    address->protocol);
	if (fd < 0)
		run->socket_error = errno;
	else if (address->family != AF_UNIX)
		run->socket_error = -sock_prepare(fd, &addr, &way, &refusal);
	if (fd >= 0 && run->socket_error != 0) {
		close(fd);
		return CURL_SOCKET_BAD;
	}
	return fd;
}

/* Closes the socket and notes whether it was connected.  curl does not report
 * that: it has no connect time if the handshake that follows does not end. */
static int
http_on_close_socket(void *arg, curl_socket_t fd)
{
	struct http_run *run = arg;
	struct addr peer;

	if (sock_peer_addr(fd, &peer))
		run->connected = true;
	return close(fd);
}

static bool
http_was_connected(const struct http_run *run)
{
	CURL *easy = run->transfer.easy;
	curl_off_t connect_us = 0;
	long request_bytes = 0;

	curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &connect_us);
	curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &request_bytes);
	return run->connected || connect_us > 0 || request_bytes > 0;
}

/* Returns the first pattern that the body should have and does not have, or
 * NULL. */
static const struct pattern *
http_missing_in_body(const struct http_run *run)
{
	const struct backend_spec *spec = run->check->server->backend->spec;
	size_t n = run->body_bytes < HTTP_BODY_MAX_BYTES ? run->body_bytes
	                                                 : HTTP_BODY_MAX_BYTES;

	for (size_t i = 0; run->body && i < spec->check_bodies_n; i++)
		if (!pattern_found(&spec->check_bodies[i], run->body, n))
			return &spec->check_bodies[i];
	return NULL;
}

static bool
http_version_is_wrong(const struct http_run *run)
{
	long version = 0;

	curl_easy_getinfo(run->transfer.easy, CURLINFO_HTTP_VERSION, &version);
	return run->check->spec->version == HTTP_VERSION_2 &&
	       version != CURL_HTTP_VERSION_2_0;
}

static void
http_judge_answer(struct http_run *run, long code)
{
	const struct pattern *missing = http_missing_in_body(run);
	enum check_status status = CHECK_STATUS_L7OK;
	char text[200];

	snprintf(text, sizeof(text), "%s", run->reason);
	if (http_version_is_wrong(run)) {
		status = CHECK_STATUS_L7RSP;
		strcpy(text, "the server does not speak HTTP/2");
	} else if (!status_set_has(&run->check->spec->status, code)) {
		status = CHECK_STATUS_L7STS;
	} else if (missing) {
		status = CHECK_STATUS_L7RSP;
		snprintf(text, sizeof(text), "the body does not contain %s",
		    missing->text);
	}
	check_done(run->check, status, (unsigned)code, text);
}

/* Returns whether the connection is there, but TLS on it is not yet. */
static bool
http_in_handshake(const struct http_run *run)
{
	curl_off_t done_us = 0;

	curl_easy_getinfo(
	    run->transfer.easy, CURLINFO_APPCONNECT_TIME_T, &done_us);
	return run->tls != CHECK_TLS_NONE && done_us == 0;
}

static void
http_on_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct http_run *run = timer->data;

	(void)loop;
	(void)events;
	/* curl closes the socket, which tells whether it was connected. */
	curl_loop_remove(run->check->schedule->curl, &run->transfer);
	if (!http_was_connected(run))
		check_done(run->check, CHECK_STATUS_L4TOUT, 0,
		    "no answer to the connect");
	else if (http_in_handshake(run))
		check_done(run->check, CHECK_STATUS_L6TOUT, 0,
		    "no end of the TLS handshake");
	else
		check_done(
		    run->check, CHECK_STATUS_L7TOUT, 0, "no complete answer");
}

static void
http_judge_no_connection(struct http_run *run)
{
	long error = run->socket_error;

	if (!error)
		curl_easy_getinfo(
		    run->transfer.easy, CURLINFO_OS_ERRNO, &error);
	check_connect_failed(run->check, error ? (int)error : ECONNREFUSED);
}

/* Returns why the name in the certificate was refused, in the words of
 * server_name.h; NULL if it was not. */
static const char *
http_name_error(const struct http_run *run)
{
	long result = X509_V_OK;

	curl_easy_getinfo(
	    run->transfer.easy, CURLINFO_SSL_VERIFYRESULT, &result);
	return tls_server_name_error(result);
}

/* Judges an answer that is not HTTP, or ended in its head, which curl does not
 * report as an error.  curl reports `out of memory` for a line of the head that
 * is longer than it accepts. */
static void
http_judge_nonsense(struct http_run *run, CURLcode code)
{
	const char *refused = http_name_error(run);
	const char *text =
	    refused ? refused
	    : code == CURLE_OK
	        ? "the connection ended in the head of the answer"
	    : code == CURLE_OUT_OF_MEMORY || code == CURLE_WRITE_ERROR
	        ? "the head of the answer is too long"
	    : run->refusal.text[0] ? run->refusal.text
	    : run->error[0]        ? run->error
	                           : curl_easy_strerror(code);

	check_done(run->check,
	    http_in_handshake(run) ? CHECK_STATUS_L6RSP : CHECK_STATUS_L7RSP, 0,
	    text);
}

static void
http_done(struct curl_transfer *transfer, CURLcode code)
{
	/* The transfer is the run's first member. */
	struct http_run *run = (struct http_run *)(void *)transfer;
	long status = 0;

	curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
	if (code == CURLE_WRITE_ERROR && run->body_bytes > HTTP_BODY_MAX_BYTES)
		code = CURLE_OK;
	if (code == CURLE_OK && status > 0 && run->head_ended)
		http_judge_answer(run, status);
	else if (code == CURLE_COULDNT_CONNECT)
		http_judge_no_connection(run);
	else if (code == CURLE_OUT_OF_MEMORY && !http_was_connected(run))
		check_skip(run->check, ENOMEM);
	else
		http_judge_nonsense(run, code);
}

static void
http_listen(struct http_run *run)
{
	CURL *easy = run->transfer.easy;

	run->transfer.done = http_done;
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, http_on_open_socket);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, run);
	curl_easy_setopt(
	    easy, CURLOPT_CLOSESOCKETFUNCTION, http_on_close_socket);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, run);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, http_on_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, run);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, http_on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, run);
}

static int
http_on_socket_options(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	(void)arg;
	(void)fd;
	(void)purpose;
	return CURL_SOCKOPT_ALREADY_CONNECTED;
}

/* Starts the transfer, and the timer that ends it after timeout_ms.  Returns
 * false when memory is short. */
static bool
http_begin(struct http_run *run, uint64_t timeout_ms)
{
	struct check *check = run->check;

	if (curl_loop_add(check->schedule->curl, &run->transfer) != 0)
		return false;
	ev_now_update(check->loop);
	ev_timer_set(&run->timeout, (double)timeout_ms / 1e3, 0.);
	ev_timer_start(check->loop, &run->timeout);
	return true;
}

/* Gives the talk's connection to curl.  The time that the connect took counts
 * towards the check's timeout. */
static bool
http_continue(struct http_run *run, int fd)
{
	const struct check *check = run->check;
	uint64_t past_ms = (clock_now_ns() - check->started_ns) / NS_PER_MS;
	uint64_t timeout_ms = check->server->check.timeout_ms;
	CURL *easy = run->transfer.easy;

	run->fd = fd;
	return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION,
	           http_on_socket_options) == CURLE_OK &&
	       http_begin(run, timeout_ms > past_ms ? timeout_ms - past_ms : 0);
}

static void
http_header_sent(void *arg, const struct talk_result *result)
{
	struct check *check = arg;
	int fd;

	check->talk = NULL;
	if (result->error) {
		check_connect_failed(check, result->error);
		return;
	}
	if (!check_status_passed(result->status)) {
		check_done(check, result->status, 0, result->text);
		return;
	}
	fd = *result->fd;
	*result->fd = -1;
	if (!http_continue(check->run, fd))
		check_skip(check, ENOMEM);
}

static bool
http_start(struct check *check)
{
	struct http_run *run = check->run;

	run->check = check;
	run->fd = -1;
	ev_init(&run->timeout, http_on_timeout);
	ev_set_priority(&run->timeout, CHECK_TIMEOUT_PRIORITY);
	run->timeout.data = run;
	run->tls = check->server->check.tls;
	if (check->server->backend->spec->check_bodies_n > 0 &&
	    !(run->body = malloc(HTTP_BODY_MAX_BYTES)))
		return false;
	run->transfer.easy = curl_easy_init();
	if (!run->transfer.easy)
		return false;
	http_listen(run);
	if (!http_run_ask(run))
		return false;
	if (check->server->check.proxy != PROXY_OFF)
		return check_talk_start(check, http_header_sent);
	return http_begin(run, check->server->check.timeout_ms);
}

static void
http_end(struct check *check)
{
	struct http_run *run = check->run;

	ev_timer_stop(check->loop, &run->timeout);
	curl_loop_remove(check->schedule->curl, &run->transfer);
	curl_easy_cleanup(run->transfer.easy);
	curl_slist_free_all(run->headers);
	curl_slist_free_all(run->connect_to);
	free(run->body);
	if (run->fd >= 0)
		close(run->fd);
}

const struct check_ops check_http_ops = {
    .run_size = sizeof(struct http_run),
    .start = http_start,
    .end = http_end,
};
