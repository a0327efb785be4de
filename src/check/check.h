/* SPDX-License-Identifier: MIT
 * The check or the agent of a server: its schedule and its end.
 *
 *   waiting --timer--> running --check_done--> waiting
 *
 * check_ops ask the server; a file for each protocol implements them, and
 * preset.c has which preset uses which.  All functions run on the control
 * thread.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include <ev.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/list.h"
#include "check/checker.h"
#include "check/talk.h"
#include "loop/curl_loop.h"
#include "model/model.h"

struct check_preset;

/* State shared by the checks of a checker. */
struct check_schedule {
	struct ev_loop *loop;
	struct curl_loop *curl; /* NULL: no server has an http check */
	uint64_t random;        /* state of the generator of the jitter */
	struct check_delays delays;
	struct list late;      /* checks that are due, the first one first */
	ev_timer again;        /* active: starts late checks next */
	unsigned turn;         /* ev_iteration of the last start */
	uint64_t turn_ends_ns; /* no more starts in that iteration after this */
};

/* The check or the agent of one server, for as long as it is in the model. */
struct check {
	struct list node; /* in the schedule's late */
	struct check_schedule *schedule;
	struct ev_loop *loop; /* the schedule's */
	struct server *server;
	const struct check_spec *spec;
	const struct check_preset *preset; /* NULL: this is an agent */
	const struct check_ops *ops;
	ev_timer timer;      /* until the next start; stopped while running */
	uint64_t due_ns;     /* when the timer should expire */
	uint64_t started_ns; /* start of the running or the last check */
	bool running;
	struct talk *talk; /* the run's, while it talks; else NULL */
	void *run;         /* for the ops, while running: run_size bytes */
};

struct check_ops {
	size_t run_size; /* what a run needs beside its talk; may be 0 */
	/* Starts a run, whose memory is zeroed.  Returns false when memory is
	 * short.  Otherwise check_done or check_skip is called exactly once,
	 * within the timeout, perhaps from within start. */
	bool (*start)(struct check *check);
	/* Stops what the run does, and releases what it holds, also when start
	 * has failed half-way.  NULL: the run has nothing but a talk. */
	void (*end)(struct check *check);
};

extern const struct check_ops check_http_ops;
extern const struct check_ops check_talk_ops;
extern const struct check_ops check_agent_ops;
extern const struct check_ops check_script_ops;

/* Makes a schedule, which was zeroed, without checks. */
void check_schedule_init(struct check_schedule *schedule, struct ev_loop *loop);
/* Ends the schedule.  Its checks have been freed. */
void check_schedule_fini(struct check_schedule *schedule);

/* Makes a check that waits for check_start_in.  preset NULL: the server's
 * agent.  Returns NULL when memory is short. */
struct check *check_new(struct check_schedule *schedule, struct server *server,
    const struct check_preset *preset, const struct check_ops *ops);

/* Frees the check, and cancels a run under way.  Accepts NULL. */
void check_free(struct check *check);

/* Schedules the next run, after that time. */
void check_start_in(struct check *check, double seconds);

/* Returns the interval that applies in the server's present state. */
uint64_t check_interval_ms(const struct check *check);

/* Ends a run without a result, and without scheduling another one. */
void check_end_run(struct check *check);

/* Ends a run: reports the result and schedules the next check.  The status of
 * an agent is only stored, because it tells nothing about the server's health.
 * code 0: none.  The text may belong to the run.  It is cut to fit, and control
 * characters are removed from it. */
void check_done(struct check *check, enum check_status status, unsigned code,
    const char *text);

/* Ends a run without a result, and tries again at the next interval.  To be
 * called when lfproxy itself is short of descriptors or memory: its healthy
 * servers must not be taken down for that. */
void check_skip(struct check *check, int error);

/* Ends a run whose connect failed with that errno, by check_done or
 * check_skip. */
void check_connect_failed(struct check *check, int error);

/* Starts the talk of a check (not of an agent): for an http check only the
 * connect and its PROXY header, for others also TLS and the steps.  Calls done
 * as talk_start does, with the check as arg.  Returns false when memory is
 * short. */
bool check_talk_start(struct check *check, talk_done *done) MUST_CHECK;

/* Replaces what the talk of a running check borrows from its server and spec,
 * which a reload has replaced by equal ones. */
void check_talk_move(struct check *check);
/* Does what check_talk_move does, for an agent. */
void check_agent_move(struct check *check);

#endif
