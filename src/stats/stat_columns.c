/* SPDX-License-Identifier: MIT
 * See stat_columns.h.
 */
#include "stats/stat_columns.h"

#include "stats/stat_table.h"
#include "base/clock.h"
#include "model/backend.h"

/* -- the status of a server -- */

/* Returns whether checks are configured and not paused. */
static bool
has_check(const struct server *server)
{
	return server->check.on && !server->state->overrides.check_paused;
}

static bool
has_agent(const struct server *server)
{
	return server->agent.on && !server->state->overrides.agent_paused;
}

static void
put_health(const struct server *server, bool drained, char *out, size_t size)
{
	const struct check_rules *check = &server->check;
	const struct server_state *state = server->state;

	if (state->agent_down)
		snprintf(out, size, "DOWN (agent)");
	else if (state->stopping && server_is_up(server))
		snprintf(out, size, "NOLB");
	else if (!has_check(server))
		snprintf(out, size, server_is_up(server) ? "no check" : "DOWN");
	else if (!state->up && state->streak)
		snprintf(out, size, "DOWN %u/%u", state->streak, check->rise);
	else if (!state->up)
		snprintf(out, size, "DOWN");
	else if (state->streak)
		snprintf(out, size, "%s %u/%u", drained ? "DRAIN" : "UP",
		    check->fall - state->streak, check->fall);
	else
		snprintf(out, size, drained ? "DRAIN" : "UP");
}

void
server_status_text(const struct server *server, char *out, size_t size)
{
	const struct server *other = server->tracked;
	const struct server *ref = other ? other : server;
	enum server_admin admin = server_admin_of(server);
	bool drained = admin == SERVER_DRAIN && server_is_up(server);

	if (server_is_unresolved(server))
		snprintf(out, size, "MAINT (resolution)");
	else if (admin == SERVER_MAINT &&
	         server_own_admin(server) != SERVER_MAINT)
		snprintf(out, size, "MAINT (via %s/%s)",
		    other->backend->spec->name, other->spec->name);
	else if (admin == SERVER_MAINT)
		snprintf(out, size, "MAINT");
	else if (server_is_ejected(server) && server_is_up(server))
		snprintf(out, size, "DOWN (ejected)");
	else if (drained && has_agent(ref))
		snprintf(out, size, "DRAIN (agent)");
	else if (drained && !has_check(ref))
		snprintf(out, size, "DRAIN");
	else
		put_health(ref, drained, out, size);
}

/* -- values that take more than an expression -- */

static const char *
row_service(const struct stat_row *row)
{
	return row->server     ? row->server->spec->name
	       : row->frontend ? "FRONTEND"
	                       : "BACKEND";
}

/* Shows no path of a unix socket, as HAProxy does not either. */
static void
put_server_address(struct field *out, const struct server *server)
{
	const struct addr *addr = server_addr(server);
	char text[ADDR_TEXT_SIZE];

	if (server_maps_port(server))
		field_text(out, server_address(server, text));
	else
		field_text(out, addr->sa.sa_family == AF_UNIX
		                    ? "unix"
		                    : addr_text(addr, text));
}

static const char *
frontend_pool(const struct frontend *frontend)
{
	return frontend->model->spec->pools[frontend->spec->pool].name;
}

/* Returns the sum of the servers' limits, if each server has one, but at most
 * the sessions that the process may have. */
static uint64_t
backend_sessions_max(const struct stat_row *row)
{
	const struct backend *backend = row->backend;
	uint64_t sum = 0;

	for (size_t i = 0; i < backend->spec->servers_n; i++) {
		if (server_maxconn(backend->servers[i]) == 0)
			return row->facts->sessions_max;
		sum += server_maxconn(backend->servers[i]);
	}
	return sum < row->facts->sessions_max ? sum : row->facts->sessions_max;
}

static uint64_t
frontend_sessions_max(const struct stat_row *row)
{
	uint32_t own = atomic_load_relaxed(&row->frontend->state->maxconn);

	return own < row->facts->sessions_max ? own : row->facts->sessions_max;
}

static void
put_sessions_limit(struct field *out, const struct stat_row *row)
{
	if (row->frontend)
		field_number(out, frontend_sessions_max(row));
	else if (row->backend)
		field_number(out, backend_sessions_max(row));
	else if (server_maxconn(row->server) > 0)
		field_number(out, server_maxconn(row->server));
}

static void
put_last_session(struct field *out, const struct rate *rate)
{
	if (rate->last_ms == 0)
		field_text(out, "-1");
	else
		field_number(out, (clock_now_ms() - rate->last_ms) / 1000);
}

static void
put_frontend_status(struct field *out, const struct stat_row *row)
{
	enum frontend_admin admin = row->frontend->state->admin;

	if (row->facts->stopping || admin == FRONTEND_SHUT)
		field_text(out, "STOP");
	else
		field_text(out, admin == FRONTEND_PAUSED ? "PAUSED" : "OPEN");
}

/* Shows the number of usable servers if the filter hides some. */
static void
put_backend_status(struct field *out, const struct stat_row *row)
{
	const struct backend *backend = row->backend;
	const char *state = backend->state->usable ? "UP" : "DOWN";

	field_text(out, state);
	if (row->servers_hidden)
		snprintf(out->text, sizeof(out->text), "%s (%u/%zu)", state,
		    backend->state->usable, backend->spec->servers_n);
}

static void
put_row_status(struct field *out, const struct stat_row *row)
{
	if (row->frontend) {
		put_frontend_status(out, row);
	} else if (row->backend) {
		put_backend_status(out, row);
	} else {
		out->present = true;
		server_status_text(row->server, out->text, sizeof(out->text));
	}
}

/* Returns the weight of a server, or for a backend the sum over the servers
 * that get sessions at present, as in HAProxy. */
static uint64_t
row_weight(const struct stat_row *row,
    unsigned (*weight_of)(const struct server *server))
{
	const struct lineup *l;
	uint64_t weight = 0;

	if (row->server)
		return weight_of(row->server);
	l = row->backend->state->lineup;
	for (uint32_t i = 0; i < l->servers_n; i++)
		weight += weight_of(l->servers[i]);
	return weight;
}

static unsigned
row_backups(const struct stat_row *row)
{
	return row->server
	           ? row->server->spec->backup
	           : row->backend->state->usable - row->backend->state->active;
}

static void
put_throttle(struct field *out, const struct server *server)
{
	unsigned percent = server_throttle(server);

	if (percent < 100)
		field_number(out, percent);
}

static uint64_t
backend_since_change_ms(const struct backend *backend)
{
	return clock_now_ms() - backend->state->changed_ms;
}

static uint64_t
row_since_change_s(const struct stat_row *row)
{
	return row->server ? server_since_change_s(row->server)
	                   : backend_since_change_ms(row->backend) / 1000;
}

static uint64_t
row_downtime_s(const struct stat_row *row)
{
	const struct backend *backend = row->backend;

	if (row->server)
		return server_downtime_s(row->server);
	return (backend->state->down_ms +
	           (backend->state->usable
	                   ? 0
	                   : backend_since_change_ms(backend))) /
	       1000;
}

/* Shows 0 only if a layer 7 check could get a code, as HAProxy does. */
static void
put_check_code(struct field *out, const struct check_result *result)
{
	switch (result->status) {
	case CHECK_STATUS_L7OK:
	case CHECK_STATUS_L7STS:
	case CHECK_STATUS_PROCERR:
	case CHECK_STATUS_PROCTOUT:
	case CHECK_STATUS_PROCOK:
		field_number(out, result->code);
		break;
	default:
		if (result->code)
			field_number(out, result->code);
	}
}

static void
put_check_duration(struct field *out, const struct check_result *result)
{
	if (result->status != CHECK_STATUS_INI)
		field_number(out, result->duration_ms);
}

static void
put_observed_failures(struct field *out, const struct server *server)
{
	if (server->backend->spec->observe != OBSERVE_OFF)
		field_number(out, server->state->passive.times_observed);
}

static unsigned
check_health(const struct server *server)
{
	const struct check_rules *check = &server->check;
	const struct server_state *state = server->state;

	return state->up ? check->rise + check->fall - 1 - state->streak
	                 : state->streak;
}

static unsigned
agent_health(const struct server *server)
{
	return server->state->agent_down ? 0 : AGENT_RISE + AGENT_FALL - 1;
}

static void
put_tracked(struct field *out, const struct server *tracked)
{
	out->present = true;
	snprintf(out->text, sizeof(out->text), "%s/%s",
	    tracked->backend->spec->name, tracked->spec->name);
}

static const struct bandwidth *
bandwidth_of_row(const struct stat_row *row)
{
	return row->frontend  ? &row->frontend->state->bandwidth
	       : row->backend ? &row->backend->state->bandwidth
	                      : &row->server->state->bandwidth;
}

static uint64_t
row_bandwidth(const struct stat_row *row, enum band_direction direction)
{
	return atomic_load_relaxed(
	    &bandwidth_of_row(row)->shared[direction].rate);
}

static uint64_t
row_session_bandwidth(const struct stat_row *row, enum band_direction direction)
{
	return atomic_load_relaxed(&bandwidth_of_row(row)->session[direction]);
}

static uint32_t
row_bandwidth_waiting(const struct stat_row *row)
{
	const struct bandwidth *b = bandwidth_of_row(row);

	return atomic_load_relaxed(&b->shared[BAND_IN].waiting) +
	       atomic_load_relaxed(&b->shared[BAND_OUT].waiting);
}

/* -- the columns -- */

#define F        ROW_FRONTEND
#define B        ROW_BACKEND
#define S        ROW_SERVER
#define FB       (F | B)
#define BS       (B | S)
#define FBS      (F | B | S)
#define CHECKED  ROW_CHECKED
#define AGENT    ROW_AGENT
#define TRACKING ROW_TRACKING

#define LOAD(word)                    atomic_load_relaxed(&(word))
#define FRONTEND(member)              (row->frontend->state->member)
#define SERVER(member)                (row->server->state->member)
#define BACKEND(member)               (row->backend->state->member)
#define EITHER(of_server, of_backend) (row->server ? (of_server) : (of_backend))
#define AVERAGE(timing)                                                        \
	(*EITHER(&SERVER(average[TIMING_##timing]),                            \
	    &BACKEND(average[TIMING_##timing])))

#define NOTHING        (void)out
#define NUMBER(n)      field_number(out, (n))
#define TEXT(text)     field_text(out, (text))
#define COUNTED(which) NUMBER(counters_sum(row->counters, COUNTER_##which))

#define METRIC(name)        .metric = (name)
#define METRIC_MS(name)     .metric = (name), .parts = 1000
#define OWN(name)           .metric = (name), .own = true
#define OWN_US(name)        .metric = (name), .own = true, .parts = 1000000
#define SERVER_METRIC(name) .server_metric = (name)
#define BACKEND_TAGS(tags)  .backend_tags = (tags)
#define ADDRESS             .address = true
#define NO_METRIC(reason)   .no_metric = (reason)
#define A_TEXT              NO_METRIC("a text")
#define AN_IDENTIFIER       NO_METRIC("an identifier, which labels replace")
#define A_RATE              NO_METRIC("Prometheus derives rates from totals")
#define A_SETTING           NO_METRIC("a setting does not change by itself")
#define STATES              NO_METRIC("one sample per state, see metrics.c")

#define X(id, tags, desc, rows, value, ...)                                    \
	static void stat_read_##id(                                            \
	    const struct stat_row *row, struct field *out)                     \
	{                                                                      \
		(void)row;                                                     \
		value;                                                         \
	}
HAPROXY_COLUMNS(X)
LFPROXY_COLUMNS(X)
#undef X

static void
stat_read_dash(const struct stat_row *row, struct field *out)
{
	(void)row;
	field_text(out, "-");
}

/* clang-format off */
const struct stat_column stat_columns[] = {
#define X(id, tags, desc, rows, value, ...)                                    \
	{#id, tags, desc, rows, stat_read_##id, __VA_ARGS__},
    HAPROXY_COLUMNS(X)
    {"-", "PGS:str", "the columns behind this one are not HAProxy's", FBS,
        stat_read_dash, NO_METRIC("not a value")},
    LFPROXY_COLUMNS(X)
#undef X
};
/* clang-format on */
const size_t stat_columns_n = sizeof(stat_columns) / sizeof(stat_columns[0]);

bool
stat_column_applies(const struct stat_column *column, unsigned kind)
{
	unsigned rows = column->rows;

	if (rows & (ROW_CHECKED | ROW_AGENT | ROW_TRACKING))
		rows |= ROW_SERVER;
	return rows & kind;
}

const char *
stat_column_metric(const struct stat_column *column, unsigned kind)
{
	const char *name = column->metric;

	if (kind == ROW_SERVER && column->server_metric)
		name = column->server_metric;
	return name && stat_column_applies(column, kind) ? name : NULL;
}

struct field
stat_column_read(const struct stat_column *column, const struct stat_row *row)
{
	struct field field = {.present = false, .text = ""};

	if ((column->rows & row->kind) &&
	    !(column->address && row->addresses_hidden))
		column->read(row, &field);
	return field;
}
