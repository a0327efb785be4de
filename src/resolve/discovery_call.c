/* SPDX-License-Identifier: MIT
 * See discovery_http.h: a request under way.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/list.h"
#include "base/printable.h"
#include "base/secrets.h"
#include "base/text.h"
#include "resolve/discovery_http.h"
#include "resolve/discovery_tls.h"
#include "tls/server_name.h"

/* The most bytes of the head of an answer; a longer one is an error. */
#define CALL_HEAD_MAX_BYTES (64 * 1024)

/* The kernel probes an idle peer after the first time, at the interval of the
 * second, and gives up the connection of a peer that has not answered for the
 * third. */
#define CALL_IDLE_S        10
#define CALL_IDLE_PROBE_S  5
#define CALL_UNANSWERED_MS 25000u

static size_t
call_on_header(char *data, size_t size, size_t n, void *arg)
{
	struct discovery_call *call = arg;

	n *= size;
	call->head_bytes += n;
	if (call->head_bytes > CALL_HEAD_MAX_BYTES) {
		err_set(&call->refusal, "the head of the answer is too long");
		return 0;
	}
	if (call->on_header)
		call->on_header(call->arg, data, n);
	return n;
}

static size_t
call_on_body(char *data, size_t size, size_t n, void *arg)
{
	struct discovery_call *call = arg;
	size_t room = sizeof(call->body) - 1 - call->body_n;

	n *= size;
	curl_easy_getinfo(
	    call->transfer.easy, CURLINFO_RESPONSE_CODE, &call->status);
	call->answer_bytes += n;
	if (call->answer_bytes > call->answer_max) {
		err_set(&call->refusal, "the answer has more than %zu bytes",
		    call->answer_max);
		return 0;
	}
	if (call->status == 200)
		return call->on_data(call->arg, data, n, &call->refusal) ? n
		                                                         : 0;
	memcpy(call->body + call->body_n, data, n < room ? n : room);
	call->body_n += n < room ? n : room;
	return n;
}

static int
call_on_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	const unsigned unanswered_ms = CALL_UNANSWERED_MS;

	(void)arg;
	(void)purpose;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms,
	    sizeof(unanswered_ms));
	return CURL_SOCKOPT_OK;
}

static CURLcode
call_on_tls(CURL *easy, void *ssl_ctx, void *arg)
{
	struct discovery_call *call = arg;

	(void)easy;
	return discovery_tls_apply(
	    call->http->tls, ssl_ctx, call->endpoint, &call->refusal);
}

/* -- What went wrong -- */

static void
call_explain_status(const struct discovery_call *call, struct err *why)
{
	char words[sizeof(call->body)], *end;

	printable_copy(words, sizeof(words), call->body, ' ');
	end = words + strlen(words);
	while (end > words && end[-1] == ' ')
		*--end = '\0';
	err_set(why, "HTTP %ld%s%s", call->status, *words ? ": " : "", words);
}

static void
call_explain_timeout(const struct discovery_call *call, struct err *why)
{
	char text[TEXT_DURATION_SIZE];
	curl_off_t connected_us = 0;

	curl_easy_getinfo(
	    call->transfer.easy, CURLINFO_PRETRANSFER_TIME_T, &connected_us);
	if (connected_us == 0)
		err_set(why, "no connection within %s",
		    text_duration(call->http->settings.timeout_ms, text));
	else
		err_set(why, "no complete answer within %s",
		    text_duration(call->timeout_ms, text));
}

static void
call_explain_code(
    const struct discovery_call *call, CURLcode code, struct err *why)
{
	const char *refused;
	long error = 0, result = X509_V_OK;

	curl_easy_getinfo(call->transfer.easy, CURLINFO_OS_ERRNO, &error);
	curl_easy_getinfo(
	    call->transfer.easy, CURLINFO_SSL_VERIFYRESULT, &result);
	refused = tls_server_name_error(result);
	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		call_explain_timeout(call, why);
		return;
	case CURLE_COULDNT_RESOLVE_HOST:
		err_set(why, "the host name cannot be resolved");
		return;
	case CURLE_COULDNT_CONNECT:
		err_set(why, "connect: %s",
		    strerror(error ? (int)error : ECONNREFUSED));
		return;
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
	case CURLE_RECV_ERROR:
		err_set(why, "the connection ended before the answer did");
		return;
	default:
		err_set(why, "%s",
		    refused          ? refused
		    : call->error[0] ? call->error
		                     : curl_easy_strerror(code));
	}
}

/* Reports why the call has failed.  Secrets are masked, since the answer may
 * repeat the token. */
static void
call_report(struct discovery_call *call, const struct err *why)
{
	char text[sizeof(why->text) + 300], *masked;
	const char *shown = secrets_mask(why->text, &masked);

	snprintf(text, sizeof(text), "%s: %s", call->endpoint->url, shown);
	free(masked);
	call->on_end(call->arg, text);
}

static void
call_done(struct curl_transfer *transfer, CURLcode code)
{
	struct discovery_call *call =
	    container_of(transfer, struct discovery_call, transfer);
	bool refused = call->refusal.text[0] != '\0';
	struct err why = {.text = ""};

	curl_easy_getinfo(
	    transfer->easy, CURLINFO_RESPONSE_CODE, &call->status);
	if (refused)
		why = call->refusal;
	else if (code != CURLE_OK)
		call_explain_code(call, code, &why);
	else if (call->status != 200)
		call_explain_status(call, &why);
	discovery_call_stop(call);
	if (why.text[0])
		call_report(call, &why);
	else
		call->on_end(call->arg, NULL);
}

/* -- The request -- */

/* Sets an option.  A failure would change the request, so it is noted in *ok.
 */
#define SET(option, value)                                                     \
	(*ok &= curl_easy_setopt(easy, (option), (value)) == CURLE_OK)

static void
call_set_tls(struct discovery_call *call, CURL *easy, bool *ok)
{
	SET(CURLOPT_CAINFO, NULL);
	SET(CURLOPT_CAPATH, NULL);
	/* OpenSSL verifies, as discovery_tls_apply has set it up. */
	SET(CURLOPT_SSL_VERIFYPEER, 0L);
	SET(CURLOPT_SSL_VERIFYHOST, 0L);
	SET(CURLOPT_SSL_SESSIONID_CACHE, 0L);
	SET(CURLOPT_SSL_CTX_DATA, call);
	SET(CURLOPT_SSL_CTX_FUNCTION, call_on_tls);
}

static void
call_set_connection(const struct discovery_call *call, CURL *easy, bool *ok)
{
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)call->http->settings.timeout_ms);
	SET(CURLOPT_TIMEOUT_MS, (long)call->timeout_ms);
	SET(CURLOPT_FRESH_CONNECT, 1L);
	SET(CURLOPT_FORBID_REUSE, 1L);
	SET(CURLOPT_TCP_KEEPALIVE, 1L);
	SET(CURLOPT_TCP_KEEPIDLE, (long)CALL_IDLE_S);
	SET(CURLOPT_TCP_KEEPINTVL, (long)CALL_IDLE_PROBE_S);
	SET(CURLOPT_SOCKOPTFUNCTION, call_on_socket);
	SET(CURLOPT_NOPROXY, "*");
	SET(CURLOPT_PROTOCOLS_STR, call->http->target.tls ? "https" : "http");
#if LIBCURL_VERSION_NUM >= 0x075700
	/* Without this option, the end of a call waits for a look-up of its
	 * host. */
	SET(CURLOPT_QUICK_EXIT, 1L);
#endif
}

static void
call_set_answer(struct discovery_call *call, CURL *easy, bool *ok)
{
	SET(CURLOPT_HEADERFUNCTION, call_on_header);
	SET(CURLOPT_HEADERDATA, call);
	SET(CURLOPT_WRITEFUNCTION, call_on_body);
	SET(CURLOPT_WRITEDATA, call);
	SET(CURLOPT_ERRORBUFFER, call->error);
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_HTTP09_ALLOWED, 0L);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_USERAGENT, "lfproxy/" LFPROXY_VERSION);
}

static void
call_add_header(struct discovery_call *call, const char *line, bool *ok)
{
	struct curl_slist *longer = curl_slist_append(call->headers, line);

	if (longer)
		call->headers = longer;
	else
		*ok = false;
}

static void
call_set_request(struct discovery_call *call, CURL *easy,
    const struct discovery_request *request, bool *ok)
{
	/* The target is set apart from the URL, so that curl does not normalize
	 * it. */
	SET(CURLOPT_URL, call->endpoint->url);
	SET(CURLOPT_REQUEST_TARGET, request->target);
	call_add_header(call, "Accept: application/json", ok);
	if (request->header)
		call_add_header(call, request->header, ok);
	if (request->body) {
		call_add_header(call, "Content-Type: application/json", ok);
		call_add_header(call, "Expect:", ok);
		SET(CURLOPT_COPYPOSTFIELDS, request->body);
	}
	SET(CURLOPT_HTTPHEADER, call->headers);
}

static bool
call_set_up(struct discovery_call *call, CURL *easy,
    const struct discovery_request *request)
{
	bool set = true, *ok = &set;

	call_set_connection(call, easy, ok);
	call_set_answer(call, easy, ok);
	if (call->http->target.tls)
		call_set_tls(call, easy, ok);
	call_set_request(call, easy, request, ok);
	return set;
}

bool
discovery_call_start(struct discovery_call *call,
    const struct discovery_request *request, struct err *err)
{
	struct discovery_http *http = call->http;

	discovery_call_stop(call);
	call->endpoint = &http->target.endpoints[http->endpoint];
	call->answer_max = request->answer_max;
	call->timeout_ms = request->timeout_ms;
	call->answer_bytes = call->head_bytes = call->body_n = 0;
	call->status = 0;
	memset(call->body, 0, sizeof(call->body));
	call->error[0] = call->refusal.text[0] = '\0';
	call->transfer.done = call_done;
	/* While the files cannot be read, the contents that were read before
	 * are used. */
	if (http->target.tls &&
	    !discovery_tls_refresh(&http->tls, &http->settings, err) &&
	    !http->tls)
		return false;
	call->transfer.easy = curl_easy_init();
	if (call->transfer.easy &&
	    call_set_up(call, call->transfer.easy, request) &&
	    curl_loop_add(http->curl, &call->transfer) == 0)
		return true;
	discovery_call_stop(call);
	return err_oom(err);
}

void
discovery_call_stop(struct discovery_call *call)
{
	if (call->transfer.easy) {
		curl_loop_remove(call->http->curl, &call->transfer);
		curl_easy_cleanup(call->transfer.easy);
		call->transfer.easy = NULL;
	}
	curl_slist_free_all(call->headers);
	call->headers = NULL;
}
