/* SPDX-License-Identifier: MIT
 * `show version`.
 */
#include "commands/commands.h"

#include "commands/rows.h"
#include "stats/info.h"

ROW_READ(read_api_version, char, version, row_text(v, version))

static void
read_version(const void *row, struct row_value *v)
{
	(void)row;
	row_text(v, LFPROXY_VERSION);
}

bool
run_show_version(struct call *call)
{
	static const struct row_column columns[] = {
	    {"", "version", read_api_version, NULL},
	    {NULL, "lfproxy_version", read_version, NULL},
	};
	static const struct row_table table = ROW_TABLE(NULL, columns);

	rows_put_single(&table, API_VERSION, call_take_json(call), call->out);
	return true;
}
