/* SPDX-License-Identifier: MIT
 * See stat_columns.h.
 */
#include "stats/stat_columns.h"

#include <inttypes.h>
#include <string.h>

#include "stats/field.h"
#include "stats/stat_names.h"
#include "stats/stat_put.h"
#include "base/clock.h"

struct column {
	unsigned kinds; /* rows that have a value, ROW_ bits */
	void (*put)(struct field *out, const struct stat_row *row,
	    enum counter counter);
	enum counter counter;
};

#define COLUMN(name) static STAT_PUT(name)

COLUMN(put_counter)
{
	field_number(out, counters_sum(row->counters, counter));
}

/* Things that can be counted and do not happen: nothing is denied, and nothing
 * queues at a single server. */
COLUMN(put_zero)
{
	UNUSED();
	field_number(out, 0);
}

COLUMN(put_dash)
{
	UNUSED();
	field_text(out, "-");
}

COLUMN(put_proxy)
{
	UNUSED();
	field_text(out, row->proxy);
}

COLUMN(put_service)
{
	UNUSED();
	field_text(out, row->server     ? row->server->spec->name
	                : row->frontend ? "FRONTEND"
	                                : "BACKEND");
}

COLUMN(put_sessions_now)
{
	UNUSED();
	field_number(out, atomic_load_relaxed(&row->sessions->now));
}

COLUMN(put_sessions_peak)
{
	UNUSED();
	field_number(out, atomic_load_relaxed(&row->sessions->peak));
}

COLUMN(put_queued_now)
{
	UNUSED();
	field_number(out,
	    row->server
	        ? 0
	        : atomic_load_relaxed(&row->backend->state->queue.waiting.now));
}

COLUMN(put_queued_peak)
{
	UNUSED();
	field_number(out, row->server
	                      ? 0
	                      : atomic_load_relaxed(
	                            &row->backend->state->queue.waiting.peak));
}

/* What its servers take, if each has a limit. */
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
frontend_limit(const struct stat_row *row)
{
	uint32_t own = atomic_load_relaxed(&row->frontend->state->maxconn);

	return own < row->facts->sessions_max ? own : row->facts->sessions_max;
}

COLUMN(put_sessions_max)
{
	UNUSED();
	if (row->server) {
		if (server_maxconn(row->server) > 0)
			field_number(out, server_maxconn(row->server));
	} else {
		field_number(out, row->frontend ? frontend_limit(row)
		                                : backend_sessions_max(row));
	}
}

COLUMN(put_rate_limit)
{
	UNUSED();
	field_number(
	    out, atomic_load_relaxed(&row->frontend->state->rate_limit));
}

COLUMN(put_process)
{
	UNUSED();
	field_number(out, 1);
}

COLUMN(put_iid)
{
	UNUSED();
	field_number(out, row->iid);
}

COLUMN(put_sid)
{
	UNUSED();
	field_number(out, row->server ? row->server->id : 0);
}

COLUMN(put_type)
{
	UNUSED();
	field_number(out, row->frontend ? 0 : row->backend ? 1 : 2);
}

COLUMN(put_rate)
{
	UNUSED();
	field_number(out, row->rate->per_second);
}

COLUMN(put_rate_peak)
{
	UNUSED();
	field_number(out, row->rate->peak);
}

/* HAProxy does not show a unix socket's path either. */
COLUMN(put_address)
{
	const struct addr *addr = server_addr(row->server);
	char text[ADDR_TEXT_SIZE];

	UNUSED();
	field_text(out,
	    addr->sa.sa_family == AF_UNIX ? "unix" : addr_text(addr, text));
}

COLUMN(put_mode)
{
	UNUSED();
	field_text(out, "tcp");
}

COLUMN(put_algorithm)
{
	UNUSED();
	field_text(out, row->backend->spec->balance->name);
}

COLUMN(put_last_session)
{
	UNUSED();
	if (row->rate->last_ms == 0) {
		field_text(out, "-1");
		return;
	}
	field_number(out, (clock_now_ms() - row->rate->last_ms) / 1000);
}

#define TIMING_COLUMNS(name, timing)                                           \
	COLUMN(put_##name##_ms)                                                \
	{                                                                      \
		UNUSED();                                                      \
		field_number(out, timing_average_ms(average_of(row, timing))); \
	}                                                                      \
	COLUMN(put_##name##_max_ms)                                            \
	{                                                                      \
		UNUSED();                                                      \
		field_number(out,                                              \
		    atomic_load_relaxed(&average_of(row, timing)->max_ms));    \
	}

static const struct timing_average *
average_of(const struct stat_row *row, enum timing which)
{
	return row->server ? &row->server->state->average[which]
	                   : &row->backend->state->average[which];
}

TIMING_COLUMNS(queue, TIMING_QUEUE)
TIMING_COLUMNS(connect, TIMING_CONNECT)
TIMING_COLUMNS(session, TIMING_SESSION)

COLUMN(put_retries)
{
	UNUSED();
	field_number(
	    out, atomic_load_relaxed(&row->backend->state->retries.now));
}

COLUMN(put_retries_peak)
{
	UNUSED();
	field_number(
	    out, atomic_load_relaxed(&row->backend->state->retries.peak));
}

COLUMN(put_retries_limit)
{
	UNUSED();
	field_number(out, backend_retries_limit(row->backend));
}

COLUMN(put_connect_us)
{
	UNUSED();
	field_number(
	    out, server_connect_us(row->server->state, clock_now_ms()));
}

COLUMN(put_pool)
{
	const struct spec *spec = row->frontend->model->spec;

	UNUSED();
	field_text(out, spec->pools[row->frontend->spec->pool].name);
}

/* clang-format off: a line each. */
static const struct column columns[STAT_NAMES] = {
    [STAT_pxname] = {ROW_ALL, put_proxy, 0},
    [STAT_svname] = {ROW_ALL, put_service, 0},
    [STAT_qcur] = {ROW_BACKEND | ROW_SERVER, put_queued_now, 0},
    [STAT_qmax] = {ROW_BACKEND | ROW_SERVER, put_queued_peak, 0},
    [STAT_scur] = {ROW_ALL, put_sessions_now, 0},
    [STAT_smax] = {ROW_ALL, put_sessions_peak, 0},
    [STAT_slim] = {ROW_ALL, put_sessions_max, 0},
    [STAT_stot] = {ROW_ALL, put_counter, COUNTER_SESSIONS},
    [STAT_bin] = {ROW_ALL, put_counter, COUNTER_BYTES_IN},
    [STAT_bout] = {ROW_ALL, put_counter, COUNTER_BYTES_OUT},
    [STAT_dreq] = {ROW_FRONTEND | ROW_BACKEND, put_counter, COUNTER_DENIED},
    [STAT_dresp] = {ROW_ALL, put_zero, 0},
    [STAT_ereq] = {ROW_FRONTEND, put_counter, COUNTER_REQUEST_ERRORS},
    [STAT_econ] = {ROW_BACKEND | ROW_SERVER, put_counter,
        COUNTER_CONNECT_ERRORS},
    [STAT_eresp] = {ROW_BACKEND | ROW_SERVER, put_counter,
        COUNTER_RESPONSE_ERRORS},
    [STAT_wretr] = {ROW_BACKEND | ROW_SERVER, put_counter, COUNTER_RETRIES},
    [STAT_wredis] = {ROW_BACKEND | ROW_SERVER, put_counter,
        COUNTER_REDISPATCHES},
    [STAT_status] = {ROW_ALL, stat_put_status, 0},
    [STAT_weight] = {ROW_BACKEND | ROW_SERVER, stat_put_weight, 0},
    [STAT_act] = {ROW_BACKEND | ROW_SERVER, stat_put_active, 0},
    [STAT_bck] = {ROW_BACKEND | ROW_SERVER, stat_put_backup, 0},
    [STAT_chkfail] = {ROW_CHECKED, stat_put_checks_failed, 0},
    [STAT_chkdown] = {ROW_BACKEND | ROW_CHECKED, stat_put_times_down, 0},
    [STAT_lastchg] = {ROW_BACKEND | ROW_SERVER, stat_put_since_change, 0},
    [STAT_downtime] = {ROW_BACKEND | ROW_CHECKED, stat_put_downtime, 0},
    [STAT_pid] = {ROW_ALL, put_process, 0},
    [STAT_iid] = {ROW_ALL, put_iid, 0},
    [STAT_sid] = {ROW_ALL, put_sid, 0},
    [STAT_throttle] = {ROW_SERVER, stat_put_throttle, 0},
    [STAT_lbtot] = {ROW_BACKEND | ROW_SERVER, put_counter, COUNTER_SELECTED},
    [STAT_tracked] = {ROW_TRACKING, stat_put_tracked, 0},
    [STAT_type] = {ROW_ALL, put_type, 0},
    [STAT_rate] = {ROW_ALL, put_rate, 0},
    [STAT_rate_lim] = {ROW_FRONTEND, put_rate_limit, 0},
    [STAT_rate_max] = {ROW_ALL, put_rate_peak, 0},
    [STAT_check_status] = {ROW_CHECKED, stat_put_check_status, 0},
    [STAT_check_code] = {ROW_CHECKED, stat_put_check_code, 0},
    [STAT_check_duration] = {ROW_CHECKED, stat_put_check_duration, 0},
    [STAT_hanafail] = {ROW_CHECKED, stat_put_observed, 0},
    [STAT_req_rate] = {ROW_FRONTEND, put_zero, 0},
    [STAT_req_rate_max] = {ROW_FRONTEND, put_zero, 0},
    [STAT_req_tot] = {ROW_FRONTEND, put_zero, 0},
    [STAT_cli_abrt] = {ROW_BACKEND | ROW_SERVER, put_counter,
        COUNTER_CLIENT_ABORTS},
    [STAT_srv_abrt] = {ROW_BACKEND | ROW_SERVER, put_counter,
        COUNTER_SERVER_ABORTS},
    [STAT_comp_in] = {ROW_FRONTEND | ROW_BACKEND, put_zero, 0},
    [STAT_comp_out] = {ROW_FRONTEND | ROW_BACKEND, put_zero, 0},
    [STAT_comp_byp] = {ROW_FRONTEND | ROW_BACKEND, put_zero, 0},
    [STAT_comp_rsp] = {ROW_FRONTEND | ROW_BACKEND, put_zero, 0},
    [STAT_lastsess] = {ROW_BACKEND | ROW_SERVER, put_last_session, 0},
    [STAT_last_chk] = {ROW_CHECKED, stat_put_check_text, 0},
    [STAT_last_agt] = {ROW_AGENT, stat_put_agent_text, 0},
    [STAT_qtime] = {ROW_BACKEND | ROW_SERVER, put_queue_ms, 0},
    [STAT_ctime] = {ROW_BACKEND | ROW_SERVER, put_connect_ms, 0},
    [STAT_rtime] = {ROW_BACKEND | ROW_SERVER, put_zero, 0},
    [STAT_ttime] = {ROW_BACKEND | ROW_SERVER, put_session_ms, 0},
    [STAT_agent_status] = {ROW_AGENT, stat_put_agent_status, 0},
    [STAT_agent_code] = {ROW_AGENT, stat_put_agent_code, 0},
    [STAT_agent_duration] = {ROW_AGENT, stat_put_agent_duration, 0},
    [STAT_check_desc] = {ROW_CHECKED, stat_put_check_meaning, 0},
    [STAT_agent_desc] = {ROW_AGENT, stat_put_agent_meaning, 0},
    [STAT_check_rise] = {ROW_CHECKED, stat_put_rise, 0},
    [STAT_check_fall] = {ROW_CHECKED, stat_put_fall, 0},
    [STAT_check_health] = {ROW_CHECKED, stat_put_health, 0},
    [STAT_agent_rise] = {ROW_AGENT, stat_put_agent_rise, 0},
    [STAT_agent_fall] = {ROW_AGENT, stat_put_agent_fall, 0},
    [STAT_agent_health] = {ROW_AGENT, stat_put_agent_health, 0},
    [STAT_addr] = {ROW_SERVER, put_address, 0},
    [STAT_mode] = {ROW_ALL, put_mode, 0},
    [STAT_algo] = {ROW_BACKEND, put_algorithm, 0},
    [STAT_conn_rate] = {ROW_FRONTEND, put_rate, 0},
    [STAT_conn_rate_max] = {ROW_FRONTEND, put_rate_peak, 0},
    [STAT_conn_tot] = {ROW_FRONTEND, put_counter, COUNTER_SESSIONS},
    [STAT_dcon] = {ROW_FRONTEND, put_zero, 0},
    [STAT_dses] = {ROW_FRONTEND, put_zero, 0},
    [STAT_wrew] = {ROW_ALL, put_zero, 0},
    [STAT_connect] = {ROW_BACKEND | ROW_SERVER, put_counter, COUNTER_CONNECTS},
    [STAT_reuse] = {ROW_BACKEND | ROW_SERVER, put_zero, 0},
    [STAT_srv_icur] = {ROW_SERVER, put_zero, 0},
    [STAT_qtime_max] = {ROW_BACKEND | ROW_SERVER, put_queue_max_ms, 0},
    [STAT_ctime_max] = {ROW_BACKEND | ROW_SERVER, put_connect_max_ms, 0},
    [STAT_rtime_max] = {ROW_BACKEND | ROW_SERVER, put_zero, 0},
    [STAT_ttime_max] = {ROW_BACKEND | ROW_SERVER, put_session_max_ms, 0},
    [STAT_eint] = {ROW_ALL, put_counter, COUNTER_INTERNAL_ERRORS},
    [STAT_idle_conn_cur] = {ROW_SERVER, put_zero, 0},
    [STAT_safe_conn_cur] = {ROW_SERVER, put_zero, 0},
    [STAT_used_conn_cur] = {ROW_SERVER, put_sessions_now, 0},
    [STAT_need_conn_est] = {ROW_SERVER, put_sessions_now, 0},
    [STAT_uweight] = {ROW_BACKEND | ROW_SERVER, stat_put_user_weight, 0},
    [STAT_agg_server_status] = {ROW_BACKEND, put_zero, 0},
    [STAT_agg_server_check_status] = {ROW_BACKEND, put_zero, 0},
    [STAT_agg_check_status] = {ROW_BACKEND, put_zero, 0},
    [STAT_dash] = {ROW_ALL, put_dash, 0},
    [STAT_lf_pool] = {ROW_FRONTEND, put_pool, 0},
    [STAT_lf_usable] = {ROW_BACKEND | ROW_SERVER, stat_put_usable, 0},
    [STAT_lf_admin] = {ROW_SERVER, stat_put_admin, 0},
    [STAT_lf_connect_us] = {ROW_SERVER, put_connect_us, 0},
    [STAT_lf_panic] = {ROW_BACKEND, stat_put_panic, 0},
    [STAT_lf_ejections] = {ROW_SERVER, stat_put_ejections, 0},
    [STAT_lf_queue_refused] = {ROW_BACKEND, put_counter, COUNTER_QUEUE_FULL},
    [STAT_lf_retries] = {ROW_BACKEND, put_retries, 0},
    [STAT_lf_retries_max] = {ROW_BACKEND, put_retries_peak, 0},
    [STAT_lf_retries_limit] = {ROW_BACKEND, put_retries_limit, 0},
    [STAT_lf_retries_refused] = {ROW_BACKEND, put_counter,
        COUNTER_RETRIES_REFUSED},
    [STAT_lf_hellos] = {ROW_FRONTEND, put_counter, COUNTER_HELLOS},
    [STAT_lf_not_tls] = {ROW_FRONTEND, put_counter, COUNTER_NOT_TLS},
    [STAT_lf_hello_timeouts] = {ROW_FRONTEND, put_counter,
        COUNTER_HELLO_TIMEOUTS},
    [STAT_lf_proxy_headers] = {ROW_FRONTEND, put_counter,
        COUNTER_PROXY_HEADERS},
    [STAT_lf_proxy_errors] = {ROW_FRONTEND, put_counter, COUNTER_PROXY_ERRORS},
};
/* clang-format on */

unsigned
stat_columns_kinds(enum stat_name which)
{
	return columns[which].kinds;
}

struct field
stat_columns_read(enum stat_name i, const struct stat_row *row)
{
	struct field field = {.present = false, .text = ""};

	if (row->no_places && (i == STAT_addr || i == STAT_algo))
		return field;
	if (columns[i].kinds & row->kind)
		columns[i].put(&field, row, columns[i].counter);
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

	/* As HAProxy has it, what is paused is not shown. */
	if (server->check.on && !server->state->operator.check_paused)
		row.kind |= ROW_CHECKED;
	if (server->agent.on && !server->state->operator.agent_paused)
		row.kind |= ROW_AGENT;
	if (server->tracked)
		row.kind |= ROW_TRACKING;
	return row;
}
