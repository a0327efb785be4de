/* SPDX-License-Identifier: MIT
 * Draws places of a lineup at random, by weight, in constant time.
 */
#ifndef BALANCE_DRAW_H
#define BALANCE_DRAW_H

#include <stdint.h>

#include "base/err.h"

struct lineup;

/* Makes the plan that draw_place needs; balance_ops.prepare.  Runs on the
 * control thread.  Returns 0 or -ENOMEM. */
int draw_prepare(struct lineup *lineup, const struct lineup *former) MUST_CHECK;

/* Returns the place that 64 random bits select.  Data threads. */
uint32_t draw_place(const struct lineup *lineup, uint64_t random);

#endif
