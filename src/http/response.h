/* SPDX-License-Identifier: MIT
 * Answers of the HTTP port.  Control thread.
 */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include "http/pages.h"
#include "http/request.h"

struct http_refusal;

#define HTTP_JSON "application/json"

/* Headers that only some answers have; NULL: not in this one. */
struct http_extra {
	const char *allow, *cookie;
	unsigned retry_after_s; /* 0: not said */
};

/* Sends the text, which is copied. */
enum MHD_Result http_send_text(struct MHD_Connection *connection,
    unsigned status, const char *type, const char *text,
    const struct http_extra *extra);

/* Sends {"answer": "..."}, the answer to a command. */
enum MHD_Result http_send_answer(
    struct MHD_Connection *connection, const char *text);

/* Sends {"error": "..."}. */
enum MHD_Result http_send_error(struct MHD_Connection *connection,
    unsigned status, const char *why, const struct http_extra *extra);

/* Sends the refusal as an error. */
enum MHD_Result http_send_refusal(
    struct MHD_Connection *connection, const struct http_refusal *refusal);

/* Sends the page, or the list of pages with status 404 if it is NULL.  A page
 * without a rest is sent with Content-Length, other pages are chunked. */
enum MHD_Result http_send_page(struct MHD_Connection *connection,
    struct http_site *site, const struct http_page *page, const char *path,
    const struct http_caller *caller);

#endif
