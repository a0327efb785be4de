/* SPDX-License-Identifier: MIT
 * `show failures`: how many sessions have failed, by cause and server.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/time_text.h"
#include "commands/closed_row.h"
#include "commands/listing.h"
#include "commands/session_filter.h"
#include "proxy/proxy.h"

/* A row: a cell with failures in the window. */
struct failures_row {
	uint64_t n, last_us;
	uint64_t first_us; /* differs if the cell has been emptied since */
	uint32_t cell;
};

struct failures_listing {
	struct listing listing;
	struct session_filter filter;
	uint64_t ago_ms; /* 0: everything */
	uint64_t rows_max;
	struct time_window window;
	struct failures_known known;
	uint64_t sum; /* of all rows, also of those behind rows_max */
	uint32_t rows_n, next;
	struct failures_row rows[FAILURES_CELLS];
};

/* -- the rows -- */

static int
by_count(const void *a, const void *b)
{
	const struct failures_row *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	if (x->last_us != y->last_us)
		return x->last_us < y->last_us ? 1 : -1;
	return x->cell < y->cell ? -1 : 1;
}

static bool
failure_is_wanted(
    const struct failures_listing *l, const struct failure_kind *f)
{
	return session_filter_has_cause(&l->filter, f->reason) &&
	       session_filter_matches(&l->filter,
	           failure_kind_name(f, CLOSED_FRONTEND),
	           failure_kind_name(f, CLOSED_BACKEND),
	           failure_kind_name(f, CLOSED_SERVER));
}

static void
collect_rows(struct failures_listing *l, struct failures *failures)
{
	struct failure_kind f;

	for (uint32_t i = 0; failures_read(failures, i, &f); i++) {
		uint64_t n = time_counts_in(&f.counts, &l->window);

		if (n == 0 || !failure_is_wanted(l, &f))
			continue;
		l->sum += n;
		l->rows[l->rows_n++] = (struct failures_row){.n = n,
		    .last_us = f.last_us,
		    .first_us = f.first_us,
		    .cell = i};
	}
	qsort(l->rows, l->rows_n, sizeof(l->rows[0]), by_count);
}

/* -- the answer -- */

/* Returns when the window begins, or counting did, whichever is later. */
static uint64_t
shown_since_us(const struct failures_listing *l)
{
	uint64_t ago_us = (clock_now_ns() - l->window.begin_ns) / NS_PER_US;
	uint64_t since_us = clock_wall_us() - ago_us;

	return l->window.begin_ns == 0 || since_us < l->known.begun_us
	           ? l->known.begun_us
	           : since_us;
}

static void
put_failures_head(struct failures_listing *l)
{
	struct report *r = &l->listing.report;
	uint64_t others =
	    session_filter_is_empty(&l->filter) ? l->known.others : 0;
	char time[TIME_TEXT_SIZE];

	report_row(r);
	report_put(r, "failures", "%" PRIu64 " failures", l->sum + others);
	report_put(r, "since", " since %s",
	    time_text(TIME_RFC3339, shown_since_us(l), 3, time));
	report_put(r, "complete_since", ", complete since %s",
	    time_text(TIME_RFC3339, l->known.complete_us, 3, time));
	report_json(r, "others", "%" PRIu64, l->known.others);
	if (l->known.others > 0)
		report_text(r,
		    "; %" PRIu64 " %sare not in the table, which is full",
		    l->known.others, others > 0 ? "of them " : "others ");
	report_text(r, "\n");
	if (l->rows_n > 0)
		report_text(r, "%9s %-4s %-20s %-7s %-24s %-24s %s\n",
		    "# count", "code", "cause", "blame", "first", "last",
		    "frontend backend server");
	report_list(r, "rows");
}

static void
put_failure(struct report *r, const struct failure_kind *f, uint64_t n)
{
	enum close_reason reason = (enum close_reason)f->reason;
	const char *backend = failure_kind_name(f, CLOSED_BACKEND);
	const char *server = failure_kind_name(f, CLOSED_SERVER);
	char name[CLOSE_NAME_SIZE], time[TIME_TEXT_SIZE];

	report_row(r);
	report_put(r, "count", "%9" PRIu64, n);
	report_put(r, "code", " %-4s", close_reason_code(reason));
	report_put(r, "cause", " %-20s", close_reason_name(reason, name));
	report_put(
	    r, "blame", " %-7s", close_blame_name(close_reason_blame(reason)));
	report_json_string(r, "reason", close_reason_text(reason));
	report_put(r, "first", " %-24s",
	    time_text(TIME_RFC3339, f->first_us, 3, time));
	report_put(
	    r, "last", " %-24s", time_text(TIME_RFC3339, f->last_us, 3, time));
	report_put(r, "frontend", " %s", failure_kind_name(f, CLOSED_FRONTEND));
	report_put(r, "backend", " %s", *backend ? backend : NULL);
	report_put(r, "server", " %s", *server ? server : NULL);
	report_text(r, ": %s\n", close_reason_text(reason));
	report_list(r, "examples");
	for (unsigned i = 0; failure_kind_example(f, i); i++) {
		if (i > 0 && !r->json)
			break;
		report_text(r, "          ");
		closed_row_put(r, failure_kind_example(f, i));
	}
	report_close(r);
	if (r->json)
		report_row_end(r);
}

static bool
failures_step(void *listing, const struct command_env *env)
{
	struct failures_listing *l = listing;
	const struct failures_row *row = &l->rows[l->next];
	struct failure_kind f;

	if (l->next >= l->rows_n || l->next >= l->rows_max)
		return false;
	l->next++;
	if (failures_read(&env->instance->proxy.failures, row->cell, &f) &&
	    f.first_us == row->first_us)
		put_failure(&l->listing.report, &f, row->n);
	return true;
}

/* -- arguments -- */

static bool
take_failures_number(
    struct call *call, struct failures_listing *l, const char *word)
{
	return (l->rows_max == FAILURES_CELLS &&
	           text_parse_number(
	               word, 1, FAILURES_CELLS, &l->rows_max, NULL)) ||
	       err_set(call->err,
	           "Unexpected argument '%s'; this command takes how many "
	           "rows, 1 to %u, last <age>, cause <cause>, frontend "
	           "<name>, backend <name>, server <backend>/<server>, and "
	           "json.",
	           word, FAILURES_CELLS);
}

static bool
take_failures_words(struct call *call, struct failures_listing *l)
{
	bool taken;

	for (unsigned i = 0; *call_arg(call, i); i += 1 + taken) {
		const char *word = call_arg(call, i);
		const char *value = call_arg(call, i + 1);

		taken = strcmp(word, "last") == 0;
		if (taken && (!session_filter_once(call, &l->filter, word) ||
		                 !call_age(call, word, value, &l->ago_ms)))
			return false;
		if (!taken &&
		    !session_filter_take(call, &l->filter, word, value, &taken))
			return false;
		if (!taken && !take_failures_number(call, l, word))
			return false;
	}
	return true;
}

static bool
make_failures_window(struct call *call, struct failures_listing *l)
{
	if (l->ago_ms == 0)
		return true;
	return time_window_of(
	           clock_now_ns(), l->ago_ms * NS_PER_MS, &l->window) ||
	       err_set(call->err,
	           "Failures are counted by time for the last %d h; without "
	           "last, this command shows all.",
	           TIME_COUNTS_SPAN_S / 3600);
}

static bool
failures_begin(struct call *call, struct failures_listing *l)
{
	struct failures *failures = &call->env->instance->proxy.failures;

	l->rows_max = FAILURES_CELLS;
	l->filter.has_causes = true;
	if (!take_failures_words(call, l) || !make_failures_window(call, l))
		return false;
	collect_rows(l, failures);
	failures_know(failures, &l->window, &l->known);
	if (l->rows_n == 0 && !session_filter_check(call, &l->filter))
		return false;
	put_failures_head(l);
	return true;
}

bool
run_show_failures(struct call *call)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct failures_listing),
	    .step = failures_step,
	};
	struct failures_listing *l =
	    listing_new(call, &kind, call_take_json(call));

	return l && listing_answer(call, &l->listing, failures_begin(call, l));
}
