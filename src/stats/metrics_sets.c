/* SPDX-License-Identifier: MIT
 * See metrics_sets.h.
 */
#include "stats/metrics_sets.h"

#include "base/clock.h"
#include "sets/sets.h"
#include "stats/metrics_text.h"

enum set_metric_number {
	SET_UP,
	SET_MEMBERS,
	SET_LEFT_OUT,
	SET_UPDATES,
	SET_REPORTS,
	SET_ERRORS,
	SET_AGE,
	SET_METRICS,
};

static const struct set_metric {
	const char *name, *type, *help;
} set_metrics[SET_METRICS] = {
    [SET_UP] = {"lfproxy_set_up", "gauge",
        "1 if the last attempt to read the set's source was successful"},
    [SET_MEMBERS] = {"lfproxy_set_members", "gauge", "servers of the set"},
    [SET_LEFT_OUT] = {"lfproxy_set_left_out", "gauge",
        "members that are not servers: wrong options, or too many"},
    [SET_UPDATES] = {"lfproxy_set_updates_total", "counter",
        "changes of the set's servers"},
    [SET_REPORTS] = {"lfproxy_set_reports_total", "counter",
        "lists of members that the set's source has reported"},
    [SET_ERRORS] = {"lfproxy_set_errors_total", "counter",
        "failed attempts to read the set's source"},
    [SET_AGE] = {"lfproxy_set_report_age_seconds", "gauge",
        "time since the last list of members that could be read"},
};

static uint64_t
read_set_metric(const struct set_facts *f, enum set_metric_number number)
{
	switch (number) {
	case SET_UP:
		return f->is_known && !f->error;
	case SET_MEMBERS:
		return f->members;
	case SET_LEFT_OUT:
		return f->left_out;
	case SET_UPDATES:
		return f->updates;
	case SET_REPORTS:
		return f->reports;
	case SET_ERRORS:
		return f->errors;
	case SET_AGE:
		return (clock_now_ms() - f->reported_ms) / 1000;
	case SET_METRICS:
		break;
	}
	return 0;
}

size_t
metrics_sets_count(const struct sets *sets)
{
	struct set_facts facts;

	return sets_facts(sets, 0, &facts) ? SET_METRICS : 0;
}

void
metrics_put_sets(FILE *out, const struct sets *sets, size_t number)
{
	const struct set_metric *metric = &set_metrics[number];
	struct set_facts facts;

	metric_begin(out, metric->name, metric->type, metric->help);
	for (size_t i = 0; sets_facts(sets, i, &facts); i++) {
		const struct metric_labels labels = {
		    {"proxy", facts.backend, "set", facts.prefix, NULL}};

		/* Without a report there is no age. */
		if (number != SET_AGE || facts.is_known)
			metric_number(out, metric->name, &labels,
			    read_set_metric(
			        &facts, (enum set_metric_number)number));
	}
}
