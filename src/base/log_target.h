/* SPDX-License-Identifier: MIT
 * A target of the log: a ring of records, a writer thread, a sink.
 *
 *     any thread --put--> ring --take, render--> writer --lines--> sink
 *
 * Each target has a ring and a writer of its own, so that one that stalls (a
 * full disk, a syslog daemon that hangs, a terminal that is stopped) holds up
 * neither those who log nor the other targets.  A sink that does not take its
 * lines is tried again; meanwhile the ring fills, and what does not fit is
 * dropped and counted.  When lines go out again the writer says how many were
 * dropped: on standard error by itself, else by log_warning.
 */
#ifndef BASE_LOG_TARGET_H
#define BASE_LOG_TARGET_H

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "base/log.h"
#include "base/log_sink.h"
#include "base/ring.h"

struct log_target {
	struct log_sink sink;    /* the writer's */
	struct log_target *next; /* of one of log.c's lists */
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

/* Opens the sink and starts the writer.  False with err set. */
bool log_target_start(struct log_target *target,
    const struct log_sink_options *options, struct err *err);

/* Asks the writer to write out what is queued and to end; _join waits until it
 * has, or until the time (CLOCK_REALTIME) has come: false, it is stuck, and the
 * target must stay. */
void log_target_stop(struct log_target *target);
bool log_target_join(struct log_target *target, const struct timespec *until);

/* Any thread: the writer reopens the sink before its next line. */
void log_target_reopen(struct log_target *target);

#endif
