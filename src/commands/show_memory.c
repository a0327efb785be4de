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
	report_put(r, "count", " %9" PRIu64, row->count);
	put_bytes(r, "mapped", row->mapped);
	put_bytes(r, "kernel", row->kernel);
	report_json_string(r, "note", row->note);
	report_text(r, "  %s", row->note);
	report_row_end(r);
}

static void
put_memory_totals(struct report *r, const struct memory_totals *totals)
{
	report_put(r, "heap", "heap in use      %11" PRIu64, totals->heap);
	report_put(r, "heap_idle", "  and %" PRIu64 " free, kept by malloc\n",
	    totals->heap_idle);
	report_put(r, "resident", "resident         %11" PRIu64,
	    totals->kernel.resident);
	report_put(r, "anonymous",
	    "  of which %" PRIu64 " not of programs and libraries\n",
	    totals->kernel.anonymous);
	report_put(
	    r, "peak", "  at most so far %11" PRIu64 "\n", totals->kernel.peak);
	report_put(r, "swapped", "swapped out      %11" PRIu64 "\n",
	    totals->kernel.swapped);
}

void
show_memory_put(struct report *report, const struct memory_facts *facts)
{
	report_object(report, NULL);
	report_list(report, "rows");
	report_text(report, "%-18s %9s %11s %11s  %s\n", "# bytes of", "count",
	    "mapped", "in kernel", "note");
	for (size_t i = 0; i < MEMORY_ROWS; i++)
		put_memory_row(report, &facts->rows[i]);
	report_close(report);
	put_memory_totals(report, &facts->totals);
}

bool
run_show_memory(struct call *call)
{
	struct memory_facts facts;
	struct report r;

	memory_facts_read(call->env->control, &facts);
	report_begin(&r, call_take_json(call), call->out);
	show_memory_put(&r, &facts);
	report_end(&r);
	return true;
}
