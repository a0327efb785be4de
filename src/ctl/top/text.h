/* SPDX-License-Identifier: MIT
 * Figures in few columns: numbers with a unit, durations, sparklines.
 */
#ifndef CTL_TOP_TEXT_H
#define CTL_TOP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/top/data.h"

/* In five columns at most: `0`, `12.5`, `99999`, `123k`, `1.23M`; returns
 * out.  The units are of 1000. */
#define TOP_NUMBER_SIZE 16
const char *top_number(double value, char out[TOP_NUMBER_SIZE]);

/* `3d 04:05:06`, or without the days; returns out. */
#define TOP_UPTIME_SIZE 40
const char *top_uptime(uint64_t seconds, char out[TOP_UPTIME_SIZE]);

/* The last `width` values, each one column, in proportion to the greatest of
 * them; out has room for 3 bytes a column and the NUL. */
void top_sparkline(
    const struct top_history *history, unsigned width, bool utf8, char *out);

#endif
