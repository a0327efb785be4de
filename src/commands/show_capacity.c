/* SPDX-License-Identifier: MIT
 * `show capacity`.
 */
#include "commands/show.h"

#include <inttypes.h>
#include <math.h>

#include "commands/commands.h"
#include "commands/listing.h"
#include "base/clock.h"
#include "base/time_text.h"

/* Limits that are reached later than this are not reported. */
#define FORESEEN_S (30.0 * 86400)

struct capacity_listing {
	struct listing listing;
	struct capacity_scan scan;
};

/* `1.5`, `12`, `3.2k`, `1.4G`: five characters at most; of bytes in 1024s. */
#define AMOUNT_SIZE 16
static const char *
amount_text(double n, enum capacity_unit unit, char out[AMOUNT_SIZE])
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

static void
put_amount(struct report *r, const char *name, bool is_known, double n,
    enum capacity_unit unit)
{
	char text[AMOUNT_SIZE];

	report_json(r, name, "%f", is_known ? n : NAN);
	report_text(r, " %9s", is_known ? amount_text(n, unit, text) : NULL);
}

static void
put_trend(struct report *r, const struct capacity_row *row)
{
	const char *sign = row->per_s < 0 ? "-" : "+";
	char text[AMOUNT_SIZE];

	report_json(r, "per_second", "%f", row->has_trend ? row->per_s : NAN);
	if (!row->has_trend)
		report_text(r, " -");
	else if (row->per_s == 0)
		report_text(r, " steady");
	else if (row->unit == CAPACITY_BYTES)
		report_text(r, " %s%s/s", sign,
		    amount_text(fabs(row->per_s), row->unit, text));
	else
		report_text(r, " %s%.3g/s", sign, fabs(row->per_s));
}

static void
put_full(struct report *r, const struct capacity_row *row, int64_t now_s)
{
	double in_s = capacity_full_in_s(row);
	char span[SPAN_TEXT_SIZE], at[TIME_TEXT_SIZE];

	if (in_s >= FORESEEN_S) {
		report_json_null(r, "full_in_s");
		report_json_null(r, "full_at");
		return;
	}
	time_text(
	    TIME_RFC3339, (uint64_t)(now_s + (int64_t)in_s) * 1000000, 0, at);
	report_json(r, "full_in_s", "%f", in_s);
	report_json_string(r, "full_at", at);
	if (in_s == 0)
		report_text(r, ", full");
	else
		report_text(r, ", full in %s at %s",
		    span_text((uint64_t)in_s, span), at);
}

void
show_capacity_row(
    struct report *report, const struct capacity_row *row, int64_t now_s)
{
	static const char *const units[] = {
	    [CAPACITY_COUNT] = "count",
	    [CAPACITY_BYTES] = "bytes",
	    [CAPACITY_THREADS] = "threads",
	};
	_Static_assert(
	    sizeof(units) / sizeof(units[0]) == CAPACITY_THREADS + 1, "units");
	bool has_percent = row->known && row->limited && row->limit > 0;

	report_row(report);
	report_put(report, "resource", "%-19s", row->resource);
	report_json_string(report, "unit", units[row->unit]);
	put_amount(report, "used", row->known, row->used, row->unit);
	put_amount(report, "limit", row->limited, row->limit, row->unit);
	if (has_percent)
		report_put(report, "percent", " %6.1f %%",
		    100 * row->used / row->limit);
	else
		report_put(report, "percent", " %8f", NAN);
	report_put(report, "of", "  %s", row->of);
	report_text(report, row->of[0] ? ":" : "");
	put_trend(report, row);
	put_full(report, row, now_s);
	report_json_string(report, "note", row->note);
	if (row->note)
		report_text(report, " (%s)", row->note);
	report_row_end(report);
}

static void
put_cost(struct report *r, const struct command_env *env)
{
	struct capacity_cost cost = capacity_cost(&env->orders->capacity);

	report_put(
	    r, "samples", "# %" PRIu64 " samples, one every ", cost.samples);
	report_put(r, "every_s", "%d s; the last took ", TREND_STEP_S);
	report_put(
	    r, "last_us", "%.0f us, the longest ", (double)cost.last_ns / 1e3);
	report_put(r, "longest_us", "%.0f us\n", (double)cost.longest_ns / 1e3);
}

static bool
capacity_step(void *listing, const struct command_env *env)
{
	struct capacity_listing *l = listing;
	struct report *r = &l->listing.report;
	struct capacity_row row;

	if (capacity_next(&env->orders->capacity, &l->scan, &row)) {
		show_capacity_row(
		    r, &row, (int64_t)(clock_wall_us() / 1000000));
		return true;
	}
	report_close(r);
	put_cost(r, env);
	return false;
}

static void
capacity_fini_listing(void *listing)
{
	capacity_scan_fini(&((struct capacity_listing *)listing)->scan);
}

bool
run_show_capacity(struct call *call)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct capacity_listing),
	    .step = capacity_step,
	    .fini = capacity_fini_listing,
	};
	struct capacity_listing *l =
	    listing_new(call, &kind, call_take_json(call));
	struct report *r;

	if (!l)
		return false;
	r = &l->listing.report;
	report_object(r, NULL);
	report_list(r, "rows");
	report_text(r, "%-19s %9s %9s %8s  %s\n", "# resource", "used", "limit",
	    "percent", "whose: trend of the last minute");
	return listing_answer(call, &l->listing, true);
}
