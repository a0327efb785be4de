/* SPDX-License-Identifier: MIT
 * See session_page.h.
 */
#include "http/session_page.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "commands/call.h"
#include "http/response.h"

/* SameSite=Lax would do as well: no GET changes anything. */
#define COOKIE_RIGHTS "; Path=/; HttpOnly; SameSite=Strict"

static enum MHD_Result
send_session(const struct http_request *request,
    const struct http_caller *caller, const char *cookie)
{
	struct http_extra extra = {.cookie = cookie};
	char body[512];

	/* No text has a character that JSON escapes. */
	snprintf(body, sizeof(body),
	    "{\"user\":\"%s\",\"level\":\"%s\",\"csrf\":\"%s\","
	    "\"sign_in\":%s,\"why\":\"%s\"}\n",
	    caller->name, command_level_name(caller->level), caller->csrf,
	    caller->no_sign_in ? "false" : "true",
	    caller->no_sign_in ? caller->no_sign_in : "");
	return http_send_text(
	    request->mhd, MHD_HTTP_OK, HTTP_JSON, body, &extra);
}

enum MHD_Result
session_page_show(
    struct http_request *request, const struct http_caller *caller)
{
	return send_session(request, caller, NULL);
}

enum MHD_Result
session_page_sign_in(struct http_request *request)
{
	char token[SESSION_TOKEN_SIZE], cookie[SESSION_TOKEN_SIZE + 96];
	struct http_refusal refusal = {.status = MHD_HTTP_BAD_REQUEST};
	enum caller_state state = CALLER_REFUSED;
	struct http_caller caller;
	const char *name = NULL, *password = NULL;
	json_t *body = request->body
	                   ? json_loadb(request->body, request->body_size,
	                         JSON_REJECT_DUPLICATES, NULL)
	                   : NULL;

	if (http_caller_means_it(request, NULL, &refusal) &&
	    json_unpack(
	        body, "{s:s, s:s}", "user", &name, "password", &password) == 0)
		state = http_sign_in(
		    request, name, password, &caller, token, &refusal);
	else if (!refusal.why.text[0])
		err_set(&refusal.why,
		    "the body must be as in {\"user\": \"alice\", "
		    "\"password\": \"...\"}");
	json_decref(body);
	if (state == CALLER_WAITS)
		return MHD_YES;
	if (state == CALLER_REFUSED)
		return http_send_refusal(request->mhd, &refusal);
	snprintf(cookie, sizeof(cookie), "%s=%s" COOKIE_RIGHTS "%s",
	    request->site->cookie, token, request->secure ? "; Secure" : "");
	return send_session(request, &caller, cookie);
}

enum MHD_Result
session_page_sign_out(
    struct http_request *request, const struct http_caller *caller)
{
	struct http_caller nobody = {
	    .level = http_site_spec(request->site)->level,
	    .no_sign_in = caller->no_sign_in};
	char cookie[80];

	if (caller->session)
		http_session_end(
		    &request->site->auth.sessions, caller->session);
	http_csrf_token(&request->site->auth.sessions, "", nobody.csrf);
	snprintf(cookie, sizeof(cookie), "%s=" COOKIE_RIGHTS "; Max-Age=0",
	    request->site->cookie);
	return send_session(request, &nobody, cookie);
}
