/* SPDX-License-Identifier: MIT
 * The http check: the server answers a request with a status that counts as
 * healthy.
 *
 * libcurl speaks the HTTP.  Every check makes a connection of its own, since
 * an old one proves nothing about new ones.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "check/check_kind.h"

/* An answer's head beyond this is no answer; a body beyond it is not read:
 * the status is known by then. */
#define HEAD_MAX_BYTES (64 * 1024)
#define BODY_MAX_BYTES (64 * 1024)

struct http_run {
	struct curl_transfer transfer;
	struct check *check;
	struct curl_slist *headers;
	size_t head_bytes, body_bytes;
	int socket_error; /* why there is no socket */
	char reason[64];  /* of the last status line */
	char error[CURL_ERROR_SIZE];
};

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
	if (run->head_bytes > HEAD_MAX_BYTES)
		return 0;
	keep_reason(run, data, size * n);
	return size * n;
}

static size_t
on_body(char *data, size_t size, size_t n, void *arg)
{
	struct http_run *run = arg;

	(void)data;
	run->body_bytes += size * n;
	return run->body_bytes > BODY_MAX_BYTES ? 0 : size * n;
}

/* As curl would, but it would not say why it failed. */
static curl_socket_t
on_open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct http_run *run = arg;
	int fd = socket(address->family,
	    address->socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    address->protocol);

	(void)purpose;
	if (fd < 0)
		run->socket_error = errno;
	return fd;
}

static void
run_free(struct check *check)
{
	struct http_run *run = check->run;

	curl_easy_cleanup(run->transfer.easy);
	curl_slist_free_all(run->headers);
	free(run);
	check->run = NULL;
}

static bool
was_connected(CURL *easy)
{
	curl_off_t connect_us = 0;
	long request_bytes = 0;

	curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &connect_us);
	curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &request_bytes);
	return connect_us > 0 || request_bytes > 0;
}

static void
judge_answer(struct check *check, long code)
{
	struct http_run *run = check->run;
	char reason[sizeof(run->reason)];
	bool well = code >= (long)check->spec->status_min &&
	            code <= (long)check->spec->status_max;

	memcpy(reason, run->reason, sizeof(reason));
	run_free(check);
	check_done(check, well ? CHECK_STATUS_L7OK : CHECK_STATUS_L7STS,
	    (unsigned)code, reason);
}

static void
judge_timeout(struct check *check)
{
	bool connected =
	    was_connected(((struct http_run *)check->run)->transfer.easy);

	run_free(check);
	if (connected)
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
	run_free(check);
	check_connect_failed(check, error ? (int)error : ECONNREFUSED);
}

/* Connected, and then something that is not an HTTP answer.  curl says `out of
 * memory` of a line in the head that is longer than it takes. */
static void
judge_nonsense(struct check *check, CURLcode code)
{
	struct http_run *run = check->run;
	char text[CURL_ERROR_SIZE];

	if (code == CURLE_OUT_OF_MEMORY || code == CURLE_WRITE_ERROR)
		strcpy(text, "the head of the answer is too long");
	else
		snprintf(text, sizeof(text), "%s",
		    run->error[0] ? run->error : curl_easy_strerror(code));
	run_free(check);
	check_done(check, CHECK_STATUS_L7RSP, 0, text);
}

static void
on_transfer_done(struct curl_transfer *transfer, CURLcode code)
{
	/* The transfer is the run's first member. */
	struct http_run *run = (struct http_run *)(void *)transfer;
	struct check *check = run->check;
	long status = 0;

	curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
	if (code == CURLE_WRITE_ERROR && run->body_bytes > BODY_MAX_BYTES)
		code = CURLE_OK;
	if (code == CURLE_OK && status > 0) {
		judge_answer(check, status);
	} else if (code == CURLE_OPERATION_TIMEDOUT) {
		judge_timeout(check);
	} else if (code == CURLE_COULDNT_CONNECT) {
		judge_no_connection(check);
	} else if (code == CURLE_OUT_OF_MEMORY &&
	           !was_connected(transfer->easy)) {
		run_free(check);
		check_skip(check, ENOMEM);
	} else {
		judge_nonsense(check, code);
	}
}

static CURLcode
set_method(CURL *easy, const char *method)
{
	if (strcmp(method, "HEAD") == 0)
		return curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	if (strcmp(method, "GET") == 0)
		return curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
	return curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
}

/* Where to, as curl wants it.  The URL's path is not used: the request target
 * is set apart, so that curl does not tidy up what the operator wrote. */
static CURLcode
set_destination(CURL *easy, const struct addr *addr)
{
	char url[ADDR_TEXT_SIZE + sizeof("http:///")];
	char text[ADDR_TEXT_SIZE];

	if (addr->sa.sa_family == AF_UNIX) {
		curl_easy_setopt(easy, CURLOPT_URL, "http://localhost/");
		return curl_easy_setopt(
		    easy, CURLOPT_UNIX_SOCKET_PATH, addr->un.sun_path);
	}
	if (addr->sa.sa_family == AF_INET6 && addr->in6.sin6_scope_id)
		curl_easy_setopt(
		    easy, CURLOPT_ADDRESS_SCOPE, (long)addr->in6.sin6_scope_id);
	snprintf(url, sizeof(url), "http://%s/", addr_text(addr, text));
	return curl_easy_setopt(easy, CURLOPT_URL, url);
}

static bool
add_header(struct curl_slist **headers, const char *name, const char *value)
{
	struct curl_slist *more = NULL;
	char *line;

	if (asprintf(&line, "%s: %s", name, value) < 0)
		return false;
	more = curl_slist_append(*headers, line);
	free(line);
	if (more)
		*headers = more;
	return more != NULL;
}

static bool
set_headers(struct http_run *run)
{
	const struct server_spec *server = run->check->server->spec;
	const char *host = run->check->spec->host;

	if (!host && server->addr.sa.sa_family == AF_UNIX)
		host = "localhost";
	if (!host)
		host = server->address;
	return add_header(&run->headers, "Host", host) &&
	       add_header(&run->headers, "Connection", "close") &&
	       curl_easy_setopt(run->transfer.easy, CURLOPT_HTTPHEADER,
	           run->headers) == CURLE_OK;
}

static void
set_manners(struct http_run *run)
{
	CURL *easy = run->transfer.easy;
	long timeout_ms = (long)run->check->spec->timeout_ms;

	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, timeout_ms);
	curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(
	    easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, run->error);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, run);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, run);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, run);
}

/* The options whose failure would change what is asked, or of whom. */
static bool
prepare(struct http_run *run)
{
	const struct check_spec *spec = run->check->spec;
	CURL *easy = run->transfer.easy;

	set_manners(run);
	return set_headers(run) &&
	       set_destination(easy, &run->check->server->spec->addr) ==
	           CURLE_OK &&
	       set_method(easy, spec->method) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_REQUEST_TARGET, spec->path) ==
	           CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http") ==
	           CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_NOPROXY, "*") == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_USERAGENT,
	           "lfproxy/" LFPROXY_VERSION) == CURLE_OK;
}

static void
http_start(struct check *check)
{
	struct http_run *run = calloc(1, sizeof(*run));

	if (!run) {
		check_skip(check, ENOMEM);
		return;
	}
	check->run = run;
	run->check = check;
	run->transfer.done = on_transfer_done;
	run->transfer.easy = curl_easy_init();
	if (!run->transfer.easy || !prepare(run) ||
	    curl_loop_add(check->curl, &run->transfer) < 0) {
		run_free(check);
		check_skip(check, ENOMEM);
	}
}

static void
http_cancel(struct check *check)
{
	struct http_run *run = check->run;

	curl_loop_remove(check->curl, &run->transfer);
	run_free(check);
}

const struct check_ops check_http_ops = {
    .start = http_start,
    .cancel = http_cancel,
};
