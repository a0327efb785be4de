/* SPDX-License-Identifier: MIT
 * What a pool has to do in every setting: one suite for each policy, order,
 * number of shards and of threads.
 *
 * Each combination is a test of its own.  Bytes are written to wires, notes
 * come from outside, handlers go on, end and begin anew; then, while all that
 * goes on, threads and shards come and go and policy and order change.  In the
 * end nothing may be left: not a byte, not a note, not an event in the ledger.
 */
#ifndef UNIT_LF_CONFORMANCE_H
#define UNIT_LF_CONFORMANCE_H

#include "lf/promotion.h"

/* All combinations on one kind of promotion, each for about `ms` milliseconds
 * of load (times the environment's LFPROXY_CONFORMANCE, 1 if unset); what main
 * returns. */
int conformance_run(
    const char *group, const struct promotion_ops *promotion, unsigned ms);

#endif
