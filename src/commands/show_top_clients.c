/* SPDX-License-Identifier: MIT
 * `show top clients`: see proxy/talkers.h.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "commands/report.h"
#include "proxy/proxy.h"

#define LAST_MS (60 * 1000)

static const char *const names[TALKS] = {[TALK_BYTES] = "bytes",
    [TALK_SESSIONS] = "sessions",
    [TALK_ERRORS] = "errors"};
static const char *const error_names[TALKS] = {[TALK_BYTES] = "bytes_more_max",
    [TALK_SESSIONS] = "sessions_more_max",
    [TALK_ERRORS] = "errors_more_max"};

static void
put_client(struct report *r, const struct talker *t)
{
	char text[TALKER_TEXT_SIZE];

	report_object(r, NULL);
	report_put(r, "client", "%-22s", talker_text(t->key, text));
	for (enum talkers_kind what = 0; what < TALKS; what++) {
		const struct talk_sum *sum = &t->sums[what];

		report_text(r, " %s=", names[what]);
		report_put(r, names[what], "%" PRIu64, sum->low);
		report_json(
		    r, error_names[what], "%" PRIu64, sum->high - sum->low);
		if (sum->high > sum->low)
			report_text(r, "..%" PRIu64, sum->high);
	}
	report_text(r, "\n");
	report_close(r);
}

static void
put_top(struct report *r, enum talkers_kind by, uint64_t last_ms,
    const struct talkers_top *top)
{
	char span[SPAN_TEXT_SIZE];

	report_row(r);
	report_text(r, "# clients with the most ");
	report_put(r, "by", "%s", names[by]);
	report_text(r, " in %s; any other has at most ",
	    span_text(top->span_ms / 1000, span));
	report_put(r, "others_max", "%" PRIu64, top->others_high);
	report_text(r, "\n");
	report_json(r, "last_ms", "%" PRIu64, last_ms);
	report_json(r, "span_ms", "%" PRIu64, top->span_ms);
	report_list(r, "clients");
	for (size_t i = 0; i < top->n; i++)
		put_client(r, &top->all[i]);
	report_close(r);
	report_end(r);
}

/* Reads `bytes`, `sessions` or `errors`; bytes without any of them. */
static enum talkers_kind
take_kind(struct call *call)
{
	for (enum talkers_kind what = 0; what < TALKS; what++)
		if (strcmp(call_arg(call, 0), names[what]) == 0) {
			call->args++;
			return what;
		}
	return TALK_BYTES;
}

bool
run_show_top_clients(struct call *call)
{
	bool json = call_take_json(call);
	enum talkers_kind by = take_kind(call);
	uint64_t last_ms = LAST_MS;
	struct talkers_top top;
	struct report r;
	struct err why;

	if (strcmp(call_arg(call, 0), "last") == 0 &&
	    !text_parse_duration(call_arg(call, 1), TALKERS_WINDOW_MS,
	        TALKERS_LAST_MS, &last_ms, &why))
		return err_set(call->err, "last: %s.", why.text);
	talkers_find(&call->env->instance->proxy.talkers, by, last_ms,
	    clock_now_ms(), &top);
	report_begin(&r, json, call->out);
	put_top(&r, by, last_ms, &top);
	return true;
}
