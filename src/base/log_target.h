/* SPDX-License-Identifier: MIT
 * A target of the log: a ring of records, a writer thread, a sink.
 *
 *     any thread --put--> ring --take, render--> writer --lines--> sink
 *
 * Each target has a ring and a writer of its own, so that a target that stalls
 * (a full disk, a syslog daemon that hangs, a stopped terminal) delays neither
 * the threads that log nor the other targets.  The writer retries a sink that
 * takes no lines; meanwhile the ring fills, and lines that do not fit are
 * dropped and counted.  When lines go out again the writer reports how many
 * were dropped: on standard error by a line of its own, else by log_about_log.
 *
 * log_writer.c calls log.c.
 */
#ifndef BASE_LOG_TARGET_H
#define BASE_LOG_TARGET_H

#include <pthread.h>
#include <semaphore.h>

#include "base/log.h"
#include "base/log_sink.h"
#include "base/ring.h"

/* An entry of the ring: one line. */
struct log_target_entry {
	log_render render;
	uint8_t bytes[LOG_RECORD_SIZE];
};

struct log_target {
	struct log_sink sink;    /* the writer's */
	struct log_target *next; /* in one of log_writer.c's lists */
	uint32_t users;          /* the control thread's */
	struct ring *ring;
	pthread_t writer;
	sem_t wake;
	uint32_t running;  /* lines go through the ring */
	uint32_t asleep;   /* the writer is in a wait or about to be [P7] */
	uint32_t stopping; /* the writer ends when the ring is empty */
	uint32_t reopening;
	uint64_t dropped;

	/* The writer's. */
	uint64_t reported; /* of dropped */
	uint64_t report_after_ms;
	uint64_t give_up_ms; /* once it stops */
};

/* The target for standard error, which is always the first in the list. */
extern struct log_target log_standard_error;

/* -- any thread -- */

/* Wakes the writer if it is asleep. */
void log_target_wake(struct log_target *target);
/* Logs a message about a target, which goes to standard error in any case. */
void log_about_log(enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes a warning as a line for standard error, of LOG_LINE_MAX bytes at most.
 * Returns its length. */
size_t log_line(char *out, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Messages no longer go to the target. */
void log_messages_forget(const struct log_target *target);
/* Returns whether log_limited would log now, and how many messages were left
 * out since it did. */
bool log_may(struct log_limit *limit, uint64_t *ret_left_out);
/* Adds to the number of dropped lines. */
void log_target_count_dropped(struct log_target *target, uint64_t lines);

#endif
