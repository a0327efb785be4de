/* SPDX-License-Identifier: MIT
 * See stat_columns.h.
 */
#include "stats/stat_columns.h"

#include <string.h>

#include "stats/stat_values.h"

static STAT_NUMBER(zero)
{
	(void)row;
	return 0;
}

static STAT_NUMBER(one)
{
	(void)row;
	return 1;
}

static STAT_TEXT(tcp)
{
	(void)row;
	return "tcp";
}

static STAT_TEXT(dash)
{
	(void)row;
	return "-";
}

static STAT_PUT(nothing)
{
	(void)out;
	(void)row;
}

#define F        ROW_FRONTEND
#define B        ROW_BACKEND
#define S        ROW_SERVER
#define FB       (F | B)
#define BS       (B | S)
#define FBS      (F | B | S)
#define CHECKED  ROW_CHECKED
#define AGENT    ROW_AGENT
#define TRACKING ROW_TRACKING

#define COUNTED(which) .counted = true, .counter = COUNTER_##which

/* Values per second. */
#define MS 1000
#define US 1000000

/* Reasons not to be a metric. */
#define TEXT       "a text"
#define IDENTIFIER "an identifier, which labels replace"
#define RATE       "Prometheus derives rates from totals"
#define SETTING    "a setting, which does not change by itself"
#define NOT_HERE   "lfproxy does not have the feature"
#define STATES     "a metric with one sample per state, see metrics.c"

/* clang-format off: a row each. */
const struct stat_column stat_columns[] = {
    {"pxname", "KNS:str", "name of the proxy", FBS, .text = stat_proxy,
        .no_metric = "it is the label proxy"},
    {"svname", "KNS:str", "name of the server, or FRONTEND or BACKEND", FBS,
        .text = stat_service, .no_metric = "it is the label server"},
    {"qcur", "MGP:u32", "sessions in the queue", BS, .number = stat_queued,
        .metric = "current_queue"},
    {"qmax", "MMP:u32", "maximum number of sessions in the queue", BS,
        .number = stat_queued_peak, .metric = "max_queue"},
    {"scur", "MGP:u32", "current sessions", FBS, .number = stat_sessions,
        .metric = "current_sessions"},
    {"smax", "MMP:u32", "maximum number of current sessions", FBS,
        .number = stat_sessions_peak, .metric = "max_sessions"},
    {"slim", "CLP:u32", "limit on current sessions", FBS,
        .put = stat_put_sessions_limit, .metric = "limit_sessions"},
    {"stot", "MCP:u64", "total number of sessions", FBS, COUNTED(SESSIONS),
        .metric = "sessions_total"},
    {"bin", "MCP:u64", "bytes received from clients", FBS, COUNTED(BYTES_IN),
        .metric = "bytes_in_total"},
    {"bout", "MCP:u64", "bytes sent to clients", FBS, COUNTED(BYTES_OUT),
        .metric = "bytes_out_total"},
    {"dreq", "MCP:u64", "connections refused by rules", FB, COUNTED(DENIED),
        .metric = "requests_denied_total"},
    {"dresp", "MCP:u64", "responses refused by rules", FBS, .number = zero,
        .metric = "responses_denied_total"},
    {"ereq", "MCP:u64", "sessions that the client aborted early", F,
        COUNTED(REQUEST_ERRORS), .metric = "request_errors_total"},
    {"econ", "MCP:u64", "sessions that could not be connected to a server", BS,
        COUNTED(CONNECT_ERRORS), .metric = "connection_errors_total"},
    {"eresp", "MCP:u64", "sessions that the server aborted", BS,
        COUNTED(RESPONSE_ERRORS), .metric = "response_errors_total"},
    {"wretr", "MCP:u64", "connects retried on the same server", BS,
        COUNTED(RETRIES), .metric = "retry_warnings_total"},
    {"wredis", "MCP:u64", "connects retried on another server", BS,
        COUNTED(REDISPATCHES), .metric = "redispatch_warnings_total"},
    {"status", "SGP:str", "state of the proxy or server", FBS,
        .put = stat_put_status, .no_metric = STATES},
    {"weight", "MaP:u32",
        "weight of the server, or the sum over usable servers", BS,
        .number = stat_effective_weight, .metric = "weight"},
    {"act", "SGP:u32",
        "usable servers that are not backups; 1 if a server is none", BS,
        .number = stat_active, .backend_tags = "MGP:u32",
        .metric = "active_servers", .server_metric = ""},
    {"bck", "SGP:u32", "1 if the server is a backup; usable backup servers", BS,
        .number = stat_backup, .backend_tags = "MGP:u32",
        .metric = "backup_servers", .server_metric = ""},
    {"chkfail", "MCP:u64", "failed checks while the server was up", CHECKED,
        .number = stat_checks_failed, .metric = "check_failures_total"},
    {"chkdown", "MCP:u64", "transitions to down", B | CHECKED,
        .number = stat_times_down, .metric = "check_up_down_total"},
    {"lastchg", "MAP:u32", "seconds since the last transition to up or down",
        BS, .number = stat_since_change_s,
        .metric = "check_last_change_seconds"},
    {"downtime", "MCP:u32", "total seconds of being down", B | CHECKED,
        .number = stat_downtime_s, .metric = "downtime_seconds_total"},
    {"qlimit", "CLS:u32", "limit on sessions in the server's queue", S,
        .put = nothing, .metric = "queue_limit"},
    {"pid", "KGP:u32", "number of the process, always 1", FBS, .number = one,
        .no_metric = IDENTIFIER},
    {"iid", "KGS:u32", "number of the proxy", FBS, .number = stat_iid,
        .no_metric = IDENTIFIER},
    {"sid", "KGS:u32", "number of the server in its backend", FBS,
        .number = stat_sid, .no_metric = IDENTIFIER},
    {"throttle", "MaP:u32", "percentage of the weight during slow start", S,
        .put = stat_put_throttle, .metric = "current_throttle"},
    {"lbtot", "MCP:u64", "times chosen by the balancing algorithm", BS,
        COUNTED(SELECTED), .metric = "loadbalanced_total"},
    {"tracked", "CNS:str", "server whose checks decide for this one", TRACKING,
        .put = stat_put_tracked, .no_metric = TEXT},
    {"type", "CGS:u32", "0 frontend, 1 backend, 2 server", FBS,
        .number = stat_row_type,
        .no_metric = "it is part of each metric's name"},
    {"rate", "MRP:u32", "sessions in the last second", FBS, .number = stat_rate,
        .backend_tags = "MGP:u32", .no_metric = RATE},
    {"rate_lim", "CLP:u32", "limit on sessions per second", F,
        .number = stat_rate_limit, .metric = "limit_session_rate"},
    {"rate_max", "MMP:u32", "maximum number of sessions per second", FBS,
        .number = stat_rate_peak, .backend_tags = "MGP:u32",
        .metric = "max_session_rate"},
    {"check_status", "MOP:str", "result of the last check", CHECKED,
        .text = stat_check_status, .no_metric = STATES},
    {"check_code", "MOP:u32", "status code of the last check", CHECKED,
        .put = stat_put_check_code, .metric = "check_code"},
    {"check_duration", "MDP:u64", "milliseconds that the last check took",
        CHECKED, .put = stat_put_check_duration,
        .metric = "check_duration_seconds", .parts = MS},
    {"hrsp_1xx", "MCP:u64", "HTTP responses with status 1xx", 0,
        .no_metric = NOT_HERE},
    {"hrsp_2xx", "MCP:u64", "HTTP responses with status 2xx", 0,
        .no_metric = NOT_HERE},
    {"hrsp_3xx", "MCP:u64", "HTTP responses with status 3xx", 0,
        .no_metric = NOT_HERE},
    {"hrsp_4xx", "MCP:u64", "HTTP responses with status 4xx", 0,
        .no_metric = NOT_HERE},
    {"hrsp_5xx", "MCP:u64", "HTTP responses with status 5xx", 0,
        .no_metric = NOT_HERE},
    {"hrsp_other", "MCP:u64", "HTTP responses with another status", 0,
        .no_metric = NOT_HERE},
    {"hanafail", "MCP:u64", "failures observed in traffic", CHECKED,
        .put = stat_put_observed_failures, .metric = "observed_failures_total",
        .own = true},
    {"req_rate", "MRP:u32", "HTTP requests in the last second", F,
        .number = zero, .no_metric = NOT_HERE},
    {"req_rate_max", "MMP:u32", "maximum number of HTTP requests per second", F,
        .number = zero, .no_metric = NOT_HERE},
    {"req_tot", "MCP:u64", "total number of HTTP requests", F, .number = zero,
        .no_metric = NOT_HERE},
    {"cli_abrt", "MCP:u64", "sessions aborted by the client", BS,
        COUNTED(CLIENT_ABORTS), .metric = "client_aborts_total"},
    {"srv_abrt", "MCP:u64", "open sessions aborted by the server", BS,
        COUNTED(SERVER_ABORTS), .metric = "server_aborts_total"},
    {"comp_in", "MCP:u64", "bytes given to compression", FB, .number = zero,
        .no_metric = NOT_HERE},
    {"comp_out", "MCP:u64", "bytes that compression produced", FB,
        .number = zero, .no_metric = NOT_HERE},
    {"comp_byp", "MCP:u64",
        "bytes not compressed because of CPU or bandwidth limits", FB,
        .number = zero, .no_metric = NOT_HERE},
    {"comp_rsp", "MCP:u64", "HTTP responses that were compressed", FB,
        .number = zero, .no_metric = NOT_HERE},
    {"lastsess", "MAP:s32", "seconds since the last session began, -1: never",
        BS, .put = stat_put_last_session, .metric = "last_session_seconds"},
    {"last_chk", "MOP:str", "text of the last check", CHECKED,
        .text = stat_check_text, .no_metric = TEXT},
    {"last_agt", "MOP:str", "text of the agent's last answer", AGENT,
        .text = stat_agent_text, .no_metric = TEXT},
    {"qtime", "MaP:u32", "milliseconds in the queue, average", BS,
        .number = stat_queue_ms, .metric = "queue_time_average_seconds",
        .parts = MS},
    {"ctime", "MaP:u32", "milliseconds to connect, average", BS,
        .number = stat_connect_ms, .metric = "connect_time_average_seconds",
        .parts = MS},
    {"rtime", "MaP:u32", "milliseconds to an HTTP response, average", BS,
        .number = zero, .metric = "response_time_average_seconds", .parts = MS},
    {"ttime", "MaP:u32", "milliseconds that sessions lasted, average", BS,
        .number = stat_session_ms, .metric = "total_time_average_seconds",
        .parts = MS},
    {"agent_status", "MOP:str", "result of the agent's last check", AGENT,
        .text = stat_agent_status, .no_metric = TEXT},
    {"agent_code", "MOP:u32", "number in the agent's last answer", AGENT,
        .put = stat_put_agent_code, .no_metric = "HAProxy's exporter lacks it"},
    {"agent_duration", "MDP:u64",
        "milliseconds that the agent's last check took", AGENT,
        .put = stat_put_agent_duration,
        .no_metric = "HAProxy's exporter lacks it"},
    {"check_desc", "MOP:str", "description of check_status", CHECKED,
        .text = stat_check_meaning, .no_metric = TEXT},
    {"agent_desc", "MOP:str", "description of agent_status", AGENT,
        .text = stat_agent_meaning, .no_metric = TEXT},
    {"check_rise", "CGS:u32",
        "successful checks in a row that bring the server up", CHECKED,
        .number = stat_check_rise, .no_metric = SETTING},
    {"check_fall", "CGS:u32",
        "failed checks in a row that take the server down", CHECKED,
        .number = stat_check_fall, .no_metric = SETTING},
    {"check_health", "CGS:u32",
        "0 to rise+fall-1; the server is up from rise on", CHECKED,
        .number = stat_check_health,
        .no_metric = "see check_status and status"},
    {"agent_rise", "CGS:u32", "agent answers that bring the server up", AGENT,
        .number = stat_agent_rise, .no_metric = SETTING},
    {"agent_fall", "CGS:u32", "agent answers that take the server down", AGENT,
        .number = stat_agent_fall, .no_metric = SETTING},
    {"agent_health", "CGS:u32", "0 to rise+fall-1 of the agent's checks", AGENT,
        .number = stat_agent_health, .no_metric = "see status"},
    {"addr", "CGS:str", "address and port", S, .put = stat_put_address,
        .address = true, .no_metric = TEXT},
    {"cookie", "CNS:str", "cookie of the server", 0, .no_metric = NOT_HERE},
    {"mode", "CGS:str", "tcp", FBS, .text = tcp, .no_metric = TEXT},
    {"algo", "CGS:str", "balancing algorithm", B, .text = stat_algorithm,
        .address = true, .no_metric = TEXT},
    {"conn_rate", "MRP:u32", "connections in the last second", F,
        .number = stat_rate, .no_metric = RATE},
    {"conn_rate_max", "MMP:u32", "maximum number of connections per second", F,
        .number = stat_rate_peak, .metric = "connections_rate_max"},
    {"conn_tot", "MCP:u64", "total number of connections", F, COUNTED(SESSIONS),
        .metric = "connections_total"},
    {"intercepted", "MCP:u64", "HTTP requests answered by the proxy itself", 0,
        .no_metric = NOT_HERE},
    {"dcon", "MCP:u64", "connections refused by rules", F, .number = zero,
        .metric = "denied_connections_total"},
    {"dses", "MCP:u64", "sessions refused by rules", F, .number = zero,
        .metric = "denied_sessions_total"},
    {"wrew", "MCP:u64", "headers that could not be rewritten", FBS,
        .number = zero, .no_metric = NOT_HERE},
    {"connect", "MCP:u64", "connect attempts", BS, COUNTED(CONNECTS),
        .metric = "connection_attempts_total"},
    {"reuse", "MCP:u64", "server connections used again", BS, .number = zero,
        .no_metric = NOT_HERE},
    {"cache_lookups", "MCP:u64", "cache lookups", 0, .no_metric = NOT_HERE},
    {"cache_hits", "MCP:u64", "cache hits", 0, .no_metric = NOT_HERE},
    {"srv_icur", "MGP:u32", "idle connections to the server", S, .number = zero,
        .no_metric = NOT_HERE},
    {"src_ilim", "CLP:u32", "limit on idle connections to the server", 0,
        .no_metric = NOT_HERE},
    {"qtime_max", "MMP:u32", "milliseconds in the queue, maximum", BS,
        .number = stat_queue_max_ms, .metric = "max_queue_time_seconds",
        .parts = MS},
    {"ctime_max", "MMP:u32", "milliseconds to connect, maximum", BS,
        .number = stat_connect_max_ms, .metric = "max_connect_time_seconds",
        .parts = MS},
    {"rtime_max", "MMP:u32", "milliseconds to an HTTP response, maximum", BS,
        .number = zero, .metric = "max_response_time_seconds", .parts = MS},
    {"ttime_max", "MMP:u32", "milliseconds that a session lasted, maximum", BS,
        .number = stat_session_max_ms, .metric = "max_total_time_seconds",
        .parts = MS},
    {"eint", "MCP:u64", "sessions ended by resource exhaustion", FBS,
        COUNTED(INTERNAL_ERRORS), .metric = "internal_errors_total"},
    {"idle_conn_cur", "MGP:u32", "unsafe idle connections", S, .number = zero,
        .no_metric = NOT_HERE},
    {"safe_conn_cur", "MGP:u32", "safe idle connections", S, .number = zero,
        .no_metric = NOT_HERE},
    {"used_conn_cur", "MGP:u32", "connections to the server in use", S,
        .number = stat_sessions, .no_metric = "same as current_sessions"},
    {"need_conn_est", "MGP:u32", "estimated number of connections needed", S,
        .number = stat_sessions, .no_metric = "same as current_sessions"},
    {"uweight", "MaP:u32", "configured weight, without slow start", BS,
        .number = stat_weight, .metric = "uweight"},
    {"agg_server_status", "MGP:u32", "servers of the backend in each state", B,
        .number = zero, .no_metric = STATES},
    {"agg_server_check_status", "MGP:u32",
        "servers of the backend in each state, old name", B, .number = zero,
        .no_metric = "same as agg_server_status"},
    {"agg_check_status", "MGP:u32", "servers of the backend by check result", B,
        .number = zero, .no_metric = "see check_status of the servers"},
    {"-", "PGS:str", "the columns behind this one are not HAProxy's", FBS,
        .text = dash, .no_metric = "not a value"},
    {"lf_pool", "CNS:str", "thread pool that serves the frontend", F,
        .text = stat_pool, .no_metric = TEXT},
    {"lf_usable", "SGP:u32",
        "1 if the server takes new sessions; servers that do", BS,
        .number = stat_usable, .metric = "usable_servers",
        .server_metric = "usable", .own = true},
    {"lf_admin", "SGP:str", "administrative state: ready, drain or maint", S,
        .text = stat_admin, .no_metric = STATES},
    {"lf_connect_us", "MaP:u32",
        "microseconds to connect, moving average with peaks", S,
        .number = stat_connect_us, .metric = "connect_time_seconds",
        .own = true, .parts = US},
    {"lf_panic", "SGP:u32", "1 if servers that are down are tried as well", B,
        .number = stat_panic, .metric = "panic", .own = true},
    {"lf_ejections", "MCP:u64", "times the server was ejected", S,
        .number = stat_ejections, .metric = "ejections_total", .own = true},
    {"lf_queue_refused", "MCP:u64",
        "sessions refused because the queue was full", B, COUNTED(QUEUE_FULL),
        .metric = "queue_refused_total", .own = true},
    {"lf_retries_refused", "MCP:u64", "retries refused by the retry budget", B,
        COUNTED(RETRIES_REFUSED), .metric = "retries_refused_total",
        .own = true},
    {"lf_retries", "MGP:u32", "retries in progress", B, .number = stat_retries,
        .metric = "current_retries", .own = true},
    {"lf_retries_max", "MMP:u32", "maximum number of retries in progress", B,
        .number = stat_retries_peak, .metric = "max_retries", .own = true},
    {"lf_retries_limit", "CLP:u32",
        "retries that the budget permits at present", B,
        .number = stat_retries_limit, .metric = "limit_retries", .own = true},
    {"lf_hellos", "MCP:u64", "TLS ClientHellos received", F, COUNTED(HELLOS),
        .metric = "tls_hellos_total", .own = true},
    {"lf_not_tls", "MCP:u64",
        "sessions that did not begin with a TLS ClientHello", F,
        COUNTED(NOT_TLS), .metric = "not_tls_total", .own = true},
    {"lf_hello_timeouts", "MCP:u64",
        "sessions without a complete TLS ClientHello in time", F,
        COUNTED(HELLO_TIMEOUTS), .metric = "tls_hello_timeouts_total",
        .own = true},
    {"lf_proxy_headers", "MCP:u64", "PROXY headers received", F,
        COUNTED(PROXY_HEADERS), .metric = "proxy_headers_total", .own = true},
    {"lf_proxy_errors", "MCP:u64", "sessions without the required PROXY header",
        F, COUNTED(PROXY_ERRORS), .metric = "proxy_header_errors_total",
        .own = true},
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
	return name && name[0] && stat_column_applies(column, kind) ? name
	                                                            : NULL;
}

struct field
stat_column_read(const struct stat_column *column, const struct stat_row *row)
{
	struct field field = {.present = false, .text = ""};

	if (!(column->rows & row->kind) ||
	    (column->address && row->addresses_hidden))
		return field;
	if (column->counted)
		field_number(
		    &field, counters_sum(row->counters, column->counter));
	else if (column->number)
		field_number(&field, column->number(row));
	else if (column->text)
		field_text(&field, column->text(row));
	else
		column->put(&field, row);
	return field;
}

struct stat_row
stat_row_of_frontend(const struct frontend *frontend)
{
	return (struct stat_row){
	    .frontend = frontend,
	    .kind = ROW_FRONTEND,
	    .iid = frontend->id,
	    .proxy = frontend->spec->name,
	    .counters = frontend->counters,
	    .sessions = frontend->sessions,
	    .rate = &frontend->state->rate,
	};
}

struct stat_row
stat_row_of_backend(const struct backend *backend)
{
	return (struct stat_row){
	    .backend = backend,
	    .kind = ROW_BACKEND,
	    .iid = backend->id,
	    .proxy = backend->spec->name,
	    .counters = backend->counters,
	    .sessions = backend->sessions,
	    .rate = &backend->state->rate,
	};
}

struct stat_row
stat_row_of_server(const struct server *server)
{
	const struct backend *backend = server->backend;
	struct stat_row row = {
	    .server = server,
	    .kind = ROW_SERVER,
	    .iid = backend->id,
	    .proxy = backend->spec->name,
	    .counters = server->counters,
	    .sessions = server->sessions,
	    .rate = &server->state->rate,
	};

	/* Paused checks are not shown, as in HAProxy. */
	if (server->check.on && !server->state->overrides.check_paused)
		row.kind |= ROW_CHECKED;
	if (server->agent.on && !server->state->overrides.agent_paused)
		row.kind |= ROW_AGENT;
	if (server->tracked)
		row.kind |= ROW_TRACKING;
	return row;
}
