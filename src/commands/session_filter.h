/* SPDX-License-Identifier: MIT
 * Selects the sessions that `show sess` and `show closed` print, by the names
 * of their frontend, backend and server.
 */
#ifndef COMMANDS_SESSION_FILTER_H
#define COMMANDS_SESSION_FILTER_H

#include "commands/call.h"

/* The names, "" for any.  Pointers would not do, since a reload may come before
 * the answer ends. */
struct session_filter {
	char frontend[CALL_NAME_SIZE], backend[CALL_NAME_SIZE];
	char server[CALL_NAME_SIZE];
};

/* Adds `frontend NAME`, `backend NAME` or `server BACKEND/NAME` to the filter;
 * *ret_taken is false for other words.  Returns false with call->err set. */
bool session_filter_take(struct call *call, struct session_filter *filter,
    const char *word, const char *value, bool *ret_taken);

/* Returns whether everything named exists now.  Sets call->err otherwise. */
bool session_filter_check(
    struct call *call, const struct session_filter *filter);

/* Returns whether a session with these names is selected; server is "" for a
 * session without one. */
bool session_filter_matches(const struct session_filter *filter,
    const char *frontend, const char *backend, const char *server);

#endif
