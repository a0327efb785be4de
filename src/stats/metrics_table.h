/* SPDX-License-Identifier: MIT
 * Which column of `show stat` and which key of `show info` is which metric of
 * HAProxy 2.6's exporter.  Left out are those of things that a TCP proxy does
 * not have: HTTP, TLS of its own, compression, caches, connections kept open to
 * be used again.  Those of ours are lfproxy_..., by the same rules.
 */
#ifndef STATS_METRICS_TABLE_H
#define STATS_METRICS_TABLE_H

#include <stdbool.h>

#include "stats/info_keys.h"
#include "stats/stat_columns.h"

struct stat_metric {
	enum stat_name column;
	const char *name; /* behind haproxy_frontend_ and so on */
	bool counter;
	unsigned parts; /* of the metric's unit that the column's is: 1000 */
	unsigned kinds; /* ROW_FRONTEND, ROW_BACKEND, ROW_SERVER */
	bool own;       /* lfproxy_... instead */
};

extern const struct stat_metric stat_metrics[];
extern const size_t stat_metrics_n;

struct info_metric {
	enum info_key key;
	const char *name; /* behind haproxy_process_ */
	bool counter;
	unsigned factor; /* from the key's unit to the metric's */
	unsigned parts;  /* or the other way, as above */
	bool own;
};

extern const struct info_metric info_metrics[];
extern const size_t info_metrics_n;

/* Why a column that rows of that one kind have, or a key, is no metric; NULL:
 * nothing is said, so it has to be one. */
const char *stat_metric_lacks(enum stat_name column, unsigned kind);
const char *info_metric_exhaustion(enum info_key key);

#endif
