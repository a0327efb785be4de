/* SPDX-License-Identifier: MIT
 * See timings.h.
 */
#include "model/timings.h"

#include <stdlib.h>

#include "base/atomics.h"
#include "model/counters.h"

struct stripe {
	struct histogram histograms[TIMINGS];
} CACHE_LINE_ALIGNED;

struct timings {
	unsigned stripes; /* a power of two */
	struct stripe stripe[];
} CACHE_LINE_ALIGNED;

const char *const timing_names[TIMINGS] = {
#define X(id, name, text) [id] = name,
    TIMINGS_TABLE(X)
#undef X
};

const char *const timing_texts[TIMINGS] = {
#define X(id, name, text) [id] = text,
    TIMINGS_TABLE(X)
#undef X
};

struct timings *
timings_new(void)
{
	unsigned stripes = counters_stripes();
	struct timings *t;

	t = aligned_alloc(
	    CACHE_LINE, sizeof(*t) + stripes * sizeof(struct stripe));
	if (!t)
		return NULL;
	t->stripes = stripes;
	timings_clear(t);
	return t;
}

void
timings_add(
    struct timings *timings, unsigned thread, enum timing which, uint64_t ns)
{
	struct stripe *s = &timings->stripe[thread & (timings->stripes - 1)];

	histogram_add_shared(&s->histograms[which], ns);
}

void
timings_read(const struct timings *timings, enum timing which,
    struct histogram *ret_histogram)
{
	*ret_histogram = (struct histogram){0};
	for (unsigned i = 0; i < timings->stripes; i++)
		histogram_merge(
		    ret_histogram, &timings->stripe[i].histograms[which]);
}

void
timings_clear(struct timings *timings)
{
	for (unsigned i = 0; i < timings->stripes; i++)
		for (unsigned which = 0; which < TIMINGS; which++)
			histogram_clear(&timings->stripe[i].histograms[which]);
}

/* The sum loses a share of itself, rounded up so that it can get to nothing. */
void
timing_average_add(struct timing_average *average, uint64_t ms)
{
	uint64_t max_ms = atomic_load_relaxed(&average->max_ms);
	uint64_t sum = atomic_load_relaxed(&average->sum);

	while (!atomic_cas_relaxed(&average->sum, &sum,
	    sum - (sum + TIMING_WINDOW - 1) / TIMING_WINDOW + ms))
		;
	while (
	    ms > max_ms && !atomic_cas_relaxed(&average->max_ms, &max_ms, ms))
		;
}

uint64_t
timing_average_ms(const struct timing_average *average)
{
	uint64_t sum = atomic_load_relaxed(&average->sum);

	return (sum + TIMING_WINDOW - 1) / TIMING_WINDOW;
}

void
timing_averages_clear(struct timing_average *averages, bool all)
{
	for (unsigned i = 0; i < TIMINGS_AVERAGED; i++) {
		atomic_store_relaxed(&averages[i].max_ms, 0);
		if (all)
			atomic_store_relaxed(&averages[i].sum, 0);
	}
}
