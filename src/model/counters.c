/* SPDX-License-Identifier: MIT
 * See counters.h.
 */
#include "model/counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ensure.h"

#define STRIPES_MAX 16

struct stripe {
	uint64_t words[COUNTERS];
} CACHE_LINE_ALIGNED;

struct counters {
	unsigned stripes; /* a power of two */
	struct stripe stripe[];
} CACHE_LINE_ALIGNED;

static unsigned stripes_now = 1;

void
counters_set_stripes(unsigned stripes)
{
	stripes_now = 1;
	while (stripes_now < stripes && stripes_now < STRIPES_MAX)
		stripes_now *= 2;
}

unsigned
counters_stripes(void)
{
	return stripes_now;
}

struct counters *
counters_new(void)
{
	struct counters *c;

	c = aligned_alloc(
	    CACHE_LINE, sizeof(*c) + stripes_now * sizeof(struct stripe));
	if (!c)
		return NULL;
	c->stripes = stripes_now;
	counters_clear(c);
	return c;
}

void
counters_add(
    struct counters *counters, unsigned thread, enum counter which, uint64_t n)
{
	struct stripe *s = &counters->stripe[thread & (counters->stripes - 1)];

	atomic_add_relaxed(&s->words[which], n);
}

static const char *const names[COUNTERS] = {
#define X(id, text) #id,
    COUNTERS_TABLE(X)
#undef X
};

const char *
counter_name(enum counter which)
{
	return names[which] + sizeof("COUNTER_") - 1;
}

bool
counter_find(const char *name, enum counter *ret_which)
{
	for (enum counter c = 0; c < COUNTERS; c++)
		if (strcmp(counter_name(c), name) == 0) {
			*ret_which = c;
			return true;
		}
	return false;
}

uint64_t
counters_sum(const struct counters *counters, enum counter which)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < counters->stripes; i++)
		sum += atomic_load_relaxed(&counters->stripe[i].words[which]);
	return sum;
}

void
counters_clear(struct counters *counters)
{
	for (unsigned i = 0; i < counters->stripes; i++)
		for (unsigned w = 0; w < COUNTERS; w++)
			atomic_store_relaxed(&counters->stripe[i].words[w], 0);
}

void
rate_tick(struct rate *rate, uint64_t total)
{
	rate->per_second = (uint32_t)(total - rate->total_before);
	rate->total_before = total;
	if (rate->per_second > rate->peak)
		rate->peak = rate->per_second;
	if (rate->per_second)
		rate->last_ms = clock_now_ms();
}
