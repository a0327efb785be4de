/* SPDX-License-Identifier: MIT
 * A trend: what a number was during the last minute, and where it is going.
 *
 * One thread samples and asks.  The slope is that of least squares; one that
 * could as well be none, as the samples scatter, is none.
 */
#ifndef BASE_TREND_H
#define BASE_TREND_H

#include <stdbool.h>
#include <stdint.h>

/* A minute: 30 steps. */
#define TREND_STEP_S  2
#define TREND_SAMPLES 31
/* With fewer samples no trend is reported. */
#define TREND_SAMPLES_MIN 3

struct trend {
	uint32_t at[TREND_SAMPLES]; /* a ring */
	uint8_t n, next;
};

/* Every TREND_STEP_S seconds; values above 2^32 - 1 count as that. */
void trend_add(struct trend *trend, uint64_t value);

/* Change per second; false: too few samples so far. */
bool trend_slope(const struct trend *trend, double *ret_per_s);

/* Seconds until a number that grows so fast reaches the limit; infinite when it
 * does not grow, 0 when it is there. */
double trend_reaches_s(double now, double limit, double per_s);

#endif
