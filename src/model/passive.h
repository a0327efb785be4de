/* SPDX-License-Identifier: MIT
 * Failures of sessions as evidence of a server's health.
 *
 * A failure is a connect that is refused, times out or is reset, and a
 * connection that the server breaks off before the first byte of its answer.
 * The failures that eject_on or observe name are counted in a row; an answer
 * resets the count.
 *
 *   data threads                              control thread
 *   ------------                              --------------
 *   server_note_failure: count; at a limit    server_review: what `on_error`
 *     set noticed, call notify  --- [P20] -->   says, and ejection
 *   passive_note_answer: reset the counts       (ejection.h)
 *
 * `observe` turns error_limit failures in a row into a failed check; without
 * checks it has no effect.  eject_after failures in a row eject the server,
 * with or without checks.
 */
#ifndef MODEL_PASSIVE_H
#define MODEL_PASSIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"

struct backend;
struct server;

enum failure {
	FAILURE_CONNECT, /* with an errno */
	FAILURE_RESET, /* connected, then broken off without an answer; a client
	                * can cause it */
};

/* Part of a server's state.  The fields of ejection are control-thread only. */
struct passive {
	/* Shared, relaxed but for noticed.  Written when a server fails, and
	 * by the first answer after that: else only read. */
	uint32_t in_row;  /* for ejection */
	uint32_t errors;  /* for observe */
	uint32_t last;    /* enum failure << 16 | errno */
	uint32_t noticed; /* [P20] */

	/* Control thread only. */
	bool ejected;
	bool relented;    /* readmitted by ejection_relent, not reported yet */
	bool served_time; /* readmitted by time alone since the last lineup */
	unsigned level;   /* n of ejection.h */
	unsigned passes;  /* checks since it was ejected */
	uint64_t ejected_ms; /* clock_now_ms */
	uint64_t until_ms;
	uint64_t back_ms;
	uint64_t told_ms; /* time of the last event about failures */
	uint64_t times_ejected;
	uint64_t times_observed; /* error_limit was reached: hanafail */
};

/* Counts a failure; error is the errno of FAILURE_CONNECT.  Returns true if the
 * number of failures calls for the ejection of the server.  Runs on data
 * threads, in a grace section. */
bool server_note_failure(struct server *server, enum failure how, int error);

/* Resets the counts of failures.  Called when the server has answered, or when
 * a session with it ended well.  Any thread. */
static inline void
passive_note_answer(struct passive *p)
{
	if (atomic_load_relaxed(&p->in_row) > 0)
		atomic_store_relaxed(&p->in_row, 0u);
	if (atomic_load_relaxed(&p->errors) > 0)
		atomic_store_relaxed(&p->errors, 0u);
}

/* Acts on a notice of failures, if this server has one.  Returns true if the
 * server is to be checked soon.  Runs on the control thread. */
bool server_review(struct server *server, uint64_t now_ms);

#endif
