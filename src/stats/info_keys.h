/* SPDX-License-Identifier: MIT
 * The keys of `show info` in one table: HAProxy 2.6's with its positions, and
 * lfproxy's own behind them.
 */
#ifndef STATS_INFO_KEYS_H
#define STATS_INFO_KEYS_H

#include "stats/field.h"

/* X(identifier, position, key, tags and type (stats/field.h), description,
 *   metric)
 *
 * METRIC(NAME): the key is the metric haproxy_process_NAME.
 * OWN(NAME): the key is the metric lfproxy_process_NAME, which HAProxy 2.6's
 * exporter does not have.
 * NO_METRIC(REASON): the key is not a metric.
 * OWN_US: the key is in microseconds, the metric in seconds. */
/* clang-format off: a row each. */
#define INFO_KEYS_TABLE(X)                                                     \
	X(NAME, 0, "Name", "POS:str", "name of the product",                   \
	    NO_METRIC("a text"))                                               \
	X(VERSION, 1, "Version", "POS:str", "version of the runtime API",      \
	    NO_METRIC("a label of build_info"))                                \
	X(RELEASE_DATE, 2, "Release_date", "POS:str", "date of the source",    \
	    NO_METRIC("a text"))                                               \
	X(NBTHREAD, 3, "Nbthread", "CGS:u32", "threads of all pools",          \
	    METRIC("nbthread"))                                                \
	X(NBPROC, 4, "Nbproc", "CGS:u32", "processes, always 1",               \
	    METRIC("nbproc"))                                                  \
	X(PROCESS_NUM, 5, "Process_num", "KGP:u32",                            \
	    "number of this process, always 1", METRIC("relative_process_id")) \
	X(PID, 6, "Pid", "SGP:u32", "process identifier",                      \
	    NO_METRIC("an identifier"))                                        \
	X(UPTIME, 7, "Uptime", "MDP:str", "time since the start",              \
	    NO_METRIC("a text"))                                               \
	X(UPTIME_SEC, 8, "Uptime_sec", "MDP:u32", "seconds since the start",   \
	    METRIC("uptime_seconds"))                                          \
	X(MEMMAX_MB, 9, "Memmax_MB", "CLP:u32", "memory limit in MB, 0: none", \
	    NO_METRIC("see max_memory_bytes"))                                 \
	X(POOL_ALLOC_MB, 10, "PoolAlloc_MB", "MGP:u32",                        \
	    "MB of heap obtained from the system",                             \
	    NO_METRIC("see pool_allocated_bytes"))                             \
	X(POOL_USED_MB, 11, "PoolUsed_MB", "MGP:u32", "MB of heap in use",     \
	    NO_METRIC("see pool_used_bytes"))                                  \
	X(POOL_FAILED, 12, "PoolFailed", "MCP:u32",                            \
	    "failed memory allocations", METRIC("pool_failures_total"))        \
	X(ULIMIT_N, 13, "Ulimit-n", "CLP:u32", "limit on open descriptors",    \
	    METRIC("max_fds"))                                                 \
	X(MAXSOCK, 14, "Maxsock", "CLP:u32", "limit on open sockets",          \
	    METRIC("max_sockets"))                                             \
	X(MAXCONN, 15, "Maxconn", "CLP:u32", "limit on sessions",              \
	    METRIC("max_connections"))                                         \
	X(HARD_MAXCONN, 16, "Hard_maxconn", "CLP:u32",                         \
	    "sessions that the resources permit",                              \
	    METRIC("hard_max_connections"))                                    \
	X(CURR_CONNS, 17, "CurrConns", "MGP:u32", "current sessions",          \
	    METRIC("current_connections"))                                     \
	X(CUM_CONNS, 18, "CumConns", "MCP:u32", "total number of sessions",    \
	    METRIC("connections_total"))                                       \
	X(CUM_REQ, 19, "CumReq", "MCP:u32",                                    \
	    "total number of sessions; a request is a session here",           \
	    METRIC("requests_total"))                                          \
	X(MAX_SSL_CONNS, 20, "MaxSslConns", "MMP:u32",                         \
	    "limit on TLS connections, 0: none", NOT_HERE)                     \
	X(CURR_SSL_CONNS, 21, "CurrSslConns", "MGP:u32",                       \
	    "current TLS connections", NOT_HERE)                               \
	X(CUM_SSL_CONNS, 22, "CumSslConns", "MCP:u32",                         \
	    "total number of TLS connections", NOT_HERE)                       \
	X(MAXPIPES, 23, "Maxpipes", "CLP:u32", "limit on pipes for splicing",  \
	    METRIC("max_pipes"))                                               \
	X(PIPES_USED, 24, "PipesUsed", "MGP:u32", "pipes in use",              \
	    METRIC("pipes_used_total"))                                        \
	X(PIPES_FREE, 25, "PipesFree", "MGP:u32", "idle pipes",                \
	    METRIC("pipes_free_total"))                                        \
	X(CONN_RATE, 26, "ConnRate", "MRP:u32",                                \
	    "connections in the last second",                                  \
	    METRIC("current_connection_rate"))                                 \
	X(CONN_RATE_LIMIT, 27, "ConnRateLimit", "CLP:u32",                     \
	    "limit on connections per second, 0: none",                        \
	    METRIC("limit_connection_rate"))                                   \
	X(MAX_CONN_RATE, 28, "MaxConnRate", "MMP:u32",                         \
	    "maximum number of connections per second",                        \
	    METRIC("max_connection_rate"))                                     \
	X(SESS_RATE, 29, "SessRate", "MRP:u32", "sessions in the last second", \
	    METRIC("current_session_rate"))                                    \
	X(SESS_RATE_LIMIT, 30, "SessRateLimit", "CLP:u32",                     \
	    "limit on sessions per second, 0: none",                           \
	    METRIC("limit_session_rate"))                                      \
	X(MAX_SESS_RATE, 31, "MaxSessRate", "MRP:u32",                         \
	    "maximum number of sessions per second",                           \
	    METRIC("max_session_rate"))                                        \
	X(SSL_RATE, 32, "SslRate", "MRP:u32",                                  \
	    "TLS connections in the last second", NOT_HERE)                    \
	X(SSL_RATE_LIMIT, 33, "SslRateLimit", "CLP:u32",                       \
	    "limit on TLS connections per second", NOT_HERE)                   \
	X(MAX_SSL_RATE, 34, "MaxSslRate", "MMP:u32",                           \
	    "maximum number of TLS connections per second", NOT_HERE)          \
	X(SSL_FE_KEY_RATE, 35, "SslFrontendKeyRate", "MGP:u32",                \
	    "TLS keys computed for clients in the last second", NOT_HERE)      \
	X(SSL_FE_MAX_KEY_RATE, 36, "SslFrontendMaxKeyRate", "MMP:u32",         \
	    "maximum number of TLS keys for clients per second", NOT_HERE)     \
	X(SSL_FE_REUSE, 37, "SslFrontendSessionReuse_pct", "MGP:u32",          \
	    "percentage of TLS sessions reused", NOT_HERE)                     \
	X(SSL_BE_KEY_RATE, 38, "SslBackendKeyRate", "MRP:u32",                 \
	    "TLS keys computed for servers in the last second", NOT_HERE)      \
	X(SSL_BE_MAX_KEY_RATE, 39, "SslBackendMaxKeyRate", "MMP:u32",          \
	    "maximum number of TLS keys for servers per second", NOT_HERE)     \
	X(SSL_LOOKUPS, 40, "SslCacheLookups", "MCP:u32",                       \
	    "TLS session cache lookups", NOT_HERE)                             \
	X(SSL_MISSES, 41, "SslCacheMisses", "MCP:u32",                         \
	    "TLS session cache misses", NOT_HERE)                              \
	X(COMP_IN, 42, "CompressBpsIn", "MRP:u32",                             \
	    "bytes given to compression in the last second", NOT_HERE)         \
	X(COMP_OUT, 43, "CompressBpsOut", "MRP:u32",                           \
	    "bytes that compression produced in the last second", NOT_HERE)    \
	X(COMP_LIMIT, 44, "CompressBpsRateLim", "CLP:u32",                     \
	    "limit on compressed bytes per second", NOT_HERE)                  \
	X(TASKS, 47, "Tasks", "MGP:u32",                                       \
	    "sessions, which are the tasks of lfproxy",                        \
	    METRIC("current_tasks"))                                           \
	X(RUN_QUEUE, 48, "Run_queue", "MGP:u32",                               \
	    "events that wait for a thread", METRIC("current_run_queue"))      \
	X(IDLE_PCT, 49, "Idle_pct", "MaP:u32",                                 \
	    "percentage of the last second in which threads used no CPU",      \
	    METRIC("idle_time_percent"))                                       \
	X(NODE, 50, "node", "COS:str", "name of this host",                    \
	    NO_METRIC("a text"))                                               \
	X(STOPPING, 52, "Stopping", "MGP:u32", "1 while the process stops",    \
	    METRIC("stopping"))                                                \
	X(JOBS, 53, "Jobs", "MGP:u32",                                         \
	    "sessions, listening sockets, and admin connections",              \
	    METRIC("jobs"))                                                    \
	X(UNSTOPPABLE, 54, "Unstoppable Jobs", "MGP:u32",                      \
	    "jobs that cannot be stopped, always 0",                           \
	    METRIC("unstoppable_jobs"))                                        \
	X(LISTENERS, 55, "Listeners", "MGP:u32", "listening sockets",          \
	    METRIC("listeners"))                                               \
	X(ACTIVE_PEERS, 56, "ActivePeers", "MGP:u32", "peers in contact",      \
	    NOT_HERE)                                                          \
	X(CONNECTED_PEERS, 57, "ConnectedPeers", "MGP:u32", "connected peers", \
	    NOT_HERE)                                                          \
	X(DROPPED_LOGS, 58, "DroppedLogs", "MGP:u32",                          \
	    "log lines that were dropped", METRIC("dropped_logs_total"))       \
	X(BUSY_POLLING, 59, "BusyPolling", "MGP:u32",                          \
	    "1 if threads poll busily, always 0", NOT_HERE)                    \
	X(FAILED_RESOLUTIONS, 60, "FailedResolutions", "MGP:u32",              \
	    "host names that could not be resolved", NOT_HERE)                 \
	X(BYTES_OUT, 61, "TotalBytesOut", "MGP:u64",                           \
	    "bytes sent in both directions", METRIC("bytes_out_total"))        \
	X(SPLICED_OUT, 62, "TotalSplicdedBytesOut", "MGP:u64",                 \
	    "bytes sent through pipes", METRIC("spliced_bytes_out_total"))     \
	X(BYTES_OUT_RATE, 63, "BytesOutRate", "MRP:u64",                       \
	    "bytes sent in the last second", METRIC("bytes_out_rate"))         \
	X(DEBUG_COMMANDS, 64, "DebugCommandsIssued", "MGP:u32",                \
	    "debug commands issued", NOT_HERE)                                 \
	X(RECV_LOGS, 65, "CumRecvLogs", "MCP:u32", "log messages received",    \
	    NOT_HERE)                                                          \
	X(BUILD, 66, "Build info", "POS:str", "version of lfproxy",            \
	    NO_METRIC("a label of build_info"))                                \
	X(MEMMAX, 67, "Memmax_bytes", "CLP:u32",                               \
	    "memory limit in bytes, 0: none", METRIC("max_memory_bytes"))      \
	X(POOL_ALLOC, 68, "PoolAlloc_bytes", "MGP:u64",                        \
	    "bytes of heap obtained from the system",                          \
	    METRIC("pool_allocated_bytes"))                                    \
	X(POOL_USED, 69, "PoolUsed_bytes", "MGP:u64", "bytes of heap in use",  \
	    METRIC("pool_used_bytes"))                                         \
	X(START, 70, "Start_time_sec", "MDP:u32",                              \
	    "start time, in seconds since 1970", METRIC("start_time_seconds")) \
	X(TAINTED, 71, "Tainted", "SGP:str", "experimental features in use",   \
	    NO_METRIC("a text"))                                               \
	X(LF_VERSION, 72, "Lfproxy_version", "POS:str", "version of lfproxy",  \
	    NO_METRIC("a label of build_info"))                                \
	X(LF_PIPES_CREATED, 73, "PipesCreated", "MCP:u64",                     \
	    "total number of pipes created", OWN("pipes_created_total"))       \
	X(LF_PIPES_SMALL, 74, "PipesSmall", "MCP:u64",                         \
	    "pipes that are smaller than configured",                          \
	    OWN("pipes_small_total"))                                          \
	X(LF_PIPES_REFUSED, 75, "PipesRefused", "MCP:u64",                     \
	    "pipes that the system refused", OWN("pipes_refused_total"))       \
	X(LF_MAXCONN_REACHED, 76, "MaxconnReached", "MCP:u64",                 \
	    "times that maxconn stopped the accepting of connections",         \
	    OWN("maxconn_reached_total"))                                      \
	X(LF_LOOP_ITERATIONS, 77, "LoopIterations", "MCP:u64",                 \
	    "iterations of the control loop since the start or clear loop",    \
	    OWN("loop_iterations_total"))                                      \
	X(LF_LOOP_MAX, 78, "LoopMaxTime_us", "MMP:u64",                        \
	    "microseconds that the longest iteration of the loop took",        \
	    OWN_US("loop_max_time_seconds"))                                   \
	X(LF_LOOP_MAX_CPU, 79, "LoopMaxCpu_us", "MMP:u64",                     \
	    "microseconds of CPU that an iteration took at most",              \
	    OWN_US("loop_max_cpu_seconds"))                                    \
	X(LF_CHECKS, 80, "ChecksStarted", "MCP:u64",                           \
	    "health checks and agent checks started since clear loop",         \
	    OWN("checks_started_total"))                                       \
	X(LF_CHECKS_LATE, 81, "CheckMaxDelay_us", "MMP:u64",                   \
	    "microseconds that the latest check was delayed",                  \
	    OWN_US("checks_max_delay_seconds"))                                \
	X(LF_FAILED_ANSWERS, 82, "FailedAnswers", "MCP:u64",                   \
	    "answers that failed for want of memory",                          \
	    OWN("failed_answers_total"))
/* clang-format on */

/* The first position of the counters of exhausted resources, one for each name
 * in proxy/exhaustion.h, in that order. */
#define INFO_EXHAUSTION_POS 83

enum info_key {
#define X(id, pos, name, tags, desc, metric) INFO_##id,
	INFO_KEYS_TABLE(X)
#undef X
	    INFO_KEYS
};

struct info_key_spec {
	struct field_name field;
	/* Without prefix; NULL if the key is not a metric. */
	const char *metric;
	const char *no_metric; /* the reason */
	bool own;              /* prefix lfproxy */
	unsigned parts;        /* values per unit of the metric, 0: 1 */
};

extern const struct info_key_spec info_keys[INFO_KEYS];

#endif
