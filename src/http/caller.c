/* SPDX-License-Identifier: MIT
 * See caller.h.
 */
#include "http/caller.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/log.h"
#include "http/request.h"
#include "net/cidr.h"

#define BASIC         "Basic "
#define ORIGIN_SCHEME "://"

bool
http_auth_start(struct http_auth *auth, struct ev_loop *loop)
{
	if (!http_sessions_init(&auth->sessions))
		return false;
	passwords_start(&auth->passwords, loop);
	return true;
}

void
http_auth_stop(struct http_auth *auth)
{
	passwords_stop(&auth->passwords);
	http_sessions_fini(&auth->sessions);
}

static bool
refuse(struct http_refusal *refusal, unsigned status, const char *why)
{
	*refusal = (struct http_refusal){.status = status};
	return err_set(&refusal->why, "%s", why);
}

static const char *
header_of(const struct http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND, name);
}

/* -- where a request comes from -- */

static bool
is_trusted_proxy(const struct http_request *r, const struct http_spec *spec)
{
	char *copy, *rest, *word;
	bool found = false;

	if (!spec->user_header)
		return false;
	copy = rest = strdup(spec->header_from);
	while (rest && !found && (word = strsep(&rest, ","))) {
		struct cidr cidr;

		found =
		    cidr_parse(word, &cidr, NULL) && cidr_has(&cidr, &r->from);
	}
	free(copy);
	return found;
}

/* Returns why the request can have no rights by name and password, or NULL if
 * it can. */
static const char *
why_no_sign_in(const struct http_request *r, const struct http_spec *spec)
{
	if (!spec->users)
		return "no user can sign in here: http has no users=";
	if (!r->secure && !r->local && !spec->plain_sign_in)
		return "from another host signing in needs TLS: write tls=NAME "
		       "behind http, or plain_sign_in where the network is "
		       "trusted";
	return NULL;
}

/* -- the ways to be known -- */

static void
take_user(struct http_caller *caller, const char *name, enum admin_level level)
{
	snprintf(caller->name, sizeof(caller->name), "%s", name);
	if (level > caller->level)
		caller->level = level;
}

/* Finds the user that a trusted proxy names.  The file is read on the control
 * thread: it is small, and there are few such requests. */
static void
find_by_proxy(const struct http_request *r, const struct http_spec *spec,
    struct http_caller *caller)
{
	const char *name = header_of(r, spec->user_header);
	struct user user;
	struct err err;

	if (!name || !*name || !users_find(spec->users, name, &user, &err))
		return;
	take_user(caller, user.name, user.level);
	caller->ambient = true;
	http_csrf_token(&r->site->auth.sessions, user.name, caller->csrf);
}

static void
find_by_cookie(const struct http_request *r, const struct http_spec *spec,
    struct http_caller *caller)
{
	struct http_sessions *sessions = &r->site->auth.sessions;
	const char *token = MHD_lookup_connection_value(
	    r->mhd, MHD_COOKIE_KIND, r->site->cookie);

	if (!token)
		return;
	caller->session =
	    http_session_find(sessions, token, false, spec->users);
	if (!caller->session)
		return;
	take_user(caller, caller->session->name, caller->session->level);
	caller->ambient = true;
	http_csrf_token(sessions, token, caller->csrf);
}

/* Cuts `Basic` credentials into name and password. */
static bool
read_basic(
    const char *header, char *out, size_t size, const char **ret_password)
{
	const char *text = header + strlen(BASIC);
	size_t len = strlen(text), n;
	char *colon;

	if (BASE64_BYTES(len) >= size || !base64_decode(text, len, out, &n))
		return false;
	out[n] = '\0';
	colon = strlen(out) == n ? strchr(out, ':') : NULL;
	if (!colon)
		return false;
	*colon = '\0';
	*ret_password = colon + 1;
	return true;
}

/* -- passwords -- */

static void
on_password(void *arg, const struct password_verdict *verdict)
{
	struct http_request *r = arg;

	r->verdict = *verdict;
	r->has_verdict = true;
	http_request_resume(r);
}

static bool
refuse_to_wait(struct http_refusal *refusal, uint64_t wait_ms)
{
	(void)refuse(refusal, MHD_HTTP_TOO_MANY_REQUESTS,
	    "too many wrong passwords came from this address; wait");
	refusal->retry_after_s = (unsigned)(wait_ms / 1000) + 1;
	return false;
}

/* Begins to check a password, unless the address has to wait. */
static enum caller_state
begin_check(struct http_request *r, const struct http_spec *spec,
    const char *name, const char *password, struct http_refusal *refusal)
{
	struct http_auth *auth = &r->site->auth;
	uint64_t wait_ms = http_failures_wait_ms(
	    &auth->passwords.failures, &r->from, clock_now_ms());
	int rc;

	if (wait_ms > 0) {
		(void)refuse_to_wait(refusal, wait_ms);
		return CALLER_REFUSED;
	}
	if (strlen(name) >= USER_NAME_SIZE ||
	    strlen(password) >= PASSWORD_SIZE) {
		(void)refuse(refusal, MHD_HTTP_BAD_REQUEST,
		    "the name or the password is too long");
		return CALLER_REFUSED;
	}
	rc = password_check(&auth->passwords, spec->users, &r->from, name,
	    password, on_password, r);
	if (rc < 0) {
		(void)refuse(refusal,
		    rc == -EAGAIN ? MHD_HTTP_TOO_MANY_REQUESTS
		                  : MHD_HTTP_SERVICE_UNAVAILABLE,
		    "too many passwords are being checked; try again");
		refusal->retry_after_s = 1;
		return CALLER_REFUSED;
	}
	http_request_suspend(r);
	return CALLER_WAITS;
}

/* Takes the verdict.  Returns false with the refusal filled. */
static bool
take_verdict(struct http_request *r, struct http_refusal *refusal)
{
	const struct password_verdict *v = &r->verdict;

	r->has_verdict = false;
	if (v->ok)
		return true;
	if (v->wait_ms > 0)
		return refuse_to_wait(refusal, v->wait_ms);
	if (v->err.text[0]) {
		log_limited(&r->site->auth_errors, LOG_LEVEL_WARNING,
		    "http: no user can sign in: %s", v->err.text);
		return refuse(refusal, MHD_HTTP_INTERNAL_SERVER_ERROR,
		    "passwords cannot be checked; the log says why");
	}
	log_limited(&r->site->auth_failures, LOG_LEVEL_WARNING,
	    "http: a wrong name or password from %s", r->from_text);
	return refuse(refusal, MHD_HTTP_UNAUTHORIZED,
	    "the name or the password is wrong");
}

static enum caller_state
find_by_password(struct http_request *r, const struct http_spec *spec,
    const char *header, struct http_caller *caller,
    struct http_refusal *refusal)
{
	struct http_sessions *sessions = &r->site->auth.sessions;
	char text[USER_NAME_SIZE + PASSWORD_SIZE + 4];
	const struct http_session *s =
	    http_session_find(sessions, header, true, spec->users);
	const char *password;
	enum caller_state state;

	if (s) {
		take_user(caller, s->name, s->level);
		http_csrf_token(sessions, header, caller->csrf);
		return CALLER_KNOWN;
	}
	if (r->has_verdict) {
		if (!take_verdict(r, refusal))
			return CALLER_REFUSED;
		take_user(caller, r->verdict.user.name, r->verdict.user.level);
		http_csrf_token(sessions, header, caller->csrf);
		(void)http_session_begin(sessions, header, true,
		    &r->verdict.user, &r->verdict.stamp);
		return CALLER_KNOWN;
	}
	if (!read_basic(header, text, sizeof(text), &password)) {
		(void)refuse(refusal, MHD_HTTP_BAD_REQUEST,
		    "the header Authorization cannot be read");
		return CALLER_REFUSED;
	}
	state = begin_check(r, spec, text, password, refusal);
	explicit_bzero(text, sizeof(text));
	return state;
}

enum caller_state
http_caller_find(struct http_request *request, struct http_caller *ret_caller,
    struct http_refusal *ret_refusal)
{
	const struct http_spec *spec = http_site_spec(request->site);
	const char *header = header_of(request, MHD_HTTP_HEADER_AUTHORIZATION);

	*ret_caller =
	    (struct http_caller){.no_sign_in = why_no_sign_in(request, spec)};
	ret_refusal->status = 0;
	http_csrf_token(&request->site->auth.sessions, "", ret_caller->csrf);
	if (request->secure || request->local || spec->plain_sign_in)
		ret_caller->level = spec->level;
	if (is_trusted_proxy(request, spec))
		find_by_proxy(request, spec, ret_caller);
	if (ret_caller->name[0] || !header ||
	    strncasecmp(header, BASIC, strlen(BASIC)) != 0) {
		if (!ret_caller->name[0] && !ret_caller->no_sign_in)
			find_by_cookie(request, spec, ret_caller);
		return CALLER_KNOWN;
	}
	if (ret_caller->no_sign_in) {
		(void)refuse(
		    ret_refusal, MHD_HTTP_FORBIDDEN, ret_caller->no_sign_in);
		return CALLER_REFUSED;
	}
	return find_by_password(request, spec, header, ret_caller, ret_refusal);
}

enum caller_state
http_sign_in(struct http_request *request, const char *name,
    const char *password, struct http_caller *ret_caller,
    char ret_token[SESSION_TOKEN_SIZE], struct http_refusal *ret_refusal)
{
	const struct http_spec *spec = http_site_spec(request->site);
	struct http_sessions *sessions = &request->site->auth.sessions;
	const struct user *user = &request->verdict.user;
	const char *no = why_no_sign_in(request, spec);

	*ret_caller = (struct http_caller){.level = spec->level};
	if (no) {
		(void)refuse(ret_refusal, MHD_HTTP_FORBIDDEN, no);
		return CALLER_REFUSED;
	}
	if (!request->has_verdict)
		return begin_check(request, spec, name, password, ret_refusal);
	if (!take_verdict(request, ret_refusal))
		return CALLER_REFUSED;
	if (session_token_make(ret_token))
		ret_caller->session = http_session_begin(
		    sessions, ret_token, false, user, &request->verdict.stamp);
	if (!ret_caller->session) {
		(void)refuse(ret_refusal, MHD_HTTP_INTERNAL_SERVER_ERROR,
		    "out of memory");
		return CALLER_REFUSED;
	}
	take_user(ret_caller, user->name, user->level);
	http_csrf_token(sessions, ret_token, ret_caller->csrf);
	log_info(
	    "http: %s has signed in from %s", user->name, request->from_text);
	return CALLER_KNOWN;
}

/* -- requests across origins -- */

/* Returns whether the origin is the one that the request was sent to. */
static bool
is_own_origin(const char *origin, const char *host)
{
	const char *at = strstr(origin, ORIGIN_SCHEME);

	return at && host && strcasecmp(at + strlen(ORIGIN_SCHEME), host) == 0;
}

bool
http_caller_means_it(const struct http_request *request,
    const struct http_caller *caller, struct http_refusal *ret_refusal)
{
	const char *origin = header_of(request, "Origin"),
	           *site = header_of(request, "Sec-Fetch-Site"),
	           *type = header_of(request, MHD_HTTP_HEADER_CONTENT_TYPE),
	           *token = header_of(request, HTTP_CSRF_HEADER);
	const char *host = header_of(request, MHD_HTTP_HEADER_HOST);
	static const char json[] = "application/json";

	if (request->body_size > 0 &&
	    (!type || strncasecmp(type, json, strlen(json)) != 0))
		return refuse(ret_refusal, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
		    "the body must be JSON, with Content-Type: "
		    "application/json");
	if ((origin && !is_own_origin(origin, host)) ||
	    (site && strcmp(site, "same-origin") != 0 &&
	        strcmp(site, "none") != 0))
		return refuse(ret_refusal, MHD_HTTP_FORBIDDEN,
		    "a page of another origin may not do this");
	if (!caller || (!caller->ambient && !origin && !site))
		return true;
	if (token && strlen(token) == strlen(caller->csrf) &&
	    CRYPTO_memcmp(token, caller->csrf, strlen(token)) == 0)
		return true;
	return refuse(ret_refusal, MHD_HTTP_FORBIDDEN,
	    "the header " HTTP_CSRF_HEADER " needs the token that GET "
	    "/api/v1/session answers");
}

void
http_caller_text(const struct http_request *request,
    const struct http_caller *caller, char *out, size_t size)
{
	snprintf(out, size, "%s%s%s (HTTP)", caller->name,
	    caller->name[0] ? " at " : "", request->from_text);
}
