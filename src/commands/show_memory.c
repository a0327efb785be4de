/* SPDX-License-Identifier: MIT
 * See show_memory.h.
 */
#include "commands/show_memory.h"

#include <inttypes.h>

#include "commands/commands.h"
#include "commands/pool_json.h"

static struct memory_use
memory_sum(const struct memory_rows *rows)
{
	struct memory_use sum = {.count = 0};

	for (size_t i = 0; i < rows->n; i++)
		memory_add(&sum, &rows->rows[i].use);
	return sum;
}

/* Returns the part of the heap that no row accounts for; 0 where malloc reports
 * no totals, as under a sanitizer. */
static uint64_t
unexplained_heap(const struct memory_totals *totals, uint64_t named)
{
	return totals->heap > named ? totals->heap - named : 0;
}

/* -- text -- */

static void
put_memory_row(FILE *out, const struct memory_row *r)
{
	const uint64_t columns[] = {r->use.heap, r->use.mapped, r->kernel};

	fprintf(out, "%-18s %9" PRIu64, r->what, r->use.count);
	for (int i = 0; i < 3; i++)
		if (columns[i] > 0)
			fprintf(out, " %11" PRIu64, columns[i]);
		else
			fprintf(out, " %11s", "-");
	if (r->note)
		fprintf(out, "  %s", r->note);
	fputc('\n', out);
}

void
memory_put_text(FILE *out, const struct memory_report *report)
{
	const struct memory_rows *rows = &report->rows;
	const struct memory_totals *totals = &report->totals;
	struct memory_use sum = memory_sum(rows);
	uint64_t rest = unexplained_heap(totals, sum.heap);

	fprintf(out, "%-18s %9s %11s %11s %11s  %s\n", "# bytes of", "count",
	    "heap", "mapped", "in kernel", "note");
	for (size_t i = 0; i < rows->n; i++)
		put_memory_row(out, &rows->rows[i]);
	fprintf(out, "%-18s %9s %11" PRIu64 " %11" PRIu64 "\n", "named", "",
	    sum.heap, sum.mapped);
	fprintf(out, "%-18s %9s %11" PRIu64 "  %.1f %% of the heap in use\n",
	    "not explained", "", rest,
	    totals->heap > 0 ? 100.0 * (double)rest / (double)totals->heap : 0);
	fprintf(out,
	    "%-18s %9s %11" PRIu64 "  and %" PRIu64 " free, kept by malloc\n",
	    "heap in use", "", totals->heap, totals->heap_idle);
	fprintf(out, "%-18s %9s %11s %11" PRIu64 "  with code and stacks\n",
	    "resident", "", "", totals->resident);
}

/* -- JSON -- */

static json_t *
memory_row_json(const struct memory_row *r)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:s?}", "what", r->what,
	    "count", (json_int_t)r->use.count, "heap", (json_int_t)r->use.heap,
	    "mapped", (json_int_t)r->use.mapped, "kernel",
	    (json_int_t)r->kernel, "note", r->note);
}

bool
memory_put_json(FILE *out, const struct memory_report *report, struct err *err)
{
	const struct memory_rows *rows = &report->rows;
	const struct memory_totals *totals = &report->totals;
	struct memory_use sum = memory_sum(rows);
	json_t *all = json_array(), *whole;
	bool complete = true;

	for (size_t i = 0; i < rows->n; i++)
		if (json_array_append_new(
		        all, memory_row_json(&rows->rows[i])) < 0)
			complete = false;
	whole = json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "rows", all,
	    "named_heap", (json_int_t)sum.heap, "named_mapped",
	    (json_int_t)sum.mapped, "unexplained_heap",
	    (json_int_t)unexplained_heap(totals, sum.heap), "heap",
	    (json_int_t)totals->heap, "heap_idle",
	    (json_int_t)totals->heap_idle, "resident",
	    (json_int_t)totals->resident);
	return json_print(whole, complete && whole, out, err);
}

/* -- the command -- */

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
	struct memory_report report = {.rows = {.n = 0}};
	bool json;

	if (!call_json(call, &json))
		return false;
	memory_rows_fill(&report.rows, call->env->control);
	add_admin_memory(&report.rows, call->env);
	memory_totals_read(&report.totals);
	if (json)
		return memory_put_json(call->out, &report, call->err);
	memory_put_text(call->out, &report);
	return true;
}
