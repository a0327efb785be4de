/* SPDX-License-Identifier: MIT
 * An http or https check under way: check_http.c starts and ends it and judges
 * the answer, and check_http_request.c makes the request.  Runs on the control
 * thread.
 */
#ifndef CHECK_CHECK_HTTP_RUN_H
#define CHECK_CHECK_HTTP_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "check/check.h"

struct http_run {
	struct curl_transfer transfer;
	struct check *check;
	ev_timer timeout;
	struct curl_slist *headers, *connect_to;
	int fd; /* made by the talk, until curl takes it; or -1 */
	size_t head_bytes, body_bytes;
	char *body; /* NULL: the body is not examined */
	enum check_tls tls;
	bool connected;
	bool failed;      /* out of memory, or an option unknown to curl */
	bool head_ended;  /* the last answer has its whole head */
	int socket_error; /* errno of making the socket */
	char reason[64];  /* from the last status line */
	char error[CURL_ERROR_SIZE];
	struct err refusal; /* why TLS could not begin; else empty */
};

/* Sets up the request in curl, but not what receives the answer.  check and
 * transfer.easy are set.  Returns false when memory is short or libcurl does
 * not support an option. */
bool http_run_ask(struct http_run *run) MUST_CHECK;

#endif
