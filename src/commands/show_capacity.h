/* SPDX-License-Identifier: MIT
 * `show capacity`: what is used of what there is, and when it will run out.
 */
#ifndef COMMANDS_SHOW_CAPACITY_H
#define COMMANDS_SHOW_CAPACITY_H

#include <stdio.h>

#include "control/capacity.h"

/* A line of it; now_s, for the time at which the limit is reached. */
void capacity_put_row(FILE *out, const struct capacity_row *row, int64_t now_s);

/* An object on one line; false when memory is short. */
bool capacity_put_json(
    FILE *out, const struct capacity_row *row, int64_t now_s);

#endif
