/* SPDX-License-Identifier: MIT
 * Formats numbers, durations and sparklines in few columns.
 */
#ifndef CTL_TOP_TEXT_H
#define CTL_TOP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/top/data.h"

/* Formats a number in at most five columns: `0`, `12.5`, `99999`, `123k`,
 * `1.23M`. Units are powers of 1000.  Returns out. */
#define TOP_NUMBER_SIZE 16
const char *top_number(double value, char out[TOP_NUMBER_SIZE]);

/* Formats `3d 04:05:06`, or `04:05:06` for less than a day.  Returns out. */
#define TOP_UPTIME_SIZE 40
const char *top_uptime(uint64_t seconds, char out[TOP_UPTIME_SIZE]);

/* Draws the last `width` values, a column each, scaled to the greatest of them.
 * out needs 3 bytes per column and one for the NUL. */
void top_sparkline(
    const struct top_history *history, unsigned width, bool utf8, char *out);

#endif
