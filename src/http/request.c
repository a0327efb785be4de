/* SPDX-License-Identifier: MIT
 * See request.h.
 */
#include "http/request.h"

#include <stdlib.h>
#include <string.h>

#include "http/api.h"
#include "http/command_run.h"
#include "http/host.h"
#include "http/pages.h"
#include "http/response.h"
#include "http/session_page.h"

const struct http_spec *
http_site_spec(const struct http_site *site)
{
	return &site->env->instance->model->spec->global.http;
}

/* -- waiting -- */

static void
wake_request(void *arg)
{
	http_request_resume(arg);
}

void
http_request_suspend(struct http_request *request)
{
	struct http_connection *connection = http_connection_of(request->mhd);

	request->suspended = true;
	connection->wake = wake_request;
	connection->wake_arg = request;
	MHD_suspend_connection(request->mhd);
}

void
http_request_resume(struct http_request *request)
{
	if (!request->suspended)
		return;
	request->suspended = false;
	http_connection_of(request->mhd)->wake = NULL;
	MHD_resume_connection(request->mhd);
	request->site->run(request->site->run_arg);
}

/* -- pages -- */

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

/* Finds the page by the path or, as HAProxy's clients ask, by the query, which
 * libmicrohttpd has removed from the path and parsed. */
static const struct http_page *
find_page(struct MHD_Connection *connection, const char *path)
{
	const struct http_page *page = http_page_find(path);

	if (!page)
		(void)MHD_get_connection_values(connection,
		    MHD_GET_ARGUMENT_KIND, find_page_of_argument, &page);
	return page;
}

/* -- one request -- */

/* Returns whether the Host header is allowed.  strict: unknown names are
 * refused even if the port is not bound to a loopback address. */
static bool
host_is_allowed(const struct http_request *r, bool strict)
{
	return http_host_is_known(MHD_lookup_connection_value(r->mhd,
	                              MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST),
	    http_site_spec(r->site)->hosts, r->site->loopback || strict);
}

static enum MHD_Result
answer_command(struct http_request *r, const struct http_caller *caller)
{
	struct http_refusal refusal;

	if (!r->command) {
		r->command = command_run_begin(r, caller, &refusal);
		if (!r->command)
			return http_send_refusal(r->mhd, &refusal);
	}
	return command_run_is_over(r->command) ? command_run_send(r->command)
	                                       : MHD_YES;
}

enum method { METHOD_GET, METHOD_POST, METHOD_DELETE, METHODS };

/* Returns the method, or METHODS for any other. */
static enum method
read_method(const char *text)
{
	if (strcmp(text, MHD_HTTP_METHOD_GET) == 0 ||
	    strcmp(text, MHD_HTTP_METHOD_HEAD) == 0)
		return METHOD_GET;
	if (strcmp(text, MHD_HTTP_METHOD_POST) == 0)
		return METHOD_POST;
	return strcmp(text, MHD_HTTP_METHOD_DELETE) == 0 ? METHOD_DELETE
	                                                 : METHODS;
}

#define COMMAND_PATH API_PREFIX "command"

/* Returns the methods of the path if the present one is not among them. */
static const char *
other_methods(enum method method, const char *path)
{
	if (strcmp(path, COMMAND_PATH) == 0)
		return method == METHOD_POST ? NULL : "POST";
	if (strcmp(path, SESSION_PATH) == 0)
		return method < METHODS ? NULL : "GET, HEAD, POST, DELETE";
	return method == METHOD_GET ? NULL : "GET, HEAD";
}

/* Answers, once the caller is known. */
static enum MHD_Result
answer_caller(struct http_request *r, enum method method, const char *path,
    const struct http_caller *caller)
{
	bool session = strcmp(path, SESSION_PATH) == 0;
	struct http_refusal refusal;

	if (method == METHOD_GET && session)
		return session_page_show(r, caller);
	if (method == METHOD_GET)
		return http_send_page(
		    r->mhd, r->site, find_page(r->mhd, path), path, caller);
	/* A command that runs has passed this check. */
	if (!r->command && !http_caller_means_it(r, caller, &refusal))
		return http_send_refusal(r->mhd, &refusal);
	return session ? session_page_sign_out(r, caller)
	               : answer_command(r, caller);
}

static enum MHD_Result
answer_request(struct http_request *r, enum method method, const char *path)
{
	struct http_refusal refusal;
	struct http_caller caller;

	if (r->too_long)
		return http_send_error(r->mhd, MHD_HTTP_CONTENT_TOO_LARGE,
		    "the body is longer than 64 KiB, or memory is short", NULL);
	if (r->command)
		return answer_command(r, NULL);
	if (method == METHOD_POST && strcmp(path, SESSION_PATH) == 0)
		return session_page_sign_in(r);
	switch (http_caller_find(r, &caller, &refusal)) {
	case CALLER_WAITS:
		return MHD_YES;
	case CALLER_REFUSED:
		return http_send_refusal(r->mhd, &refusal);
	case CALLER_KNOWN:
		break;
	}
	return answer_caller(r, method, path, &caller);
}

/* -- libmicrohttpd -- */

static struct http_request *
request_new(struct http_site *site, struct MHD_Connection *mhd)
{
	const struct http_origin *origin = &http_connection_of(mhd)->origin;
	struct http_request *r = calloc(1, sizeof(*r));
	struct addr addr;

	if (!r)
		return NULL;
	r->site = site;
	r->mhd = mhd;
	r->from = origin->from;
	r->secure = origin->secure;
	if (endpoint_addr(&r->from, &addr)) {
		r->local = addr_is_loopback(&addr);
		addr_set_port(&addr, r->from.port);
		addr_text(&addr, r->from_text);
	}
	return r;
}

static void
take_body(struct http_request *r, const char *data, size_t size)
{
	char *grown;

	if (r->body_size + size > REQUEST_BODY_MAX) {
		r->too_long = true;
		return;
	}
	grown = realloc(r->body, r->body_size + size + 1);
	if (!grown) {
		r->too_long = true;
		return;
	}
	memcpy(grown + r->body_size, data, size);
	r->body = grown;
	r->body_size += size;
	grown[r->body_size] = '\0';
}

/* Answers a request.  libmicrohttpd calls this once when the headers are
 * complete, then for each part of a body, and last with an empty part; and
 * again after the connection was resumed. */
enum MHD_Result
http_on_request(void *arg, struct MHD_Connection *connection, const char *url,
    const char *method, const char *version, const char *upload_data,
    size_t *upload_data_size, void **request)
{
	struct http_site *site = arg;
	enum method which = read_method(method);
	struct http_request *r = *request;
	const char *allow;

	(void)version;
	if (!r) {
		*request = request_new(site, connection);
		http_connection_request_begins(&site->connections,
		    http_connection_of(connection), http_page_is_health(url));
		return *request ? MHD_YES : MHD_NO;
	}
	if (http_connection_of(connection)->ending)
		return MHD_NO;
	if (*upload_data_size > 0) {
		take_body(r, upload_data, *upload_data_size);
		*upload_data_size = 0;
		return MHD_YES;
	}
	allow = other_methods(which, url);
	if (allow)
		return http_send_error(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
		    "method not allowed; see the Allow header",
		    &(struct http_extra){.allow = allow});
	if (!host_is_allowed(r, which != METHOD_GET))
		return http_send_text(connection, MHD_HTTP_MISDIRECTED_REQUEST,
		    HTTP_TEXT,
		    "Unknown host name; use the address of this host, or add "
		    "the name to the option hosts= of http in lfproxy's "
		    "configuration.\n",
		    NULL);
	return answer_request(r, which, url);
}

void
http_on_completed(void *arg, struct MHD_Connection *connection, void **request,
    enum MHD_RequestTerminationCode code)
{
	struct http_request *r = *request;

	(void)arg;
	(void)code;
	http_connection_request_ends(http_connection_of(connection));
	if (!r)
		return;
	passwords_forget(&r->site->auth.passwords, r);
	command_run_free(r->command);
	explicit_bzero(&r->verdict, sizeof(r->verdict));
	if (r->body)
		explicit_bzero(r->body, r->body_size);
	free(r->body);
	free(r);
	*request = NULL;
}
