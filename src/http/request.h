/* SPDX-License-Identifier: MIT
 * Answers requests of the HTTP port, in callbacks of libmicrohttpd.
 *
 *   head -> body -> caller (a password may be checked meanwhile) -> answer
 *                                       (a command may run meanwhile)
 *
 * While the request waits, the connection is suspended; then libmicrohttpd
 * calls again, and the request goes on where it was.
 *
 * All functions run on the control thread.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include <microhttpd.h>

#include "base/log.h"
#include "http/caller.h"
#include "http/connections.h"
#include "http/live.h"
#include "stats/answer.h"

#define HTTP_CSRF_HEADER "X-CSRF-Token"

#define REQUEST_BODY_MAX (64u * 1024)

/* The argument of the callbacks. */
struct http_site {
	const struct command_env *env;
	struct http_connections connections;
	struct live live;
	struct http_auth auth;
	struct log_limit auth_errors, auth_failures;
	bool loopback; /* bound to a loopback address */
	/* The name of the cookie.  It has the port, since all ports of a host
	 * share cookies (RFC 6265, section 8.5). */
	char cookie[16];
	struct list commands; /* that run, see command_run.h */
	/* Has libmicrohttpd go on, after a connection was resumed. */
	void (*run)(void *arg);
	void *run_arg;
};

struct http_request {
	struct http_site *site;
	struct MHD_Connection *mhd;
	struct endpoint from;
	char from_text[ADDR_TEXT_SIZE];
	bool local;  /* from this host */
	bool secure; /* by TLS */
	bool suspended;
	char *body; /* NUL-terminated; NULL: none */
	size_t body_size;
	bool too_long;
	bool has_verdict; /* on the password, not yet looked at */
	struct password_verdict verdict;
	struct command_run *command; /* NULL: none */
};

/* Returns the settings in force. */
const struct http_spec *http_site_spec(const struct http_site *site);

/* Suspends the connection: nothing may be sent until it is resumed. */
void http_request_suspend(struct http_request *request);
/* Resumes the connection: the request goes on in a later call of
 * libmicrohttpd. */
void http_request_resume(struct http_request *request);

/* The MHD_AccessHandlerCallback: answers a request.  arg is the site. */
enum MHD_Result http_on_request(void *arg, struct MHD_Connection *connection,
    const char *url, const char *method, const char *version,
    const char *upload_data, size_t *upload_data_size, void **request);

/* The MHD_RequestCompletedCallback.  Frees the request after the answer was
 * sent, or the connection broke. */
void http_on_completed(void *arg, struct MHD_Connection *connection,
    void **request, enum MHD_RequestTerminationCode code);

#endif
