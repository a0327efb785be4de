/* SPDX-License-Identifier: MIT
 * HTTP requests to the endpoints of a source, by libcurl on the control loop.
 *
 * Each request has a connection of its own, because a connection that libcurl
 * keeps may have the client certificate of another source.
 */
#ifndef RESOLVE_DISCOVERY_HTTP_H
#define RESOLVE_DISCOVERY_HTTP_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "loop/curl_loop.h"
#include "resolve/discovery_settings.h"
#include "resolve/discovery_target.h"

struct tls_context;

/* The shortest and the longest pause after failures.  The pause doubles each
 * time that all endpoints have failed; each pause is up to a fifth longer or
 * shorter. */
#define DISCOVERY_PAUSE_MIN_MS 250u
#define DISCOVERY_PAUSE_MAX_MS 10000u

/* The endpoints of a source and what its requests share. */
struct discovery_http {
	struct curl_loop *curl; /* borrowed */
	struct discovery_target target;
	struct discovery_settings settings; /* copies */
	struct tls_context *tls; /* NULL: http, or its files cannot be read */
	size_t endpoint;         /* index of the one that is asked */
	unsigned failures;       /* since the last success */
	uint64_t random;
};

/* Returns whether requests can be made with the settings, whose URL is right,
 * or false with err set.  Blocks for the files of TLS. */
bool discovery_http_check(
    const struct discovery_settings *settings, struct err *err) MUST_CHECK;

/* Initializes http with copies of settings that were checked.  Returns false
 * when memory is short; then there is nothing to free. */
bool discovery_http_init(struct discovery_http *http, struct curl_loop *curl,
    const struct discovery_settings *settings) MUST_CHECK;

/* Frees the copies.  No call may be under way. */
void discovery_http_fini(struct discovery_http *http);

/* Returns a random time, in seconds, up to a fifth longer or shorter than
 * seconds. */
double discovery_http_vary(struct discovery_http *http, double seconds);

/* Counts a failure and turns to the next endpoint.  Returns the pause until the
 * next attempt, in seconds. */
double discovery_http_failed(struct discovery_http *http);

/* Notes a success, which ends a row of failures. */
void discovery_http_succeeded(struct discovery_http *http);

/* A request.  Texts are copied. */
struct discovery_request {
	const char *target;  /* path and query, as sent */
	const char *body;    /* JSON for a POST; NULL: a GET */
	const char *header;  /* `Authorization: x`; NULL: none */
	uint64_t timeout_ms; /* for all of it; 0: only the connect has one */
	size_t answer_max;   /* bytes; a longer answer is an error */
};

/* A request under way.  At first all members are zero but on_data to http. */
struct discovery_call {
	/* Takes the next bytes of an answer with status 200.  Returning false
	 * with err set ends the call.  Runs within libcurl, so it must not stop
	 * or start a call. */
	bool (*on_data)(void *arg, const char *data, size_t n, struct err *err);
	/* Takes a line of the head of the answer, as libcurl passes it.  NULL:
	 * lines are ignored.  Runs within libcurl, too. */
	void (*on_header)(void *arg, const char *line, size_t n);
	/* Reports the end.  why is NULL after a whole answer with status 200,
	 * else a sentence that begins with the endpoint.  Called from the loop;
	 * may start the call again. */
	void (*on_end)(void *arg, const char *why);
	void *arg;
	struct discovery_http *http;

	/* Private, except status, which on_end may read. */
	struct curl_transfer transfer;
	struct curl_slist *headers;
	const struct discovery_endpoint *endpoint;
	size_t answer_max, answer_bytes, head_bytes;
	uint64_t timeout_ms;
	long status;    /* of the answer; 0: none */
	char body[256]; /* the start of an answer of another status */
	size_t body_n;
	struct err refusal; /* of on_data; or why TLS cannot begin */
	char error[CURL_ERROR_SIZE];
};

/* Starts the request at the present endpoint; stops one that is under way.
 * Reports follow from the loop, never from within this call.  Returns false
 * with err set when memory is short or the files of TLS cannot be read; then no
 * report follows.  With TLS, reads files again that have changed. */
bool discovery_call_start(struct discovery_call *call,
    const struct discovery_request *request, struct err *err) MUST_CHECK;

/* Ends the call, if there is one under way, without a report. */
void discovery_call_stop(struct discovery_call *call);

static inline bool
discovery_call_runs(const struct discovery_call *call)
{
	return call->transfer.easy != NULL;
}

#endif
