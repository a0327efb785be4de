/* SPDX-License-Identifier: MIT
 * The sessions of users who are signed in at the HTTP port.
 *
 * A session belongs to a token, which the client sends with each request: a
 * random one in a cookie, or its Authorization header.  Only a keyed hash of
 * the token is kept.  The number of sessions is limited; the least recently
 * used one makes room.  A session ends when it was not used for
 * SESSION_IDLE_MS, after SESSION_AGE_MS, or when the file of users changes:
 * then all users sign in again, so rights that were removed from the file are
 * lost at once.
 *
 * A CSRF token is derived from what authenticates a request.  A page of another
 * origin can make a browser send that, but cannot read an answer, which has the
 * token.
 *
 * All functions run on the control thread.
 */
#ifndef HTTP_SESSIONS_H
#define HTTP_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base64.h"
#include "base/list.h"
#include "config/users_file.h"

#define SESSIONS_MAX    128
#define SESSION_IDLE_MS (30u * 60 * 1000)
#define SESSION_AGE_MS  (12u * 60 * 60 * 1000)

#define SESSION_HASH_SIZE  32 /* SHA-256 */
#define SESSION_TOKEN_SIZE BASE64_SIZE(SESSION_HASH_SIZE)

/* The identity of a file when it was read. */
struct users_stamp {
	uint64_t device, inode, size, changed_ns;
};

struct http_session {
	struct list node; /* least recently used first */
	unsigned char hash[SESSION_HASH_SIZE];
	char name[USER_NAME_SIZE];
	enum admin_level level;
	struct users_stamp stamp;
	uint64_t begun_ms, used_ms;
	bool by_header; /* the token is an Authorization header */
};

struct http_sessions {
	struct list all;
	unsigned n;
	unsigned char key[SESSION_HASH_SIZE];
};

/* Begins without sessions, and makes the key.  Returns false when the system
 * has no random bytes. */
bool http_sessions_init(struct http_sessions *sessions) MUST_CHECK;

/* Ends all sessions. */
void http_sessions_fini(struct http_sessions *sessions);

/* Returns the stamp of the file as it is now, all 0 if there is none. */
struct users_stamp users_stamp_read(const char *path);

/* Makes a random token.  Returns false when the system has no random bytes. */
bool session_token_make(char out[SESSION_TOKEN_SIZE]) MUST_CHECK;

/* Begins a session of the user, who was authenticated by the file with that
 * stamp.  Returns NULL when memory is short. */
struct http_session *http_session_begin(struct http_sessions *sessions,
    const char *token, bool by_header, const struct user *user,
    const struct users_stamp *stamp);

/* Returns the session of the token, or NULL if it has ended or does not exist,
 * and counts the call as a use.  users: the path of the file of users; NULL:
 * there is none. */
struct http_session *http_session_find(struct http_sessions *sessions,
    const char *token, bool by_header, const char *users);

/* Ends and frees the session. */
void http_session_end(
    struct http_sessions *sessions, struct http_session *session);

/* Writes the CSRF token for requests that the text authenticates. */
void http_csrf_token(const struct http_sessions *sessions, const char *text,
    char out[SESSION_TOKEN_SIZE]);

#endif
