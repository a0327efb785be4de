/* SPDX-License-Identifier: MIT
 * The status page: one HTML file with its style and script, which draws what
 * the API and the stream (live.h) say.  Without script, the page shows a table
 * of the present state.
 *
 * Control thread.
 */
#ifndef HTTP_PAGE_H
#define HTTP_PAGE_H

#include "stats/answer.h"

/* Returns the page as an answer in parts, or NULL if memory is short. */
struct answer_rest *page_new(void);

/* Returns the Content-Security-Policy of the page: its own style and script by
 * their hashes, its own host for data, and nothing else.  Static. */
const char *page_policy(void);

/* Writes the text, escaped for HTML, also within quotes. */
void page_put_text(const char *text, FILE *out);

#endif
