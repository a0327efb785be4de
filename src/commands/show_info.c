/* SPDX-License-Identifier: MIT
 * `show info`.
 */
#include "commands/commands.h"

#include <string.h>

#include "stats/info.h"

bool
run_show_info(struct call *call)
{
	struct info_facts facts;
	bool floats = false;

	for (char **word = call->args; *word; word++)
		floats |= strcmp(*word, "float") == 0;
	info_gather(call->env, &facts);
	info_render(call->out, control_model(call->env->control), &facts,
	    field_form_parse((const char *const *)call->args), floats);
	return true;
}
