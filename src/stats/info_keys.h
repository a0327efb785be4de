/* SPDX-License-Identifier: MIT
 * The keys of `show info` in one table: HAProxy 3.0's with its positions, and
 * lfproxy's own behind them.
 */
#ifndef STATS_INFO_KEYS_H
#define STATS_INFO_KEYS_H

#include "stats/field.h"

/* X(position, key, tags and type (stats/field.h), description, value, metric)
 *
 * TEXT, NUMBER: the value, an expression over the locals of info_read.
 * COUNTED: a counter of facts->exhaustion.
 * SECONDS(N, PARTS): the value is N / PARTS, and a fraction in `show info
 * float`.
 * METRIC(NAME): the key is the metric haproxy_process_NAME.
 * OWN(NAME): the key is the metric lfproxy_process_NAME, which HAProxy's
 * exporter does not have.
 * OWN_US: the key is in microseconds, the metric in seconds.
 * NO_METRIC(REASON): the key is not a metric.
 * NONE: a row of a feature that lfproxy does not have.
 * FRACTION(TAGS), behind the metric: tags and type in `show info float`. */
#define NONE(pos, name, tags, desc, ...)                                       \
	X(pos, name, tags, desc, NUMBER(0),                                    \
	    NO_METRIC("lfproxy does not have the feature"), __VA_ARGS__)
/* clang-format off: a row each. */
#define INFO_KEYS_TABLE(X)                                                     \
	X(0, "Name", "POS:str", "name of the product", TEXT(facts->name),      \
	    NO_METRIC("a text"))                                               \
	X(1, "Version", "POS:str", "version of the runtime API",               \
	    TEXT(API_VERSION), NO_METRIC("a label of build_info"))             \
	X(2, "Release_date", "POS:str", "date of the source",                  \
	    TEXT(RELEASE_DATE), NO_METRIC("a text"))                           \
	X(3, "Nbthread", "CGS:u32", "threads of all pools",                    \
	    NUMBER(facts->threads), METRIC("nbthread"))                        \
	X(4, "Nbproc", "CGS:u32", "processes, always 1", NUMBER(1),            \
	    METRIC("nbproc"))                                                  \
	X(5, "Process_num", "KGP:u32", "number of this process, always 1",     \
	    NUMBER(1), METRIC("relative_process_id"))                          \
	X(6, "Pid", "SGP:u32", "process identifier",                           \
	    NUMBER((uint64_t)getpid()), NO_METRIC("an identifier"))            \
	X(7, "Uptime", "MDP:str", "time since the start", TEXT(uptime),        \
	    NO_METRIC("a text"))                                               \
	X(8, "Uptime_sec", "MDP:u32", "seconds since the start",               \
	    SECONDS(uptime_ms, 1000), METRIC("uptime_seconds"),                \
	    FRACTION("MDP:flt"))                                               \
	X(9, "Memmax_MB", "CLP:u32", "memory limit in MB, 0: none", NUMBER(0), \
	    NO_METRIC("see max_memory_bytes"))                                 \
	X(10, "PoolAlloc_MB", "MGP:u32",                                       \
	    "MB of heap obtained from the system", NUMBER(heap / MB),          \
	    NO_METRIC("see pool_allocated_bytes"))                             \
	X(11, "PoolUsed_MB", "MGP:u32", "MB of heap in use",                   \
	    NUMBER(heap_used / MB), NO_METRIC("see pool_used_bytes"))          \
	X(12, "PoolFailed", "MCP:u32", "failed memory allocations",            \
	    COUNTED(count[RESOURCE_MEMORY]), METRIC("pool_failures_total"))    \
	X(13, "Ulimit-n", "CLP:u32", "limit on open descriptors",              \
	    NUMBER(facts->descriptors), METRIC("max_fds"))                     \
	X(14, "Maxsock", "CLP:u32", "limit on open sockets",                   \
	    NUMBER(facts->descriptors), METRIC("max_sockets"))                 \
	X(15, "Maxconn", "CLP:u32", "limit on sessions",                       \
	    NUMBER(facts->maxconn), METRIC("max_connections"))                 \
	X(16, "Hard_maxconn", "CLP:u32", "sessions that the resources permit", \
	    NUMBER(facts->sessions_max), METRIC("hard_max_connections"))       \
	X(17, "CurrConns", "MGP:u32", "current sessions", NUMBER(sessions),    \
	    METRIC("current_connections"))                                     \
	X(18, "CumConns", "MCP:u32", "total number of sessions",               \
	    NUMBER(total), METRIC("connections_total"))                        \
	X(19, "CumReq", "MCP:u32",                                             \
	    "total number of sessions; a request is a session here",           \
	    NUMBER(total), METRIC("requests_total"))                           \
	NONE(                                                                  \
	    20, "MaxSslConns", "MMP:u32", "limit on TLS connections, 0: none") \
	X(21, "CurrSslConns", "MGP:u32",                                       \
	    "TLS connections a second ago, with clients and servers",          \
	    NUMBER(tls_in->begun - tls_in->ended + tls_out->begun -            \
	           tls_out->ended),                                            \
	    METRIC("current_ssl_connections"))                                 \
	X(22, "CumSslConns", "MCP:u32",                                        \
	    "total number of TLS handshakes, with clients and servers",        \
	    NUMBER(tls_in->begun + tls_out->begun),                            \
	    METRIC("ssl_connections_total"))                                   \
	X(23, "Maxpipes", "CLP:u32", "limit on pipes for splicing",            \
	    NUMBER(pipes->max), METRIC("max_pipes"))                           \
	X(24, "PipesUsed", "MGP:u32", "pipes in use",                          \
	    NUMBER(pipes->open - pipes->idle), METRIC("pipes_used_total"))     \
	X(25, "PipesFree", "MGP:u32", "idle pipes", NUMBER(pipes->idle),       \
	    METRIC("pipes_free_total"))                                        \
	X(26, "ConnRate", "MRP:u32", "connections in the last second",         \
	    NUMBER(rate->per_second), METRIC("current_connection_rate"),       \
	    FRACTION("MRP:flt"))                                               \
	X(27, "ConnRateLimit", "CLP:u32",                                      \
	    "limit on connections per second, 0: none",                        \
	    NUMBER(facts->connect_rate), METRIC("limit_connection_rate"))      \
	X(28, "MaxConnRate", "MMP:u32",                                        \
	    "maximum number of connections per second", NUMBER(rate->peak),    \
	    METRIC("max_connection_rate"))                                     \
	X(29, "SessRate", "MRP:u32", "sessions in the last second",            \
	    NUMBER(rate->per_second), METRIC("current_session_rate"),          \
	    FRACTION("MRP:flt"))                                               \
	X(30, "SessRateLimit", "CLP:u32",                                      \
	    "limit on sessions per second, 0: none",                           \
	    NUMBER(facts->session_rate), METRIC("limit_session_rate"))         \
	X(31, "MaxSessRate", "MRP:u32",                                        \
	    "maximum number of sessions per second", NUMBER(rate->peak),       \
	    METRIC("max_session_rate"))                                        \
	X(32, "SslRate", "MRP:u32",                                            \
	    "TLS handshakes with clients completed in the last second",        \
	    NUMBER(tls_in->done_rate), METRIC("current_ssl_rate"),             \
	    FRACTION("MRP:flt"))                                               \
	NONE(33, "SslRateLimit", "CLP:u32",                                    \
	    "limit on TLS connections per second")                             \
	X(34, "MaxSslRate", "MMP:u32",                                         \
	    "maximum number of TLS handshakes with clients per second",        \
	    NUMBER(tls_in->done_peak), METRIC("max_ssl_rate"))                 \
	X(35, "SslFrontendKeyRate", "MGP:u32",                                 \
	    "full TLS handshakes with clients in the last second",             \
	    NUMBER(tls_in->full_rate),                                         \
	    METRIC("current_frontend_ssl_key_rate"), FRACTION("MRP:flt"))      \
	X(36, "SslFrontendMaxKeyRate", "MMP:u32",                              \
	    "maximum number of full TLS handshakes with clients per second",   \
	    NUMBER(tls_in->full_peak), METRIC("max_frontend_ssl_key_rate"))    \
	X(37, "SslFrontendSessionReuse_pct", "MGP:u32",                        \
	    "percentage of the last second's TLS handshakes with clients "     \
	    "that "                                                            \
	    "resumed a session",                                               \
	    NUMBER(percent_resumed(tls_in)), METRIC("frontend_ssl_reuse"),     \
	    FRACTION("MRP:flt"))                                               \
	X(38, "SslBackendKeyRate", "MRP:u32",                                  \
	    "full TLS handshakes with servers in the last second",             \
	    NUMBER(tls_out->full_rate),                                        \
	    METRIC("current_backend_ssl_key_rate"), FRACTION("MRP:flt"))       \
	X(39, "SslBackendMaxKeyRate", "MMP:u32",                               \
	    "maximum number of full TLS handshakes with servers per second",   \
	    NUMBER(tls_out->full_peak), METRIC("max_backend_ssl_key_rate"))    \
	X(40, "SslCacheLookups", "MCP:u32",                                    \
	    "TLS sessions that clients have named by id, without tickets",     \
	    NUMBER(tls_in->cache_hits + tls_in->cache_misses),                 \
	    METRIC("ssl_cache_lookups_total"))                                 \
	X(41, "SslCacheMisses", "MCP:u32",                                     \
	    "of these, sessions that were not kept",                           \
	    NUMBER(tls_in->cache_misses), METRIC("ssl_cache_misses_total"))    \
	NONE(42, "CompressBpsIn", "MRP:u32",                                   \
	    "bytes given to compression in the last second",                   \
	    FRACTION("MRP:flt"))                                               \
	NONE(43, "CompressBpsOut", "MRP:u32",                                  \
	    "bytes that compression produced in the last second",              \
	    FRACTION("MRP:flt"))                                               \
	NONE(44, "CompressBpsRateLim", "CLP:u32",                              \
	    "limit on compressed bytes per second")                            \
	X(47, "Tasks", "MGP:u32", "sessions, which are the tasks of lfproxy",  \
	    NUMBER(sessions), METRIC("current_tasks"))                         \
	X(48, "Run_queue", "MGP:u32",                                          \
	    "events and long turns that wait for a thread",                    \
	    NUMBER(facts->waiting), METRIC("current_run_queue"))               \
	X(49, "Idle_pct", "MaP:u32",                                           \
	    "percentage of the last second in which threads used no CPU",      \
	    NUMBER(facts->idle_percent), METRIC("idle_time_percent"))          \
	X(50, "node", "COS:str", "name of this host", TEXT(node),              \
	    NO_METRIC("a text"))                                               \
	X(52, "Stopping", "MGP:u32", "1 while the process stops",              \
	    NUMBER(facts->stopping), METRIC("stopping"))                       \
	X(53, "Jobs", "MGP:u32",                                               \
	    "sessions, listening sockets, and admin connections",              \
	    NUMBER(listeners + facts->admin_clients + sessions),               \
	    METRIC("jobs"))                                                    \
	X(54, "Unstoppable Jobs", "MGP:u32",                                   \
	    "jobs that cannot be stopped, always 0", NUMBER(0),                \
	    METRIC("unstoppable_jobs"))                                        \
	X(55, "Listeners", "MGP:u32", "listening sockets", NUMBER(listeners),  \
	    METRIC("listeners"))                                               \
	NONE(56, "ActivePeers", "MGP:u32", "peers in contact")                 \
	NONE(57, "ConnectedPeers", "MGP:u32", "connected peers")               \
	X(58, "DroppedLogs", "MGP:u32", "log lines that were dropped",         \
	    NUMBER(log_dropped()), METRIC("dropped_logs_total"))               \
	NONE(59, "BusyPolling", "MGP:u32",                                     \
	    "1 if threads poll busily, always 0")                              \
	X(60, "FailedResolutions", "MGP:u32",                                  \
	    "look-ups of servers' names that failed",                          \
	    NUMBER(facts->failed_resolutions), METRIC("failed_resolutions"))   \
	X(61, "TotalBytesOut", "MGP:u64", "bytes sent in both directions",     \
	    NUMBER(info_bytes(model)), METRIC("bytes_out_total"))              \
	X(62, "TotalSplicedBytesOut", "MGP:u64", "bytes sent through pipes",   \
	    NUMBER(sum_frontends(model, COUNTER_SPLICED)),                     \
	    METRIC("spliced_bytes_out_total"))                                 \
	X(63, "BytesOutRate", "MRP:u64", "bytes sent in the last second",      \
	    NUMBER(facts->bytes_rate), METRIC("bytes_out_rate"))               \
	NONE(64, "DebugCommandsIssued", "MGP:u32", "debug commands issued")    \
	NONE(65, "CumRecvLogs", "MCP:u32", "log messages received")            \
	X(66, "Build info", "POS:str", "version of lfproxy",                   \
	    TEXT(LFPROXY_VERSION), NO_METRIC("a label of build_info"))         \
	X(67, "Memmax_bytes", "CLP:u32", "memory limit in bytes, 0: none",     \
	    NUMBER(0), METRIC("max_memory_bytes"))                             \
	X(68, "PoolAlloc_bytes", "MGP:u64",                                    \
	    "bytes of heap obtained from the system", NUMBER(heap),            \
	    METRIC("pool_allocated_bytes"))                                    \
	X(69, "PoolUsed_bytes", "MGP:u64", "bytes of heap in use",             \
	    NUMBER(heap_used), METRIC("pool_used_bytes"))                      \
	X(70, "Start_time_sec", "MDP:u32",                                     \
	    "start time, in seconds since 1970",                               \
	    SECONDS(state->started_wall_us, 1000000),                          \
	    METRIC("start_time_seconds"), FRACTION("MDP:flt"))                 \
	X(71, "Tainted", "SGP:str", "experimental features in use", TEXT("0"), \
	    NO_METRIC("a text"))                                               \
	X(72, "TotalWarnings", "MCP:u32", "warnings logged",                   \
	    NUMBER(log_warnings()), OWN("warnings_total"))                     \
	X(73, "MaxconnReached", "MCP:u32",                                     \
	    "times that maxconn stopped the accepting of connections",         \
	    COUNTED(maxconn_reached), OWN("maxconn_reached_total"))            \
	NONE(75, "Niced_tasks", "MGP:u32", "tasks with a nice value")          \
	X(76, "CurrStreams", "MGP:u64", "current sessions", NUMBER(sessions),  \
	    NO_METRIC("same as CurrConns"))                                    \
	X(77, "CumStreams", "MGP:u64", "total number of sessions",             \
	    NUMBER(total), NO_METRIC("same as CumConns"))                      \
	NONE(78, "BlockedTrafficWarnings", "MGP:u32",                          \
	    "warnings of tasks that block traffic")                            \
	X(79, "Lfproxy_version", "POS:str", "version of lfproxy",              \
	    TEXT(LFPROXY_VERSION), NO_METRIC("a label of build_info"))         \
	X(80, "PipesCreated", "MCP:u64", "total number of pipes created",      \
	    NUMBER(pipes->made), OWN("pipes_created_total"))                   \
	X(81, "PipesSmall", "MCP:u64",                                         \
	    "pipes that are smaller than configured", NUMBER(pipes->small),    \
	    OWN("pipes_small_total"))                                          \
	X(82, "PipesRefused", "MCP:u64", "pipes that the system refused",      \
	    NUMBER(pipes->refused), OWN("pipes_refused_total"))                \
	X(83, "LoopIterations", "MCP:u64",                                     \
	    "iterations of the control loop since the start or clear loop",    \
	    NUMBER(loop->iterations), OWN("loop_iterations_total"))            \
	X(84, "LoopMaxTime_us", "MMP:u64",                                     \
	    "microseconds that the longest iteration of the loop took",        \
	    NUMBER(loop->longest_ns / NS_PER_US),                              \
	    OWN_US("loop_max_time_seconds"))                                   \
	X(85, "LoopMaxCpu_us", "MMP:u64",                                      \
	    "microseconds of CPU that an iteration took at most",              \
	    NUMBER(loop->longest_cpu_ns / NS_PER_US),                          \
	    OWN_US("loop_max_cpu_seconds"))                                    \
	X(86, "ChecksStarted", "MCP:u64",                                      \
	    "health checks and agent checks started since clear loop",         \
	    NUMBER(loop->checks.started), OWN("checks_started_total"))         \
	X(87, "CheckMaxDelay_us", "MMP:u64",                                   \
	    "microseconds that the latest check was delayed",                  \
	    NUMBER(loop->checks.longest_ns / NS_PER_US),                       \
	    OWN_US("checks_max_delay_seconds"))                                \
	X(88, "FailedAnswers", "MCP:u64",                                      \
	    "answers that failed for want of memory",                          \
	    NUMBER(text_out_failures()), OWN("failed_answers_total"))          \
	X(89, "ExpiringCertificates", "MGP:u32",                               \
	    "certificates that have expired or will within 14 days",           \
	    NUMBER(facts->tls->expiring), OWN("certificates_expiring"))        \
	X(90, "FormerSessionsTaken", "MCP:u64",                                \
	    "sessions of the former process that went on in this one",         \
	    NUMBER(facts->former.taken), OWN("former_sessions_taken_total"))   \
	X(91, "FormerSessionsReset", "MCP:u64",                                \
	    "sessions of the former process that could not go on",             \
	    NUMBER(facts->former.refused), OWN("former_sessions_reset_total")) \
	X(92, "FormerSessionsLeft", "MGP:u32",                                 \
	    "sessions that are still with the former process",                 \
	    NUMBER(facts->former.left), OWN("former_sessions_left"))           \
	X(93, "Lfproxy_capabilities", "CGS:str",                               \
	    "capabilities of the process, see capabilities(7)",                \
	    TEXT(capabilities_text()), NO_METRIC("a text"))                    \
	X(94, "FormerPauseP999_us", "MMP:u64",                                 \
	    "microseconds that 99.9% of those sessions paused at most",        \
	    NUMBER(facts->former.pause_p999_ns / NS_PER_US),                   \
	    OWN_US("former_sessions_pause_p999_seconds"))                      \
	X(95, "FormerPauseMax_us", "MMP:u64",                                  \
	    "microseconds that one of those sessions paused at most",          \
	    NUMBER(facts->former.pause_max_ns / NS_PER_US),                    \
	    OWN_US("former_sessions_pause_max_seconds"))                       \
	X(96, "Lfproxy_seccomp", "CGS:str",                                    \
	    "whether system calls are filtered, see seccomp in "               \
	    "lfproxy.ini(5)",                                                  \
	    TEXT(syscall_filter_text()), NO_METRIC("a text"))                  \
	X(97, "Lfproxy_chroot", "CGS:str",                                     \
	    "the root directory, see chroot in "                               \
	    "lfproxy.ini(5)",                                                  \
	    TEXT(*root_text() ? root_text() : "/"), NO_METRIC("a text"))       \
	X(98, "FormerPausesLong", "MCP:u32",                                   \
	    "of those sessions, how many paused for more than 50 ms",          \
	    NUMBER(facts->former.long_pauses),                                 \
	    OWN("former_sessions_pauses_long_total"))
/* clang-format on */

/* The first position of the counters of exhausted resources, one for each name
 * in proxy/exhaustion.h, in that order. */
#define INFO_EXHAUSTION_POS 99

#define X(...) +1
enum { INFO_KEYS = INFO_KEYS_TABLE(X) };
#undef X

struct info_key {
	struct field_name field;
	/* Without prefix; NULL if the key is not a metric. */
	const char *metric;
	const char *no_metric;  /* the reason */
	bool own;               /* prefix lfproxy */
	unsigned parts;         /* values per unit of the metric, 0: 1 */
	const char *float_tags; /* in `show info float`; NULL: the same */
};

extern const struct info_key info_keys[INFO_KEYS];

#endif
