/* SPDX-License-Identifier: MIT
 * What every kind of promotion has to pass.
 *
 * One suite for all, so that the textbook version is the oracle for the faster
 * ones: a new kind is a program of three lines.
 */
#ifndef UNIT_LF_PROMOTION_SUITE_H
#define UNIT_LF_PROMOTION_SUITE_H

#include "lf/promotion.h"

/* Runs the suite; what main returns. */
int promotion_suite_run(const struct promotion_ops *ops);

#endif
