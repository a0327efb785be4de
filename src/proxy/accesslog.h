/* SPDX-License-Identifier: MIT
 * The access log: a line for each session, and while it lasts if asked for.
 *
 * The owner of a session copies what a line needs into a record, without a
 * system call and without waiting; the writer thread of each target makes the
 * line, see proxy/accesslog_line.h and base/log_target.h.
 */
#ifndef PROXY_ACCESSLOG_H
#define PROXY_ACCESSLOG_H

#include "base/err.h"
#include "proxy/accesslog_line.h"
#include "proxy/session.h"

/* Control thread, after log_start and before the model has sessions: opens the
 * log targets of all frontends.  Returns false with err set when a file cannot
 * be opened. */
bool accesslog_open(struct model *model, struct err *err);

/* The last line of a session, not written yet. */
struct accesslog_last {
	bool wanted;
	struct line line;
};

/* The owner, while the session still counts: fills the last line.  record: that
 * of the end. */
void accesslog_last(const struct session *s,
    const struct session_record *record, struct accesslog_last *ret_last);

/* Writes the last line, after the session has left all gauges, so that a reader
 * of the line no longer finds it there.  In the same turn as accesslog_last,
 * because the frontend may be freed after it. */
void accesslog_write(
    const struct frontend *frontend, const struct accesslog_last *last);

/* The owner, when a server is connected: writes the line of log_on_connect. */
void accesslog_connected(const struct session *s, struct pool_thread *self);

/* The owner, when a deadline of the session has passed: writes a line if it was
 * that of log_every. */
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

/* Returns whether a log has the last line of every session that has said
 * something. */
bool accesslog_is_whole(const struct frontend *frontend);

#endif
