/* SPDX-License-Identifier: MIT
 * See pages.h.
 */
#include "http/pages.h"

#include <microhttpd.h>
#include <string.h>

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

/* Returns whether sessions of the frontend may go to its backend of that
 * number: that has a weight or a rule, or is a fallback. */
static bool
is_routed_to(const struct frontend *f, size_t backend)
{
	const struct spec *spec = f->model->spec;

	if (backend < f->spec->routes_n && f->spec->routes[backend].weight > 0)
		return true;
	for (size_t i = 0; f->fallbacks && i < f->spec->routes_n; i++)
		if (f->fallbacks[i] == backend)
			return true;
	for (size_t i = 0; i < f->spec->rules_n; i++)
		if (&spec->backends[f->spec->rules[i].backend] ==
		    f->backends[backend]->spec)
			return true;
	return false;
}

/* Writes the state of the frontend's backends.  Returns whether the frontend
 * accepts sessions, and a backend that may get them has a usable server. */
static bool
put_backends(FILE *out, const struct frontend *f)
{
	bool ready = false;

	for (size_t i = 0; i < f->backends_n; i++) {
		const struct backend *b = f->backends[i];
		unsigned usable = b->state->usable;

		fprintf(out, "frontend %s: backend %s has %u usable %s\n",
		    f->spec->name, b->spec->name, usable,
		    usable == 1 ? "server" : "servers");
		ready |= usable > 0 && is_routed_to(f, i);
	}
	if (f->state->admin == FRONTEND_OPEN)
		return ready;
	fprintf(out, "frontend %s: no new sessions\n", f->spec->name);
	return false;
}

/* Writes whether lfproxy is ready: a frontend has a usable server, and lfproxy
 * does not stop. */
static unsigned
put_readyz(FILE *out, struct control *control)
{
	const struct model *model = control_model(control);
	bool stopping = control_stopping(control), ready = false;

	for (size_t i = 0; i < model->spec->frontends_n; i++)
		ready |= put_backends(out, model->frontends[i]);
	if (control_draining(control))
		fputs("draining: no new sessions\n", out);
	else if (stopping)
		fputs("stopping: new sessions for shutdown_delay only\n", out);
	return ready && !stopping ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
}

unsigned
http_page_make(const struct http_page *page, const char *path,
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
		return put_readyz(out, env->control);
	case PAGE_API:
		return api_answer(path, env, caller->level, out, ret_rest);
	case PAGE_METRICS:
		*ret_rest = metrics_new(env);
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
