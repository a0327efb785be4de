/* SPDX-License-Identifier: MIT
 * See autoscale.h.
 */
#include "pools/autoscale.h"

#include <stdbool.h>
#include <string.h>

void
autoscale_init(struct autoscale *a, unsigned min, unsigned max)
{
	memset(a, 0, sizeof(*a));
	a->min = min;
	a->max = max;
}

void
autoscale_add_shard(
    struct autoscale_sample *sample, unsigned parked, unsigned waiting)
{
	sample->parked += parked;
	if (waiting == 0)
		return;
	sample->asleep++;
	sample->parked += waiting - 1;
}

/* Judges a full window.  Returns 1 if threads are short, -1 if there are spare
 * ones, 0 if neither. */
static int
judge(const struct autoscale *a, const struct autoscale_sample *s)
{
	uint64_t promotions = s->promotions - a->promotions;
	uint64_t late = s->late - a->late;
	bool cpus_short = promotions > 0 && late * 2 > promotions;

	if (a->lacking * 10 >= a->samples * 8 && !cpus_short)
		return 1;
	return a->spare == a->samples ? -1 : 0;
}

static void
begin_window(struct autoscale *a, const struct autoscale_sample *s)
{
	a->samples = a->lacking = a->spare = 0;
	a->promotions = s->promotions;
	a->late = s->late;
}

int
autoscale_step(struct autoscale *a, const struct autoscale_sample *sample)
{
	int verdict;

	a->samples++;
	a->lacking += sample->parked == 0 && sample->asleep == 0;
	a->spare += sample->parked >= 2;
	if (a->samples < AUTOSCALE_WINDOW)
		return 0;
	verdict = judge(a, sample);
	begin_window(a, sample);
	a->grow_windows = verdict > 0 ? a->grow_windows + 1 : 0;
	a->shrink_windows = verdict < 0 ? a->shrink_windows + 1 : 0;
	if (a->grow_windows >= AUTOSCALE_GROW && sample->threads < a->max) {
		a->grow_windows = 0;
		return 1;
	}
	if (a->shrink_windows >= AUTOSCALE_SHRINK && sample->threads > a->min) {
		a->shrink_windows = 0;
		return -1;
	}
	return 0;
}
