/* SPDX-License-Identifier: MIT
 * See metrics_filter.h.
 */
#include "stats/metrics_filter.h"

#include <stddef.h>
#include <string.h>

static const struct scope_name {
	const char *name;
	enum metrics_scope scopes;
} scope_names[] = {
    {"*", SCOPE_ALL},
    {"global", SCOPE_GLOBAL},
    {"frontend", SCOPE_FRONTEND},
    {"backend", SCOPE_BACKEND},
    {"server", SCOPE_SERVER},
    {"resolver", SCOPE_RESOLVER},
    /* lfproxy has no metrics of these. */
    {"listener", SCOPE_NONE},
    {"sticktable", SCOPE_NONE},
};

/* An empty scope undoes those before it. */
static bool
take_scope(struct metrics_filter *filter, const char *scope)
{
	if (!scope)
		return false;
	if (!filter->has_scopes || !*scope)
		filter->scopes = SCOPE_NONE;
	filter->has_scopes = true;
	if (!*scope)
		return true;
	for (size_t i = 0; i < sizeof(scope_names) / sizeof(scope_names[0]);
	     i++)
		if (strcmp(scope_names[i].name, scope) == 0) {
			filter->scopes |= scope_names[i].scopes;
			return true;
		}
	return false;
}

bool
metrics_filter_take(
    struct metrics_filter *filter, const char *name, const char *value)
{
	if (strcmp(name, "scope") == 0)
		return take_scope(filter, value);
	if (strcmp(name, "no-maint") == 0)
		filter->no_maint = true;
	return true;
}
