/* SPDX-License-Identifier: MIT
 * See oldest_sessions.h.
 */
#include "orders/oldest_sessions.h"

#include <stdlib.h>

bool
oldest_sessions_reset(struct oldest_sessions *oldest, size_t max)
{
	struct session_age *all =
	    reallocarray(oldest->all, 2 * max + 1, sizeof(*all));

	if (!all)
		return false;
	*oldest = (struct oldest_sessions){
	    .all = all, .max = max, .before_ms = UINT64_MAX};
	return true;
}

void
oldest_sessions_fini(struct oldest_sessions *oldest)
{
	free(oldest->all);
}

static int
compare_ages(const void *a, const void *b)
{
	const struct session_age *x = a, *y = b;

	return (x->born_ms > y->born_ms) - (x->born_ms < y->born_ms);
}

void
oldest_sessions_sort(struct oldest_sessions *oldest)
{
	if (oldest->n > 0)
		qsort(
		    oldest->all, oldest->n, sizeof(*oldest->all), compare_ages);
	if (oldest->n >= oldest->max)
		oldest->n = oldest->max;
}

/* Sorts only once for every max sessions that are added. */
void
oldest_sessions_offer(
    struct oldest_sessions *oldest, const struct session_age *session)
{
	if (oldest->max == 0 || session->born_ms >= oldest->before_ms)
		return;
	oldest->all[oldest->n++] = *session;
	if (oldest->n < 2 * oldest->max)
		return;
	oldest_sessions_sort(oldest);
	oldest->before_ms = oldest->all[oldest->n - 1].born_ms;
}
