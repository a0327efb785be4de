/* SPDX-License-Identifier: MIT
 * `show memory`.
 */
#include "commands/show.h"

#include <inttypes.h>

#include "commands/commands.h"

/* Writes a number of bytes; in text, 0 is `-`. */
static void
put_bytes(struct report *r, const char *name, uint64_t n)
{
	report_json(r, name, "%" PRIu64, n);
	if (n > 0)
		report_text(r, " %11" PRIu64, n);
	else
		report_text(r, " %11s", "-");
}

static void
put_memory_row(struct report *r, const struct memory_row *row)
{
	report_row(r);
	report_put(r, "what", "%-18s", row->what);
	report_put(r, "count", " %9" PRIu64, row->use.count);
	put_bytes(r, "heap", row->use.heap);
	put_bytes(r, "mapped", row->use.mapped);
	put_bytes(r, "kernel", row->kernel);
	report_json_string(r, "note", row->note);
	if (row->note)
		report_text(r, "  %s", row->note);
	report_row_end(r);
}

static void
put_memory_totals(struct report *r, const struct memory_totals *totals,
    const struct memory_use *named)
{
	/* malloc reports no totals under a sanitizer. */
	uint64_t rest =
	    totals->heap > named->heap ? totals->heap - named->heap : 0;

	report_put(r, "named_heap", "named                        %11" PRIu64,
	    named->heap);
	report_put(r, "named_mapped", " %11" PRIu64 "\n", named->mapped);
	report_put(r, "unexplained_heap",
	    "not explained                %11" PRIu64, rest);
	report_text(r, "  %.1f %% of the heap in use\n",
	    totals->heap > 0 ? 100.0 * (double)rest / (double)totals->heap : 0);
	report_put(
	    r, "heap", "heap in use                  %11" PRIu64, totals->heap);
	report_put(r, "heap_idle", "  and %" PRIu64 " free, kept by malloc\n",
	    totals->heap_idle);
	report_put(r, "resident",
	    "resident                                 %11" PRIu64
	    "  with code and stacks\n",
	    totals->resident);
}

void
show_memory_put(struct report *report, const struct memory_rows *rows,
    const struct memory_totals *totals)
{
	struct memory_use named = {.count = 0};

	report_object(report, NULL);
	report_list(report, "rows");
	report_text(report, "%-18s %9s %11s %11s %11s  %s\n", "# bytes of",
	    "count", "heap", "mapped", "in kernel", "note");
	for (size_t i = 0; i < rows->n; i++) {
		put_memory_row(report, &rows->rows[i]);
		memory_add(&named, &rows->rows[i].use);
	}
	report_close(report);
	put_memory_totals(report, totals, &named);
}

static void
add_admin_memory(struct memory_rows *rows, const struct command_env *env)
{
	struct memory_use clients = {.count = 0}, self = {.count = 0};

	if (env->admin_view)
		env->admin_view->memory(env->admin, &clients, &self);
	memory_rows_add(
	    rows, "admin clients", clients, 0, "with their unread answers");
	memory_rows_add(
	    rows, "admin sockets", self, 0, "with the changes made by them");
}

bool
run_show_memory(struct call *call)
{
	struct memory_rows rows = {.n = 0};
	struct memory_totals totals;
	struct report r;

	memory_rows_fill(&rows, call->env->control);
	add_admin_memory(&rows, call->env);
	memory_totals_read(&totals);
	report_begin(&r, call_take_json(call), call->out);
	show_memory_put(&r, &rows, &totals);
	report_end(&r);
	return true;
}
