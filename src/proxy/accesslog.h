/* SPDX-License-Identifier: MIT
 * The access log: a line for each session at its end, and lines before that if
 * the configuration asks for them.
 *
 * The owner of a session copies what a line needs into a record, without a
 * system call and without waiting.  The writer thread of each target makes the
 * line, see proxy/accesslog_line.h and base/log_target.h.
 */
#ifndef PROXY_ACCESSLOG_H
#define PROXY_ACCESSLOG_H

#include "base/err.h"
#include "proxy/accesslog_line.h"
#include "proxy/session.h"

/* Returns the format of messages on standard error, where they also go before
 * the targets are open. */
enum log_message_format accesslog_message_format(
    const struct global_spec *global);
/* Opens the targets of messages, and those of all frontends.  Runs on the
 * control thread, after log_start and before the model has sessions.  Returns
 * false with err set when a file cannot be opened. */
bool accesslog_open(struct model *model, struct err *err);

/* The last line of a session, not written yet. */
struct accesslog_last {
	bool wanted;
	struct line line;
};

/* Fills the last line of a session that still counts in the gauges.  record:
 * the record of its end.  Runs on the session's owner. */
void accesslog_last(const struct session *s,
    const struct session_record *record, struct accesslog_last *ret_last);

/* Writes the last line.  To be called after the session has left all gauges, so
 * that a reader of the line no longer finds the session there, and in the same
 * turn as accesslog_last, because the frontend may be freed after that turn. */
void accesslog_write(
    const struct frontend *frontend, const struct accesslog_last *last);

/* Writes the line of log_on_connect, if it is on.  To be called when a server
 * is connected.  Runs on the session's owner. */
void accesslog_connected(const struct session *s, struct pool_thread *self);

/* Writes a line if one of log_every has become due since the session's deadline
 * was set, which is about to be replaced.  Runs on the session's owner. */
void accesslog_ongoing(const struct session *s, struct pool_thread *self);

/* Returns when a relayed session is to be logged next; UINT64_MAX: never. */
static inline uint64_t
accesslog_deadline(const struct session *s, uint64_t now_ms)
{
	uint64_t every_ms = s->frontend->spec->log_every_ms;

	if (every_ms == 0)
		return UINT64_MAX;
	return now_ms + every_ms - (now_ms - s->accepted_ms) % every_ms;
}

/* Returns whether a line of log_every has become due by now, if the session's
 * deadline was deadline_ms: no deadline is later than the next line, so that
 * line was due at the deadline or behind it.  Lines are of connected sessions.
 */
static inline bool
accesslog_is_due(const struct session *s, uint64_t deadline_ms, uint64_t now_ms)
{
	uint64_t every_ms = s->frontend->spec->log_every_ms, due_ms;

	if (every_ms == 0 || deadline_ms < s->accepted_ms ||
	    deadline_ms > now_ms)
		return false;
	due_ms = deadline_ms + every_ms - 1;
	due_ms -= (due_ms - s->accepted_ms) % every_ms;
	return due_ms <= now_ms && due_ms > s->connected_ms;
}

/* Returns whether one of the frontend's logs has a last line for every session
 * whose client has sent something. */
bool accesslog_is_whole(const struct frontend *frontend);

#endif
