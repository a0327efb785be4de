/* SPDX-License-Identifier: MIT
 * Active health checks: every server of a backend with a check is asked again
 * and again whether it is well.
 *
 *   waiting --timer--> running --check_done--> waiting
 *
 * The first checks are spread over the smaller of the interval and a second,
 * so that a start neither floods the servers nor leaves a dead one unnoticed
 * for a whole interval.  After that a server is checked every interval, from
 * start to start, give or take a tenth, so that the checks of many servers
 * (or of many lfproxys) do not fall into step.  A check runs for at most its
 * timeout; a server never has two at a time.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include <ev.h>

#include "model/model.h"

struct checker;

/* Control thread, which runs the loop.  Loop and model are borrowed and must
 * outlive the checker.  Results go to server_report_check.  0 or -errno. */
int checker_new(
    struct ev_loop *loop, struct model *model, struct checker **ret_checker);

/* Ends running checks without a result.  Not from within a check's callback.
 * NULL is fine. */
void checker_free(struct checker *checker);

#endif
