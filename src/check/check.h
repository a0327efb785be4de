/* SPDX-License-Identifier: MIT
 * Active health checks: every server of a backend with a check is asked again
 * and again whether it is well.
 *
 *   waiting --timer--> running --check_done--> waiting
 *
 * The first checks are spread over the smaller of the interval and a second,
 * so that a start neither floods the servers nor leaves a dead one unnoticed
 * for a whole interval.  After that a server is checked every interval, from
 * start to start, give or take the jitter, so that the checks of many servers
 * (or of many lfproxys) do not fall into step.  A check runs for at most its
 * timeout; a server never has two at a time.  While results add up towards a
 * change the interval may be another one, and so it may while it is down.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include <ev.h>
#include <stdbool.h>

#include "base/memory_use.h"
#include "model/model.h"

struct checker;

/* Control thread, which runs the loop.  Loop and model are borrowed and must
 * outlive the checker.  Results go to server_report_check.  0 or -errno. */
int checker_new(
    struct ev_loop *loop, struct model *model, struct checker **ret_checker);

/* A change to another model, in two steps, of which the second cannot fail.  A
 * server that has the same state and kind of check in both is checked on: a
 * check that runs is not disturbed, nor is the schedule, unless the interval
 * or what is asked differs.  False when memory is short; else checker_commit or
 * checker_cancel follows. */
bool checker_prepare(struct checker *checker, const struct model *model);
void checker_cancel(struct checker *checker);
void checker_commit(struct checker *checker, const struct model *model);

/* The server's next check comes soon: fast_interval after the start of the last
 * one, or a second if it has none.  Nothing happens when it is not checked, or
 * is being checked. */
void checker_hurry(struct checker *checker, const struct server *server);

/* How late checks and questions to agents were begun, since the start or
 * checker_clear_delays. */
struct check_delays {
	uint64_t begun;
	uint64_t longest_ns; /* after it was due */
};
struct check_delays checker_delays(const struct checker *checker);
void checker_clear_delays(struct checker *checker);

/* Ends running checks without a result.  Not from within a check's callback.
 * NULL is fine. */
void checker_free(struct checker *checker);

/* Control thread: the checks and agents, and of those that run what their kind
 * has for them; what libraries have is theirs, see library_memory.h. */
struct memory_use checker_memory(const struct checker *checker);

#endif
