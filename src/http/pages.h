/* SPDX-License-Identifier: MIT
 * The pages of the HTTP port.
 */
#ifndef HTTP_PAGES_H
#define HTTP_PAGES_H

#include "stats/answer.h"

struct http_page {
	const char *path; /* what a request must have before a `?` */
	const char *type; /* Content-Type */
	/* Writes what there is to say at once, and returns the HTTP status.  A
	 * rest left in *ret_rest is the caller's. */
	unsigned (*make)(const struct command_env *env, FILE *out,
	    struct answer_rest **ret_rest);
};

/* NULL: there is none. */
const struct http_page *http_page_find(const char *path);

/* The one that `;csv` or `;json` in a path or in a query asks of HAProxy; NULL:
 * neither is there. */
const struct http_page *http_page_find_words(const char *text);

/* One path a line, for who asks for one that is not there. */
void http_pages_list(FILE *out);

#endif
