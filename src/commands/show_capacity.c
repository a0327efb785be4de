/* SPDX-License-Identifier: MIT
 * See show_capacity.h.
 */
#include "commands/show_capacity.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands/commands.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/time_text.h"

#define DIGITS 15 /* a number of bytes is exact */
/* Limits that are reached later than this are not reported. */
#define FORESEEN_S (30.0 * 86400)

/* The number of rows in a part of the answer: 10 us each. */
#define ROWS_A_PART 16

struct listing {
	struct answer_rest rest;
	struct capacity_scan scan;
	bool json, any;
};

/* -- text -- */

/* `1.5`, `12`, `3.2k`, `1.4G`: five characters at most; of bytes in 1024s. */
#define AMOUNT_SIZE 16
static const char *
amount(double n, enum capacity_unit unit, char out[AMOUNT_SIZE])
{
	static const char prefixes[] = "kMGTPE";
	double step = unit == CAPACITY_BYTES ? 1024 : 1000;
	int prefix = -1;

	if (unit == CAPACITY_THREADS)
		snprintf(out, AMOUNT_SIZE, "%.2f", n);
	else if (unit == CAPACITY_COUNT)
		snprintf(out, AMOUNT_SIZE, "%.0f", n);
	if (unit != CAPACITY_BYTES)
		return out;
	for (; n >= 1000 && prefixes[prefix + 1]; n /= step)
		prefix++;
	if (prefix < 0)
		snprintf(out, AMOUNT_SIZE, "%.0f", n);
	else
		snprintf(out, AMOUNT_SIZE, n < 9.995 ? "%.2f%c" : "%.0f%c", n,
		    prefixes[prefix]);
	return out;
}

/* The two largest units. */
#define SPAN_SIZE 32
static const char *
span(double seconds, char out[SPAN_SIZE])
{
	uint64_t s = (uint64_t)seconds;

	if (s >= 86400)
		snprintf(out, SPAN_SIZE, "%" PRIu64 "d%" PRIu64 "h", s / 86400,
		    s / 3600 % 24);
	else if (s >= 3600)
		snprintf(out, SPAN_SIZE, "%" PRIu64 "h%" PRIu64 "m", s / 3600,
		    s / 60 % 60);
	else if (s >= 60)
		snprintf(
		    out, SPAN_SIZE, "%" PRIu64 "m%" PRIu64 "s", s / 60, s % 60);
	else
		snprintf(out, SPAN_SIZE, "%" PRIu64 "s", s);
	return out;
}

static const char *
when(int64_t wall_s, char out[TIME_TEXT_SIZE])
{
	return time_text(TIME_RFC3339, (uint64_t)wall_s * 1000000, 0, out);
}

/* Whether it is foreseen that the limit is reached, and in how many seconds. */
static bool
runs_out(const struct capacity_row *row, double *ret_s)
{
	*ret_s = capacity_full_in_s(row);
	return *ret_s < FORESEEN_S;
}

static void
put_trend(FILE *out, const struct capacity_row *row, int64_t now_s)
{
	char text[TIME_TEXT_SIZE];
	double s;

	if (!row->has_trend) {
		fputs(" -", out);
		return;
	}
	if (row->per_s == 0)
		fputs(" steady", out);
	else
		fprintf(out, " %c%s/s", row->per_s < 0 ? '-' : '+',
		    row->unit == CAPACITY_BYTES
		        ? amount(fabs(row->per_s), row->unit, text)
		        : (snprintf(
		               text, sizeof(text), "%.3g", fabs(row->per_s)),
		              text));
	if (!runs_out(row, &s))
		return;
	if (s == 0) {
		fputs(", full", out);
		return;
	}
	fprintf(out, ", full in %s", span(s, text));
	fprintf(out, " at %s", when(now_s + (int64_t)s, text));
}

void
capacity_put_row(FILE *out, const struct capacity_row *row, int64_t now_s)
{
	char text[AMOUNT_SIZE];

	fprintf(out, "%-19s", row->resource);
	fprintf(
	    out, " %9s", row->known ? amount(row->used, row->unit, text) : "-");
	fprintf(out, " %9s",
	    row->limited ? amount(row->limit, row->unit, text) : "-");
	if (row->known && row->limited && row->limit > 0)
		fprintf(out, " %6.1f %%", 100 * row->used / row->limit);
	else
		fprintf(out, " %8s", "-");
	fprintf(out, "  %s%s", row->of, row->of[0] ? ":" : "");
	put_trend(out, row, now_s);
	if (row->note)
		fprintf(out, " (%s)", row->note);
	fputc('\n', out);
}

static void
put_head(FILE *out)
{
	fprintf(out, "%-19s %9s %9s %8s  %s\n", "# resource", "used", "limit",
	    "percent", "whose: trend of the last minute");
}

static void
put_cost(FILE *out, const struct control *control)
{
	struct capacity_cost cost = capacity_cost(control);

	fprintf(out,
	    "# %" PRIu64 " samples, one every %d s; the last took %.0f us, the "
	    "longest %.0f us\n",
	    cost.samples, TREND_STEP_S, (double)cost.last_ns / 1e3,
	    (double)cost.longest_ns / 1e3);
}

/* -- JSON -- */

static json_t *
real_if(bool known, double n)
{
	return known && isfinite(n) ? json_real(n) : json_null();
}

bool
capacity_put_json(FILE *out, const struct capacity_row *row, int64_t now_s)
{
	static const char *const units[] = {[CAPACITY_COUNT] = "count",
	    [CAPACITY_BYTES] = "bytes",
	    [CAPACITY_THREADS] = "threads"};
	bool both = row->known && row->limited && row->limit > 0;
	char text[TIME_TEXT_SIZE];
	double s;
	bool soon = runs_out(row, &s);
	json_t *value = json_pack(
	    "{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "resource",
	    row->resource, "of", row->of, "unit", units[row->unit], "used",
	    real_if(row->known, row->used), "limit",
	    real_if(row->limited, row->limit), "percent",
	    real_if(both, both ? 100 * row->used / row->limit : 0),
	    "per_second", real_if(row->has_trend, row->per_s), "full_in_s",
	    real_if(soon, s), "full_at",
	    soon ? json_string(when(now_s + (int64_t)s, text)) : json_null(),
	    "note", row->note ? json_string(row->note) : json_null());
	char *dump =
	    value ? json_dumps(value, JSON_REAL_PRECISION(DIGITS)) : NULL;

	json_decref(value);
	if (!dump)
		return false;
	fputs(dump, out);
	free(dump);
	return true;
}

static void
put_json_head(FILE *out, const struct control *control)
{
	struct capacity_cost cost = capacity_cost(control);

	fprintf(out,
	    "{\"samples\": %" PRIu64 ", \"every_s\": %d, \"last_us\": %.1f, "
	    "\"longest_us\": %.1f, \"rows\": [",
	    cost.samples, TREND_STEP_S, (double)cost.last_ns / 1e3,
	    (double)cost.longest_ns / 1e3);
}

/* -- both, in parts -- */

static bool
put_one(struct listing *l, const struct capacity_row *row, FILE *out)
{
	int64_t now_s = (int64_t)(clock_wall_us() / 1000000);
	bool ok = true;

	if (l->json) {
		fputs(l->any ? ",\n" : "\n", out);
		ok = capacity_put_json(out, row, now_s);
	} else {
		capacity_put_row(out, row, now_s);
	}
	l->any = true;
	if (!ok)
		fputs("Out of memory.\n", out);
	return ok;
}

static bool
more(struct answer_rest *rest, const struct command_env *env, FILE *out)
{
	struct listing *l = container_of(rest, struct listing, rest);
	struct capacity_row row;

	for (int i = 0; i < ROWS_A_PART; i++) {
		if (capacity_next(env->control, &l->scan, &row)) {
			if (put_one(l, &row, out))
				continue;
		} else if (l->json) {
			fputs("\n]}\n", out);
		} else {
			put_cost(out, env->control);
		}
		return false;
	}
	return true;
}

static void
free_listing(struct answer_rest *rest)
{
	struct listing *l = container_of(rest, struct listing, rest);

	capacity_scan_fini(&l->scan);
	free(l);
}

bool
run_show_capacity(struct call *call)
{
	bool json = strcmp(call_arg(call, 0), "json") == 0;
	struct listing *l;

	if (*call_arg(call, json))
		return err_set(call->err,
		    "Unexpected argument '%.60s'; give json or nothing.",
		    call_arg(call, json));
	l = calloc(1, sizeof(*l));
	if (!l)
		return err_oom(call->err);
	l->rest = (struct answer_rest){.more = more, .free = free_listing};
	l->json = json;
	if (json)
		put_json_head(call->out, call->env->control);
	else
		put_head(call->out);
	call->rest = &l->rest;
	return true;
}
