/* SPDX-License-Identifier: MIT
 * See attempt.h.
 */
#include "proxy/attempt.h"

#include "proxy/session_count.h"

void
attempt_note_ejected(struct session *s)
{
	for (unsigned i = s->ejected_n; i < s->tried_n; i++) {
		if (s->tried[i] != s->server->serial)
			continue;
		s->tried[i] = s->tried[s->ejected_n];
		s->tried[s->ejected_n++] = s->server->serial;
		return;
	}
}

struct verdict
attempt_end(struct session *s, enum close_cause cause)
{
	if (cause == CAUSE_SERVER_RESET)
		side_note(&s->side[HANDLE_SERVER], EVENT_READ_FAILED);
	return verdict_close(cause);
}

struct verdict
attempt_give_up(
    struct session *s, enum close_cause cause, struct pool_thread *self)
{
	unsigned where = cause == CAUSE_NO_RESOURCE
	                     ? COUNT_BACKEND
	                     : COUNT_BACKEND | COUNT_SERVER;

	session_count(s, where, COUNTER_CONNECT_ERRORS, 1, self);
	return attempt_end(s, cause);
}
