/* SPDX-License-Identifier: MIT
 * What sessions tell about a server's health, and what follows from it.
 *
 * A failure is a connect that is refused, times out or is reset, and a
 * connection that the server breaks off before the first byte of its answer.
 * Failures are counted in a row: an answer begins anew.
 *
 *   data threads                              control thread
 *   ------------                              --------------
 *   note_failure: count; at a limit           server_review: what `on_error`
 *     set noticed, call notify  --- [P20] -->   says, and ejection
 *   note_answer: counts back to 0             server_readmit: by time, by
 * checks
 *
 * `observe` turns so many failures into (the like of) a failed check; without
 * checks it has no effect.  Ejection takes the server out of the lineup, with
 * or without checks:
 *
 *   IN --eject_after failures in a row--> EJECTED --time, or `rise` checks-->
 * IN
 *
 * The n-th ejection lasts eject_time * 2^(n-1), eject_time_max at most; each
 * eject_time that it is in, n goes down by one.  At most eject_max_percent of a
 * backend's servers are out at a time, one always may be, and never the last
 * that is usable: when that one goes otherwise, those that are out come back.
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
	FAILURE_RESET,   /* connected, then broken off without an answer */
};

/* Part of a server's state. */
struct passive {
	/* Shared, relaxed but for noticed.  Written when a server fails, and
	 * by the first answer after that: else only read. */
	uint32_t in_row;  /* for ejection */
	uint32_t errors;  /* for observe */
	uint32_t last;    /* enum failure << 16 | errno */
	uint32_t noticed; /* [P20] */

	/* Control thread only. */
	bool ejected;
	bool relented;       /* let back in by ejection_relent, and not told */
	bool served_time;    /* readmitted by time alone, since the lineup */
	unsigned level;      /* n above */
	unsigned passes;     /* checks since it was ejected */
	uint64_t ejected_ms; /* clock_now_ms */
	uint64_t until_ms;
	uint64_t back_ms;
	uint64_t told_ms; /* the last event that is limited */
	uint64_t times_ejected;
	uint64_t times_observed; /* error_limit was reached: hanafail */
};

/* Data threads, in a grace section.  True: as far as failures go, the server is
 * to be ejected for this one. */
bool server_note_failure(struct server *server, enum failure how, int error);

/* Data threads: the server has answered, or a session with it ended well. */
static inline void
passive_note_answer(struct passive *p)
{
	if (atomic_load_relaxed(&p->in_row) > 0)
		atomic_store_relaxed(&p->in_row, 0u);
	if (atomic_load_relaxed(&p->errors) > 0)
		atomic_store_relaxed(&p->errors, 0u);
}

/* Control thread, after a notice: does what failures ask for, if this server
 * has any.  True when it is to be checked soon. */
bool server_review(struct server *server, uint64_t now_ms);

#endif
