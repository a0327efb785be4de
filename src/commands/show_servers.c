/* SPDX-License-Identifier: MIT
 * `show servers`: where each server is and how it does, for people; and the
 * same as JSON.  `show servers state` and `conn`, which are HAProxy's, are in
 * show_servers.c.
 */
#include "commands/commands.h"

#include <stdio.h>
#include <string.h>

#include "commands/rows.h"
#include "stats/status_text.h"
#include "base/text.h"
#include "model/backend.h"
#include "model/lineup.h"

#define STATUS_SIZE 128

/* The columns whose width the servers decide. */
struct widths {
	int name, address, state, check;
};

#define READ(name, what) ROW_READ(name, struct server, s, what)

/* Connects that failed: the last of a session, and those that were tried again,
 * there or on another server. */
static uint64_t
connect_errors_of(const struct server *s)
{
	return counters_sum(s->counters, COUNTER_CONNECT_ERRORS) +
	       counters_sum(s->counters, COUNTER_RETRIES) +
	       counters_sum(s->counters, COUNTER_REDISPATCHES);
}

static uint64_t
errors_of(const struct server *s)
{
	return connect_errors_of(s) +
	       counters_sum(s->counters, COUNTER_RESPONSE_ERRORS);
}

static void
read_state(const void *row, struct row_value *v)
{
	char status[STATUS_SIZE];

	server_status_text(row, status, sizeof(status));
	row_format(v, "%s", status);
}

static void
read_address(const void *row, struct row_value *v)
{
	char address[ADDR_TEXT_SIZE];

	row_format(v, "%s", server_address(row, address));
}

static void
read_check_status(const void *row, struct row_value *v)
{
	const struct server *s = row;

	if (s->state->last.status != CHECK_STATUS_NONE)
		row_text(v, check_status_name(s->state->last.status));
}

/* The form of HAProxy's status page: `L7STS/503`. */
static void
read_check(const void *row, struct row_value *v)
{
	const struct check_result *last =
	    &((const struct server *)row)->state->last;

	if (last->status == CHECK_STATUS_NONE)
		return;
	if (last->code != 0)
		row_format(
		    v, "%s/%u", check_status_name(last->status), last->code);
	else
		row_text(v, check_status_name(last->status));
}

static void
read_check_code(const void *row, struct row_value *v)
{
	const struct server *s = row;

	if (s->state->last.code != 0)
		row_number(v, s->state->last.code);
}

static void
read_check_text(const void *row, struct row_value *v)
{
	const struct server *s = row;

	if (s->state->last.text[0])
		row_text(v, s->state->last.text);
}

static void
read_maxconn(const void *row, struct row_value *v)
{
	unsigned maxconn = server_maxconn(row);

	if (maxconn > 0)
		row_number(v, maxconn);
}

READ(read_backend, row_text(v, s->backend->spec->name))
READ(read_name, row_text(v, s->spec->name))
READ(read_up, row_bool(v, server_is_up(s)))
READ(read_usable, row_bool(v, server_is_usable(s)))
READ(read_backup, row_bool(v, s->spec->backup))
READ(read_since, row_number(v, (int64_t)server_since_change_s(s)))
READ(read_weight, row_number(v, server_weight(s)))
READ(read_sessions, row_number(v, atomic_load_relaxed(&s->sessions->now)))
READ(read_peak, row_number(v, atomic_load_relaxed(&s->sessions->peak)))
READ(read_total,
    row_number(v, (int64_t)counters_sum(s->counters, COUNTER_SESSIONS)))
READ(read_rate, row_number(v, s->state->rate.per_second))
READ(read_rate_peak, row_number(v, s->state->rate.peak))
READ(read_connect_errors, row_number(v, (int64_t)connect_errors_of(s)))
READ(read_response_errors,
    row_number(v, (int64_t)counters_sum(s->counters, COUNTER_RESPONSE_ERRORS)))
READ(read_failed_checks, row_number(v, (int64_t)s->state->checks_failed))

/* clang-format off: a column each. */
static const struct row_column columns[] = {
    {NULL, "backend", read_backend, NULL},
    {NULL, "server", read_name, NULL},
    {NULL, "address", read_address, NULL},
    {NULL, "state", read_state, NULL},
    {NULL, "up", read_up, NULL},
    {NULL, "usable", read_usable, NULL},
    {NULL, "backup", read_backup, NULL},
    {NULL, "since_s", read_since, NULL},
    {NULL, "check_status", read_check_status, NULL},
    {NULL, "check_code", read_check_code, NULL},
    {NULL, "check_text", read_check_text, NULL},
    {NULL, "checks_failed", read_failed_checks, NULL},
    {NULL, "weight", read_weight, NULL},
    {NULL, "sessions", read_sessions, NULL},
    {NULL, "sessions_peak", read_peak, NULL},
    {NULL, "maxconn", read_maxconn, NULL},
    {NULL, "total", read_total, NULL},
    {NULL, "rate", read_rate, NULL},
    {NULL, "rate_peak", read_rate_peak, NULL},
    {NULL, "connect_errors", read_connect_errors, NULL},
    {NULL, "response_errors", read_response_errors, NULL},
};
/* clang-format on */

static const struct row_table json_table = ROW_TABLE(NULL, columns);

/* The text that a reader makes, "-" for none. */
static const char *
text_of(void (*read)(const void *, struct row_value *), const struct server *s,
    struct row_value *v)
{
	v->kind = ROW_NONE;
	read(s, v);
	return v->kind == ROW_NONE ? "-" : v->text;
}

static void
widen(int *width, const char *text)
{
	int len = (int)strlen(text);

	if (len > *width)
		*width = len;
}

static void
measure(const struct backend *b, struct widths *w)
{
	for (size_t i = 0; i < b->spec->servers_n; i++) {
		const struct server *s = b->servers[i];
		struct row_value v;

		widen(&w->name, s->spec->name);
		widen(&w->address, text_of(read_address, s, &v));
		widen(&w->state, text_of(read_state, s, &v));
		widen(&w->check, text_of(read_check, s, &v));
	}
}

/* `8d`, `3h`, `12m`, `40s`: the greatest unit that it has whole. */
static const char *
age_text(uint64_t s, char out[TEXT_DURATION_SIZE])
{
	static const struct {
		uint64_t seconds;
		char unit;
	} units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
	size_t i = 0;

	while (i < 3 && s < units[i].seconds)
		i++;
	snprintf(out, TEXT_DURATION_SIZE, "%llu%c",
	    (unsigned long long)(s / units[i].seconds), units[i].unit);
	return out;
}

static void
put_server(const struct server *s, const struct widths *w, FILE *out)
{
	struct row_value address, state, check;
	char age[TEXT_DURATION_SIZE];

	fprintf(out, "  %-*s %-*s %-*s %5s %-*s %6u %5u %5u %6llu%s\n", w->name,
	    s->spec->name, w->address, text_of(read_address, s, &address),
	    w->state, text_of(read_state, s, &state),
	    age_text(server_since_change_s(s), age), w->check,
	    text_of(read_check, s, &check), server_weight(s),
	    atomic_load_relaxed(&s->sessions->now), s->state->rate.per_second,
	    (unsigned long long)errors_of(s), s->spec->backup ? " backup" : "");
}

static void
put_backend(const struct backend *b, const struct widths *w, FILE *out)
{
	fprintf(out, "%s: %s, %u of %zu server%s usable%s\n", b->spec->name,
	    atomic_load_relaxed(&b->state->lineup)->ops->name, b->state->usable,
	    b->spec->servers_n, text_s(b->spec->servers_n),
	    b->state->panic ? ", in a panic: all are tried" : "");
	for (size_t i = 0; i < b->spec->servers_n; i++)
		put_server(b->servers[i], w, out);
}

static void
put_table(const struct model *m, const struct backend *only, FILE *out)
{
	struct widths w = {6, 7, 5, 5};

	for (size_t i = 0; i < m->spec->backends_n; i++)
		if (!only || only == m->backends[i])
			measure(m->backends[i], &w);
	fprintf(out, "  %-*s %-*s %-*s %5s %-*s %6s %5s %5s %6s\n", w.name,
	    "server", w.address, "address", w.state, "state", "for", w.check,
	    "check", "weight", "sess", "rate", "errors");
	for (size_t i = 0; i < m->spec->backends_n; i++)
		if (!only || only == m->backends[i])
			put_backend(m->backends[i], &w, out);
}

bool
run_show_servers(struct call *call)
{
	const struct model *m = control_model(call->env->control);
	bool json = call_take_json(call);
	const struct backend *only;
	struct rows rows;

	if (!call_backend(call, call_arg(call, 0), &only))
		return false;
	if (!json) {
		put_table(m, only, call->out);
		return true;
	}
	rows_begin(&rows, &json_table, true, call->out);
	for (size_t i = 0; i < m->spec->backends_n; i++)
		for (size_t j = 0; j < m->backends[i]->spec->servers_n; j++)
			if (!only || only == m->backends[i])
				rows_put(&rows, m->backends[i]->servers[j],
				    call->out);
	rows_end(&rows, call->out);
	return true;
}
