/* SPDX-License-Identifier: MIT
 * An http or https check under way: check_http.c starts and ends it,
 * check_http_request.c sets up the request in curl, and check_http_answer.c
 * judges the answer.  Control thread.
 */
#ifndef CHECK_CHECK_HTTP_RUN_H
#define CHECK_CHECK_HTTP_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "check/check.h"
#include "check/talk.h"

/* An answer with a longer head is invalid.  The rest of a longer body is not
 * read: the status is known by then, and the expected text must come before. */
#define HTTP_HEAD_MAX_BYTES (64 * 1024)
#define HTTP_BODY_MAX_BYTES (64 * 1024)

struct http_run {
	struct curl_transfer transfer;
	struct check *check;
	struct curl_slist *headers, *connect_to;
	struct talk *talk; /* NULL: it is curl's turn, or always was */
	int fd;            /* made by the talk, until curl takes it; or -1 */
	size_t head_bytes, body_bytes;
	char *body; /* NULL: the body is not examined */
	bool tls, connected;
	bool head_ended;  /* of the last answer */
	int socket_error; /* why there is no socket */
	char reason[64];  /* of the last status line */
	char error[CURL_ERROR_SIZE];
};

/* Frees the run, and takes it from curl.  check->run is NULL afterwards. */
void http_run_free(struct check *check);

/* Sets up all that curl needs to know; check and transfer.easy are set. Returns
 * false when memory is short or libcurl does not support an option. */
bool http_run_ask(struct http_run *run);

/* Sets the callbacks for the answer, as a part of http_run_ask.  At the end of
 * the answer the run is freed and the check done (check_done, check_skip). */
void http_run_listen(struct http_run *run);

#endif
