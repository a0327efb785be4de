/* SPDX-License-Identifier: MIT
 * See response.h.
 */
#include "http/response.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/text_out.h"
#include "http/caller.h"
#include "http/page.h"

/* The body of an answer: the part that is being sent, and the rest. */
struct body {
	struct http_site *site;
	struct http_connection *connection;
	struct answer_rest *rest;
	char *part; /* the bytes from sent to size are unsent */
	size_t size, sent;
	bool is_snapshot;
};

/* -- the body -- */

static void
page_body_free(void *arg)
{
	struct body *body = arg;

	if (body->rest)
		body->rest->free(body->rest);
	free(body->part);
	free(body);
}

/* Replaces the part by the next one.  Returns false if memory is short, or if a
 * snapshot has failed, which would be no JSON. */
static bool
make_next_part(struct body *body)
{
	struct answer_rest *rest = body->rest;
	struct text_out out;
	bool failed;

	free(body->part);
	body->part = NULL;
	body->size = body->sent = 0;
	if (!text_out_open(&out))
		return false;
	if (!rest->more(rest, body->site->env, out.stream))
		body->rest = NULL;
	failed = rest->failed && body->is_snapshot;
	if (!body->rest)
		rest->free(rest);
	if (!text_out_close(&out))
		return false;
	body->part = out.text;
	body->size = out.size;
	return !failed;
}

static ssize_t
read_page_body(void *arg, uint64_t pos, char *to, size_t max)
{
	struct body *body = arg;
	size_t n;

	(void)pos;
	http_connection_progress(&body->site->connections, body->connection);
	while (body->sent == body->size) {
		if (!body->rest)
			return MHD_CONTENT_READER_END_OF_STREAM;
		if (!make_next_part(body))
			return MHD_CONTENT_READER_END_WITH_ERROR;
	}
	n = body->size - body->sent;
	if (n > max)
		n = max;
	memcpy(to, body->part + body->sent, n);
	body->sent += n;
	return (ssize_t)n;
}

/* -- the answer -- */

static bool
add_header(struct MHD_Response *response, bool wanted, const char *name,
    const char *value)
{
	return !wanted ||
	       MHD_add_response_header(response, name, value) == MHD_YES;
}

/* Adds the headers that protect browsers: the policy of the status page, and
 * for all answers that their type must not be guessed. */
static bool
add_protection(struct MHD_Response *r, const char *type)
{
	bool page = strncmp(type, "text/html", sizeof("text/html") - 1) == 0;

	return add_header(r, true, "X-Content-Type-Options", "nosniff") &&
	       add_header(r, page, "Content-Security-Policy", page_policy()) &&
	       add_header(r, page, "Referrer-Policy", "no-referrer");
}

static bool
add_extra(struct MHD_Response *r, const struct http_extra *extra)
{
	char seconds[16];

	if (!extra)
		return true;
	snprintf(seconds, sizeof(seconds), "%u", extra->retry_after_s);
	return add_header(
	           r, extra->allow, MHD_HTTP_HEADER_ALLOW, extra->allow) &&
	       add_header(r, extra->cookie, MHD_HTTP_HEADER_SET_COOKIE,
	           extra->cookie) &&
	       add_header(r, extra->retry_after_s > 0,
	           MHD_HTTP_HEADER_RETRY_AFTER, seconds);
}

/* Sends and frees the response, which is NULL if memory was short. */
static enum MHD_Result
send_response(struct MHD_Connection *connection, unsigned status,
    const char *type, const char *cache, const struct http_extra *extra,
    struct MHD_Response *r)
{
	bool last = http_connection_of(connection)->draining;
	enum MHD_Result result = MHD_NO;

	if (!r)
		return MHD_NO;
	if (add_header(r, true, MHD_HTTP_HEADER_CONTENT_TYPE, type) &&
	    add_protection(r, type) && add_extra(r, extra) &&
	    add_header(r, last, MHD_HTTP_HEADER_CONNECTION, "close") &&
	    add_header(r, true, MHD_HTTP_HEADER_CACHE_CONTROL, cache))
		result = MHD_queue_response(connection, status, r);
	MHD_destroy_response(r);
	return result;
}

enum MHD_Result
http_send_text(struct MHD_Connection *connection, unsigned status,
    const char *type, const char *text, const struct http_extra *extra)
{
	return send_response(connection, status, type, "no-store", extra,
	    MHD_create_response_from_buffer(
	        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY));
}

/* Sends {"KEY": "TEXT"}. */
static enum MHD_Result
send_json_text(struct MHD_Connection *connection, unsigned status,
    const char *key, const char *text, const struct http_extra *extra)
{
	struct text_out out;
	enum MHD_Result result;

	if (!text_out_open(&out))
		return MHD_NO;
	fprintf(out.stream, "{\"%s\":", key);
	escape_json_put(text, out.stream);
	fputs("}\n", out.stream);
	if (!text_out_close(&out))
		return MHD_NO;
	result = http_send_text(connection, status, HTTP_JSON, out.text, extra);
	free(out.text);
	return result;
}

enum MHD_Result
http_send_answer(struct MHD_Connection *connection, const char *text)
{
	return send_json_text(connection, MHD_HTTP_OK, "answer", text, NULL);
}

enum MHD_Result
http_send_error(struct MHD_Connection *connection, unsigned status,
    const char *why, const struct http_extra *extra)
{
	return send_json_text(connection, status, "error", why, extra);
}

enum MHD_Result
http_send_refusal(
    struct MHD_Connection *connection, const struct http_refusal *refusal)
{
	struct http_extra extra = {.retry_after_s = refusal->retry_after_s};

	return http_send_error(
	    connection, refusal->status, refusal->why.text, &extra);
}

/* Returns the body with the page or its first part, or NULL if memory is
 * short. */
static struct body *
page_body_new(struct http_site *site, const struct http_page *page,
    const struct http_query *query, const struct http_caller *caller,
    unsigned *ret_status)
{
	struct body *body = calloc(1, sizeof(*body));
	struct text_out out;

	if (!body || !text_out_open(&out)) {
		free(body);
		return NULL;
	}
	*ret_status =
	    http_page_make(page, query, site, caller, out.stream, &body->rest);
	if (!text_out_close(&out)) {
		page_body_free(body);
		return NULL;
	}
	body->site = site;
	body->is_snapshot = page->kind == PAGE_SNAPSHOT;
	body->part = out.text;
	body->size = out.size;
	return body;
}

/* An MHD_KeyValueIterator over the arguments of the query. */
static enum MHD_Result
take_argument(
    void *arg, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct http_query *query = arg;

	(void)kind;
	if (!metrics_filter_take(&query->metrics, name, value))
		query->unknown_scope = true;
	api_add_word(&query->words, name, strlen(name));
	if (value)
		api_add_word(&query->words, value, strlen(value));
	return MHD_YES;
}

enum MHD_Result
http_send_page(struct MHD_Connection *connection, struct http_site *site,
    const struct http_page *page, const char *path,
    const struct http_caller *caller)
{
	const struct http_page *shown = page ? page : http_page_find("/pages");
	struct http_query query = {path, .metrics = METRICS_FILTER_ALL};
	struct MHD_Response *response;
	unsigned status;
	struct body *body;

	if (shown->kind == PAGE_LIVE)
		return send_response(connection, MHD_HTTP_OK, shown->type,
		    "no-cache", NULL,
		    live_response(&site->live, connection, &site->connections,
		        http_connection_of(connection)));
	(void)MHD_get_connection_values(
	    connection, MHD_GET_ARGUMENT_KIND, take_argument, &query);
	body = page_body_new(site, shown, &query, caller, &status);
	if (!body)
		return http_send_text(connection,
		    MHD_HTTP_INTERNAL_SERVER_ERROR, HTTP_TEXT,
		    "Out of memory: no answer can be given.\n", NULL);
	body->connection = http_connection_of(connection);
	response = MHD_create_response_from_callback(
	    body->rest ? MHD_SIZE_UNKNOWN : body->size, ANSWER_PART_SIZE,
	    read_page_body, body, page_body_free);
	if (!response)
		page_body_free(body);
	return send_response(connection, page ? status : MHD_HTTP_NOT_FOUND,
	    shown->type, "no-cache", NULL, response);
}
