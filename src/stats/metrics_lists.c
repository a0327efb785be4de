/* SPDX-License-Identifier: MIT
 * See metrics_lists.h.
 */
#include "stats/metrics_lists.h"

#include "stats/metrics_text.h"

static uint64_t
read_list_entries(const struct acl_list *list)
{
	return acl_list_entries(list);
}

static const struct list_metric {
	const char *name, *type, *help;
	uint64_t (*read)(const struct acl_list *list);
} list_metrics[] = {
    {"lfproxy_list_entries", "gauge", "entries of the address list",
        read_list_entries},
    {"lfproxy_list_matches_total", "counter",
        "clients that allow or deny has decided about with the address list",
        acl_list_matches},
};

size_t
metrics_lists_count(void)
{
	return sizeof(list_metrics) / sizeof(list_metrics[0]);
}

void
metrics_put_lists(FILE *out, const struct model *model, size_t number)
{
	const struct list_metric *metric = &list_metrics[number];

	metric_begin(out, metric->name, metric->type, metric->help);
	for (struct acl_list **l = model->lists; *l; l++) {
		const struct metric_labels labels = {
		    {"list", acl_list_name(*l), NULL}};

		metric_number(out, metric->name, &labels, metric->read(*l));
	}
}
