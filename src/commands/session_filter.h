/* SPDX-License-Identifier: MIT
 * Selects the sessions that `show sess`, `show closed` and `show failures`
 * print.
 */
#ifndef COMMANDS_SESSION_FILTER_H
#define COMMANDS_SESSION_FILTER_H

#include "commands/call.h"
#include "net/cidr.h"

/* The names, "" for any.  Pointers would not do, since a reload may come before
 * the answer ends. */
struct session_filter {
	char frontend[CALL_NAME_SIZE], backend[CALL_NAME_SIZE];
	char server[CALL_NAME_SIZE];
	/* The command's, set before words are taken: `cause` is a filter, or
	 * `client` and `min-bytes` are. */
	bool has_causes, has_traffic;
	unsigned given;     /* bit n: option n was taken */
	uint64_t causes;    /* bit n: enum close_reason n is wanted; 0: any */
	struct cidr client; /* family 0: any */
	uint64_t min_bytes;
};

/* Adds `frontend NAME`, `backend NAME`, `server BACKEND/NAME`, `cause CAUSE`,
 * `client RANGE` or `min-bytes N` to the filter; *ret_taken is false for other
 * words.  CAUSE is the code or the name of a close reason; of several causes
 * one has to be the session's, all else may be given once.  Returns false with
 * call->err set. */
bool session_filter_take(struct call *call, struct session_filter *filter,
    const char *word, const char *value, bool *ret_taken);

/* Returns whether `last`, `older` or `sort`, options of commands that have a
 * filter, is not given a second time.  Sets call->err otherwise. */
bool session_filter_once(
    struct call *call, struct session_filter *filter, const char *word);

/* Returns whether the filter selects every session. */
bool session_filter_is_empty(const struct session_filter *filter);

/* Returns whether everything named exists now.  Sets call->err otherwise. */
bool session_filter_check(
    struct call *call, const struct session_filter *filter);

/* Returns whether a session with these names is selected; server is "" for a
 * session without one. */
bool session_filter_matches(const struct session_filter *filter,
    const char *frontend, const char *backend, const char *server);

/* Returns whether a session of that client, with so many bytes in both
 * directions, is selected. */
bool session_filter_has_traffic(const struct session_filter *filter,
    const struct endpoint *client, uint64_t bytes);

/* Returns whether sessions that ended for that reason, an enum close_reason,
 * are selected. */
bool session_filter_has_cause(
    const struct session_filter *filter, unsigned reason);

#endif
