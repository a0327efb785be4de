/* SPDX-License-Identifier: MIT
 * See trend.h.
 */
#include "base/trend.h"

#include <math.h>

/* A slope of less than SIGNIFICANT standard errors counts as 0. */
#define SIGNIFICANT 3.0

void
trend_add(struct trend *trend, uint64_t value)
{
	trend->at[trend->next] =
	    value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
	trend->next = (uint8_t)((trend->next + 1) % TREND_SAMPLES);
	if (trend->n < TREND_SAMPLES)
		trend->n++;
}

/* Returns the i-th sample, the oldest first. */
static double
trend_sample(const struct trend *t, unsigned i)
{
	return t->at[(t->next + TREND_SAMPLES - t->n + i) % TREND_SAMPLES];
}

bool
trend_slope(const struct trend *trend, double *ret_per_s)
{
	unsigned n = trend->n;
	double mean = 0, xx = 0, xy = 0, yy = 0, slope, rest;

	if (n < TREND_SAMPLES_MIN)
		return false;
	for (unsigned i = 0; i < n; i++)
		mean += trend_sample(trend, i) / n;
	for (unsigned i = 0; i < n; i++) {
		double x = ((double)i - (n - 1) / 2.0) * TREND_STEP_S;
		double y = trend_sample(trend, i) - mean;

		xx += x * x;
		xy += x * y;
		yy += y * y;
	}
	slope = xy / xx;
	rest = yy - slope * xy; /* what the line does not explain */
	if (rest > 0 && fabs(slope) < SIGNIFICANT * sqrt(rest / (n - 2) / xx))
		slope = 0;
	*ret_per_s = slope;
	return true;
}

double
trend_reaches_s(double now, double limit, double per_s)
{
	if (now >= limit)
		return 0;
	return per_s > 0 ? (limit - now) / per_s : INFINITY;
}
