/* SPDX-License-Identifier: MIT
 * The pages of the HTTP port.  All functions run on the control thread.
 */
#ifndef HTTP_PAGES_H
#define HTTP_PAGES_H

#include "http/api.h"
#include "stats/answer.h"
#include "stats/metrics.h"

struct http_caller;
struct http_site;

#define HTTP_TEXT "text/plain; charset=utf-8"

enum http_page_kind {
	PAGE_STATUS,
	PAGE_LIST,
	PAGE_LIVE, /* request.c makes it */
	PAGE_SNAPSHOT,
	PAGE_API,
	PAGE_METRICS,
	PAGE_STATS_CSV,
	PAGE_STATS_JSON,
	PAGE_HEALTHZ,
	PAGE_READYZ,
};

struct http_page {
	const char *path; /* without the query */
	const char *type; /* Content-Type */
	enum http_page_kind kind;
};

/* The path and the parameters of a request for a page. */
struct http_query {
	const char *path; /* without the query */
	struct metrics_filter metrics;
	bool unknown_scope; /* named in the parameters */
	struct api_words words;
};

/* Writes the page, or sets *ret_rest, which makes it and which the caller
 * frees.  Returns the HTTP status. */
unsigned http_page_make(const struct http_page *page,
    const struct http_query *query, const struct http_site *site,
    const struct http_caller *caller, FILE *out, struct answer_rest **ret_rest);

/* Returns the page with that path, or NULL. */
const struct http_page *http_page_find(const char *path);

/* Returns whether the path is that of a page for monitors of health. */
bool http_page_is_health(const char *path);

/* Returns the page that HAProxy shows for a path or a query with `;csv` or
 * `;json`, or NULL if text has neither. */
const struct http_page *http_page_find_words(const char *text);

#endif
