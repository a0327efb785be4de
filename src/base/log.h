/* SPDX-License-Identifier: MIT
 * The log: messages for the operator, and lines of access logs.
 *
 * Lines go through bounded rings to writer threads, one for each target, so
 * that no other thread ever waits for a terminal, a pipe, a disk or a syslog
 * daemon.  When a ring is full a line is dropped and counted; the writer
 * reports how many.  Standard error is always there: messages go to it unless
 * log_messages_to has been called, before log_start and after log_stop
 * directly.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO };

/* Returns what stands before a line on standard error if that is systemd's
 * journal (JOURNAL_STREAM, systemd.exec(5)): its severity, as in sd-daemon(3):
 * `<4>` for a warning.  Returns "" otherwise.  Any thread. */
const char *log_severity(enum log_level level);

/* Logs a message for the operator: `lfproxy: warning: ...`.  The message ends
 * in what to do, where there is something to do.  Any thread.  Never waits
 * between log_start and log_stop. */
void log_message(enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
#define log_error(...)   log_message(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_message(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_message(LOG_LEVEL_INFO, __VA_ARGS__)

/* Returns "error", "warning" or "info". */
const char *log_level_name(enum log_level level);

/* The subject of a message, for programs: fields of lines in JSON or logfmt. */
struct log_subject {
	const char *event; /* static: `server_down`; or "" */
	const char *about; /* `app/a`; or "" */
	bool is_alert; /* an operator has to act at once: syslog's severity 1 */
};

/* Does the same with a subject. */
void log_event(enum log_level level, const struct log_subject *subject,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The state of log_limited for one kind of message; zeros to begin with. */
struct log_limit {
	uint64_t next_ms; /* relaxed */
	uint64_t left_out;
};

/* Logs at most one message a second for each limit, with the number of messages
 * that were left out since: for what peers and load can cause.  Any thread. */
void log_limited(struct log_limit *limit, enum log_level level, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));

/* A function that makes a line, later and on the writer thread.  It gets the
 * bytes of the record, and writes one line with its newline to out: at most
 * size bytes, which are LOG_LINE_MAX or more.  Returns the length of the line.
 */
#define LOG_RECORD_SIZE 960
#define LOG_LINE_MAX    3584
typedef size_t (*log_render)(const void *record, char *out, size_t size);

struct log_target;

/* Copies size (<= LOG_RECORD_SIZE) bytes for the writer of the target.  Returns
 * false when the line was dropped.  Never waits. */
bool log_target_record(struct log_target *target, log_render render,
    const void *record, size_t size);

struct log_sink_options;

/* Opens the target for a sink, or finds it if it is open: equal options have
 * one target.  Returns false with err set when the sink cannot be opened.  Runs
 * on the control thread, between log_start and log_stop. */
bool log_target_open(const struct log_sink_options *options,
    struct log_target **ret_target, struct err *err) MUST_CHECK;

/* Closes the target.  Called once for each log_target_open, when the caller
 * does not log to the target any more, on the control thread.  After the last
 * of these calls the writer writes what is queued and ends.  Returns at once.
 * Does nothing after log_stop. */
void log_target_close(struct log_target *target);

/* Frees targets whose writers have ended.  Called now and then on the control
 * thread. */
void log_collect(void);

/* Has every file reopened, for log rotation.  No line is lost; lines that were
 * logged before may go to either file.  Runs on the control thread. */
void log_reopen(void);

enum log_message_format {
	LOG_MESSAGE_TEXT,
	LOG_MESSAGE_JSON,
	LOG_MESSAGE_LOGFMT
};

#define LOG_MESSAGE_TARGETS 8

struct log_message_targets {
	struct {
		struct log_target *target;
		enum log_message_format format;
	} at[LOG_MESSAGE_TARGETS];
	size_t n;
};

/* Has messages on standard error be in that format where log_messages_to says
 * nothing about it.  Any thread. */
void log_messages_format(enum log_message_format format);
/* Has messages go there from now on; n == 0: to standard error, as text.  A
 * target that is closed is left out.  Runs on the control thread. */
void log_messages_to(const struct log_message_targets *targets);

/* Starts the writer of standard error.  Returns false with err set if it cannot
 * be started. */
bool log_start(struct err *err) MUST_CHECK;
/* Has the writers write what is queued and end.  Waits for them for at most a
 * second, and one more for standard error.  Returns false if a writer is stuck:
 * it may still read what records point to. */
bool log_stop(void);

/* Returns how many warnings were logged so far. */
uint64_t log_warnings(void);

/* Returns how many lines all targets have dropped so far. */
uint64_t log_dropped(void);

#endif
