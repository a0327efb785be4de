/* SPDX-License-Identifier: MIT
 * The access log: a line for each session, and while it lasts if asked for.
 *
 * The owner of a session copies what a line needs into a record, which costs no
 * system call and never waits; the writer of each target makes the line, see
 * proxy/accesslog_line.h and base/log_target.h.
 */
#ifndef PROXY_ACCESSLOG_H
#define PROXY_ACCESSLOG_H

#include "base/err.h"
#include "proxy/accesslog_line.h"
#include "proxy/session.h"

/* Control thread, after log_start and before the model has sessions: opens what
 * the frontends log to.  False with err set when a file cannot be opened. */
bool accesslog_open(struct model *model, struct err *err);

/* A line that has yet to be handed over. */
struct accesslog_last {
	bool wanted;
	struct line line;
};

/* The owner, before the session is given up: what its last line will say. */
void accesslog_last(const struct session *session,
    const struct session_record *record, struct accesslog_last *ret_last);

/* And that line, once the session is gone for everybody else as well: who has
 * read it finds it in no gauge any more.  In the same turn, so that the
 * frontend is still there. */
void accesslog_write(
    const struct frontend *frontend, const struct accesslog_last *last);

/* The owner, when a server is connected: log_on_connect. */
void accesslog_connected(
    const struct session *session, struct pool_thread *self);

/* The owner, when a deadline of the session has passed: log_every, if it was
 * that one's. */
void accesslog_ongoing(const struct session *session, struct pool_thread *self);

/* When a session that relays is to be logged next; UINT64_MAX: not at all. */
static inline uint64_t
accesslog_deadline(const struct session *session, uint64_t now_ms)
{
	uint64_t every_ms = session->frontend->spec->log_every_ms;

	if (every_ms == 0)
		return UINT64_MAX;
	return now_ms + every_ms - (now_ms - session->accepted_ms) % every_ms;
}

#endif
