/* SPDX-License-Identifier: MIT
 * See oldest.h.
 */
#include "control/oldest.h"

#include <stdlib.h>

bool
oldest_reset(struct oldest *oldest, size_t max)
{
	struct aged *all;

	oldest->n = 0;
	if (max <= oldest->max)
		return true;
	all = realloc(oldest->all, max * sizeof(*all));
	if (!all)
		return false;
	oldest->all = all;
	oldest->max = max;
	return true;
}

void
oldest_fini(struct oldest *oldest)
{
	free(oldest->all);
}

static void
swap(struct aged *a, struct aged *b)
{
	struct aged t = *a;

	*a = *b;
	*b = t;
}

static void
rise(struct aged *all, size_t i)
{
	while (i > 0 && all[i].born_ms > all[(i - 1) / 2].born_ms) {
		swap(&all[i], &all[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
}

static void
sink(struct aged *all, size_t n, size_t i)
{
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= n)
			return;
		if (child + 1 < n &&
		    all[child + 1].born_ms > all[child].born_ms)
			child++;
		if (all[child].born_ms <= all[i].born_ms)
			return;
		swap(&all[i], &all[child]);
		i = child;
	}
}

void
oldest_offer(struct oldest *oldest, const struct aged *aged)
{
	struct oldest *o = oldest;

	if (o->n < o->max) {
		o->all[o->n] = *aged;
		rise(o->all, o->n++);
	} else if (o->n > 0 && aged->born_ms < o->all[0].born_ms) {
		o->all[0] = *aged;
		sink(o->all, o->n, 0);
	}
}

static int
compare(const void *a, const void *b)
{
	const struct aged *x = a, *y = b;

	return (x->born_ms > y->born_ms) - (x->born_ms < y->born_ms);
}

void
oldest_sort(struct oldest *oldest)
{
	if (oldest->n > 0)
		qsort(oldest->all, oldest->n, sizeof(*oldest->all), compare);
}
