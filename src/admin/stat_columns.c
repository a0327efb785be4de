/* SPDX-License-Identifier: MIT
 * See stat_columns.h.
 */
#include "admin/stat_columns.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"

struct column {
	const char *name;
	unsigned kinds; /* rows that have a value, ROW_ bits */
	void (*put)(
	    FILE *out, const struct stat_row *row, enum counter counter);
	enum counter counter;
};

/* Quoted where HAProxy quotes (RFC 4180). */
static void
put_text(FILE *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

static void
put_number(FILE *out, uint64_t n)
{
	fprintf(out, "%" PRIu64, n);
}

#define COLUMN(name)                                                           \
	static void name(                                                      \
	    FILE *out, const struct stat_row *row, enum counter counter)
#define UNUSED() ((void)row, (void)counter)

COLUMN(put_counter)
{
	put_number(out, counters_sum(row->counters, counter));
}

/* Things that can be counted and do not happen: nothing queues and nothing is
 * denied. */
COLUMN(put_zero)
{
	UNUSED();
	putc('0', out);
}

COLUMN(put_dash)
{
	UNUSED();
	putc('-', out);
}

COLUMN(put_proxy)
{
	UNUSED();
	put_text(out, row->proxy);
}

COLUMN(put_service)
{
	UNUSED();
	put_text(out, row->server     ? row->server->spec->name
	              : row->frontend ? "FRONTEND"
	                              : "BACKEND");
}

COLUMN(put_sessions_now)
{
	UNUSED();
	put_number(out, atomic_load_relaxed(&row->sessions->now));
}

COLUMN(put_sessions_peak)
{
	UNUSED();
	put_number(out, atomic_load_relaxed(&row->sessions->peak));
}

COLUMN(put_sessions_max)
{
	UNUSED();
	put_number(out, row->facts->sessions_max);
}

/* `UP 2/3` is up with two more failures to go, `DOWN 1/2` is down with one
 * success of two. */
static void
put_server_status(FILE *out, const struct server *server)
{
	const struct check_spec *check = &server->backend->spec->check;

	if (check->kind == CHECK_OFF)
		fputs("no check", out);
	else if (server->up && server->streak)
		fprintf(
		    out, "UP %u/%u", check->fall - server->streak, check->fall);
	else if (server->up)
		fputs("UP", out);
	else if (server->streak)
		fprintf(out, "DOWN %u/%u", server->streak, check->rise);
	else
		fputs("DOWN", out);
}

COLUMN(put_status)
{
	UNUSED();
	if (row->frontend)
		fputs(row->facts->stopping ? "STOP" : "OPEN", out);
	else if (row->backend)
		fputs(row->backend->usable ? "UP" : "DOWN", out);
	else
		put_server_status(out, row->server);
}

static uint64_t
backend_weight(const struct backend *backend)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < backend->spec->servers_n; i++) {
		if (atomic_load_relaxed(&backend->servers[i]->up))
			weight += backend->servers[i]->spec->weight;
	}
	return weight;
}

COLUMN(put_weight)
{
	UNUSED();
	put_number(out, row->server ? row->server->spec->weight
	                            : backend_weight(row->backend));
}

COLUMN(put_active)
{
	UNUSED();
	put_number(out, row->server ? 1 : row->backend->usable);
}

COLUMN(put_checks_failed)
{
	UNUSED();
	put_number(out, row->server->checks_failed);
}

COLUMN(put_times_down)
{
	UNUSED();
	put_number(out,
	    row->server ? row->server->times_down : row->backend->times_down);
}

static uint64_t
backend_since_change_ms(const struct backend *backend)
{
	return clock_now_ms() - backend->changed_ms;
}

COLUMN(put_since_change)
{
	UNUSED();
	put_number(out, row->server
	                    ? server_since_change_s(row->server)
	                    : backend_since_change_ms(row->backend) / 1000);
}

COLUMN(put_downtime)
{
	const struct backend *backend = row->backend;

	UNUSED();
	if (row->server)
		put_number(out, server_downtime_s(row->server));
	else if (backend->usable)
		put_number(out, backend->down_ms / 1000);
	else
		put_number(
		    out, (backend->down_ms + backend_since_change_ms(backend)) /
		             1000);
}

COLUMN(put_process)
{
	UNUSED();
	putc('1', out);
}

COLUMN(put_iid)
{
	UNUSED();
	put_number(out, row->iid);
}

COLUMN(put_sid)
{
	UNUSED();
	put_number(out, row->server ? row->server->id : 0);
}

COLUMN(put_type)
{
	UNUSED();
	putc(row->frontend ? '0' : row->backend ? '1' : '2', out);
}

COLUMN(put_rate)
{
	UNUSED();
	put_number(out, row->rate->per_second);
}

COLUMN(put_rate_peak)
{
	UNUSED();
	put_number(out, row->rate->peak);
}

COLUMN(put_check_status)
{
	UNUSED();
	fputs(check_status_name(row->server->last.status), out);
}

COLUMN(put_check_code)
{
	UNUSED();
	if (row->server->last.code)
		put_number(out, row->server->last.code);
}

COLUMN(put_check_duration)
{
	UNUSED();
	if (row->server->last.status != CHECK_STATUS_INI)
		put_number(out, row->server->last.duration_ms);
}

COLUMN(put_check_text)
{
	UNUSED();
	put_text(out, row->server->last.text);
}

/* HAProxy's words. */
COLUMN(put_check_meaning)
{
	static const char *const meanings[] = {
	    [CHECK_STATUS_NONE] = "",
	    [CHECK_STATUS_INI] = "Initializing",
	    [CHECK_STATUS_SOCKERR] = "Socket error",
	    [CHECK_STATUS_L4OK] = "Layer4 check passed",
	    [CHECK_STATUS_L4TOUT] = "Layer4 timeout",
	    [CHECK_STATUS_L4CON] = "Layer4 connection problem",
	    [CHECK_STATUS_L6RSP] = "Layer6 invalid response",
	    [CHECK_STATUS_L6TOUT] = "Layer6 timeout",
	    [CHECK_STATUS_L7OK] = "Layer7 check passed",
	    [CHECK_STATUS_L7TOUT] = "Layer7 timeout",
	    [CHECK_STATUS_L7RSP] = "Layer7 invalid response",
	    [CHECK_STATUS_L7STS] = "Layer7 wrong status",
	};

	UNUSED();
	fputs(meanings[row->server->last.status], out);
}

COLUMN(put_rise)
{
	UNUSED();
	put_number(out, row->server->backend->spec->check.rise);
}

COLUMN(put_fall)
{
	UNUSED();
	put_number(out, row->server->backend->spec->check.fall);
}

/* 0 to rise - 1 is down, rise to rise + fall - 1 is up. */
COLUMN(put_health)
{
	const struct server *server = row->server;
	const struct check_spec *check = &server->backend->spec->check;

	UNUSED();
	put_number(out, server->up
	                    ? check->rise + check->fall - 1 - server->streak
	                    : server->streak);
}

/* HAProxy does not show a unix socket's path either. */
COLUMN(put_address)
{
	const struct addr *addr = &row->server->spec->addr;
	char text[ADDR_TEXT_SIZE];

	UNUSED();
	put_text(out,
	    addr->sa.sa_family == AF_UNIX ? "unix" : addr_text(addr, text));
}

COLUMN(put_mode)
{
	UNUSED();
	fputs("tcp", out);
}

COLUMN(put_algorithm)
{
	UNUSED();
	switch (row->backend->spec->balance) {
	case BALANCE_ROUNDROBIN:
		fputs("roundrobin", out);
		break;
	}
}

/* clang-format off: a line each. */
static const struct column columns[] = {
    {"pxname", ROW_ALL, put_proxy, 0},
    {"svname", ROW_ALL, put_service, 0},
    {"qcur", ROW_BACKEND | ROW_SERVER, put_zero, 0},
    {"qmax", ROW_BACKEND | ROW_SERVER, put_zero, 0},
    {"scur", ROW_ALL, put_sessions_now, 0},
    {"smax", ROW_ALL, put_sessions_peak, 0},
    {"slim", ROW_FRONTEND, put_sessions_max, 0},
    {"stot", ROW_ALL, put_counter, COUNTER_SESSIONS},
    {"bin", ROW_ALL, put_counter, COUNTER_BYTES_IN},
    {"bout", ROW_ALL, put_counter, COUNTER_BYTES_OUT},
    {"dreq", ROW_FRONTEND | ROW_BACKEND, put_zero, 0},
    {"dresp", ROW_ALL, put_zero, 0},
    {"ereq", ROW_FRONTEND, put_counter, COUNTER_REQUEST_ERRORS},
    {"econ", ROW_BACKEND | ROW_SERVER, put_counter, COUNTER_CONNECT_ERRORS},
    {"eresp", ROW_BACKEND | ROW_SERVER, put_counter, COUNTER_RESPONSE_ERRORS},
    {"wretr", ROW_BACKEND | ROW_SERVER, put_counter, COUNTER_RETRIES},
    {"wredis", ROW_BACKEND | ROW_SERVER, put_counter, COUNTER_REDISPATCHES},
    {"status", ROW_ALL, put_status, 0},
    {"weight", ROW_BACKEND | ROW_SERVER, put_weight, 0},
    {"act", ROW_BACKEND | ROW_SERVER, put_active, 0},
    {"bck", ROW_BACKEND | ROW_SERVER, put_zero, 0},
    {"chkfail", ROW_CHECKED, put_checks_failed, 0},
    {"chkdown", ROW_BACKEND | ROW_CHECKED, put_times_down, 0},
    {"lastchg", ROW_BACKEND | ROW_SERVER, put_since_change, 0},
    {"downtime", ROW_BACKEND | ROW_CHECKED, put_downtime, 0},
    {"qlimit", 0, NULL, 0},
    {"pid", ROW_ALL, put_process, 0},
    {"iid", ROW_ALL, put_iid, 0},
    {"sid", ROW_ALL, put_sid, 0},
    {"throttle", 0, NULL, 0},
    {"lbtot", ROW_BACKEND | ROW_SERVER, put_counter, COUNTER_SELECTED},
    {"tracked", 0, NULL, 0},
    {"type", ROW_ALL, put_type, 0},
    {"rate", ROW_ALL, put_rate, 0},
    {"rate_lim", ROW_FRONTEND, put_zero, 0},
    {"rate_max", ROW_ALL, put_rate_peak, 0},
    {"check_status", ROW_CHECKED, put_check_status, 0},
    {"check_code", ROW_CHECKED, put_check_code, 0},
    {"check_duration", ROW_CHECKED, put_check_duration, 0},
    {"hrsp_1xx", 0, NULL, 0},
    {"hrsp_2xx", 0, NULL, 0},
    {"hrsp_3xx", 0, NULL, 0},
    {"hrsp_4xx", 0, NULL, 0},
    {"hrsp_5xx", 0, NULL, 0},
    {"hrsp_other", 0, NULL, 0},
    {"hanafail", 0, NULL, 0},
    {"req_rate", ROW_FRONTEND, put_zero, 0},
    {"req_rate_max", ROW_FRONTEND, put_zero, 0},
    {"req_tot", ROW_FRONTEND, put_zero, 0},
    {"cli_abrt", ROW_BACKEND | ROW_SERVER, put_counter, COUNTER_CLIENT_ABORTS},
    {"srv_abrt", ROW_BACKEND | ROW_SERVER, put_counter, COUNTER_SERVER_ABORTS},
    {"comp_in", 0, NULL, 0},
    {"comp_out", 0, NULL, 0},
    {"comp_byp", 0, NULL, 0},
    {"comp_rsp", 0, NULL, 0},
    {"lastsess", 0, NULL, 0},
    {"last_chk", ROW_CHECKED, put_check_text, 0},
    {"last_agt", 0, NULL, 0},
    {"qtime", ROW_BACKEND | ROW_SERVER, put_zero, 0},
    {"ctime", 0, NULL, 0},
    {"rtime", 0, NULL, 0},
    {"ttime", 0, NULL, 0},
    {"agent_status", 0, NULL, 0},
    {"agent_code", 0, NULL, 0},
    {"agent_duration", 0, NULL, 0},
    {"check_desc", ROW_CHECKED, put_check_meaning, 0},
    {"agent_desc", 0, NULL, 0},
    {"check_rise", ROW_CHECKED, put_rise, 0},
    {"check_fall", ROW_CHECKED, put_fall, 0},
    {"check_health", ROW_CHECKED, put_health, 0},
    {"agent_rise", 0, NULL, 0},
    {"agent_fall", 0, NULL, 0},
    {"agent_health", 0, NULL, 0},
    {"addr", ROW_SERVER, put_address, 0},
    {"cookie", 0, NULL, 0},
    {"mode", ROW_ALL, put_mode, 0},
    {"algo", ROW_BACKEND, put_algorithm, 0},
    {"conn_rate", ROW_FRONTEND, put_rate, 0},
    {"conn_rate_max", ROW_FRONTEND, put_rate_peak, 0},
    {"conn_tot", ROW_FRONTEND, put_counter, COUNTER_SESSIONS},
    {"intercepted", 0, NULL, 0},
    {"dcon", ROW_FRONTEND, put_zero, 0},
    {"dses", ROW_FRONTEND, put_zero, 0},
    {"wrew", 0, NULL, 0},
    {"connect", ROW_BACKEND | ROW_SERVER, put_counter, COUNTER_CONNECTS},
    {"reuse", 0, NULL, 0},
    {"cache_lookups", 0, NULL, 0},
    {"cache_hits", 0, NULL, 0},
    {"srv_icur", 0, NULL, 0},
    {"src_ilim", 0, NULL, 0},
    {"qtime_max", ROW_BACKEND | ROW_SERVER, put_zero, 0},
    {"ctime_max", 0, NULL, 0},
    {"rtime_max", 0, NULL, 0},
    {"ttime_max", 0, NULL, 0},
    {"eint", ROW_ALL, put_counter, COUNTER_INTERNAL_ERRORS},
    {"idle_conn_cur", 0, NULL, 0},
    {"safe_conn_cur", 0, NULL, 0},
    {"used_conn_cur", 0, NULL, 0},
    {"need_conn_est", 0, NULL, 0},
    {"uweight", ROW_BACKEND | ROW_SERVER, put_weight, 0},
    {"agg_server_status", 0, NULL, 0},
    {"agg_server_check_status", 0, NULL, 0},
    {"agg_check_status", 0, NULL, 0},
    {"-", ROW_ALL, put_dash, 0},
};
/* clang-format on */

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

void
stat_columns_put_header(FILE *out)
{
	fputs("# ", out);
	for (size_t i = 0; i < COLUMNS; i++)
		fprintf(out, "%s,", columns[i].name);
	putc('\n', out);
}

void
stat_columns_put_row(FILE *out, const struct stat_row *row)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		if (columns[i].kinds & row->kind)
			columns[i].put(out, row, columns[i].counter);
		putc(',', out);
	}
	putc('\n', out);
}
