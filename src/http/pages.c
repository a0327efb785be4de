/* SPDX-License-Identifier: MIT
 * See pages.h.
 */
#include "http/pages.h"

#include <microhttpd.h>
#include <string.h>

#include "commands/ready.h"
#include "http/api.h"
#include "http/page.h"
#include "http/request.h"
#include "http/snapshot.h"
#include "stats/metrics.h"
#include "stats/stat_rows.h"

static const struct http_page pages[] = {
    {"/", "text/html; charset=utf-8", PAGE_STATUS},
    {"/pages", HTTP_TEXT, PAGE_LIST}, /* of the others */
    {"/metrics", "text/plain; version=0.0.4; charset=utf-8", PAGE_METRICS},
    {"/stats;csv", HTTP_TEXT, PAGE_STATS_CSV},
    {"/stats;json", "application/json", PAGE_STATS_JSON},
    {"/healthz", HTTP_TEXT, PAGE_HEALTHZ}, {"/readyz", HTTP_TEXT, PAGE_READYZ},
    {API_PREFIX "live", "text/event-stream", PAGE_LIVE},
    {API_PREFIX "snapshot", "application/json", PAGE_SNAPSHOT},
    {API_PREFIX, "application/json", PAGE_API}, /* and all below it */
};

#define PAGES (sizeof(pages) / sizeof(pages[0]))

static unsigned
put_readyz(FILE *out, const struct command_env *env)
{
	struct report r;

	report_begin(&r, false, out);
	return ready_put(&r, env, NULL) ? MHD_HTTP_OK
	                                : MHD_HTTP_SERVICE_UNAVAILABLE;
}

unsigned
http_page_make(const struct http_page *page, const struct http_query *query,
    const struct http_site *site, const struct http_caller *caller, FILE *out,
    struct answer_rest **ret_rest)
{
	const struct command_env *env = site->env;

	switch (page->kind) {
	case PAGE_LIST:
		for (size_t i = 0; i < PAGES; i++)
			if (pages[i].kind != PAGE_LIST)
				fprintf(out, "%s\n", pages[i].path);
		return MHD_HTTP_OK;
	case PAGE_LIVE:
		break;
	case PAGE_STATUS:
		*ret_rest = page_new();
		break;
	case PAGE_SNAPSHOT:
		*ret_rest = snapshot_new(&site->live.history);
		break;
	case PAGE_HEALTHZ:
		/* The control loop runs if it can answer this. */
		fputs("ok\n", out);
		return MHD_HTTP_OK;
	case PAGE_READYZ:
		return put_readyz(out, env);
	case PAGE_API:
		return api_answer(query->path, &query->words, env,
		    caller->level, out, ret_rest);
	case PAGE_METRICS:
		if (query->unknown_scope) {
			fputs("unknown scope; use global, frontend, backend, "
			      "server, resolver or *\n",
			    out);
			return MHD_HTTP_BAD_REQUEST;
		}
		*ret_rest = metrics_new(env, &query->metrics);
		break;
	case PAGE_STATS_CSV:
		*ret_rest = stat_rows_all(FIELD_PLAIN);
		break;
	case PAGE_STATS_JSON:
		*ret_rest = stat_rows_all(FIELD_JSON);
		break;
	}
	return *ret_rest ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
}

const struct http_page *
http_page_find(const char *path)
{
	for (size_t i = 0; i < PAGES; i++)
		if (strcmp(pages[i].path, path) == 0 ||
		    (pages[i].kind == PAGE_API && api_has(path)))
			return &pages[i];
	return http_page_find_words(path);
}

bool
http_page_is_health(const char *path)
{
	const struct http_page *page = http_page_find(path);

	return page &&
	       (page->kind == PAGE_HEALTHZ || page->kind == PAGE_READYZ);
}

/* Finds the page by `;csv` or `;json`, since the path of HAProxy's page is
 * configurable.  Clients append this, and perhaps more options, to the path, as
 * in `/haproxy?stats;csv;norefresh`. */
const struct http_page *
http_page_find_words(const char *text)
{
	if (strstr(text, ";csv"))
		return http_page_find("/stats;csv");
	return strstr(text, ";json") ? http_page_find("/stats;json") : NULL;
}
