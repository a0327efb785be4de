/* SPDX-License-Identifier: MIT
 * Active health checks: every server of a backend with a check is asked
 * periodically whether it is healthy, and every agent what it reports.
 *
 * The first checks are spread over the smaller of the interval and a second,
 * so that a start neither floods the servers nor leaves a dead one unnoticed
 * for a whole interval.  After that, checks of a server start at the interval,
 * plus or minus the jitter, so that the checks of many servers (or of many
 * lfproxies) do not fall into step.  A check runs for at most its timeout; a
 * server never has two at a time.  fast_interval applies while
 * results add up towards a change of state, down_interval while the server is
 * down.
 *
 * All functions run on the control thread.
 */
#ifndef CHECK_CHECKER_H
#define CHECK_CHECKER_H

#include <ev.h>
#include <stdbool.h>

#include "base/err.h"
#include "model/model.h"

struct checker;

/* Makes a checker of the model, and starts its checks.  Borrows loop and model,
 * which must outlive the checker.  Results go to server_report_check; the
 * caller calls model_update before the loop waits.  Returns 0 or -errno. */
int checker_new(struct ev_loop *loop, const struct model *model,
    struct checker **ret_checker) MUST_CHECK;

/* Prepares the change to another model.  A server with the same state and kind
 * of check in both models keeps its check: a running check goes on, and so does
 * the schedule, unless the interval or the question differs.  Returns false
 * when memory is short; otherwise checker_commit or checker_cancel has to
 * follow. */
bool checker_prepare(
    struct checker *checker, const struct model *model) MUST_CHECK;

/* Undoes checker_prepare, or checker_prepare_servers. */
void checker_cancel(struct checker *checker);

/* Changes to the model of checker_prepare.  Cannot fail. */
void checker_commit(struct checker *checker);

/* Does the same for n servers that are to come to the present model; may be
 * called several times.  checker_commit_servers or checker_cancel has to
 * follow. */
bool checker_prepare_servers(struct checker *checker,
    struct server *const *servers, size_t n) MUST_CHECK;

/* Adds the checks of the servers of checker_prepare_servers.  Cannot fail. */
void checker_commit_servers(struct checker *checker);

/* Ends the checks of a server that has gone, after checker_commit_servers. */
void checker_drop_server(struct checker *checker, const struct server *server);

/* Brings the server's next check forward: to fast_interval after the start of
 * the last check, or to a second after it if there is no fast_interval.  Does
 * nothing when the server is not checked, or is being checked. */
void checker_hurry(struct checker *checker, const struct server *server);

/* How late checks and agents' questions were started, since checker_new or
 * checker_clear_delays. */
struct check_delays {
	uint64_t started;
	uint64_t longest_ns; /* after the check was due */
};

/* Returns the delays so far. */
struct check_delays checker_delays(const struct checker *checker);

/* Resets the counts of checker_delays. */
void checker_clear_delays(struct checker *checker);

/* Frees the checker and ends running checks without a result.  Must not be
 * called from within a check's callback.  Accepts NULL. */
void checker_free(struct checker *checker);

#endif
