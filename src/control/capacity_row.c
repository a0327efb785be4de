/* SPDX-License-Identifier: MIT
 * See capacity.h: one row of the table.
 */
#include <math.h>

#include "control/capacity_internal.h"

void
capacity_row_set_trend(
    struct capacity_row *row, const struct trend *trend, double unit)
{
	row->has_trend = trend_slope(trend, &row->per_s);
	row->per_s *= unit;
}

enum found
capacity_row_set(struct capacity_row *row, const char *resource, double used,
    double limit, const struct trend *trend)
{
	row->resource = resource;
	row->known = true;
	row->used = used;
	row->limited = limit > 0 && limit < (double)UINT64_MAX;
	row->limit = limit;
	capacity_row_set_trend(row, trend, 1);
	return FOUND_ROW;
}

double
capacity_full_in_s(const struct capacity_row *row)
{
	if (!row->known || !row->limited || !row->has_trend)
		return INFINITY;
	return trend_reaches_s(row->used, row->limit, row->per_s);
}
