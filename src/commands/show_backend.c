/* SPDX-License-Identifier: MIT
 * `show backend`.
 */
#include "commands/commands.h"

#include "commands/report.h"

bool
run_show_backend(struct call *call)
{
	const struct spec *spec = call->env->instance->model->spec;
	struct report r;

	report_begin(&r, call_take_json(call), call->out);
	report_head(&r, "# name\n");
	for (size_t i = 0; i < spec->backends_n; i++) {
		report_row(&r);
		report_put(&r, "name", "%s", spec->backends[i].name);
		report_row_end(&r);
	}
	report_end(&r);
	return true;
}
