/* SPDX-License-Identifier: MIT
 * See metrics_table.h.
 */
#include "stats/metrics_table.h"

#define F   ROW_FRONTEND
#define B   ROW_BACKEND
#define S   ROW_SERVER
#define BS  (B | S)
#define FBS (F | B | S)
#define OWN true

/* clang-format off: a line each. */
const struct stat_metric stat_metrics[] = {
    {STAT_qcur, "current_queue", false, 1, BS, false},
    {STAT_qmax, "max_queue", false, 1, BS, false},
    {STAT_scur, "current_sessions", false, 1, FBS, false},
    {STAT_smax, "max_sessions", false, 1, FBS, false},
    {STAT_slim, "limit_sessions", false, 1, FBS, false},
    {STAT_stot, "sessions_total", true, 1, FBS, false},
    {STAT_bin, "bytes_in_total", true, 1, FBS, false},
    {STAT_bout, "bytes_out_total", true, 1, FBS, false},
    {STAT_dreq, "requests_denied_total", true, 1, F | B, false},
    {STAT_dresp, "responses_denied_total", true, 1, FBS, false},
    {STAT_ereq, "request_errors_total", true, 1, F, false},
    {STAT_econ, "connection_errors_total", true, 1, BS, false},
    {STAT_eresp, "response_errors_total", true, 1, BS, false},
    {STAT_wretr, "retry_warnings_total", true, 1, BS, false},
    {STAT_wredis, "redispatch_warnings_total", true, 1, BS, false},
    {STAT_weight, "weight", false, 1, BS, false},
    {STAT_act, "active_servers", false, 1, B, false},
    {STAT_bck, "backup_servers", false, 1, B, false},
    {STAT_chkfail, "check_failures_total", true, 1, S, false},
    {STAT_chkdown, "check_up_down_total", true, 1, BS, false},
    {STAT_lastchg, "check_last_change_seconds", false, 1, BS, false},
    {STAT_downtime, "downtime_seconds_total", true, 1, BS, false},
    {STAT_qlimit, "queue_limit", false, 1, S, false},
    {STAT_throttle, "current_throttle", false, 1, S, false},
    {STAT_lbtot, "loadbalanced_total", true, 1, BS, false},
    {STAT_rate_lim, "limit_session_rate", false, 1, F, false},
    {STAT_rate_max, "max_session_rate", false, 1, FBS, false},
    {STAT_check_code, "check_code", false, 1, S, false},
    {STAT_check_duration, "check_duration_seconds", false, 1000, S, false},
    {STAT_cli_abrt, "client_aborts_total", true, 1, BS, false},
    {STAT_srv_abrt, "server_aborts_total", true, 1, BS, false},
    {STAT_lastsess, "last_session_seconds", false, 1, BS, false},
    {STAT_qtime, "queue_time_average_seconds", false, 1000, BS, false},
    {STAT_ctime, "connect_time_average_seconds", false, 1000, BS, false},
    {STAT_rtime, "response_time_average_seconds", false, 1000, BS, false},
    {STAT_ttime, "total_time_average_seconds", false, 1000, BS, false},
    {STAT_conn_rate_max, "connections_rate_max", false, 1, F, false},
    {STAT_conn_tot, "connections_total", true, 1, F, false},
    {STAT_dcon, "denied_connections_total", true, 1, F, false},
    {STAT_dses, "denied_sessions_total", true, 1, F, false},
    {STAT_connect, "connection_attempts_total", true, 1, BS, false},
    {STAT_qtime_max, "max_queue_time_seconds", false, 1000, BS, false},
    {STAT_ctime_max, "max_connect_time_seconds", false, 1000, BS, false},
    {STAT_rtime_max, "max_response_time_seconds", false, 1000, BS, false},
    {STAT_ttime_max, "max_total_time_seconds", false, 1000, BS, false},
    {STAT_eint, "internal_errors_total", true, 1, FBS, false},
    {STAT_uweight, "uweight", false, 1, BS, false},
    {STAT_hanafail, "observed_failures_total", true, 1, S, OWN},
    {STAT_lf_usable, "usable_servers", false, 1, B, OWN},
    {STAT_lf_usable, "usable", false, 1, S, OWN},
    {STAT_lf_connect_us, "connect_time_seconds", false, 1000000, S, OWN},
    {STAT_lf_panic, "panic", false, 1, B, OWN},
    {STAT_lf_ejections, "ejections_total", true, 1, S, OWN},
    {STAT_lf_queue_refused, "queue_refused_total", true, 1, B, OWN},
    {STAT_lf_retries_refused, "retries_refused_total", true, 1, B, OWN},
    {STAT_lf_retries, "current_retries", false, 1, B, OWN},
    {STAT_lf_retries_max, "max_retries", false, 1, B, OWN},
    {STAT_lf_retries_limit, "limit_retries", false, 1, B, OWN},
    {STAT_lf_hellos, "tls_hellos_total", true, 1, F, OWN},
    {STAT_lf_not_tls, "not_tls_total", true, 1, F, OWN},
    {STAT_lf_hello_timeouts, "tls_hello_timeouts_total", true, 1, F, OWN},
    {STAT_lf_proxy_headers, "proxy_headers_total", true, 1, F, OWN},
    {STAT_lf_proxy_errors, "proxy_header_errors_total", true, 1, F, OWN},
};

/* PipesUsed and PipesFree are no counters, but that is what HAProxy says. */
const struct info_metric info_metrics[] = {
    {INFO_NBTHREAD, "nbthread", false, 1, 1, false},
    {INFO_NBPROC, "nbproc", false, 1, 1, false},
    {INFO_PROCESS_NUM, "relative_process_id", false, 1, 1, false},
    {INFO_UPTIME_SEC, "uptime_seconds", false, 1, 1, false},
    {INFO_START, "start_time_seconds", false, 1, 1, false},
    {INFO_POOL_FAILED, "pool_failures_total", true, 1, 1, false},
    {INFO_POOL_ALLOC_MB, "pool_allocated_bytes", false, 1024 * 1024, 1, false},
    {INFO_POOL_USED_MB, "pool_used_bytes", false, 1024 * 1024, 1, false},
    {INFO_MEMMAX_MB, "max_memory_bytes", false, 1024 * 1024, 1, false},
    {INFO_ULIMIT_N, "max_fds", false, 1, 1, false},
    {INFO_MAXSOCK, "max_sockets", false, 1, 1, false},
    {INFO_MAXCONN, "max_connections", false, 1, 1, false},
    {INFO_HARD_MAXCONN, "hard_max_connections", false, 1, 1, false},
    {INFO_CURR_CONNS, "current_connections", false, 1, 1, false},
    {INFO_CUM_CONNS, "connections_total", true, 1, 1, false},
    {INFO_CUM_REQ, "requests_total", true, 1, 1, false},
    {INFO_MAXPIPES, "max_pipes", false, 1, 1, false},
    {INFO_PIPES_USED, "pipes_used_total", true, 1, 1, false},
    {INFO_PIPES_FREE, "pipes_free_total", true, 1, 1, false},
    {INFO_CONN_RATE, "current_connection_rate", false, 1, 1, false},
    {INFO_CONN_RATE_LIMIT, "limit_connection_rate", false, 1, 1, false},
    {INFO_MAX_CONN_RATE, "max_connection_rate", false, 1, 1, false},
    {INFO_SESS_RATE, "current_session_rate", false, 1, 1, false},
    {INFO_SESS_RATE_LIMIT, "limit_session_rate", false, 1, 1, false},
    {INFO_MAX_SESS_RATE, "max_session_rate", false, 1, 1, false},
    {INFO_TASKS, "current_tasks", false, 1, 1, false},
    {INFO_RUN_QUEUE, "current_run_queue", false, 1, 1, false},
    {INFO_IDLE_PCT, "idle_time_percent", false, 1, 1, false},
    {INFO_STOPPING, "stopping", false, 1, 1, false},
    {INFO_JOBS, "jobs", false, 1, 1, false},
    {INFO_UNSTOPPABLE, "unstoppable_jobs", false, 1, 1, false},
    {INFO_LISTENERS, "listeners", false, 1, 1, false},
    {INFO_DROPPED_LOGS, "dropped_logs_total", true, 1, 1, false},
    {INFO_BYTES_OUT, "bytes_out_total", true, 1, 1, false},
    {INFO_SPLICED_OUT, "spliced_bytes_out_total", true, 1, 1, false},
    {INFO_BYTES_OUT_RATE, "bytes_out_rate", false, 1, 1, false},
    {INFO_LF_PIPES_MADE, "pipes_made_total", true, 1, 1, OWN},
    {INFO_LF_PIPES_SMALL, "pipes_small_total", true, 1, 1, OWN},
    {INFO_LF_PIPES_REFUSED, "pipes_refused_total", true, 1, 1, OWN},
    {INFO_LF_FAILED_ANSWERS, "failed_answers_total", true, 1, 1, OWN},
    {INFO_LF_MAXCONN_REACHED, "maxconn_reached_total", true, 1, 1, OWN},
    {INFO_LF_LOOP_TURNS, "loop_turns_total", true, 1, 1, OWN},
    {INFO_LF_LOOP_MAX, "loop_max_turn_seconds", false, 1, 1000000, OWN},
    {INFO_LF_LOOP_MAX_CPU, "loop_max_cpu_seconds", false, 1, 1000000, OWN},
    {INFO_LF_CHECKS, "checks_begun_total", true, 1, 1, OWN},
    {INFO_LF_CHECKS_LATE, "checks_max_delay_seconds", false, 1, 1000000, OWN},
};

#define TEXT     "a text"
#define NUMBER   "it identifies, and its label does"
#define PRESENT  "Prometheus has the rate of the total"
#define SETTING  "it is configured and does not change by itself"
#define NOT_HERE "lfproxy has nothing of the kind"

static const struct {
	enum stat_name column;
	unsigned kinds;
	const char *why;
} no_stat_metrics[] = {
    {STAT_pxname, FBS, "the label proxy"},
    {STAT_svname, FBS, "the label server"},
    {STAT_pid, FBS, NUMBER},
    {STAT_iid, FBS, NUMBER},
    {STAT_sid, FBS, NUMBER},
    {STAT_type, FBS, "the name of the metric begins with it"},
    {STAT_rate, FBS, PRESENT},
    {STAT_conn_rate, F, PRESENT},
    {STAT_act, S, SETTING},
    {STAT_bck, S, SETTING},
    {STAT_tracked, S, TEXT},
    {STAT_last_chk, S, TEXT},
    {STAT_last_agt, S, TEXT},
    {STAT_agent_status, S, TEXT},
    {STAT_agent_code, S, "HAProxy's exporter has none"},
    {STAT_agent_duration, S, "HAProxy's exporter has none"},
    {STAT_check_desc, S, TEXT},
    {STAT_agent_desc, S, TEXT},
    {STAT_check_rise, S, SETTING},
    {STAT_check_fall, S, SETTING},
    {STAT_check_health, S, "check_status and status tell"},
    {STAT_agent_rise, S, SETTING},
    {STAT_agent_fall, S, SETTING},
    {STAT_agent_health, S, "status tells"},
    {STAT_addr, S, TEXT},
    {STAT_mode, FBS, TEXT},
    {STAT_algo, B, TEXT},
    {STAT_req_rate, F, NOT_HERE},
    {STAT_req_rate_max, F, NOT_HERE},
    {STAT_req_tot, F, NOT_HERE},
    {STAT_comp_in, F | B, NOT_HERE},
    {STAT_comp_out, F | B, NOT_HERE},
    {STAT_comp_byp, F | B, NOT_HERE},
    {STAT_comp_rsp, F | B, NOT_HERE},
    {STAT_wrew, FBS, NOT_HERE},
    {STAT_reuse, BS, NOT_HERE},
    {STAT_srv_icur, S, NOT_HERE},
    {STAT_idle_conn_cur, S, NOT_HERE},
    {STAT_safe_conn_cur, S, NOT_HERE},
    {STAT_used_conn_cur, S, "current_sessions says it"},
    {STAT_need_conn_est, S, "current_sessions says it"},
    {STAT_agg_server_check_status, B, "the old name of agg_server_status"},
    {STAT_agg_check_status, B, "check_status of the servers says it"},
    {STAT_dash, FBS, "it is no column"},
    {STAT_lf_pool, F, TEXT},
};

static const struct {
	enum info_key key;
	const char *why;
} no_info_metrics[] = {
    {INFO_NAME, TEXT},
    {INFO_VERSION, "a label of build_info"},
    {INFO_RELEASE_DATE, TEXT},
    {INFO_BUILD, "a label of build_info"},
    {INFO_LF_VERSION, "a label of build_info"},
    {INFO_PID, NUMBER},
    {INFO_UPTIME, TEXT},
    {INFO_NODE, TEXT},
    {INFO_TAINTED, TEXT},
    {INFO_POOL_ALLOC, "pool_allocated_bytes says it"},
    {INFO_POOL_USED, "pool_used_bytes says it"},
    {INFO_MEMMAX, "max_memory_bytes says it"},
    {INFO_MAX_SSL_CONNS, NOT_HERE},
    {INFO_CURR_SSL_CONNS, NOT_HERE},
    {INFO_CUM_SSL_CONNS, NOT_HERE},
    {INFO_SSL_RATE, NOT_HERE},
    {INFO_SSL_RATE_LIMIT, NOT_HERE},
    {INFO_MAX_SSL_RATE, NOT_HERE},
    {INFO_SSL_FE_KEY_RATE, NOT_HERE},
    {INFO_SSL_FE_MAX_KEY_RATE, NOT_HERE},
    {INFO_SSL_FE_REUSE, NOT_HERE},
    {INFO_SSL_BE_KEY_RATE, NOT_HERE},
    {INFO_SSL_BE_MAX_KEY_RATE, NOT_HERE},
    {INFO_SSL_LOOKUPS, NOT_HERE},
    {INFO_SSL_MISSES, NOT_HERE},
    {INFO_COMP_IN, NOT_HERE},
    {INFO_COMP_OUT, NOT_HERE},
    {INFO_COMP_LIMIT, NOT_HERE},
    {INFO_ACTIVE_PEERS, NOT_HERE},
    {INFO_CONNECTED_PEERS, NOT_HERE},
    {INFO_BUSY_POLLING, NOT_HERE},
    {INFO_FAILED_RESOLUTIONS, NOT_HERE},
    {INFO_DEBUG_COMMANDS, NOT_HERE},
    {INFO_RECV_LOGS, NOT_HERE},
};
/* clang-format on */

const char *
stat_metric_lacks(enum stat_name column, unsigned kind)
{
	for (size_t i = 0;
	     i < sizeof(no_stat_metrics) / sizeof(no_stat_metrics[0]); i++)
		if (no_stat_metrics[i].column == column &&
		    (no_stat_metrics[i].kinds & kind))
			return no_stat_metrics[i].why;
	return NULL;
}

const char *
info_metric_exhaustion(enum info_key key)
{
	for (size_t i = 0;
	     i < sizeof(no_info_metrics) / sizeof(no_info_metrics[0]); i++)
		if (no_info_metrics[i].key == key)
			return no_info_metrics[i].why;
	return NULL;
}

const size_t stat_metrics_n = sizeof(stat_metrics) / sizeof(stat_metrics[0]);
const size_t info_metrics_n = sizeof(info_metrics) / sizeof(info_metrics[0]);
