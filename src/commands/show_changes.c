/* SPDX-License-Identifier: MIT
 * `show changes`: what the audit has kept.
 */
#include "commands/commands.h"

#include "commands/rows.h"
#include "base/text.h"

/* The change is c, the value v. */
#define READ(reader, what) ROW_READ(reader, struct audit_change, c, what)

static const char *
or_none(const char *text)
{
	return text[0] ? text : "none";
}

/* `: 100 -> 50`, for a change of a value. */
static void
read_values(const void *row, struct row_value *v)
{
	const struct audit_change *c = row;

	if (c->before[0] || c->after[0])
		row_format(
		    v, ": %s -> %s", or_none(c->before), or_none(c->after));
}

READ(read_id, row_number(v, (int64_t)c->id))
READ(read_time, row_time(v, c->wall_ms * 1000))
READ(read_who, row_text(v, c->who))
READ(read_what, row_text(v, c->what))
READ(read_before, row_text(v, c->before))
READ(read_after, row_text(v, c->after))

static const struct row_column columns[] = {
    {"", "id", read_id, NULL},
    {" ", "time", read_time, NULL},
    {" ", "who", read_who, NULL},
    {": ", "what", read_what, NULL},
    {"", NULL, read_values, NULL},
    {NULL, "before", read_before, NULL},
    {NULL, "after", read_after, NULL},
};
static const struct row_table table = ROW_TABLE(NULL, columns);

/* The oldest first. */
bool
run_show_changes(struct call *call)
{
	const struct audit *audit = call->env->audit;
	bool json = call_take_json(call);
	uint64_t max = AUDIT_KEPT;
	struct rows rows;

	if (call->args[0] && (call->args[1] || !text_parse_number(call->args[0],
	                                           1, AUDIT_KEPT, &max, NULL)))
		return err_set(call->err,
		    "Expects how many changes, 1 to %d, to show, and json; or "
		    "nothing.",
		    AUDIT_KEPT);
	if (max > audit->n)
		max = audit->n;
	rows_begin(&rows, &table, json, call->out);
	for (uint64_t id = audit->n - max + 1; id <= audit->n; id++)
		rows_put(&rows, audit_at(audit, id), call->out);
	rows_end(&rows, call->out);
	return true;
}
