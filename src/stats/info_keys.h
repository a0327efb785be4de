/* SPDX-License-Identifier: MIT
 * The keys of `show info`: HAProxy 2.6's with its positions, and ours behind
 * them.
 */
#ifndef STATS_INFO_KEYS_H
#define STATS_INFO_KEYS_H

/* X(identifier, position, key, tags and type (stats/field.h), what it is) */
/* clang-format off: a line each. */
#define INFO_KEYS_TABLE(X)                                                     \
	X(NAME, 0, "Name", "POS:str", "name of the product")                   \
	X(VERSION, 1, "Version", "POS:str", "version of the runtime API")      \
	X(RELEASE_DATE, 2, "Release_date", "POS:str", "date of the source")    \
	X(NBTHREAD, 3, "Nbthread", "CGS:u32", "threads of all pools")          \
	X(NBPROC, 4, "Nbproc", "CGS:u32", "processes, always 1")               \
	X(PROCESS_NUM, 5, "Process_num", "KGP:u32",                            \
	    "number of this process, always 1")                                \
	X(PID, 6, "Pid", "SGP:u32", "the system's identifier of the process")  \
	X(UPTIME, 7, "Uptime", "MDP:str",                                      \
	    "time since the start, in days to seconds")                        \
	X(UPTIME_SEC, 8, "Uptime_sec", "MDP:u32", "seconds since the start")   \
	X(MEMMAX_MB, 9, "Memmax_MB", "CLP:u32",                                \
	    "limit on memory in MB, 0 none")                                   \
	X(POOL_ALLOC_MB, 10, "PoolAlloc_MB", "MGP:u32",                        \
	    "MB that the heap has from the system")                            \
	X(POOL_USED_MB, 11, "PoolUsed_MB", "MGP:u32", "MB of the heap in use") \
	X(POOL_FAILED, 12, "PoolFailed", "MCP:u32",                            \
	    "times that memory was short")                                     \
	X(ULIMIT_N, 13, "Ulimit-n", "CLP:u32",                                 \
	    "descriptors the process may have")                                \
	X(MAXSOCK, 14, "Maxsock", "CLP:u32", "sockets the process may have")   \
	X(MAXCONN, 15, "Maxconn", "CLP:u32", "sessions there may be")          \
	X(HARD_MAXCONN, 16, "Hard_maxconn", "CLP:u32",                         \
	    "sessions the limits allow")                                       \
	X(CURR_CONNS, 17, "CurrConns", "MGP:u32", "sessions")                  \
	X(CUM_CONNS, 18, "CumConns", "MCP:u32", "sessions so far")             \
	X(CUM_REQ, 19, "CumReq", "MCP:u32",                                    \
	    "the same, as a request is a session here")                        \
	X(MAX_SSL_CONNS, 20, "MaxSslConns", "MMP:u32",                         \
	    "TLS ends there may be, 0 no limit")                               \
	X(CURR_SSL_CONNS, 21, "CurrSslConns", "MGP:u32", "TLS ends")           \
	X(CUM_SSL_CONNS, 22, "CumSslConns", "MCP:u32", "TLS ends so far")      \
	X(MAXPIPES, 23, "Maxpipes", "CLP:u32",                                 \
	    "pipes there may be for splicing")                                 \
	X(PIPES_USED, 24, "PipesUsed", "MGP:u32", "pipes in use")              \
	X(PIPES_FREE, 25, "PipesFree", "MGP:u32", "pipes that are idle")       \
	X(CONN_RATE, 26, "ConnRate", "MRP:u32",                                \
	    "connections in the last second")                                  \
	X(CONN_RATE_LIMIT, 27, "ConnRateLimit", "CLP:u32",                     \
	    "connections there may be in a second, 0 no limit")                \
	X(MAX_CONN_RATE, 28, "MaxConnRate", "MMP:u32",                         \
	    "the most connections in a second")                                \
	X(SESS_RATE, 29, "SessRate", "MRP:u32", "sessions in the last second") \
	X(SESS_RATE_LIMIT, 30, "SessRateLimit", "CLP:u32",                     \
	    "sessions there may be in a second, 0 no limit")                   \
	X(MAX_SESS_RATE, 31, "MaxSessRate", "MRP:u32",                         \
	    "the most sessions in a second")                                   \
	X(SSL_RATE, 32, "SslRate", "MRP:u32",                                  \
	    "TLS connections in the last second")                              \
	X(SSL_RATE_LIMIT, 33, "SslRateLimit", "CLP:u32",                       \
	    "TLS connections there may be in a second")                        \
	X(MAX_SSL_RATE, 34, "MaxSslRate", "MMP:u32",                           \
	    "the most TLS connections in a second")                            \
	X(SSL_FE_KEY_RATE, 35, "SslFrontendKeyRate", "MGP:u32",                \
	    "TLS keys made for clients in the last second")                    \
	X(SSL_FE_MAX_KEY_RATE, 36, "SslFrontendMaxKeyRate", "MMP:u32",         \
	    "the most TLS keys for clients in a second")                       \
	X(SSL_FE_REUSE, 37, "SslFrontendSessionReuse_pct", "MGP:u32",          \
	    "percent of TLS sessions used again")                              \
	X(SSL_BE_KEY_RATE, 38, "SslBackendKeyRate", "MRP:u32",                 \
	    "TLS keys made for servers in the last second")                    \
	X(SSL_BE_MAX_KEY_RATE, 39, "SslBackendMaxKeyRate", "MMP:u32",          \
	    "the most TLS keys for servers in a second")                       \
	X(SSL_LOOKUPS, 40, "SslCacheLookups", "MCP:u32",                       \
	    "looks for a TLS session")                                         \
	X(SSL_MISSES, 41, "SslCacheMisses", "MCP:u32",                         \
	    "looks that found no TLS session")                                 \
	X(COMP_IN, 42, "CompressBpsIn", "MRP:u32",                             \
	    "bytes given to compression in the last second")                   \
	X(COMP_OUT, 43, "CompressBpsOut", "MRP:u32",                           \
	    "bytes that came of it in the last second")                        \
	X(COMP_LIMIT, 44, "CompressBpsRateLim", "CLP:u32",                     \
	    "bytes a second from which on nothing is compressed")              \
	X(TASKS, 47, "Tasks", "MGP:u32", "sessions, the tasks there are here") \
	X(RUN_QUEUE, 48, "Run_queue", "MGP:u32",                               \
	    "events that wait for a thread")                                   \
	X(IDLE_PCT, 49, "Idle_pct", "MaP:u32",                                 \
	    "percent of the last second in which the threads used no CPU")     \
	X(NODE, 50, "node", "COS:str", "name of this host")                    \
	X(STOPPING, 52, "Stopping", "MGP:u32", "1 while it is about to end")   \
	X(JOBS, 53, "Jobs", "MGP:u32",                                         \
	    "sessions, listening sockets, and admin connections")              \
	X(UNSTOPPABLE, 54, "Unstoppable Jobs", "MGP:u32",                      \
	    "jobs that do not end, always 0")                                  \
	X(LISTENERS, 55, "Listeners", "MGP:u32", "listening sockets")          \
	X(ACTIVE_PEERS, 56, "ActivePeers", "MGP:u32", "peers in touch")        \
	X(CONNECTED_PEERS, 57, "ConnectedPeers", "MGP:u32",                    \
	    "peers that are connected")                                        \
	X(DROPPED_LOGS, 58, "DroppedLogs", "MGP:u32",                          \
	    "lines of the log that were dropped")                              \
	X(BUSY_POLLING, 59, "BusyPolling", "MGP:u32",                          \
	    "1 when threads wait busily, always 0")                            \
	X(FAILED_RESOLUTIONS, 60, "FailedResolutions", "MGP:u32",              \
	    "names that could not be resolved")                                \
	X(BYTES_OUT, 61, "TotalBytesOut", "MGP:u64",                           \
	    "bytes sent so far, both ways")                                    \
	X(SPLICED_OUT, 62, "TotalSplicdedBytesOut", "MGP:u64",                 \
	    "bytes that went through pipes so far")                            \
	X(BYTES_OUT_RATE, 63, "BytesOutRate", "MRP:u64",                       \
	    "bytes sent in the last second")                                   \
	X(DEBUG_COMMANDS, 64, "DebugCommandsIssued", "MGP:u32",                \
	    "commands for debugging that were given")                          \
	X(RECV_LOGS, 65, "CumRecvLogs", "MCP:u32",                             \
	    "log messages that were taken from others")                        \
	X(BUILD, 66, "Build info", "POS:str", "version of lfproxy")            \
	X(MEMMAX, 67, "Memmax_bytes", "CLP:u32",                               \
	    "limit on memory in bytes, 0 none")                                \
	X(POOL_ALLOC, 68, "PoolAlloc_bytes", "MGP:u64",                        \
	    "bytes that the heap has from the system")                         \
	X(POOL_USED, 69, "PoolUsed_bytes", "MGP:u64",                          \
	    "bytes of the heap in use")                                        \
	X(START, 70, "Start_time_sec", "MDP:u32",                              \
	    "when it started, in seconds since 1970")                          \
	X(TAINTED, 71, "Tainted", "SGP:str", "experimental features in use")   \
	X(LF_VERSION, 72, "Lfproxy_version", "POS:str", "version of lfproxy")  \
	X(LF_PIPES_MADE, 73, "PipesMade", "MCP:u64", "pipes made so far")      \
	X(LF_PIPES_SMALL, 74, "PipesSmall", "MCP:u64",                         \
	    "pipes that could not have the size wanted")                       \
	X(LF_PIPES_REFUSED, 75, "PipesRefused", "MCP:u64",                     \
	    "pipes that the system refused")                                   \
	X(LF_MAXCONN_REACHED, 76, "MaxconnReached", "MCP:u64",                 \
	    "times that accepting stopped for maxconn")                        \
	X(LF_LOOP_TURNS, 77, "LoopTurns", "MCP:u64",                           \
	    "turns of the control loop since the start or clear loop")         \
	X(LF_LOOP_MAX, 78, "LoopMaxTurn_us", "MMP:u64",                        \
	    "microseconds that the longest turn of the loop took")             \
	X(LF_LOOP_MAX_CPU, 79, "LoopMaxCpu_us", "MMP:u64",                     \
	    "microseconds of CPU that a turn took at most")                    \
	X(LF_CHECKS, 80, "ChecksBegun", "MCP:u64",                             \
	    "checks, and questions to agents, since clear loop")               \
	X(LF_CHECKS_LATE, 81, "CheckMaxDelay_us", "MMP:u64",                   \
	    "microseconds by which the latest check was late")                 \
	X(LF_FAILED_ANSWERS, 82, "FailedAnswers", "MCP:u64",                   \
	    "answers that found no memory")
/* clang-format on */

/* Of the keys that are made from the lacks' names (proxy/exhaustion.h), which
 * follow in their order. */
#define INFO_EXHAUSTION_POS 83

enum info_key {
#define X(id, pos, name, tags, desc) INFO_##id,
	INFO_KEYS_TABLE(X)
#undef X
	    INFO_KEYS
};

#endif
