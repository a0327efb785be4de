/* SPDX-License-Identifier: MIT
 * What every kind of promotion has to pass.
 *
 * One suite for all, so that the textbook version is the oracle for the faster
 * ones: a new kind is a program of three lines.  (test_promotion_alike.c holds
 * the kinds directly against each other.)
 */
#ifndef UNIT_LF_PROMOTION_SUITE_H
#define UNIT_LF_PROMOTION_SUITE_H

#include "lf/promotion.h"

/* Runs the suite; what main returns. */
int promotion_suite_run(const struct promotion_ops *ops);

/* Its part in promotion_stress.c: eight threads; *state: the ops. */
void promotion_stress_one_leader_at_a_time(void **state);
void promotion_stress_the_holder_hands_its_data_on(void **state);
void promotion_stress_nobody_stays_parked_without_a_leader(void **state);

#endif
