/* SPDX-License-Identifier: MIT
 * Which sessions a command is about, by the names of their frontend, backend
 * and server: of `show sess` and `show closed`.
 */
#ifndef COMMANDS_SESSION_FILTER_H
#define COMMANDS_SESSION_FILTER_H

#include "commands/call.h"

/* Names, as a reload may come before the answer ends; NULL: any. */
struct session_filter {
	char *frontend, *backend, *server;
};

/* For `frontend NAME`, `backend NAME` and `server BACKEND/NAME`: takes what is
 * meant into the filter.  *ret_taken is false for other words; false with an
 * error. */
bool session_filter_take(struct call *call, struct session_filter *filter,
    const char *word, const char *value, bool *ret_taken);

/* Whether all that is named is there now; else an error. */
bool session_filter_check(
    struct call *call, const struct session_filter *filter);

/* server: "" for a session that has none. */
bool session_filter_matches(const struct session_filter *filter,
    const char *frontend, const char *backend, const char *server);

void session_filter_fini(struct session_filter *filter);

#endif
