/* SPDX-License-Identifier: MIT
 * /api/v1/session of the HTTP port: shows the caller, signs in and out.
 *
 *   GET      {"user": "alice", "level": "operator", "csrf": "...",
 *             "sign_in": true, "why": ""}
 *   POST     {"user": "alice", "password": "..."} signs in: the same, with a
 *            cookie
 *   DELETE   signs out: the same, as without a user
 *
 * user is "" for a caller that has not signed in.  sign_in says whether the
 * caller can do so; if not, why says why not.  Control thread.
 */
#ifndef HTTP_SESSION_PAGE_H
#define HTTP_SESSION_PAGE_H

#include "http/request.h"

#define SESSION_PATH "/api/v1/session"

/* Answers GET and HEAD. */
enum MHD_Result session_page_show(
    struct http_request *request, const struct http_caller *caller);

/* Answers POST, or suspends the request until the password is checked. */
enum MHD_Result session_page_sign_in(struct http_request *request);

/* Answers DELETE. */
enum MHD_Result session_page_sign_out(
    struct http_request *request, const struct http_caller *caller);

#endif
