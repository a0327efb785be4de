/* SPDX-License-Identifier: MIT
 * The columns of `show stat`, by their names: HAProxy 2.6's, in its order, up
 * to
 * `-`, and ours behind it.
 */
#ifndef STATS_STAT_NAMES_H
#define STATS_STAT_NAMES_H

/* X(identifier, tags and type (stats/field.h), what it is) */
/* clang-format off: a line each. */
#define STAT_COLUMNS_TABLE(X)                                                  \
	X(pxname, "KNS:str", "name of the proxy")                              \
	X(svname, "KNS:str", "name of the server, or FRONTEND or BACKEND")     \
	X(qcur, "MGP:u32", "sessions in the queue")                            \
	X(qmax, "MMP:u32", "the most sessions there were in the queue")        \
	X(scur, "MGP:u32", "sessions")                                         \
	X(smax, "MMP:u32", "the most sessions there were at a time")           \
	X(slim, "CLP:u32", "sessions there may be at a time")                  \
	X(stot, "MCP:u64", "sessions so far")                                  \
	X(bin, "MCP:u64", "bytes from clients")                                \
	X(bout, "MCP:u64", "bytes to clients")                                 \
	X(dreq, "MCP:u64", "connections or requests that rules refused")       \
	X(dresp, "MCP:u64", "answers that rules refused")                      \
	X(ereq, "MCP:u64", "sessions the client broke off early")              \
	X(econ, "MCP:u64", "sessions that could not be connected")             \
	X(eresp, "MCP:u64", "sessions the server broke off")                   \
	X(wretr, "MCP:u64", "connects tried again on the same server")         \
	X(wredis, "MCP:u64", "connects tried again on another server")         \
	X(status, "SGP:str", "state of the proxy or server")                   \
	X(weight, "MaP:u32", "weight of the server, or of all usable ones")    \
	X(act, "SGP:u32",                                                      \
	    "whether it is no spare; usable servers that are none")            \
	X(bck, "SGP:u32", "whether it is a spare; usable spares")              \
	X(chkfail, "MCP:u64", "checks that failed while it was up")            \
	X(chkdown, "MCP:u64", "times that it went down")                       \
	X(lastchg, "MAP:u32", "seconds since it last went up or down")         \
	X(downtime, "MCP:u32", "seconds that it was down, in total")           \
	X(qlimit, "CLS:u32", "sessions that may be in the server's queue")     \
	X(pid, "KGP:u32", "number of the process, always 1")                   \
	X(iid, "KGS:u32", "number of the proxy")                               \
	X(sid, "KGS:u32", "number of the server in its backend")               \
	X(throttle, "MaP:u32", "percent of the weight during a slow start")    \
	X(lbtot, "MCP:u64", "times that the balancing chose it")               \
	X(tracked, "CNS:str", "server whose checks count for this one")        \
	X(type, "CGS:u32", "0 a frontend, 1 a backend, 2 a server")            \
	X(rate, "MRP:u32", "sessions in the last second")                      \
	X(rate_lim, "CLP:u32", "sessions that there may be in a second")       \
	X(rate_max, "MMP:u32", "the most sessions there were in a second")     \
	X(check_status, "MOP:str", "how the last check ended")                 \
	X(check_code, "MOP:u32",                                               \
	    "status that the last check was answered with")                    \
	X(check_duration, "MDP:u64", "milliseconds the last check took")       \
	X(hrsp_1xx, "MCP:u64", "HTTP answers with status 1xx")                 \
	X(hrsp_2xx, "MCP:u64", "HTTP answers with status 2xx")                 \
	X(hrsp_3xx, "MCP:u64", "HTTP answers with status 3xx")                 \
	X(hrsp_4xx, "MCP:u64", "HTTP answers with status 4xx")                 \
	X(hrsp_5xx, "MCP:u64", "HTTP answers with status 5xx")                 \
	X(hrsp_other, "MCP:u64", "HTTP answers with another status")           \
	X(hanafail, "MCP:u64", "checks that failed by what traffic showed")    \
	X(req_rate, "MRP:u32", "HTTP requests in the last second")             \
	X(req_rate_max, "MMP:u32", "the most HTTP requests in a second")       \
	X(req_tot, "MCP:u64", "HTTP requests so far")                          \
	X(cli_abrt, "MCP:u64", "sessions the client broke off")                \
	X(srv_abrt, "MCP:u64", "sessions the server broke off while open")     \
	X(comp_in, "MCP:u64", "bytes given to compression")                    \
	X(comp_out, "MCP:u64", "bytes that compression made of them")          \
	X(comp_byp, "MCP:u64",                                                 \
	    "bytes that were not compressed for want of time")                 \
	X(comp_rsp, "MCP:u64", "HTTP answers that were compressed")            \
	X(lastsess, "MAP:s32",                                                 \
	    "seconds since the last session began, -1 never")                  \
	X(last_chk, "MOP:str", "what the last check had to say")               \
	X(last_agt, "MOP:str", "what the agent said last")                     \
	X(qtime, "MaP:u32", "milliseconds in the queue, average")              \
	X(ctime, "MaP:u32", "milliseconds to connect, average")                \
	X(rtime, "MaP:u32", "milliseconds to an HTTP answer, average")         \
	X(ttime, "MaP:u32", "milliseconds that sessions lasted, average")      \
	X(agent_status, "MOP:str", "how asking the agent last ended")          \
	X(agent_code, "MOP:u32", "number that the agent answered with")        \
	X(agent_duration, "MDP:u64",                                           \
	    "milliseconds that asking the agent took")                         \
	X(check_desc, "MOP:str", "check_status in words")                      \
	X(agent_desc, "MOP:str", "agent_status in words")                      \
	X(check_rise, "CGS:u32", "checks in a row that bring it up")           \
	X(check_fall, "CGS:u32", "checks in a row that take it down")          \
	X(check_health, "CGS:u32", "0 to rise+fall-1; up from rise on")        \
	X(agent_rise, "CGS:u32", "agent's answers that bring it up")           \
	X(agent_fall, "CGS:u32", "agent's answers that take it down")          \
	X(agent_health, "CGS:u32", "0 to rise+fall-1 of the agent")            \
	X(addr, "CGS:str", "address and port")                                 \
	X(cookie, "CNS:str", "cookie of the server")                           \
	X(mode, "CGS:str", "tcp")                                              \
	X(algo, "CGS:str", "how servers are chosen")                           \
	X(conn_rate, "MRP:u32", "connections in the last second")              \
	X(conn_rate_max, "MMP:u32", "the most connections in a second")        \
	X(conn_tot, "MCP:u64", "connections so far")                           \
	X(intercepted, "MCP:u64", "HTTP requests answered by the proxy")       \
	X(dcon, "MCP:u64", "connections that rules refused")                   \
	X(dses, "MCP:u64", "sessions that rules refused")                      \
	X(wrew, "MCP:u64", "headers that could not be rewritten")              \
	X(connect, "MCP:u64", "connects that were tried")                      \
	X(reuse, "MCP:u64", "connections to the server used again")            \
	X(cache_lookups, "MCP:u64", "looks into the cache")                    \
	X(cache_hits, "MCP:u64", "answers from the cache")                     \
	X(srv_icur, "MGP:u32", "idle connections kept to the server")          \
	X(src_ilim, "CLP:u32", "idle connections that may be kept")            \
	X(qtime_max, "MMP:u32", "milliseconds in the queue, the most")         \
	X(ctime_max, "MMP:u32", "milliseconds to connect, the most")           \
	X(rtime_max, "MMP:u32", "milliseconds to an HTTP answer, the most")    \
	X(ttime_max, "MMP:u32",                                                \
	    "milliseconds that a session lasted, the most")                    \
	X(eint, "MCP:u64", "sessions that a lack of resources ended")          \
	X(idle_conn_cur, "MGP:u32", "idle connections that are not safe")      \
	X(safe_conn_cur, "MGP:u32", "idle connections that are safe")          \
	X(used_conn_cur, "MGP:u32", "connections to the server in use")        \
	X(need_conn_est, "MGP:u32",                                            \
	    "connections that are likely to be needed")                        \
	X(uweight, "MaP:u32", "weight before a slow start")                    \
	X(agg_server_status, "MGP:u32", "servers of the backend in a state")   \
	X(agg_server_check_status, "MGP:u32", "the same, old name")            \
	X(agg_check_status, "MGP:u32", "servers of the backend by check")      \
	X(dash, "PGS:str", "what follows is not HAProxy's")                    \
	X(lf_pool, "CNS:str", "pool of threads that serves the frontend")      \
	X(lf_usable, "SGP:u32",                                                \
	    "whether new sessions may go there; of a backend how many")        \
	X(lf_admin, "SGP:str", "what people decided: ready, drain, or maint")  \
	X(lf_connect_us, "MaP:u32",                                            \
	    "microseconds to connect, moving average with peaks")              \
	X(lf_panic, "SGP:u32", "1: servers that are down are tried as well")   \
	X(lf_ejections, "MCP:u64", "times the server was ejected")             \
	X(lf_queue_refused, "MCP:u64",                                         \
	    "sessions for which the queue had no room")                        \
	X(lf_retries_refused, "MCP:u64", "retries beyond the budget")          \
	X(lf_retries, "MGP:u32", "retries that are under way")                 \
	X(lf_retries_max, "MMP:u32", "the most retries there were at a time")  \
	X(lf_retries_limit, "CLP:u32",                                         \
	    "retries that the budget allows at present")                       \
	X(lf_hellos, "MCP:u64", "TLS hellos that were read")                   \
	X(lf_not_tls, "MCP:u64", "sessions that began with something else")    \
	X(lf_hello_timeouts, "MCP:u64",                                        \
	    "sessions without a whole TLS hello in time")                      \
	X(lf_proxy_headers, "MCP:u64", "PROXY headers that were taken")        \
	X(lf_proxy_errors, "MCP:u64",                                          \
	    "sessions without the PROXY header they owe")
/* clang-format on */

enum stat_name {
#define X(id, tags, desc) STAT_##id,
	STAT_COLUMNS_TABLE(X)
#undef X
	    STAT_NAMES
};

#endif
