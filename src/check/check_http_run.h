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

/* An answer's head beyond this is no answer; a body beyond it is not read:
 * the status is known by then, and what is looked for stands before. */
#define HTTP_HEAD_MAX_BYTES (64 * 1024)
#define HTTP_BODY_MAX_BYTES (64 * 1024)

struct http_run {
	struct curl_transfer transfer;
	struct check *check;
	struct curl_slist *headers, *connect_to;
	struct talk *talk; /* NULL: it is curl's turn, or always was */
	int fd;            /* made by the talk, until curl takes it; or -1 */
	size_t head_bytes, body_bytes;
	char *body; /* NULL: nobody will look at it */
	bool tls, connected;
	bool head_ended;  /* of the last answer */
	int socket_error; /* why there is no socket */
	char reason[64];  /* of the last status line */
	char error[CURL_ERROR_SIZE];
};

/* check->run is NULL afterwards; curl does not have it any more. */
void http_run_free(struct check *check);

/* All that curl needs to know, check and transfer.easy being set.  False: out
 * of memory, or a libcurl that lacks what is needed. */
bool http_run_ask(struct http_run *run);

/* Part of http_run_ask: what curl is to call as the answer comes.  At its end
 * the run is freed and the check done (check_done, check_skip). */
void http_run_listen(struct http_run *run);

#endif
