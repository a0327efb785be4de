/* SPDX-License-Identifier: MIT
 * The columns of `show stat` in one table, for stat_columns.c.
 *
 * HAPROXY_COLUMNS are HAProxy 3.0's, in its order.  They end with `-`, behind
 * which HAProxy has the columns of its protocol modules and lfproxy its own,
 * with the names of HAProxy's module for TLS.
 * A column stays empty where HAProxy leaves it empty for a TCP proxy, and where
 * lfproxy does not know the value.
 */
#ifndef STATS_STAT_TABLE_H
#define STATS_STAT_TABLE_H

/* X(name, tags, description, rows, value, metric, ...)
 *
 * rows    a row of one of these kinds has a value: F frontends, B backends,
 *         S servers, FB, BS, FBS; CHECKED, AGENT, TRACKING as in stat_columns.h
 * value   NUMBER, TEXT, COUNTED (a counter of the row), NOTHING, or a function
 *         that sets the field or leaves it absent
 * metric  METRIC(NAME): haproxy_KIND_NAME; METRIC_MS: in seconds where the
 *         column is in milliseconds; OWN(NAME): lfproxy_KIND_NAME, not in
 *         HAProxy's exporter; OWN_US: the column is in microseconds;
 *         NO_METRIC(REASON), or the name of a reason
 * ...     SERVER_METRIC(NAME): the metric of servers;
 *         BACKEND_TAGS(TAGS): the tags of backends; ADDRESS: may be hidden
 *
 * NONE: a row of a feature that lfproxy does not have; 0 where HAProxy has
 * a value for TCP proxies. */
#define NONE(id, tags, desc, rows)                                             \
	X(id, tags, desc, rows, NUMBER(0),                                     \
	    NO_METRIC("lfproxy does not have the feature"))
/* clang-format off: a row each. */
#define HAPROXY_COLUMNS(X)                                                     \
	X(pxname, "KNS:str", "name of the proxy", FBS, TEXT(row->proxy),       \
	    NO_METRIC("it is the label proxy"))                                \
	X(svname, "KNS:str", "name of the server, or FRONTEND or BACKEND",     \
	    FBS, TEXT(row_service(row)), NO_METRIC("it is the label server"))  \
	X(qcur, "MGP:u32", "sessions in the queue", BS,                        \
	    NUMBER(EITHER(0, LOAD(BACKEND(queue.waiting.now)))),               \
	    METRIC("current_queue"))                                           \
	X(qmax, "MMP:u32", "maximum number of sessions in the queue", BS,      \
	    NUMBER(EITHER(0, LOAD(BACKEND(queue.waiting.peak)))),              \
	    METRIC("max_queue"))                                               \
	X(scur, "MGP:u32", "current sessions", FBS,                            \
	    NUMBER(LOAD(row->sessions->now)), METRIC("current_sessions"))      \
	X(smax, "MMP:u32", "maximum number of current sessions", FBS,          \
	    NUMBER(LOAD(row->sessions->peak)), METRIC("max_sessions"))         \
	X(slim, "CLP:u32", "limit on current sessions", FBS,                   \
	    put_sessions_limit(out, row), METRIC("limit_sessions"))            \
	X(stot, "MCP:u64", "total number of sessions", FBS, COUNTED(SESSIONS), \
	    METRIC("sessions_total"))                                          \
	X(bin, "MCP:u64", "bytes received from clients", FBS,                  \
	    COUNTED(BYTES_IN), METRIC("bytes_in_total"))                       \
	X(bout, "MCP:u64", "bytes sent to clients", FBS, COUNTED(BYTES_OUT),   \
	    METRIC("bytes_out_total"))                                         \
	X(dreq, "MCP:u64", "connections refused by rules", FB,                 \
	    COUNTED(DENIED), METRIC("requests_denied_total"))                  \
	X(dresp, "MCP:u64", "responses refused by rules", FBS, NUMBER(0),      \
	    METRIC("responses_denied_total"))                                  \
	X(ereq, "MCP:u64", "sessions that the client aborted early", F,        \
	    COUNTED(REQUEST_ERRORS), METRIC("request_errors_total"))           \
	X(econ, "MCP:u64", "sessions that could not be connected to a server", \
	    BS, COUNTED(CONNECT_ERRORS), METRIC("connection_errors_total"))    \
	X(eresp, "MCP:u64", "sessions that the server aborted", BS,            \
	    COUNTED(RESPONSE_ERRORS), METRIC("response_errors_total"))         \
	X(wretr, "MCP:u64", "connects retried on the same server", BS,         \
	    COUNTED(RETRIES), METRIC("retry_warnings_total"))                  \
	X(wredis, "MCP:u64", "connects retried on another server", BS,         \
	    COUNTED(REDISPATCHES), METRIC("redispatch_warnings_total"))        \
	X(status, "SGP:str", "state of the proxy or server", FBS,              \
	    put_row_status(out, row), STATES)                                  \
	X(weight, "MaP:u32",                                                   \
	    "weight of the server, or the sum over usable servers", BS,        \
	    NUMBER(row_weight(row, server_effective_weight)),                  \
	    METRIC("weight"))                                                  \
	X(act, "SGP:u32",                                                      \
	    "usable servers that are not backups; 1 if a server is none", BS,  \
	    NUMBER(EITHER(!row->server->spec->backup, BACKEND(active))),       \
	    METRIC("active_servers"), SERVER_METRIC("active"),                 \
	    BACKEND_TAGS("MGP:u32"))                                           \
	X(bck, "SGP:u32",                                                      \
	    "1 if the server is a backup; usable backup servers", BS,          \
	    NUMBER(row_backups(row)), METRIC("backup_servers"),                \
	    SERVER_METRIC("backup"), BACKEND_TAGS("MGP:u32"))                  \
	X(chkfail, "MCP:u64", "failed checks while the server was up",         \
	    CHECKED, NUMBER(SERVER(checks_failed)),                            \
	    METRIC("check_failures_total"))                                    \
	X(chkdown, "MCP:u64", "transitions to down", B | CHECKED,              \
	    NUMBER(EITHER(SERVER(times_down), BACKEND(times_down))),           \
	    METRIC("check_up_down_total"))                                     \
	X(lastchg, "MAP:u32",                                                  \
	    "seconds since the last transition to up or down", BS,             \
	    NUMBER(row_since_change_s(row)),                                   \
	    METRIC("check_last_change_seconds"))                               \
	X(downtime, "MCP:u32", "total seconds of being down", B | CHECKED,     \
	    NUMBER(row_downtime_s(row)), METRIC("downtime_seconds_total"))     \
	X(qlimit, "CLS:u32", "limit on sessions in the server's queue", S,     \
	    NOTHING, METRIC("queue_limit"))                                    \
	X(pid, "KGP:u32", "number of the process, always 1", FBS, NUMBER(1),   \
	    AN_IDENTIFIER)                                                     \
	X(iid, "KGS:u32", "number of the proxy", FBS, NUMBER(row->iid),        \
	    AN_IDENTIFIER)                                                     \
	X(sid, "KGS:u32", "number of the server in its backend", FBS,          \
	    NUMBER(row->server ? row->server->id : 0), AN_IDENTIFIER)          \
	X(throttle, "MaP:u32", "percentage of the weight during slow start",   \
	    S, put_throttle(out, row->server), METRIC("current_throttle"))     \
	X(lbtot, "MCP:u64", "times chosen by the balancing algorithm", BS,     \
	    COUNTED(SELECTED), METRIC("loadbalanced_total"))                   \
	X(tracked, "CNS:str", "server whose checks decide for this one",       \
	    TRACKING, put_tracked(out, row->server->tracked), A_TEXT)          \
	X(type, "CGS:u32", "0 frontend, 1 backend, 2 server", FBS,             \
	    NUMBER(row->frontend  ? 0                                          \
	           : row->backend ? 1                                          \
	                          : 2),                                        \
	    NO_METRIC("it is part of each metric's name"))                     \
	X(rate, "MRP:u32", "sessions in the last second", FBS,                 \
	    NUMBER(row->rate->per_second), A_RATE)                             \
	X(rate_lim, "CLP:u32", "limit on sessions per second", F,              \
	    NUMBER(LOAD(row->frontend->state->rate_limit)),                    \
	    METRIC("limit_session_rate"))                                      \
	X(rate_max, "MMP:u32", "maximum number of sessions per second", FBS,   \
	    NUMBER(row->rate->peak), METRIC("max_session_rate"),               \
	    BACKEND_TAGS("MGP:u32"))                                           \
	X(check_status, "MOP:str", "result of the last check", CHECKED,        \
	    TEXT(check_status_name(SERVER(last.status))), STATES)              \
	X(check_code, "MOP:u32", "status code of the last check", CHECKED,     \
	    put_check_code(out, &SERVER(last)), METRIC("check_code"))          \
	X(check_duration, "MDP:u64", "milliseconds that the last check took",  \
	    CHECKED, put_check_duration(out, &SERVER(last)),                   \
	    METRIC_MS("check_duration_seconds"))                               \
	NONE(hrsp_1xx, "MCP:u64", "HTTP responses with status 1xx", 0)         \
	NONE(hrsp_2xx, "MCP:u64", "HTTP responses with status 2xx", 0)         \
	NONE(hrsp_3xx, "MCP:u64", "HTTP responses with status 3xx", 0)         \
	NONE(hrsp_4xx, "MCP:u64", "HTTP responses with status 4xx", 0)         \
	NONE(hrsp_5xx, "MCP:u64", "HTTP responses with status 5xx", 0)         \
	NONE(hrsp_other, "MCP:u64", "HTTP responses with another status", 0)   \
	X(hanafail, "MCP:u64", "failures observed in traffic", CHECKED,        \
	    put_observed_failures(out, row->server),                           \
	    OWN("observed_failures_total"))                                    \
	NONE(req_rate, "MRP:u32", "HTTP requests in the last second", F)       \
	NONE(req_rate_max, "MMP:u32",                                          \
	    "maximum number of HTTP requests per second", F)                   \
	NONE(req_tot, "MCP:u64", "total number of HTTP requests", F)           \
	X(cli_abrt, "MCP:u64", "sessions aborted by the client", BS,           \
	    COUNTED(CLIENT_ABORTS), METRIC("client_aborts_total"))             \
	X(srv_abrt, "MCP:u64", "open sessions aborted by the server", BS,      \
	    COUNTED(SERVER_ABORTS), METRIC("server_aborts_total"))             \
	NONE(comp_in, "MCP:u64", "bytes given to compression", FB)             \
	NONE(comp_out, "MCP:u64", "bytes that compression produced", FB)       \
	NONE(comp_byp, "MCP:u64",                                              \
	    "bytes not compressed because of CPU or bandwidth limits", FB)     \
	NONE(comp_rsp, "MCP:u64", "HTTP responses that were compressed", FB)   \
	X(lastsess, "MAP:s32",                                                 \
	    "seconds since the last session began, -1: never", BS,             \
	    put_last_session(out, row->rate), METRIC("last_session_seconds"))  \
	X(last_chk, "MOP:str", "text of the last check", CHECKED,              \
	    TEXT(SERVER(last.text)), A_TEXT)                                   \
	X(last_agt, "MOP:str", "text of the agent's last answer", AGENT,       \
	    TEXT(SERVER(agent_last.text)), A_TEXT)                             \
	X(qtime, "MaP:u32", "milliseconds in the queue, average", BS,          \
	    NUMBER(timing_average_ms(&AVERAGE(QUEUE))),                        \
	    METRIC_MS("queue_time_average_seconds"))                           \
	X(ctime, "MaP:u32", "milliseconds to connect, average", BS,            \
	    NUMBER(timing_average_ms(&AVERAGE(CONNECT))),                      \
	    METRIC_MS("connect_time_average_seconds"))                         \
	X(rtime, "MaP:u32", "milliseconds to an HTTP response, average", BS,   \
	    NUMBER(0), METRIC_MS("response_time_average_seconds"))             \
	X(ttime, "MaP:u32", "milliseconds that sessions lasted, average", BS,  \
	    NUMBER(timing_average_ms(&AVERAGE(SESSION))),                      \
	    METRIC_MS("total_time_average_seconds"))                           \
	X(agent_status, "MOP:str", "result of the agent's last check", AGENT,  \
	    TEXT(check_status_name(SERVER(agent_last.status))), A_TEXT)        \
	X(agent_code, "MOP:u32", "number in the agent's last answer", AGENT,   \
	    put_check_code(out, &SERVER(agent_last)),                          \
	    NO_METRIC("HAProxy's exporter omits it"))                          \
	X(agent_duration, "MDP:u64",                                           \
	    "milliseconds that the agent's last check took", AGENT,            \
	    put_check_duration(out, &SERVER(agent_last)),                      \
	    NO_METRIC("HAProxy's exporter omits it"))                          \
	X(check_desc, "MOP:str", "description of check_status", CHECKED,       \
	    TEXT(check_status_meaning(SERVER(last.status))), A_TEXT)           \
	X(agent_desc, "MOP:str", "description of agent_status", AGENT,         \
	    TEXT(check_status_meaning(SERVER(agent_last.status))), A_TEXT)     \
	X(check_rise, "CGS:u32",                                               \
	    "successful checks in a row that bring the server up", CHECKED,    \
	    NUMBER(row->server->check.rise), A_SETTING)                        \
	X(check_fall, "CGS:u32",                                               \
	    "failed checks in a row that take the server down", CHECKED,       \
	    NUMBER(row->server->check.fall), A_SETTING)                        \
	X(check_health, "CGS:u32",                                             \
	    "0 to rise+fall-1; the server is up from rise on", CHECKED,        \
	    NUMBER(check_health(row->server)),                                 \
	    NO_METRIC("see check_status and status"))                          \
	X(agent_rise, "CGS:u32", "agent answers that bring the server up",     \
	    AGENT, NUMBER(AGENT_RISE), A_SETTING)                              \
	X(agent_fall, "CGS:u32", "agent answers that take the server down",    \
	    AGENT, NUMBER(AGENT_FALL), A_SETTING)                              \
	X(agent_health, "CGS:u32", "0 to rise+fall-1 of the agent's checks",   \
	    AGENT, NUMBER(agent_health(row->server)), NO_METRIC("see status")) \
	X(addr, "CGS:str", "address and port", S,                              \
	    put_server_address(out, row->server), A_TEXT, ADDRESS)             \
	NONE(cookie, "CNS:str", "cookie of the server", 0)                     \
	X(mode, "CGS:str", "tcp", FBS, TEXT("tcp"), A_TEXT)                    \
	X(algo, "CGS:str", "balancing algorithm", B,                           \
	    TEXT(row->backend->spec->balance->name), A_TEXT, ADDRESS)          \
	X(conn_rate, "MRP:u32", "connections in the last second", F,           \
	    NUMBER(row->rate->per_second), A_RATE)                             \
	X(conn_rate_max, "MMP:u32",                                            \
	    "maximum number of connections per second", F,                     \
	    NUMBER(row->rate->peak), METRIC("connections_rate_max"))           \
	X(conn_tot, "MCP:u64", "total number of connections", F,               \
	    COUNTED(SESSIONS), METRIC("connections_total"))                    \
	NONE(intercepted, "MCP:u64",                                           \
	    "HTTP requests answered by the proxy itself", 0)                   \
	X(dcon, "MCP:u64",                                                     \
	    "connections refused by address or limit when accepted", F,        \
	    COUNTED(DENIED_CONNECTIONS), METRIC("denied_connections_total"))   \
	X(dses, "MCP:u64", "sessions refused by address or limit", F,          \
	    COUNTED(DENIED_SESSIONS), METRIC("denied_sessions_total"))         \
	NONE(wrew, "MCP:u64", "headers that could not be rewritten", FBS)      \
	X(connect, "MCP:u64", "connect attempts", BS, COUNTED(CONNECTS),       \
	    METRIC("connection_attempts_total"))                               \
	NONE(reuse, "MCP:u64", "server connections used again", BS)            \
	NONE(cache_lookups, "MCP:u64", "cache lookups", 0)                     \
	NONE(cache_hits, "MCP:u64", "cache hits", 0)                           \
	NONE(srv_icur, "MGP:u32", "idle connections to the server", S)         \
	NONE(                                                                  \
	    src_ilim, "CLP:u32", "limit on idle connections to the server", 0) \
	X(qtime_max, "MMP:u32", "milliseconds in the queue, maximum", BS,      \
	    NUMBER(LOAD(AVERAGE(QUEUE).max_ms)),                               \
	    METRIC_MS("max_queue_time_seconds"))                               \
	X(ctime_max, "MMP:u32", "milliseconds to connect, maximum", BS,        \
	    NUMBER(LOAD(AVERAGE(CONNECT).max_ms)),                             \
	    METRIC_MS("max_connect_time_seconds"))                             \
	X(rtime_max, "MMP:u32", "milliseconds to an HTTP response, maximum",   \
	    BS, NUMBER(0), METRIC_MS("max_response_time_seconds"))             \
	X(ttime_max, "MMP:u32", "milliseconds that a session lasted, maximum", \
	    BS, NUMBER(LOAD(AVERAGE(SESSION).max_ms)),                         \
	    METRIC_MS("max_total_time_seconds"))                               \
	X(eint, "MCP:u64", "sessions ended by resource exhaustion", FBS,       \
	    COUNTED(INTERNAL_ERRORS), METRIC("internal_errors_total"))         \
	NONE(idle_conn_cur, "MGP:u32", "unsafe idle connections", S)           \
	NONE(safe_conn_cur, "MGP:u32", "safe idle connections", S)             \
	X(used_conn_cur, "MGP:u32", "connections to the server in use", S,     \
	    NUMBER(LOAD(row->sessions->now)),                                  \
	    NO_METRIC("same as current_sessions"))                             \
	X(need_conn_est, "MGP:u32", "estimated number of connections needed",  \
	    S, NUMBER(LOAD(row->sessions->now)),                               \
	    NO_METRIC("same as current_sessions"))                             \
	X(uweight, "MaP:u32", "configured weight, without slow start", BS,     \
	    NUMBER(row_weight(row, server_weight)), METRIC("uweight"))         \
	X(agg_server_status, "MGP:u32",                                        \
	    "servers of the backend in each state", B, NUMBER(0), STATES)      \
	X(agg_server_check_status, "MGP:u32",                                  \
	    "servers of the backend in each state, old name", B, NUMBER(0),    \
	    NO_METRIC("same as agg_server_status"))                            \
	X(agg_check_status, "MGP:u32",                                         \
	    "servers of the backend by check result", B, NUMBER(0),            \
	    NO_METRIC("see check_status of the servers"))                      \
	NONE(srid, "MCP:u32", "revision of the server's number", S)            \
	X(sess_other, "MCP:u64", "sessions of other protocols than HTTP", F,   \
	    COUNTED(SESSIONS), NO_METRIC("same as sessions_total"))            \
	NONE(h1sess, "MCP:u64", "HTTP/1 sessions", F)                          \
	NONE(h2sess, "MCP:u64", "HTTP/2 sessions", F)                          \
	NONE(h3sess, "MCP:u64", "HTTP/3 sessions", F)                          \
	NONE(req_other, "MCP:u64", "requests of other protocols than HTTP", F) \
	NONE(h1req, "MCP:u64", "HTTP/1 requests", F)                           \
	NONE(h2req, "MCP:u64", "HTTP/2 requests", F)                           \
	NONE(h3req, "MCP:u64", "HTTP/3 requests", F)                           \
	NONE(proto, "SGP:str", "protocol of a listener", 0)

#define LFPROXY_COLUMNS(X)                                                     \
	X(lf_pool, "CNS:str", "thread pool that serves the frontend", F,       \
	    TEXT(frontend_pool(row->frontend)), A_TEXT)                        \
	X(lf_usable, "SGP:u32",                                                \
	    "1 if the server takes new sessions; servers that do", BS,         \
	    NUMBER(EITHER(server_is_usable(row->server), BACKEND(usable))),    \
	    OWN("usable_servers"), SERVER_METRIC("usable"))                    \
	X(lf_admin, "SGP:str", "administrative state: ready, drain or maint",  \
	    S, TEXT(server_admin_name(server_admin_of(row->server))), STATES)  \
	X(lf_connect_us, "MaP:u32",                                            \
	    "microseconds to connect, moving average with peaks", S,           \
	    NUMBER(server_connect_us(row->server->state, clock_now_ms())),     \
	    OWN_US("connect_time_seconds"))                                    \
	X(lf_panic, "SGP:u32", "1 if servers that are down are tried as well", \
	    B, NUMBER(BACKEND(panic)), OWN("panic"))                           \
	X(lf_ejections, "MCP:u64", "times the server was ejected", S,          \
	    NUMBER(SERVER(passive.times_ejected)), OWN("ejections_total"))     \
	X(lf_queue_refused, "MCP:u64",                                         \
	    "sessions refused because the queue was full", B,                  \
	    COUNTED(QUEUE_FULL), OWN("queue_refused_total"))                   \
	X(lf_retries_refused, "MCP:u64",                                       \
	    "retries refused by the retry budget", B,                          \
	    COUNTED(RETRIES_REFUSED), OWN("retries_refused_total"))            \
	X(lf_retries, "MGP:u32", "retries in progress", B,                     \
	    NUMBER(LOAD(BACKEND(retries.now))), OWN("current_retries"))        \
	X(lf_retries_max, "MMP:u32", "maximum number of retries in progress",  \
	    B, NUMBER(LOAD(BACKEND(retries.peak))), OWN("max_retries"))        \
	X(lf_retries_limit, "CLP:u32",                                         \
	    "retries that the budget permits at present", B,                   \
	    NUMBER(backend_retries_limit(row->backend)), OWN("limit_retries")) \
	X(lf_hellos, "MCP:u64", "TLS ClientHellos received", F,                \
	    COUNTED(HELLOS), OWN("tls_hellos_total"))                          \
	X(lf_not_tls, "MCP:u64",                                               \
	    "sessions that did not begin with a TLS ClientHello", F,           \
	    COUNTED(NOT_TLS), OWN("not_tls_total"))                            \
	X(lf_hello_timeouts, "MCP:u64",                                        \
	    "sessions without a complete TLS ClientHello in time", F,          \
	    COUNTED(HELLO_TIMEOUTS), OWN("tls_hello_timeouts_total"))          \
	X(lf_proxy_headers, "MCP:u64", "PROXY headers received", F,            \
	    COUNTED(PROXY_HEADERS), OWN("proxy_headers_total"))                \
	X(lf_proxy_errors, "MCP:u64",                                          \
	    "sessions without the required PROXY header", F,                   \
	    COUNTED(PROXY_ERRORS), OWN("proxy_header_errors_total"))           \
	X(ssl_sess, "MCP:u64", "TLS handshakes completed", FBS,                \
	    COUNTED(HANDSHAKES), OWN("tls_handshakes_total"))                  \
	X(ssl_reused_sess, "MCP:u64", "TLS handshakes of resumed sessions",    \
	    FBS, COUNTED(HANDSHAKES_RESUMED),                                  \
	    OWN("tls_handshakes_resumed_total"))                               \
	X(ssl_failed_handshake, "MCP:u64", "TLS handshakes failed", FBS,       \
	    COUNTED(HANDSHAKE_ERRORS), OWN("tls_handshake_errors_total"))      \
	X(lf_handshakes_now, "MGP:u32", "TLS handshakes under way", F,         \
	    NUMBER(LOAD(FRONTEND(handshakes.now))),                            \
	    OWN("current_tls_handshakes"))                                     \
	X(lf_handshakes_max, "MMP:u32",                                        \
	    "maximum number of TLS handshakes under way", F,                   \
	    NUMBER(LOAD(FRONTEND(handshakes.peak))),                           \
	    OWN("max_tls_handshakes"))                                         \
	X(lf_handshakes_limit, "CLP:u32",                                      \
	    "limit on TLS handshakes under way, 0: none", F,                   \
	    NUMBER(row->frontend->spec->handshakes_max),                       \
	    OWN("limit_tls_handshakes"))                                       \
	X(lf_limited, "MCP:u64",                                               \
	    "connections and sessions refused by a limit by source", F,        \
	    COUNTED(LIMITED), OWN("limited_total"))                            \
	X(lf_delayed, "MCP:u64",                                               \
	    "connections and sessions delayed by a limit by source", F,        \
	    COUNTED(DELAYED), OWN("delayed_total"))                            \
	X(lf_evicted, "MCP:u64",                                               \
	    "sessions ended before a server was chosen, for their places", F,  \
	    COUNTED(EVICTED), OWN("evicted_total"))                            \
	X(lf_bw_in, "CLP:u64",                                                 \
	    "limit on bytes per second from clients, 0: none", FBS,            \
	    NUMBER(row_bandwidth(row, BAND_IN)),                               \
	    OWN("limit_bandwidth_in_bytes"))                                   \
	X(lf_bw_out, "CLP:u64",                                                \
	    "limit on bytes per second to clients, 0: none", FBS,              \
	    NUMBER(row_bandwidth(row, BAND_OUT)),                              \
	    OWN("limit_bandwidth_out_bytes"))                                  \
	X(lf_bw_sess_in, "CLP:u64",                                            \
	    "limit on bytes per second from a session's client, 0: none", FB,  \
	    NUMBER(row_session_bandwidth(row, BAND_IN)), A_SETTING)            \
	X(lf_bw_sess_out, "CLP:u64",                                           \
	    "limit on bytes per second to a session's client, 0: none", FB,    \
	    NUMBER(row_session_bandwidth(row, BAND_OUT)), A_SETTING)           \
	X(lf_bw_waiting, "MGP:u32",                                            \
	    "directions of sessions that wait for this bandwidth", FBS,        \
	    NUMBER(row_bandwidth_waiting(row)),                                \
	    OWN("current_bandwidth_waits"))                                    \
	X(lf_bw_waits, "MCP:u64", "waits of sessions for any bandwidth", FBS,  \
	    COUNTED(BANDWIDTH_WAITS), OWN("bandwidth_waits_total"))
/* clang-format on */

#endif
