/* SPDX-License-Identifier: MIT
 * See text.h.
 */
#include "ctl/top/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LEVELS 8

const char *
top_number(double value, char out[TOP_NUMBER_SIZE])
{
	static const char units[] = "kMGTPE";
	const char *unit = units;

	if (value < 99999.5) {
		/* Tenths only for small fractions. */
		bool whole = value >= 99.95 || value < 0.05 ||
		             value == (double)(uint64_t)value;

		snprintf(out, TOP_NUMBER_SIZE, "%.*f", whole ? 0 : 1, value);
		return out;
	}
	for (value /= 1000; value >= 999.5 && unit[1]; unit++)
		value /= 1000;
	snprintf(out, TOP_NUMBER_SIZE, "%.*f%c",
	    value < 9.995   ? 2
	    : value < 99.95 ? 1
	                    : 0,
	    value, *unit);
	return out;
}

const char *
top_uptime(uint64_t seconds, char out[TOP_UPTIME_SIZE])
{
	char *at = out;
	size_t size = TOP_UPTIME_SIZE;

	if (seconds >= 86400) {
		int n = snprintf(at, size, "%" PRIu64 "d ", seconds / 86400);

		at += n;
		size -= (size_t)n;
	}
	snprintf(at, size, "%02u:%02u:%02u", (unsigned)(seconds / 3600 % 24),
	    (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
	return out;
}

void
top_sparkline(
    const struct top_history *history, unsigned width, bool utf8, char *out)
{
	static const char *const blocks[LEVELS] = {"\u2581", "\u2582", "\u2583",
	    "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
	static const char *const ascii[LEVELS] = {
	    "_", ".", ",", "-", "=", "+", "*", "#"};
	unsigned first = history->n > width ? history->n - width : 0;
	float max = 0;

	for (unsigned i = first; i < history->n; i++)
		if (history->values[i] > max)
			max = history->values[i];
	*out = '\0';
	for (unsigned i = first; i < history->n; i++) {
		float part = max > 0 ? history->values[i] / max : 0;
		unsigned level = (unsigned)(part * (LEVELS - 1) + 0.5f);

		out = stpcpy(out, (utf8 ? blocks : ascii)[level]);
	}
}
