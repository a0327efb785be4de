/* SPDX-License-Identifier: MIT
 * The caller: who a request of the HTTP port is from, and what they may do.
 *
 *   no credentials            the level of the port, see `http = ... level=`
 *   a cookie                  of POST /api/v1/session
 *   Authorization: Basic      name and password, see users_file.h
 *   a header of a proxy       where `user_header` and `header_from` are set
 *
 * A client of another host without TLS has the level user, whatever it
 * sends, unless `plain_sign_in` is set; a proxy of header_from is trusted to
 * have TLS with its clients.
 *
 * All functions run on the control thread.
 */
#ifndef HTTP_CALLER_H
#define HTTP_CALLER_H

#include <microhttpd.h>
#include <stdbool.h>

#include "base/err.h"
#include "http/passwords.h"
#include "http/sessions.h"

struct http_request;
struct http_site;

/* The state of signing in at one HTTP port. */
struct http_auth {
	struct http_sessions sessions;
	struct passwords passwords;
};

struct http_caller {
	enum admin_level level;
	char name[USER_NAME_SIZE]; /* "": has not signed in */
	/* A browser sends the credentials by itself, whether its user means the
	 * request or not, so a change needs the CSRF token. */
	bool ambient;
	char csrf[SESSION_TOKEN_SIZE];
	struct http_session *session; /* of a cookie; or NULL */
	/* Why this client cannot sign in; NULL: it can. */
	const char *no_sign_in;
};

/* An answer that a request gets instead of its page; status 0: none. */
struct http_refusal {
	unsigned status;
	unsigned retry_after_s; /* 0: not said */
	struct err why;
};

enum caller_state { CALLER_KNOWN, CALLER_WAITS, CALLER_REFUSED };

/* Prepares sessions, and checks of passwords on the loop; must precede any
 * request.  Returns false when the system has no random bytes. */
bool http_auth_start(struct http_auth *auth, struct ev_loop *loop) MUST_CHECK;
/* Ends sessions and checks.  Requests that wait for a password are resumed and
 * refused. */
void http_auth_stop(struct http_auth *auth);

/* Finds the caller of the request.  CALLER_WAITS: the connection is suspended
 * while the password is checked, and the function has to be called again after
 * that.  CALLER_REFUSED: *ret_refusal is filled. */
enum caller_state http_caller_find(struct http_request *request,
    struct http_caller *ret_caller, struct http_refusal *ret_refusal);

/* Signs in with a name and a password.  Returns as http_caller_find; with
 * CALLER_KNOWN, ret_token has the token of the new session. */
enum caller_state http_sign_in(struct http_request *request, const char *name,
    const char *password, struct http_caller *ret_caller,
    char ret_token[SESSION_TOKEN_SIZE], struct http_refusal *ret_refusal);

/* Returns whether a request may change something: whether it is not one that a
 * page of another origin has made a browser send.  Fills *ret_refusal
 * otherwise. caller NULL: there is no token yet. */
bool http_caller_means_it(const struct http_request *request,
    const struct http_caller *caller, struct http_refusal *ret_refusal);

/* Writes the caller's name for the audit: `alice at 10.0.0.1:4711 (HTTP)`. */
void http_caller_text(const struct http_request *request,
    const struct http_caller *caller, char *out, size_t size);

#endif
