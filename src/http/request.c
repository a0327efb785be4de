/* SPDX-License-Identifier: MIT
 * See request.h.
 */
#include "http/request.h"

#include <stdlib.h>
#include <string.h>

#include "http/host.h"
#include "http/page.h"
#include "http/pages.h"
#include "base/text_out.h"

/* The body of an answer: the part that is being sent, and the rest. */
struct body {
	struct http_site *site;
	struct http_connection *connection;
	struct answer_rest *rest;
	char *part; /* the bytes from sent to size are unsent */
	size_t size, sent;
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

/* Replaces the part by the next one; false if memory is short. */
static bool
make_next_part(struct body *body)
{
	struct text_out out;

	free(body->part);
	body->part = NULL;
	body->size = body->sent = 0;
	if (!text_out_open(&out))
		return false;
	if (!body->rest->more(body->rest, body->site->env, out.stream)) {
		body->rest->free(body->rest);
		body->rest = NULL;
	}
	if (!text_out_close(&out))
		return false;
	body->part = out.text;
	body->size = out.size;
	return true;
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

static struct http_connection *
connection_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(
	    connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
	    ->socket_context;
}

static bool
add_header(struct MHD_Response *response, bool wanted, const char *name,
    const char *value)
{
	return !wanted ||
	       MHD_add_response_header(response, name, value) == MHD_YES;
}

/* Adds the headers that protect browsers: the policy of the status page, and
 * for all answers that their type is not guessed. */
static bool
add_protection(struct MHD_Response *r, const char *type)
{
	bool page = strncmp(type, "text/html", sizeof("text/html") - 1) == 0;

	return add_header(r, true, "X-Content-Type-Options", "nosniff") &&
	       add_header(r, page, "Content-Security-Policy", page_policy()) &&
	       add_header(r, page, "Referrer-Policy", "no-referrer");
}

/* Takes the response, which is NULL if memory was short. */
static enum MHD_Result
send_response(struct MHD_Connection *connection, unsigned status,
    const char *type, struct MHD_Response *r)
{
	bool last = connection_of(connection)->draining;
	bool refused = status == MHD_HTTP_METHOD_NOT_ALLOWED;
	enum MHD_Result result = MHD_NO;

	if (!r)
		return MHD_NO;
	if (add_header(r, true, MHD_HTTP_HEADER_CONTENT_TYPE, type) &&
	    add_protection(r, type) &&
	    add_header(r, last, MHD_HTTP_HEADER_CONNECTION, "close") &&
	    add_header(r, true, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache") &&
	    add_header(r, refused, MHD_HTTP_HEADER_ALLOW, "GET, HEAD"))
		result = MHD_queue_response(connection, status, r);
	MHD_destroy_response(r);
	return result;
}

static enum MHD_Result
send_text(struct MHD_Connection *connection, unsigned status, const char *text)
{
	return send_response(connection, status, HTTP_TEXT,
	    MHD_create_response_from_buffer(
	        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY));
}

/* Returns the body with the page or its first part, or NULL if memory is
 * short. */
static struct body *
page_body_new(struct http_site *site, const struct http_page *page,
    const char *path, unsigned *ret_status)
{
	struct body *body = calloc(1, sizeof(*body));
	struct text_out out;

	if (!body || !text_out_open(&out)) {
		free(body);
		return NULL;
	}
	*ret_status = http_page_make(page, path, site, out.stream, &body->rest);
	if (!text_out_close(&out)) {
		page_body_free(body);
		return NULL;
	}
	body->site = site;
	body->part = out.text;
	body->size = out.size;
	return body;
}

/* Sends the page, or the list of pages with status 404 if it is NULL.  A page
 * without a rest is sent with Content-Length, other pages are chunked. */
static enum MHD_Result
send_page(struct MHD_Connection *connection, struct http_site *site,
    const struct http_page *page, const char *path)
{
	const struct http_page *shown = page ? page : http_page_find("/pages");
	struct MHD_Response *response;
	unsigned status;
	struct body *body;

	if (shown->kind == PAGE_LIVE)
		return send_response(connection, MHD_HTTP_OK, shown->type,
		    live_response(&site->live, connection, &site->connections,
		        connection_of(connection)));
	body = page_body_new(site, shown, path, &status);
	if (!body)
		return send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
		    "Out of memory: no answer can be given.\n");
	body->connection = connection_of(connection);
	response = MHD_create_response_from_callback(
	    body->rest ? MHD_SIZE_UNKNOWN : body->size, ANSWER_PART_SIZE,
	    read_page_body, body, page_body_free);
	if (!response)
		page_body_free(body);
	return send_response(connection, page ? status : MHD_HTTP_NOT_FOUND,
	    shown->type, response);
}

/* An MHD_KeyValueIterator over the arguments of the query. */
static enum MHD_Result
find_page_of_argument(
    void *arg, enum MHD_ValueKind kind, const char *name, const char *value)
{
	const struct http_page **page = arg;

	(void)kind;
	if (!*page)
		*page = http_page_find_words(name);
	if (!*page && value)
		*page = http_page_find_words(value);
	return MHD_YES;
}

/* The path is without the query, which libmicrohttpd has parsed. */
static const struct http_page *
find_page(struct MHD_Connection *connection, const char *path)
{
	const struct http_page *page = http_page_find(path);

	if (!page)
		(void)MHD_get_connection_values(connection,
		    MHD_GET_ARGUMENT_KIND, find_page_of_argument, &page);
	return page;
}

static bool
host_is_allowed(struct MHD_Connection *connection, const struct http_site *site)
{
	const struct global_spec *global =
	    &control_model(site->env->control)->spec->global;

	return http_host_is_known(MHD_lookup_connection_value(connection,
	                              MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST),
	    global->http_hosts, site->loopback);
}

/* libmicrohttpd calls once when the headers are complete, then for each part of
 * a body, which is ignored, and at last with an empty part. */
enum MHD_Result
http_on_request(void *arg, struct MHD_Connection *connection, const char *url,
    const char *method, const char *version, const char *upload_data,
    size_t *upload_data_size, void **request)
{
	struct http_site *site = arg;
	static char seen;

	(void)version;
	(void)upload_data;
	if (!*request) {
		*request = &seen;
		connection_of(connection)->busy = true;
		http_connection_progress(
		    &site->connections, connection_of(connection));
		return MHD_YES;
	}
	if (*upload_data_size > 0) {
		*upload_data_size = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
		    "Only GET and HEAD are allowed.\n");
	if (!host_is_allowed(connection, site))
		return send_text(connection, MHD_HTTP_MISDIRECTED_REQUEST,
		    "Unknown host name; use the address of this host, or add "
		    "the name to the option hosts= of http in lfproxy's "
		    "configuration.\n");
	return send_page(connection, site, find_page(connection, url), url);
}

void
http_on_completed(void *arg, struct MHD_Connection *connection, void **request,
    enum MHD_RequestTerminationCode code)
{
	(void)arg;
	(void)request;
	(void)code;
	http_connection_request_ends(connection_of(connection));
}
