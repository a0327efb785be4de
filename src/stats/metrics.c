/* SPDX-License-Identifier: MIT
 * See metrics.h.
 *
 * Prometheus requires all samples of a metric together, so the outer loop is
 * over the metrics and the inner one over the proxies.  Between two parts,
 * struct metrics holds the position in both.
 */
#include "stats/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "stats/metrics_pool.h"
#include "stats/metrics_process.h"
#include "stats/metrics_text.h"
#include "stats/metrics_failures.h"
#include "stats/metrics_lists.h"
#include "stats/metrics_resolver.h"
#include "stats/metrics_sets.h"
#include "stats/metrics_tls.h"
#include "stats/info.h"
#include "stats/stat_columns.h"
#include "base/list.h"

/* The longest name of a metric. */
#define NAME_SIZE 96

struct metrics;

/* A group of n metrics of one of the scopes.  put writes the metric with that
 * number, from 0, or goes on with it.  It returns false if the part is full
 * before the metric is complete. */
struct group {
	enum metrics_scope scopes;
	size_t n;
	bool (*put)(struct metrics *m, size_t number, FILE *out);
};

struct metrics {
	struct answer_rest rest;
	const struct command_env *env; /* of this part */
	struct model *model;           /* pinned */
	struct stat_facts facts;
	struct metrics_filter filter;
	long part_start;
	/* The metric being written, and the next sample of it. */
	size_t group, number;
	bool header_written;
	size_t proxy;
	size_t nth; /* of the proxy's certificates or rows, unless of servers */
	struct server_cursor server;
};

static bool
is_full(const struct metrics *m, FILE *out)
{
	return ftell(out) - m->part_start >= ANSWER_PART_SIZE;
}

static const char *
prefix_of(bool own)
{
	return own ? "lfproxy" : "haproxy";
}

/* Returns the type of a metric by its name.  Counters, and no other metrics,
 * end in _total, except for one of HAProxy's; they include some gauges that
 * HAProxy declares as counters. */
static const char *
type_of(const char *name)
{
	size_t len = strlen(name);

	return (len > 6 && strcmp(name + len - 6, "_total") == 0) ||
	               strcmp(name, "failed_resolutions") == 0
	           ? "counter"
	           : "gauge";
}

/* Returns "seconds ..." for "milliseconds ...", since metrics are in whole
 * units. */
static const char *
whole_units(const char *text, unsigned parts)
{
	if (parts > 1 &&
	    (strncmp(text, "milli", 5) == 0 || strncmp(text, "micro", 5) == 0))
		return text + 5;
	return text;
}

/* -- metrics of frontends, backends and servers -- */

enum kind { KIND_FRONTEND, KIND_BACKEND, KIND_SERVER, KINDS };

static const struct kind_text {
	unsigned row;
	const char *name;
	enum metrics_scope scope;
} kinds[KINDS] = {
    [KIND_FRONTEND] = {ROW_FRONTEND, "frontend", SCOPE_FRONTEND},
    [KIND_BACKEND] = {ROW_BACKEND, "backend", SCOPE_BACKEND},
    [KIND_SERVER] = {ROW_SERVER, "server", SCOPE_SERVER},
};

/* A metric that has samples for each row of a kind. */
struct row_metric {
	enum kind kind;
	const char *name, *help;
	/* Writes the samples of a row. */
	void (*put)(FILE *out, const char *name, const struct stat_row *row,
	    const struct metric_labels *labels,
	    const struct row_metric *metric);
	bool own;
	const char *type;                 /* NULL: see type_of */
	const struct stat_column *column; /* of put_stat_sample */
	enum timing timing;               /* of put_timing */
};

/* Begins with the first row of a proxy. */
static void
begin_proxy(struct metrics *m)
{
	m->nth = 0;
	m->server = (struct server_cursor){.at = 0};
}

/* Reads the next row of the kind that the proxy at the position has.  Returns
 * false if there is none. */
static bool
next_row(struct metrics *m, enum kind kind, struct stat_row *ret_row)
{
	struct server *s;

	if (kind == KIND_SERVER) {
		s = server_cursor_get(&m->server, m->model->backends[m->proxy]);
		if (!s)
			return false;
		server_cursor_pass(&m->server, s);
		*ret_row = stat_row_of_server(s);
		return true;
	}
	if (m->nth++ > 0)
		return false;
	*ret_row = kind == KIND_FRONTEND
	               ? stat_row_of_frontend(m->model->frontends[m->proxy])
	               : stat_row_of_backend(m->model->backends[m->proxy]);
	return true;
}

static bool
is_hidden(const struct metrics *m, const struct stat_row *row)
{
	return m->filter.no_maint && row->server &&
	       server_admin_of(row->server) == SERVER_MAINT;
}

/* Writes the samples of all rows from the position on.  Returns false if the
 * part is full. */
static bool
put_rows_metric(struct metrics *m, const struct row_metric *metric, FILE *out)
{
	const struct spec *spec = m->model->spec;
	enum kind kind = metric->kind;
	size_t n = kind == KIND_FRONTEND ? spec->frontends_n : spec->backends_n;
	char name[NAME_SIZE];

	if (!(m->filter.scopes & kinds[kind].scope))
		return true;
	snprintf(name, sizeof(name), "%s_%s_%s", prefix_of(metric->own),
	    kinds[kind].name, metric->name);
	if (!m->header_written)
		metric_begin(out, name,
		    metric->type ? metric->type : type_of(metric->name),
		    metric->help);
	m->header_written = true;
	for (; m->proxy < n; m->proxy++, begin_proxy(m)) {
		for (;;) {
			struct stat_row row;
			struct metric_labels labels = {{"proxy", NULL}};

			if (is_full(m, out))
				return false;
			if (!next_row(m, kind, &row))
				break;
			if (is_hidden(m, &row))
				continue;
			row.facts = &m->facts;
			labels.pairs[1] = row.proxy;
			if (row.server) {
				labels.pairs[2] = "server";
				labels.pairs[3] = row.server->spec->name;
			}
			metric->put(out, name, &row, &labels, metric);
		}
	}
	return true;
}

static void
put_stat_sample(FILE *out, const char *name, const struct stat_row *row,
    const struct metric_labels *labels, const struct row_metric *metric)
{
	struct field field = stat_column_read(metric->column, row);

	if (field.present && field.text[0])
		metric_text(
		    out, name, labels, field.text, metric->column->parts);
}

/* Writes the metric of a kind and a column, which both follow from the number.
 * Writes nothing if the column is no metric of the kind. */
static bool
put_column(struct metrics *m, size_t number, FILE *out)
{
	enum kind kind = (enum kind)(number / stat_columns_n);
	const struct stat_column *column =
	    &stat_columns[number % stat_columns_n];
	const char *name = stat_column_metric(column, kinds[kind].row);
	const struct row_metric metric = {
	    .kind = kind,
	    .name = name,
	    .help = whole_units(column->desc, column->parts),
	    .put = put_stat_sample,
	    .own = column->own,
	    .column = column,
	};

	return !name || put_rows_metric(m, &metric, out);
}

/* -- states: a sample per state, 1 for the present one and 0 for the others --
 */

static void
put_states(FILE *out, const char *name, const struct metric_labels *labels,
    const char *const *states, size_t n, size_t now)
{
	for (size_t i = 0; i < n; i++) {
		const struct metric_labels with =
		    metric_labels_with(labels, "state", states[i]);

		metric_number(out, name, &with, i == now);
	}
}

enum state {
	STATE_DOWN,
	STATE_UP,
	STATE_MAINT,
	STATE_DRAIN,
	STATE_NOLB,
	STATES
};

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

static const char *const state_names[] = {
    [STATE_DOWN] = "DOWN",
    [STATE_UP] = "UP",
    [STATE_MAINT] = "MAINT",
    [STATE_DRAIN] = "DRAIN",
    [STATE_NOLB] = "NOLB",
};
_Static_assert(
    sizeof(state_names) / sizeof(state_names[0]) == STATES, "a name each");

static bool
is_frontend_up(const struct stat_row *row)
{
	return !row->facts->stopping &&
	       row->frontend->state->admin != FRONTEND_SHUT;
}

static void
put_status(FILE *out, const char *name, const struct stat_row *row,
    const struct metric_labels *labels, const struct row_metric *metric)
{
	(void)metric;
	put_states(out, name, labels, state_names,
	    row->server ? STATES : STATE_UP + 1,
	    row->server     ? state_of_server(row->server)
	    : row->frontend ? is_frontend_up(row)
	                    : row->backend->state->usable > 0);
}

static void
put_check_status(FILE *out, const char *name, const struct stat_row *row,
    const struct metric_labels *labels, const struct row_metric *metric)
{
	const char *states[CHECK_STATUSES];
	enum check_status now = row->server->state->last.status;
	enum check_status first = CHECK_STATUS_INI + 1;

	(void)metric;
	if (!(row->kind & ROW_CHECKED))
		return;
	for (enum check_status i = first; i < CHECK_STATUSES; i++)
		states[i - first] = check_status_name(i);
	put_states(out, name, labels, states, CHECK_STATUSES - first,
	    now >= first ? now - first : CHECK_STATUSES);
}

static void
put_admin_state(FILE *out, const char *name, const struct stat_row *row,
    const struct metric_labels *labels, const struct row_metric *metric)
{
	const char *names[SERVER_MAINT + 1];

	(void)metric;
	for (enum server_admin i = SERVER_READY; i <= SERVER_MAINT; i++)
		names[i] = server_admin_name(i);
	put_states(out, name, labels, names, SERVER_MAINT + 1,
	    server_admin_of(row->server));
}

/* Writes the number of servers for each result of the last check. */
static void
put_checks_in_state(FILE *out, const char *name, const struct stat_row *row,
    const struct metric_labels *labels, const struct row_metric *metric)
{
	const struct backend *b = row->backend;
	unsigned sums[CHECK_STATUSES] = {0};

	(void)metric;
	for (size_t i = 0; i < b->spec->servers_n; i++)
		sums[b->servers[i]->state->last.status]++;
	for (enum check_status i = CHECK_STATUS_INI + 1; i < CHECK_STATUSES;
	     i++) {
		const struct metric_labels with =
		    metric_labels_with(labels, "state", check_status_name(i));

		metric_number(out, name, &with, sums[i]);
	}
}

/* Writes the number of servers in each state. */
static void
put_servers_in_state(FILE *out, const char *name, const struct stat_row *row,
    const struct metric_labels *labels, const struct row_metric *metric)
{
	const struct backend *b = row->backend;
	unsigned sums[STATES] = {0};

	(void)metric;
	for (size_t i = 0; i < b->spec->servers_n; i++)
		sums[state_of_server(b->servers[i])]++;
	for (size_t i = 0; i < STATES; i++) {
		const struct metric_labels with =
		    metric_labels_with(labels, "state", state_names[i]);

		metric_number(out, name, &with, sums[i]);
	}
}

#define STATE(of, is_own, metric, text, write)                                 \
	{                                                                      \
		.kind = KIND_##of, .own = (is_own), .name = (metric),          \
		.help = (text), .put = (write)                                 \
	}
static const struct row_metric state_metrics[] = {
    STATE(FRONTEND, false, "status", "1 for the present state", put_status),
    STATE(BACKEND, false, "status", "1 for the present state", put_status),
    STATE(SERVER, false, "status", "1 for the present state", put_status),
    STATE(BACKEND, false, "agg_server_status", "servers in each state",
        put_servers_in_state),
    /* Deprecated, but still in HAProxy's exporter and dashboards. */
    STATE(BACKEND, false, "agg_server_check_status", "servers in each state",
        put_servers_in_state),
    STATE(BACKEND, false, "agg_check_status",
        "servers with each result of the last check", put_checks_in_state),
    STATE(SERVER, false, "check_status", "1 for the result of the last check",
        put_check_status),
    STATE(SERVER, true, "admin_state", "1 for the present administrative state",
        put_admin_state),
};

#define STATE_METRICS (sizeof(state_metrics) / sizeof(state_metrics[0]))

static bool
put_state(struct metrics *m, size_t number, FILE *out)
{
	return put_rows_metric(m, &state_metrics[number], out);
}

/* -- times of backends -- */

static void
put_timing(FILE *out, const char *name, const struct stat_row *row,
    const struct metric_labels *labels, const struct row_metric *metric)
{
	struct histogram histogram;

	timings_read(row->backend->state->timings, metric->timing, &histogram);
	metric_histogram(out, name, labels, &histogram);
}

static bool
put_timings(struct metrics *m, size_t number, FILE *out)
{
	enum timing timing = (enum timing)number;
	char name[NAME_SIZE];
	const struct row_metric metric = {
	    .kind = KIND_BACKEND,
	    .name = name,
	    .help = timing_texts[timing],
	    .put = put_timing,
	    .own = true,
	    .type = "histogram",
	    .timing = timing,
	};

	snprintf(name, sizeof(name), "%s_seconds", timing_names[timing]);
	return put_rows_metric(m, &metric, out);
}

/* -- metrics of the process and its pools -- */

static void
put_build(FILE *out)
{
	static const char name[] = "haproxy_process_build_info";
	const struct metric_labels labels = {
	    {"version", API_VERSION, "lfproxy", LFPROXY_VERSION, NULL}};

	metric_begin(out, name, "gauge", "always 1; the labels are versions");
	metric_number(out, name, &labels, 1);
}

static void
put_info_key(FILE *out, const struct info_key *key, const char *text)
{
	const struct metric_labels none = {{NULL}};
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%s_process_%s", prefix_of(key->own),
	    key->metric);
	metric_begin(out, name, type_of(key->metric),
	    whole_units(key->field.desc, key->parts));
	metric_text(out, name, &none, text, key->parts);
}

static bool
put_process(struct metrics *m, size_t number, FILE *out)
{
	struct info_facts facts;
	struct field fields[INFO_KEYS];

	(void)number;
	info_gather(m->env, &facts);
	info_read(m->model, &facts, false, fields);
	for (size_t i = 0; i < INFO_KEYS; i++)
		if (info_keys[i].metric)
			put_info_key(out, &info_keys[i], fields[i].text);
	put_build(out);
	metrics_put_exhaustion(out, facts.exhaustion);
	metrics_put_ready(out, m->env);
	metrics_put_reloads(out, m->env);
	metrics_put_client(out, m->env);
	return true;
}

static bool
put_pools(struct metrics *m, size_t number, FILE *out)
{
	metrics_put_pools(out, m->env->pools, number);
	return true;
}

static bool
put_tls_metrics(struct metrics *m, size_t number, FILE *out)
{
	metrics_put_tls(out, m->model->spec, number);
	return true;
}

static bool
put_lists(struct metrics *m, size_t number, FILE *out)
{
	metrics_put_lists(out, m->model, number);
	return true;
}

static bool
put_resolver(struct metrics *m, size_t number, FILE *out)
{
	metrics_put_resolver(out, m->env->names, number);
	return true;
}

static bool
put_sets(struct metrics *m, size_t number, FILE *out)
{
	metrics_put_sets(out, m->env->sets, number);
	return true;
}

static bool
is_part_full(void *arg, FILE *out)
{
	return is_full(arg, out);
}

static bool
put_failures(struct metrics *m, size_t number, FILE *out)
{
	metrics_put_failures(out, &m->env->instance->proxy.failures, number);
	return true;
}

static bool
put_certificates(struct metrics *m, size_t number, FILE *out)
{
	(void)number;
	return metrics_put_certificates(
	    out, m->model->spec, &m->proxy, &m->nth, is_part_full, m);
}

/* -- the answer -- */

static bool
more_metrics(struct answer_rest *rest, const struct command_env *env, FILE *out)
{
	struct metrics *m = container_of(rest, struct metrics, rest);
	const struct spec *spec = m->model->spec;
	const struct group groups[] = {
	    {SCOPE_GLOBAL, 1, put_process},
	    {SCOPE_ALL, STATE_METRICS, put_state},
	    {SCOPE_ALL, KINDS * stat_columns_n, put_column},
	    {SCOPE_BACKEND, TIMINGS, put_timings},
	    {SCOPE_GLOBAL, metrics_pools_count(), put_pools},
	    {SCOPE_GLOBAL,
	        metrics_failures_count(&env->instance->proxy.failures),
	        put_failures},
	    {SCOPE_GLOBAL, spec->lists_n > 0 ? metrics_lists_count() : 0,
	        put_lists},
	    {SCOPE_RESOLVER, metrics_resolver_count(env->names), put_resolver},
	    {SCOPE_BACKEND, metrics_sets_count(env->sets), put_sets},
	    {SCOPE_GLOBAL, spec->tls_n > 0 ? metrics_tls_count() : 0,
	        put_tls_metrics},
	    {SCOPE_GLOBAL, spec->tls_n > 0, put_certificates},
	};

	m->env = env;
	m->part_start = ftell(out);
	for (; m->group < sizeof(groups) / sizeof(groups[0]);
	     m->group++, m->number = 0) {
		if (!(m->filter.scopes & groups[m->group].scopes))
			continue;
		for (; m->number < groups[m->group].n; m->number++) {
			if (is_full(m, out) ||
			    !groups[m->group].put(m, m->number, out))
				return true;
			m->header_written = false;
			m->proxy = 0;
			begin_proxy(m);
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
metrics_new(const struct command_env *env, const struct metrics_filter *filter)
{
	struct metrics *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->rest =
	    (struct answer_rest){.more = more_metrics, .free = free_metrics};
	m->model = env->instance->model;
	m->facts = stat_facts_read(env);
	m->filter = *filter;
	model_pin(m->model);
	return &m->rest;
}
