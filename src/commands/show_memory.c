/* SPDX-License-Identifier: MIT
 * See show_memory.h.
 */
#include "commands/show_memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/pool_json.h"
#include "base/list.h"

static struct memory_use
sum_of(const struct memory_rows *rows)
{
	struct memory_use sum = {.count = 0};

	for (size_t i = 0; i < rows->n; i++)
		memory_add(&sum, &rows->rows[i].use);
	return sum;
}

/* What malloc has given out for nothing that has a name; 0 where it does not
 * tell, as under a sanitizer. */
static uint64_t
unexplained(const struct memory_totals *totals, uint64_t named)
{
	return totals->heap > named ? totals->heap - named : 0;
}

/* -- text -- */

static void
put_row(FILE *out, const struct memory_row *r)
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
	struct memory_use sum = sum_of(rows);
	uint64_t rest = unexplained(totals, sum.heap);

	fprintf(out, "%-18s %9s %11s %11s %11s  %s\n", "# bytes of", "count",
	    "heap", "mapped", "in kernel", "note");
	for (size_t i = 0; i < rows->n; i++)
		put_row(out, &rows->rows[i]);
	fprintf(out, "%-18s %9s %11" PRIu64 " %11" PRIu64 "\n", "named", "",
	    sum.heap, sum.mapped);
	fprintf(out, "%-18s %9s %11" PRIu64 "  %.1f %% of the heap in use\n",
	    "not explained", "", rest,
	    totals->heap > 0 ? 100.0 * (double)rest / (double)totals->heap : 0);
	fprintf(out,
	    "%-18s %9s %11" PRIu64 "  and %" PRIu64
	    " that malloc keeps for later; asked in %" PRIu64 " us\n",
	    "heap in use", "", totals->heap, totals->heap_idle,
	    totals->heap_us);
	fprintf(out, "%-18s %9s %11s %11" PRIu64 "  with code and stacks\n",
	    "resident", "", "", totals->resident);
	if (report->pss.bytes > 0)
		fprintf(out,
		    "%-18s %9s %11s %11" PRIu64
		    "  what others share in part; read in %" PRIu64 " us\n",
		    "proportional", "", "", report->pss.bytes,
		    report->pss.took_us);
}

/* -- JSON -- */

static json_t *
row_json(const struct memory_row *r)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:o}", "what", r->what,
	    "count", (json_int_t)r->use.count, "heap", (json_int_t)r->use.heap,
	    "mapped", (json_int_t)r->use.mapped, "kernel",
	    (json_int_t)r->kernel, "note",
	    r->note ? json_string(r->note) : json_null());
}

bool
memory_put_json(FILE *out, const struct memory_report *report, struct err *err)
{
	const struct memory_rows *rows = &report->rows;
	const struct memory_totals *totals = &report->totals;
	const struct pss *pss = &report->pss;
	struct memory_use sum = sum_of(rows);
	json_t *all = json_array(), *whole;
	bool complete = true;

	for (size_t i = 0; i < rows->n; i++)
		if (json_array_append_new(all, row_json(&rows->rows[i])) < 0)
			complete = false;
	whole = json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:I}",
	    "rows", all, "named_heap", (json_int_t)sum.heap, "named_mapped",
	    (json_int_t)sum.mapped, "unexplained_heap",
	    (json_int_t)unexplained(totals, sum.heap), "heap",
	    (json_int_t)totals->heap, "heap_idle",
	    (json_int_t)totals->heap_idle, "heap_us",
	    (json_int_t)totals->heap_us, "resident",
	    (json_int_t)totals->resident, "proportional",
	    pss->bytes > 0 ? json_integer((json_int_t)pss->bytes) : json_null(),
	    "proportional_us", (json_int_t)pss->took_us);
	return json_print(whole, complete && whole, out, err);
}

/* -- the command -- */

/* The PSS takes the kernel a while. */
struct showing {
	struct answer_rest rest;
	bool json;
	uint64_t pss; /* the number of the reading */
};

static void
add_admin(struct memory_rows *rows, const struct command_env *env)
{
	struct memory_use clients = {.count = 0}, self = {.count = 0};

	if (env->admin_view)
		env->admin_view->memory(env->admin, &clients, &self);
	memory_rows_add(rows, "admin clients", &clients, 0,
	    "with the parts of answers that are under way");
	memory_rows_add(
	    rows, "admin sockets", &self, 0, "with the changes made by them");
}

static bool
more(struct answer_rest *rest, const struct command_env *env, FILE *out)
{
	struct showing *s = container_of(rest, struct showing, rest);
	struct memory_report report = {.rows = {.n = 0}};
	struct err err;

	s->rest.pause_ms = 1;
	if (!pss_read(s->pss, &report.pss))
		return true;
	memory_rows_fill(&report.rows, env->control);
	add_admin(&report.rows, env);
	memory_totals_read(&report.totals);
	if (!s->json)
		memory_put_text(out, &report);
	else if (!memory_put_json(out, &report, &err))
		fprintf(out, "%s\n", err.text);
	return false;
}

static void
free_showing(struct answer_rest *rest)
{
	free(container_of(rest, struct showing, rest));
}

bool
run_show_memory(struct call *call)
{
	bool json = strcmp(call_arg(call, 0), "json") == 0;
	struct showing *s;

	if (*call_arg(call, json))
		return err_set(call->err,
		    "Unexpected argument '%.60s'; give json or nothing.",
		    call_arg(call, json));
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_oom(call->err);
	s->rest = (struct answer_rest){.more = more, .free = free_showing};
	s->json = json;
	s->pss = pss_ask();
	call->rest = &s->rest;
	return true;
}
