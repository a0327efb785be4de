/* SPDX-License-Identifier: MIT
 * `show servers`: where each server is and how it does, for people; and the
 * same as JSON.  `show servers state` and `conn`, which are HAProxy's, are in
 * show_servers_state.c.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "commands/report.h"
#include "stats/stat_columns.h"
#include "base/text.h"
#include "model/backend.h"
#include "model/model.h"
#include "model/lineup.h"

#define STATUS_SIZE 128

/* The columns whose width the servers decide. */
struct widths {
	int name, address, state, check;
};

/* Returns how many connects failed: the last one of a session, and those that
 * were tried again, on the same server or another. */
static uint64_t
connect_errors_of(const struct server *s)
{
	return counters_sum(s->counters, COUNTER_CONNECT_ERRORS) +
	       counters_sum(s->counters, COUNTER_RETRIES) +
	       counters_sum(s->counters, COUNTER_REDISPATCHES);
}

/* A server's texts; NULL: none. */
struct server_texts {
	char state[STATUS_SIZE], address_space[ADDR_TEXT_SIZE];
	char check_space[STATUS_SIZE];
	char set_space[STATUS_SIZE], age[SPAN_TEXT_SIZE];
	const char *address;
	const char *set;   /* the source of a member: `file=/path` */
	uint64_t member_s; /* how long it has been one; if set */
	const char *check_status, *check; /* `L7STS`, `L7STS/503` */
};

static void
set_texts_make(const struct server *s, struct server_texts *ret)
{
	const struct server_spec *spec = s->spec;
	const struct set_spec *set;

	ret->set = NULL;
	if (!spec->set.is_set)
		return;
	set = &s->backend->spec->sets[spec->set.value];
	snprintf(ret->set_space, sizeof(ret->set_space), "%s=%s",
	    discovery_kinds[set->kind].name, set->source);
	ret->set = ret->set_space;
	ret->member_s = (clock_now_ms() - spec->since_ms) / 1000;
	span_text(ret->member_s, ret->age);
}

static void
server_texts_make(const struct server *s, struct server_texts *ret)
{
	const struct check_result *last = &s->state->last;

	set_texts_make(s, ret);
	server_status_text(s, ret->state, sizeof(ret->state));
	ret->address = server_address(s, ret->address_space);
	ret->check_status = last->status != CHECK_STATUS_NONE
	                        ? check_status_name(last->status)
	                        : NULL;
	ret->check = ret->check_status;
	if (ret->check && last->code != 0) {
		snprintf(ret->check_space, sizeof(ret->check_space), "%s/%u",
		    ret->check_status, last->code);
		ret->check = ret->check_space;
	}
}

static void
widen(int *width, const char *text)
{
	int len = (int)strlen(text);

	if (len > *width)
		*width = len;
}

static void
widths_add(struct widths *w, const struct server *s)
{
	struct server_texts t;

	server_texts_make(s, &t);
	widen(&w->name, s->spec->name);
	widen(&w->address, t.address);
	widen(&w->state, t.state);
	widen(&w->check, t.check ? t.check : "-");
}

static void
put_server_state(struct report *r, const struct server *s,
    const struct server_texts *t, const struct widths *w)
{
	const struct check_result *last = &s->state->last;
	char age[SPAN_TEXT_SIZE];

	report_json_string(r, "backend", s->backend->spec->name);
	report_put(r, "server", "  %-*s", w->name, s->spec->name);
	report_put(r, "address", " %-*s", w->address, t->address);
	report_put(r, "state", " %-*s", w->state, t->state);
	report_json_bool(r, "up", server_is_up(s));
	report_json_bool(r, "usable", server_is_usable(s));
	report_json_bool(r, "backup", s->spec->backup);
	report_json(r, "since_s", "%" PRIu64, server_since_change_s(s));
	span_text(server_since_change_s(s), age);
	age[strcspn(age, "dhms") + 1] = '\0'; /* the larger unit alone */
	report_text(r, " %5s", age);
	report_text(r, " %-*s", w->check, t->check);
	report_json_string(r, "check_status", t->check_status);
	report_json_known(r, "check_code", last->code != 0, last->code);
	report_json_string(r, "check_text", last->text[0] ? last->text : NULL);
	report_json(
	    r, "checks_failed", "%" PRIu64, (uint64_t)s->state->checks_failed);
}

static void
put_server_row(struct report *r, const struct server *s, const struct widths *w)
{
	unsigned maxconn = server_maxconn(s);
	uint64_t connects = connect_errors_of(s);
	uint64_t responses = counters_sum(s->counters, COUNTER_RESPONSE_ERRORS);
	struct server_texts t;

	server_texts_make(s, &t);
	report_row(r);
	put_server_state(r, s, &t, w);
	report_put(r, "weight", " %6u", server_weight(s));
	report_put(
	    r, "sessions", " %5u", atomic_load_relaxed(&s->sessions->now));
	report_json(
	    r, "sessions_peak", "%u", atomic_load_relaxed(&s->sessions->peak));
	report_json_known(r, "maxconn", maxconn > 0, maxconn);
	report_json(r, "total", "%" PRIu64,
	    counters_sum(s->counters, COUNTER_SESSIONS));
	report_put(r, "rate", " %5u", s->state->rate.per_second);
	report_json(r, "rate_peak", "%u", s->state->rate.peak);
	report_json(r, "connect_errors", "%" PRIu64, connects);
	report_json(r, "response_errors", "%" PRIu64, responses);
	report_text(r, " %6" PRIu64 "%s", connects + responses,
	    s->spec->backup ? " backup" : "");
	report_json_string(r, "source", t.set);
	report_json_string(r, "source_key", s->spec->key);
	report_json_string(
	    r, "source_note", t.set && *s->spec->note ? s->spec->note : NULL);
	report_json_known(r, "member_s", t.set, t.set ? t.member_s : 0);
	if (t.set)
		report_text(r, " from %s, for %s", t.set, t.age);
	report_row_end(r);
}

static void
put_backend_servers(
    struct report *r, const struct backend *b, const struct widths *w)
{
	report_text(r, "%s: %s, %u of %zu server%s usable%s\n", b->spec->name,
	    atomic_load_relaxed(&b->state->lineup)->ops->name, b->state->usable,
	    b->spec->servers_n, text_s(b->spec->servers_n),
	    b->state->panic ? ", in a panic: all are tried" : "");
	for (size_t i = 0; i < b->spec->servers_n; i++)
		put_server_row(r, b->servers[i], w);
}

bool
run_show_servers(struct call *call)
{
	const struct model *m = call->env->instance->model;
	struct widths w = {6, 7, 5, 5};
	const struct backend *only;
	struct report r;

	report_begin(&r, call_take_json(call), call->out);
	if (!call_backend(call, call_arg(call, 0), &only))
		return false;
	model_for_each_server (s, m) {
		if (!only || only == s->backend)
			widths_add(&w, s);
	}
	report_head(&r, "");
	report_text(&r, "  %-*s %-*s %-*s %5s %-*s %6s %5s %5s %6s\n", w.name,
	    "server", w.address, "address", w.state, "state", "for", w.check,
	    "check", "weight", "sess", "rate", "errors");
	for (size_t i = 0; i < m->spec->backends_n; i++)
		if (!only || only == m->backends[i])
			put_backend_servers(&r, m->backends[i], &w);
	report_end(&r);
	return true;
}
