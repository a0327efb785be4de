/* SPDX-License-Identifier: MIT
 * The log: messages for the operator, and whatever else wants to be a line.
 *
 * Lines go through a bounded ring to one writer thread, so that no other
 * thread ever waits for a terminal, a pipe or a disk.  When the ring is full
 * a line is dropped and counted; the writer reports how many.  Before
 * log_start and after log_stop lines are written directly.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO };

/* A message for the operator: `lfproxy: warning: ...`.  The message ends in
 * what to do, where there is something to do. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* At most one message a second from each place that has such a state, with the
 * number left out since: for what peers and load can cause. */
struct log_limit {
	uint64_t next_ms; /* relaxed */
	uint64_t left_out;
};
void log_limited(struct log_limit *limit, enum log_level level, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));

/* A line made later, by the writer thread: render gets the record's bytes and
 * appends one line with its newline to out, at most size bytes; it returns the
 * length. */
#define LOG_RECORD_SIZE 368
typedef size_t (*log_render)(const void *record, char *out, size_t size);

/* Copies size (<= LOG_RECORD_SIZE) bytes; false when the line was dropped.
 * Never waits. */
bool log_record(log_render render, const void *record, size_t size);

/* 0 or -errno. */
int log_start(void);
/* Writes out what is queued, for at most a second, and ends the writer.  False
 * if it is stuck: then it may still touch what records point to. */
bool log_stop(void);
uint64_t log_dropped(void);

#endif
