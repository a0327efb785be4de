/* SPDX-License-Identifier: MIT
 * A trend: the values of a number during the last minute, and how it changes.
 *
 * A single thread adds samples and reads the trend.  The slope is that of least
 * squares; a slope that the scatter of the samples may explain counts as 0.
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

/* Adds a sample; called every TREND_STEP_S seconds.  Values above 2^32 - 1
 * count as 2^32 - 1. */
void trend_add(struct trend *trend, uint64_t value);

/* Computes the change per second.  Returns false if there are too few samples
 * so far. */
bool trend_slope(const struct trend *trend, double *ret_per_s);

/* Returns the seconds until a number that is now `now` and grows by per_s
 * reaches the limit: infinity if it does not grow, 0 if it has reached the
 * limit. */
double trend_reaches_s(double now, double limit, double per_s);

#endif
