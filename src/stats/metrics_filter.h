/* SPDX-License-Identifier: MIT
 * The part of /metrics that a client asks for, in the parameters of HAProxy's
 * exporter.
 */
#ifndef STATS_METRICS_FILTER_H
#define STATS_METRICS_FILTER_H

#include <stdbool.h>

#include "base/err.h"

enum metrics_scope {
	SCOPE_NONE = 0,
	SCOPE_GLOBAL = 1,
	SCOPE_FRONTEND = 2,
	SCOPE_BACKEND = 4,
	SCOPE_SERVER = 8,
	SCOPE_RESOLVER = 16,
	SCOPE_ALL = 31,
};

/* The metrics that a client wants. */
struct metrics_filter {
	enum metrics_scope scopes;
	bool has_scopes; /* the client has named scopes */
	bool no_maint;   /* without servers in maintenance */
};

#define METRICS_FILTER_ALL                                                     \
	(struct metrics_filter)                                                \
	{                                                                      \
		.scopes = SCOPE_ALL                                            \
	}

/* Takes a parameter of the request, as HAProxy's exporter understands `scope`
 * and `no-maint`; others are ignored.  value is NULL in a parameter without
 * `=`.  Returns false if there is no such scope. */
bool metrics_filter_take(struct metrics_filter *filter, const char *name,
    const char *value) MUST_CHECK;

#endif
