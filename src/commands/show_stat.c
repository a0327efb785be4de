/* SPDX-License-Identifier: MIT
 * `show stat`.
 */
#include "commands/commands.h"

#include <string.h>

#include "stats/stat_rows.h"

#define STAT_WORDS "[desc|flat|json|no-maint|typed|up]*"

static bool
is_number(const char *text)
{
	size_t sign = *text == '-';

	return text[sign] &&
	       strspn(text + sign, "0123456789") == strlen(text + sign);
}

bool
run_show_stat(struct call *call)
{
	/* The first three arguments may be a proxy, a set of types and a
	 * server: three numbers, or a name and two numbers. */
	bool has_place = *call_arg(call, 2) && is_number(call->args[1]) &&
	                 is_number(call->args[2]);
	struct stat_filter filter;

	if (call_is_strict(call) &&
	    !call_fits(call, STAT_WORDS, has_place ? 3 : 0))
		return false;
	if (!stat_filter_parse(call->env->instance->model,
	        (const char *const *)call->args, &filter, call->err))
		return call_no_such_proxy(call, call->args[0]);
	/* In HAProxy the level of the socket decides, which `user` does not
	 * lower. */
	filter.addresses_hidden = call->mode->level < LEVEL_OPERATOR;
	call->rest = stat_rows_new(&filter);
	return call->rest || err_oom(call->err);
}
