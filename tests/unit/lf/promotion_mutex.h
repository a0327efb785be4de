/* SPDX-License-Identifier: MIT
 * Promotion as the paper has it (POSA2, Leader/Followers, steps 4 and 5): a
 * mutex around the state, and followers asleep on condition variables.
 *
 * Each follower has its own condition variable, because the paper leaves open
 * which follower is woken, and here the order decides.
 *
 * A reference for the tests and the laboratory.  lfproxy uses promotion_futex.
 */
#ifndef UNIT_LF_PROMOTION_MUTEX_H
#define UNIT_LF_PROMOTION_MUTEX_H

#include "lf/promotion.h"

extern const struct promotion_ops promotion_mutex;

#endif
