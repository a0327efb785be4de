/* SPDX-License-Identifier: MIT
 * Draws places of a lineup at random, by weight, each in constant time.
 */
#ifndef BALANCE_DRAW_H
#define BALANCE_DRAW_H

#include "base/err.h"
#include "model/balance_ops.h"

/* Makes the plan that draw_better needs, for balance_ops.prepare.  Returns 0 or
 * -ENOMEM.  Runs on the control thread. */
int draw_prepare(struct lineup *lineup, const struct lineup *former) MUST_CHECK;

/* Draws two places that are not passed over, and returns the better one; if all
 * are passed over, any place.  is_better compares two places.  distinct: the
 * second draw is repeated if it is the first one's place.  Runs on data
 * threads. */
uint32_t draw_better(const struct lineup *lineup, const struct choice *choice,
    bool distinct,
    bool (*is_better)(const struct lineup *lineup, uint32_t a, uint32_t b));

/* Draws a place that is not passed over, by weight.  Looks at all servers, for
 * lineups in which nearly all of the weight is passed over.  Returns PLACE_NONE
 * if all are passed over.  Runs on data threads. */
uint32_t draw_open(
    const struct lineup *lineup, const struct choice *choice, uint64_t random);

#endif
