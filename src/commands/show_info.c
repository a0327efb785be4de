/* SPDX-License-Identifier: MIT
 * `show info` and `show version`.
 */
#include "commands/commands.h"

#include <string.h>

#include "commands/report.h"
#include "stats/info.h"

bool
run_show_info(struct call *call)
{
	struct info_facts facts;
	bool floats = false;

	for (char **word = call->args; *word; word++)
		floats |= strcmp(*word, "float") == 0;
	info_gather(call->env, &facts);
	info_render(call->out, call->env->instance->model, &facts,
	    field_form_parse((const char *const *)call->args), floats);
	return true;
}

bool
run_show_version(struct call *call)
{
	struct report r;

	report_begin(&r, call_take_json(call), call->out);
	report_row(&r);
	report_put(&r, "version", "%s", API_VERSION);
	report_json_string(&r, "lfproxy_version", LFPROXY_VERSION);
	report_row_end(&r);
	report_end(&r);
	return true;
}
