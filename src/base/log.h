/* SPDX-License-Identifier: MIT
 * The log: messages for the operator, and whatever else wants to be a line.
 *
 * Lines go through bounded rings to writer threads, one for each target, so
 * that no other thread ever waits for a terminal, a pipe, a disk or a syslog
 * daemon.  When a ring is full a line is dropped and counted; the writer
 * reports how many.  Standard error is always there: messages go to it, before
 * log_start and after log_stop directly.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/memory_use.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO };

/* A message for the operator: `lfproxy: warning: ...`.  The message ends in
 * what to do, where there is something to do. */
void log_message(enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
#define log_error(...)   log_message(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_message(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_message(LOG_LEVEL_INFO, __VA_ARGS__)

/* The state of log_limited for one kind of message; zeros to begin with. */
struct log_limit {
	uint64_t next_ms; /* relaxed */
	uint64_t left_out;
};

/* Writes at most one message a second for each limit, with the number of those
 * left out since: for what peers and load can cause.  Any thread. */
void log_limited(struct log_limit *limit, enum log_level level, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));

/* A line made later, by the writer thread: render gets the record's bytes and
 * appends one line with its newline to out, at most size bytes, which are
 * LOG_LINE_MAX or more; it returns the length. */
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
 * one target.  Returns false with err set when the sink cannot be opened.
 * Control thread, between log_start and log_stop. */
bool log_target_open(const struct log_sink_options *options,
    struct log_target **ret_target, struct err *err) MUST_CHECK;

/* Control thread: called once for each log_target_open, when the caller logs to
 * the target no more.  After the last of these calls the writer writes what is
 * queued and ends.  Returns at once.  Does nothing after log_stop. */
void log_target_close(struct log_target *target);

/* Control thread, now and then: forgets targets whose writers have ended. */
void log_collect(void);

/* Control thread: reopens every file, for log rotation.  No line is lost; lines
 * that were logged before may go to either file. */
void log_reopen(void);

/* Starts the writer of standard error.  Returns 0 or -errno. */
int log_start(void) MUST_CHECK;
/* Writes out what is queued and ends the writers, for at most a second, and one
 * more for standard error.  False if one is stuck: then it may still touch what
 * records point to. */
bool log_stop(void);

/* Lines that were dropped so far, by all targets. */
uint64_t log_dropped(void);

/* Control thread: the targets, with the rings of lines that wait. */
struct memory_use log_memory(void);

#endif
