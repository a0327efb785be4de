/* SPDX-License-Identifier: MIT
 * Judges the answer to an http check, or the failure to get one, see
 * check_http_run.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check/check_http_run.h"

/* From `HTTP/1.1 503 Service Unavailable\r\n`. */
static void
keep_reason(struct http_run *run, const char *line, size_t n)
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
on_header(char *data, size_t size, size_t n, void *arg)
{
	struct http_run *run = arg;

	run->head_bytes += size * n;
	if (run->head_bytes > HTTP_HEAD_MAX_BYTES)
		return 0;
	keep_reason(run, data, size * n);
	run->head_ended = data[0] == '\r' || data[0] == '\n';
	return size * n;
}

static size_t
on_body(char *data, size_t size, size_t n, void *arg)
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
on_open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
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
on_close_socket(void *arg, curl_socket_t fd)
{
	struct http_run *run = arg;
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);

	if (getpeername(fd, (struct sockaddr *)&peer, &len) == 0)
		run->connected = true;
	return close(fd);
}

static bool
was_connected(const struct http_run *run)
{
	CURL *easy = run->transfer.easy;
	curl_off_t connect_us = 0;
	long request_bytes = 0;

	curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &connect_us);
	curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &request_bytes);
	return run->connected || connect_us > 0 || request_bytes > 0;
}

/* The first that the body should have and has not, or NULL. */
static const struct pattern *
missing_in_body(const struct http_run *run)
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
version_is_wrong(const struct http_run *run)
{
	long version = 0;

	curl_easy_getinfo(run->transfer.easy, CURLINFO_HTTP_VERSION, &version);
	return run->check->spec->version == HTTP_VERSION_2 &&
	       version != CURL_HTTP_VERSION_2_0;
}

static void
judge_answer(struct check *check, long code)
{
	struct http_run *run = check->run;
	const struct pattern *missing = missing_in_body(run);
	enum check_status status = CHECK_STATUS_L7OK;
	char text[200];

	snprintf(text, sizeof(text), "%s", run->reason);
	if (version_is_wrong(run)) {
		status = CHECK_STATUS_L7RSP;
		strcpy(text, "the server does not speak HTTP/2");
	} else if (!status_set_has(&check->spec->status, code)) {
		status = CHECK_STATUS_L7STS;
	} else if (missing) {
		status = CHECK_STATUS_L7RSP;
		snprintf(text, sizeof(text), "the body does not contain %s",
		    missing->text);
	}
	http_run_free(check);
	check_done(check, status, (unsigned)code, text);
}

/* Whether the connection is there, but not yet TLS on it. */
static bool
in_handshake(const struct http_run *run)
{
	curl_off_t done_us = 0;

	curl_easy_getinfo(
	    run->transfer.easy, CURLINFO_APPCONNECT_TIME_T, &done_us);
	return run->tls && done_us == 0;
}

static void
judge_timeout(struct check *check)
{
	struct http_run *run = check->run;
	bool connected = was_connected(run);
	bool handshake = in_handshake(run);

	http_run_free(check);
	if (connected && handshake)
		check_done(check, CHECK_STATUS_L6TOUT, 0,
		    "no end of the TLS handshake");
	else if (connected)
		check_done(check, CHECK_STATUS_L7TOUT, 0, "no complete answer");
	else
		check_done(
		    check, CHECK_STATUS_L4TOUT, 0, "no answer to the connect");
}

static void
judge_no_connection(struct check *check)
{
	struct http_run *run = check->run;
	long error = run->socket_error;

	if (!error)
		curl_easy_getinfo(
		    run->transfer.easy, CURLINFO_OS_ERRNO, &error);
	http_run_free(check);
	check_connect_failed(check, error ? (int)error : ECONNREFUSED);
}

/* Connected, and then something that is not an HTTP answer, or not all of its
 * head, with which curl is content.  curl says `out of
 * memory` of a line in the head that is longer than it takes. */
static void
judge_nonsense(struct check *check, CURLcode code)
{
	struct http_run *run = check->run;
	bool handshake = in_handshake(run);
	char text[CURL_ERROR_SIZE];

	if (code == CURLE_OK)
		strcpy(text, "the connection ended in the head of the answer");
	else if (code == CURLE_OUT_OF_MEMORY || code == CURLE_WRITE_ERROR)
		strcpy(text, "the head of the answer is too long");
	else
		snprintf(text, sizeof(text), "%s",
		    run->error[0] ? run->error : curl_easy_strerror(code));
	http_run_free(check);
	check_done(check, handshake ? CHECK_STATUS_L6RSP : CHECK_STATUS_L7RSP,
	    0, text);
}

static void
on_transfer_done(struct curl_transfer *transfer, CURLcode code)
{
	/* The transfer is the run's first member. */
	struct http_run *run = (struct http_run *)(void *)transfer;
	struct check *check = run->check;
	long status = 0;

	curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
	if (code == CURLE_WRITE_ERROR && run->body_bytes > HTTP_BODY_MAX_BYTES)
		code = CURLE_OK;
	if (code == CURLE_OK && status > 0 && run->head_ended) {
		judge_answer(check, status);
	} else if (code == CURLE_OPERATION_TIMEDOUT) {
		judge_timeout(check);
	} else if (code == CURLE_COULDNT_CONNECT) {
		judge_no_connection(check);
	} else if (code == CURLE_OUT_OF_MEMORY && !was_connected(run)) {
		http_run_free(check);
		check_skip(check, ENOMEM);
	} else {
		judge_nonsense(check, code);
	}
}

void
http_run_listen(struct http_run *run)
{
	CURL *easy = run->transfer.easy;

	run->transfer.done = on_transfer_done;
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, run);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close_socket);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, run);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, run);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, run);
}
