/* SPDX-License-Identifier: MIT
 * See session_heap.h.
 */
#include "control/session_heap.h"

#include <stdlib.h>

bool
session_heap_reset(struct session_heap *heap, size_t max)
{
	struct session_age *all;

	heap->n = 0;
	if (max <= heap->max)
		return true;
	all = realloc(heap->all, max * sizeof(*all));
	if (!all)
		return false;
	heap->all = all;
	heap->max = max;
	return true;
}

void
session_heap_fini(struct session_heap *heap)
{
	free(heap->all);
}

static void
session_age_swap(struct session_age *a, struct session_age *b)
{
	struct session_age t = *a;

	*a = *b;
	*b = t;
}

static void
heap_rise(struct session_age *all, size_t i)
{
	while (i > 0 && all[i].born_ms > all[(i - 1) / 2].born_ms) {
		session_age_swap(&all[i], &all[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
}

static void
heap_sink(struct session_age *all, size_t n, size_t i)
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
		session_age_swap(&all[i], &all[child]);
		i = child;
	}
}

void
session_heap_offer(struct session_heap *heap, const struct session_age *session)
{
	if (heap->n < heap->max) {
		heap->all[heap->n] = *session;
		heap_rise(heap->all, heap->n++);
	} else if (heap->n > 0 && session->born_ms < heap->all[0].born_ms) {
		heap->all[0] = *session;
		heap_sink(heap->all, heap->n, 0);
	}
}

static int
compare_ages(const void *a, const void *b)
{
	const struct session_age *x = a, *y = b;

	return (x->born_ms > y->born_ms) - (x->born_ms < y->born_ms);
}

void
session_heap_sort(struct session_heap *heap)
{
	if (heap->n > 0)
		qsort(heap->all, heap->n, sizeof(*heap->all), compare_ages);
}
