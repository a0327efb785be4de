/* SPDX-License-Identifier: MIT
 * See metrics.h.
 *
 * Prometheus wants all samples of a metric together, so the walk goes over the
 * metrics, and for each over the proxies; where it stopped is a place in both.
 */
#include "stats/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "stats/metrics_pool.h"
#include "stats/metrics_table.h"
#include "stats/metrics_text.h"
#include "stats/info.h"
#include "stats/stat_columns.h"
#include "base/list.h"

/* Names of metrics are made up in here. */
#define NAME_SIZE 96

struct metrics;

/* A group of metrics.  put writes the one with that number, from the place on
 * where it stopped, until it is written (true) or the part is full. */
struct group {
	size_t (*count)(void);
	bool (*put)(struct metrics *m, size_t number, FILE *out);
};

struct metrics {
	struct answer_rest rest;
	const struct command_env *env; /* of this part */
	struct model *model;           /* pinned */
	struct stat_facts facts;
	size_t group, number;
	/* Within one: */
	bool begun;
	size_t proxy, server;
	long part_start;
};

static bool
is_full(const struct metrics *m, FILE *out)
{
	return ftell(out) - m->part_start >= ANSWER_PART_SIZE;
}

/* -- of proxies -- */

static const struct kind {
	unsigned row;
	const char *name;
} kinds[] = {
    {ROW_FRONTEND, "frontend"},
    {ROW_BACKEND, "backend"},
    {ROW_SERVER, "server"},
};

/* What is written of a row of that kind. */
typedef void (*put_sample)(FILE *out, const char *name,
    const struct stat_row *row, const struct metric_labels *labels,
    const void *arg);

/* Once for each row of the kind, from the place on; false: the part is full. */
static bool
walk(struct metrics *m, const struct kind *kind, const char *name,
    put_sample put, const void *arg, FILE *out)
{
	const struct spec *spec = m->model->spec;
	bool frontends = kind->row == ROW_FRONTEND;
	size_t n = frontends ? spec->frontends_n : spec->backends_n;

	for (; m->proxy < n; m->proxy++, m->server = 0) {
		const struct backend *b =
		    frontends ? NULL : m->model->backends[m->proxy];
		size_t rows = kind->row == ROW_SERVER ? b->spec->servers_n : 1;

		for (; m->server < rows; m->server++) {
			struct stat_row row;
			struct metric_labels labels = {{"proxy", NULL}};

			if (is_full(m, out))
				return false;
			row = frontends ? stat_row_of_frontend(
			                      m->model->frontends[m->proxy])
			      : kind->row == ROW_SERVER
			          ? stat_row_of_server(b->servers[m->server])
			          : stat_row_of_backend(b);
			row.facts = &m->facts;
			labels.pairs[1] = row.proxy;
			if (row.server) {
				labels.pairs[2] = "server";
				labels.pairs[3] = row.server->spec->name;
			}
			put(out, name, &row, &labels, arg);
		}
	}
	return true;
}

static void
put_stat_sample(FILE *out, const char *name, const struct stat_row *row,
    const struct metric_labels *labels, const void *arg)
{
	const struct stat_metric *metric = arg;
	struct field field = stat_columns_read(metric->column, row);

	if (!field.present || !field.text[0])
		return;
	if (metric->parts > 1)
		metric_parts(out, name, labels, strtoull(field.text, NULL, 10),
		    metric->parts);
	else
		metric_text(out, name, labels, field.text);
}

/* For each kind all metrics of the table; those that it does not have are
 * nothing. */
static size_t
count_stat(void)
{
	return sizeof(kinds) / sizeof(kinds[0]) * stat_metrics_n;
}

static void
begin(struct metrics *m, FILE *out, const char *name, const char *type,
    const char *help)
{
	if (!m->begun)
		metric_begin(out, name, type, help);
	m->begun = true;
}

/* "seconds ..." of "milliseconds ...", as a metric has whole units. */
static const char *
whole_units(const char *text, unsigned parts)
{
	if (parts > 1 &&
	    (strncmp(text, "milli", 5) == 0 || strncmp(text, "micro", 5) == 0))
		return text + 5;
	return text;
}

static const char *
prefix_of(bool own)
{
	return own ? "lfproxy" : "haproxy";
}

static bool
put_stat(struct metrics *m, size_t number, FILE *out)
{
	const struct kind *kind = &kinds[number / stat_metrics_n];
	const struct stat_metric *metric =
	    &stat_metrics[number % stat_metrics_n];
	char name[NAME_SIZE];

	if (!(metric->kinds & kind->row))
		return true;
	snprintf(name, sizeof(name), "%s_%s_%s", prefix_of(metric->own),
	    kind->name, metric->name);
	begin(m, out, name, metric->counter ? "counter" : "gauge",
	    whole_units(
	        stat_columns_description(metric->column), metric->parts));
	return walk(m, kind, name, put_stat_sample, metric, out);
}

/* -- states: 1 for the one that holds, 0 for the others -- */

static void
put_states(FILE *out, const char *name, const struct metric_labels *labels,
    const char *const *states, size_t n, size_t now)
{
	struct metric_labels with = *labels;
	size_t at = 0;

	while (with.pairs[at])
		at += 2;
	with.pairs[at] = "state";
	for (size_t i = 0; i < n; i++) {
		with.pairs[at + 1] = states[i];
		metric_number(out, name, &with, i == now);
	}
}

enum state { STATE_DOWN, STATE_UP, STATE_MAINT, STATE_DRAIN, STATE_NOLB };

static enum state
state_of_server(const struct server *server)
{
	if (server_admin_of(server) == SERVER_MAINT)
		return STATE_MAINT;
	if (!server_is_up(server) || server_is_ejected(server))
		return STATE_DOWN;
	if ((server->tracked ? server->tracked : server)->state->stopping)
		return STATE_NOLB;
	return server_admin_of(server) == SERVER_DRAIN ? STATE_DRAIN : STATE_UP;
}

static const char *const server_states[] = {[STATE_DOWN] = "DOWN",
    [STATE_UP] = "UP",
    [STATE_MAINT] = "MAINT",
    [STATE_DRAIN] = "DRAIN",
    [STATE_NOLB] = "NOLB"};

#define SERVER_STATES (STATE_NOLB + 1)

static bool
is_frontend_up(const struct stat_row *row)
{
	return !row->facts->stopping &&
	       row->frontend->state->admin != FRONTEND_SHUT;
}

static void
put_status(FILE *out, const char *name, const struct stat_row *row,
    const struct metric_labels *labels, const void *arg)
{
	(void)arg;
	put_states(out, name, labels, server_states,
	    row->server ? SERVER_STATES : STATE_UP + 1,
	    row->server     ? state_of_server(row->server)
	    : row->frontend ? is_frontend_up(row)
	                    : row->backend->state->usable > 0);
}

static void
put_check_status(FILE *out, const char *name, const struct stat_row *row,
    const struct metric_labels *labels, const void *arg)
{
	const char *states[CHECK_STATUSES];
	enum check_status now = row->server->state->last.status;
	enum check_status first = CHECK_STATUS_INI + 1;

	(void)arg;
	if (!(row->kind & ROW_CHECKED))
		return;
	for (enum check_status i = first; i < CHECK_STATUSES; i++)
		states[i - first] = check_status_name(i);
	put_states(out, name, labels, states, CHECK_STATUSES - first,
	    now >= first ? now - first : CHECK_STATUSES);
}

static void
put_admin(FILE *out, const char *name, const struct stat_row *row,
    const struct metric_labels *labels, const void *arg)
{
	static const enum server_admin all[] = {
	    SERVER_READY, SERVER_DRAIN, SERVER_MAINT};
	enum server_admin now = server_admin_of(row->server);
	const char *names[3];
	size_t at = 0;

	(void)arg;
	for (size_t i = 0; i < 3; i++) {
		names[i] = server_admin_name(all[i]);
		at = all[i] == now ? i : at;
	}
	put_states(out, name, labels, names, 3, at);
}

/* Not one of the states, but how many servers are in each. */
static void
put_server_sums(FILE *out, const char *name, const struct stat_row *row,
    const struct metric_labels *labels, const void *arg)
{
	const struct backend *b = row->backend;
	unsigned sums[SERVER_STATES] = {0};

	(void)arg;
	for (size_t i = 0; i < b->spec->servers_n; i++)
		sums[state_of_server(b->servers[i])]++;
	for (size_t i = 0; i < SERVER_STATES; i++) {
		const struct metric_labels with = {{labels->pairs[0],
		    labels->pairs[1], "state", server_states[i], NULL}};

		metric_number(out, name, &with, sums[i]);
	}
}

static const struct state_metric {
	const struct kind *kind;
	const char *name, *help;
	put_sample put;
	enum stat_name column; /* that says the same */
	bool own;
} state_metrics[] = {
    {&kinds[0], "status", "1 for the state that holds", put_status, STAT_status,
        false},
    {&kinds[1], "status", "1 for the state that holds", put_status, STAT_status,
        false},
    {&kinds[2], "status", "1 for the state that holds", put_status, STAT_status,
        false},
    {&kinds[1], "agg_server_status", "servers in each state", put_server_sums,
        STAT_agg_server_status, false},
    {&kinds[2], "check_status", "1 for how the last check ended",
        put_check_status, STAT_check_status, false},
    {&kinds[2], "admin_state", "1 for what people decided", put_admin,
        STAT_lf_admin, true},
};

static size_t
count_states(void)
{
	return sizeof(state_metrics) / sizeof(state_metrics[0]);
}

static bool
put_state(struct metrics *m, size_t number, FILE *out)
{
	const struct state_metric *metric = &state_metrics[number];
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%s_%s_%s", prefix_of(metric->own),
	    metric->kind->name, metric->name);
	begin(m, out, name, "gauge", metric->help);
	return walk(m, metric->kind, name, metric->put, NULL, out);
}

bool
metrics_have_column(enum stat_name column, unsigned kind)
{
	for (size_t i = 0; i < stat_metrics_n; i++)
		if (stat_metrics[i].column == column &&
		    (stat_metrics[i].kinds & kind))
			return true;
	for (size_t i = 0; i < count_states(); i++)
		if (state_metrics[i].column == column &&
		    state_metrics[i].kind->row == kind)
			return true;
	return false;
}

/* -- times of backends -- */

static void
put_timing(FILE *out, const char *name, const struct stat_row *row,
    const struct metric_labels *labels, const void *arg)
{
	const enum timing *which = arg;
	struct histogram histogram;

	timings_read(row->backend->state->timings, *which, &histogram);
	metric_histogram(out, name, labels, &histogram);
}

static size_t
count_timings(void)
{
	return TIMINGS;
}

static bool
put_timings(struct metrics *m, size_t number, FILE *out)
{
	enum timing which = (enum timing)number;
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "lfproxy_backend_%s_seconds",
	    timing_name(which));
	begin(m, out, name, "histogram", timing_text(which));
	return walk(m, &kinds[1], name, put_timing, &which, out);
}

/* -- of the process, and of its pools -- */

static size_t
count_one(void)
{
	return 1;
}

static void
put_build(FILE *out)
{
	static const char name[] = "haproxy_process_build_info";
	const struct metric_labels labels = {
	    {"version", API_VERSION, "lfproxy", LFPROXY_VERSION, NULL}};

	metric_begin(out, name, "gauge", "always 1; its labels are versions");
	metric_number(out, name, &labels, 1);
}

static bool
put_process(struct metrics *m, size_t number, FILE *out)
{
	const struct metric_labels none = {{NULL}};
	struct info_facts facts;
	struct info info;

	(void)number;
	info_gather(m->env, &facts);
	info_read(m->model, &facts, &info);
	for (size_t i = 0; i < info_metrics_n; i++) {
		const struct info_metric *metric = &info_metrics[i];
		uint64_t value =
		    strtoull(info.fields[metric->key].text, NULL, 10);
		char name[NAME_SIZE];

		snprintf(name, sizeof(name), "%s_process_%s",
		    prefix_of(metric->own), metric->name);
		metric_begin(out, name, metric->counter ? "counter" : "gauge",
		    whole_units(
		        info_key_description(metric->key), metric->parts));
		if (metric->parts > 1)
			metric_parts(out, name, &none, value, metric->parts);
		else
			metric_number(out, name, &none, value * metric->factor);
	}
	put_build(out);
	metrics_put_exhaustion(out, &facts.exhaustion);
	return true;
}

static bool
put_pools(struct metrics *m, size_t number, FILE *out)
{
	metrics_put_pools(out, control_pools(m->env->control), number);
	return true;
}

/* -- all together -- */

static const struct group groups[] = {
    {count_one, put_process},
    {count_states, put_state},
    {count_stat, put_stat},
    {count_timings, put_timings},
    {metrics_pools_count, put_pools},
};

#define GROUPS (sizeof(groups) / sizeof(groups[0]))

static bool
more(struct answer_rest *rest, const struct command_env *env, FILE *out)
{
	struct metrics *m = container_of(rest, struct metrics, rest);

	m->env = env;
	m->part_start = ftell(out);
	for (; m->group < GROUPS; m->group++, m->number = 0) {
		for (; m->number < groups[m->group].count(); m->number++) {
			if (is_full(m, out) ||
			    !groups[m->group].put(m, m->number, out))
				return true;
			m->begun = false;
			m->proxy = m->server = 0;
		}
	}
	return false;
}

static void
free_metrics(struct answer_rest *rest)
{
	struct metrics *m = container_of(rest, struct metrics, rest);

	model_unpin(m->model);
	free(m);
}

struct answer_rest *
metrics_new(const struct command_env *env)
{
	struct metrics *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->rest = (struct answer_rest){.more = more, .free = free_metrics};
	m->model = control_model(env->control);
	m->facts = (struct stat_facts){
	    .sessions_max = control_maxconn(env->control),
	    .stopping = control_draining(env->control),
	};
	model_pin(m->model);
	return &m->rest;
}
