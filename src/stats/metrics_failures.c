/* SPDX-License-Identifier: MIT
 * See metrics_failures.h.
 */
#include "stats/metrics_failures.h"

#include "base/atomics.h"
#include "stats/metrics_text.h"

static const char name[] = "lfproxy_failures_total";

size_t
metrics_failures_count(const struct failures *failures)
{
	return 1 + (size_t)atomic_load_relaxed(&failures->used);
}

static void
put_others(FILE *out, struct failures *failures)
{
	const struct metric_labels labels = {{"cause", "others", "frontend", "",
	    "backend", "", "server", "", NULL}};
	const struct time_window all = {.begin_ns = 0};
	struct failures_known known;

	failures_know(failures, &all, &known);
	metric_begin(out, name, "counter",
	    "sessions that ended for another reason than that both sides had "
	    "finished, by cause and server");
	metric_number(out, name, &labels, known.others);
}

void
metrics_put_failures(FILE *out, struct failures *failures, size_t number)
{
	char cause[CLOSE_NAME_SIZE];
	struct failure_kind kind;

	if (number == 0) {
		put_others(out, failures);
		return;
	}
	if (!failures_read(failures, (uint32_t)number - 1, &kind))
		return;
	close_reason_name((enum close_reason)kind.reason, cause);
	metric_number(out, name,
	    &(struct metric_labels){{"cause", cause, "frontend",
	        failure_kind_name(&kind, CLOSED_FRONTEND), "backend",
	        failure_kind_name(&kind, CLOSED_BACKEND), "server",
	        failure_kind_name(&kind, CLOSED_SERVER), NULL}},
	    kind.counts.total);
}
