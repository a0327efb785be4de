/* SPDX-License-Identifier: MIT
 * The commands of the admin socket, in one table.
 *
 * The code of `VERB NOUN` is in VERB_NOUN.c (show_sess.c).  A file named after
 * leading words has all commands that begin with them (clear.c, set_maxconn.c,
 * show_cli.c).  Commands that undo or list what a command does are in the file
 * of that command: `del acl` and `clear acl` in add_acl.c, `get acl` in
 * show_acl.c, `commit acl` in prepare_acl.c, `disable server` in
 * enable_server.c, `cancel drain` and `show drains` in drain_server.c,
 * `cancel expiring` in show_expiring.c, `undo drift` in show_drift.c.
 * The description of a SETTING is in setting_access.c.
 * Commands about the connection itself are in cli.c, `show version` is in
 * show_info.c.
 */
#ifndef COMMANDS_COMMANDS_H
#define COMMANDS_COMMANDS_H

#include "commands/setting_access.h"
#include "live/edit.h"

/* COMMAND(words, level, function, arguments, usage, help)
 * SETTING(words, level, function, arguments,
 *     describe, restore, names, args_min, usage, help)
 *
 * Rows are in the order in which `help` lists them; the last COMMANDS_ALWAYS
 * end every list.  A command whose words begin another's comes after it.
 *
 * words      the command itself; arguments follow
 * level      the least LEVEL_ that may call it; others get `Permission denied`
 * arguments  who checks them.  USAGE: call_fits, for lfproxyctl alone;
 *            STRICT: call_fits, for every client; OWN: the command
 * usage      arguments, see usage_unexpected
 *
 * The change that a SETTING makes can expire (`for DURATION`): describe,
 * restore, names and args_min are those of struct setting_access. */
/* clang-format off: a row each. */
#define COMMANDS_TABLE(COMMAND, SETTING)                                       \
	COMMAND("abort ssl ca-file", ADMIN, run_abort_ssl_ca_file, USAGE,      \
	    "<cafile>", "abort a transaction for a CA file")                   \
	COMMAND("abort ssl cert", ADMIN, run_abort_ssl_cert, USAGE,            \
	    "<certfile>", "abort a transaction for a certificate file")        \
	COMMAND("abort ssl crl-file", ADMIN, run_abort_ssl_crl_file, USAGE,    \
	    "<crlfile>", "abort a transaction for a CRL file")                 \
	SETTING("add acl", ADMIN, run_add_acl, USAGE, describe_acl_entry,      \
	    restore_acl_entry, 2, 2, "[@<ver>] <acl> <pattern>",               \
	    "add an entry to an address list")                                 \
	COMMAND("add server", ADMIN, run_add_server, OWN,                      \
	    "<bk>/<srv> <address> [<option>]*", "create a new server")         \
	COMMAND("cancel drain", ADMIN, run_cancel_drain, USAGE, "<bk>/<srv>",  \
	    "stop draining a server; it is as it was before")                  \
	COMMAND("cancel expiring", ADMIN, run_cancel_expiring, USAGE, "<id>",  \
	    "keep what was set for a time")                                    \
	COMMAND("cancel rebalance", ADMIN, run_cancel_rebalance, USAGE,        \
	    "<backend>", "close no further sessions of a backend")             \
	COMMAND("clear acl", ADMIN, run_clear_acl, USAGE, "[@<ver>] <acl>",    \
	    "delete all entries of an address list")                           \
	COMMAND("clear counters", OPERATOR, run_clear_counters, USAGE,         \
	    "[all]", "clear max statistics counters (or all counters)")        \
	COMMAND("clear loop", ADMIN, run_clear_loop, STRICT, "",               \
	    "reset the statistics of the control loop and of the checks' "     \
	    "delays")                                                          \
	COMMAND("clear table", OPERATOR, run_clear_table, OWN,                 \
	    "<table> [<filter>]*",                                             \
	    "remove an entry from a table (filter: data/key)")                 \
	COMMAND("commit acl", ADMIN, run_commit_acl, USAGE, "@<ver> <acl>",    \
	    "replace all entries of an address list by a prepared version")    \
	COMMAND("commit ssl ca-file", ADMIN, run_commit_ssl_ca_file, USAGE,    \
	    "<cafile>", "commit a CA file")                                    \
	COMMAND("commit ssl cert", ADMIN, run_commit_ssl_cert, USAGE,          \
	    "<certfile>", "commit a certificate file")                         \
	COMMAND("commit ssl crl-file", ADMIN, run_commit_ssl_crl_file, USAGE,  \
	    "<crlfile>", "commit a CRL file")                                  \
	COMMAND("del acl", ADMIN, run_del_acl, USAGE, "<acl> <key>",           \
	    "delete an entry of an address list")                              \
	COMMAND("del bandwidth client", ADMIN, run_del_bandwidth_client,       \
	    USAGE, "<range>", "end the limit on a client range's bandwidth")   \
	COMMAND("del server", ADMIN, run_del_server, USAGE, "<bk>/<srv>",      \
	    "remove a server that is in maintenance")                          \
	SETTING("disable agent", ADMIN, run_disable_agent, USAGE,              \
	    describe_agent, restore_agent, 1, 1, "<bk>/<srv>",                 \
	    "disable agent checks")                                            \
	SETTING("disable frontend", ADMIN, run_disable_frontend, USAGE,        \
	    describe_frontend, restore_frontend, 1, 1, "<frontend>",           \
	    "temporarily disable specific frontend")                           \
	SETTING("disable health", ADMIN, run_disable_health, USAGE,            \
	    describe_checks, restore_checks, 1, 1, "<bk>/<srv>",               \
	    "disable health checks")                                           \
	SETTING("disable server", ADMIN, run_disable_server, USAGE,            \
	    describe_state, restore_state, 1, 1, "<bk>/<srv>",                 \
	    "disable a server for maintenance")                                \
	COMMAND("drain server", ADMIN, run_drain_server, OWN,                  \
	    "<bk>/<srv> [over <duration>] [then <kill|maint>]",                \
	    "take a server out of service, little by little")                  \
	SETTING("enable agent", ADMIN, run_enable_agent, USAGE,                \
	    describe_agent, restore_agent, 1, 1, "<bk>/<srv>",                 \
	    "enable agent checks")                                             \
	SETTING("enable frontend", ADMIN, run_enable_frontend, USAGE,          \
	    describe_frontend, restore_frontend, 1, 1, "<frontend>",           \
	    "re-enable specific frontend")                                     \
	SETTING("enable health", ADMIN, run_enable_health, USAGE,              \
	    describe_checks, restore_checks, 1, 1, "<bk>/<srv>",               \
	    "enable health checks")                                            \
	SETTING("enable server", ADMIN, run_enable_server, USAGE,              \
	    describe_state, restore_state, 1, 1, "<bk>/<srv>",                 \
	    "enable a disabled server")                                        \
	COMMAND("explain", USER, run_explain, OWN,                             \
	    "<source> [<frontend>] [to <address>] [sni <name>] "               \
	    "[alpn <names>] [version <tls>] [tls] [json]",                     \
	    "report where a client would be sent, and why; nothing is opened") \
	COMMAND("get acl", OPERATOR, run_get_acl, USAGE,                       \
	    "<acl> <address> [json]",                                          \
	    "report whether an address list has an address, and by which "     \
	    "entry")                                                           \
	COMMAND("get weight", USER, run_get_weight, USAGE, "<bk>/<srv>",       \
	    "report a server's current weight")                                \
	COMMAND("operator", OPERATOR, run_operator, USAGE, "",                 \
	    "lower the level of the current CLI session to operator")          \
	COMMAND("prepare acl", ADMIN, run_prepare_acl, USAGE, "<acl>",         \
	    "begin a version that will replace an address list")               \
	COMMAND("ready", USER, run_ready, USAGE, "[<frontend>] [json]",        \
	    "report whether sessions are served, in all or by one frontend")   \
	COMMAND("rebalance backend", ADMIN, run_rebalance, OWN,                \
	    "<backend> [over <duration>] [dry-run] [json]",                    \
	    "close old sessions of servers that have more than their share")   \
	COMMAND("reload", ADMIN, run_reload, STRICT, "",                       \
	    "read the configuration again and apply what has changed")         \
	COMMAND("resolve now", OPERATOR, run_resolve_now, USAGE,               \
	    "[backend <backend>]", "look up the names of servers at once")     \
	SETTING("set bandwidth client", ADMIN, run_set_bandwidth_client, OWN,  \
	    describe_bandwidth_client, restore_bandwidth_client, 1, 2,         \
	    "<range> [in=<rate>] [out=<rate>]",                                \
	    "limit the bandwidth of a client range, also of its sessions now") \
	SETTING("set maxconn frontend", ADMIN, run_set_maxconn_frontend,       \
	    USAGE, describe_maxconn_frontend, run_set_maxconn_frontend, 1, 2,  \
	    "<frontend> <value>", "change a frontend's maxconn setting")       \
	SETTING("set maxconn global", ADMIN, run_set_maxconn_global, USAGE,    \
	    describe_maxconn_global, run_set_maxconn_global, 0, 1, "<value>",  \
	    "change the per-process maxconn setting")                          \
	SETTING("set maxconn server", ADMIN, run_set_maxconn_server, USAGE,    \
	    describe_maxconn_server, run_set_maxconn_server, 1, 2,             \
	    "<bk>/<srv> <value>", "change a server's maxconn setting")         \
	SETTING("set pool", ADMIN, run_set_pool, OWN, describe_pool,           \
	    run_set_pool, 2, 3, "<pool> <what> <value>",                       \
	    "change threads, shards, promotion, order, or cpus of a pool")     \
	SETTING("set rate-limit", ADMIN, run_set_rate_limit, OWN,              \
	    describe_rate_limit, run_set_rate_limit, 2, 3,                     \
	    "<setting> <value>", "change a rate limiting value")               \
	SETTING("set server", ADMIN, run_set_server, OWN, describe_server,     \
	    run_set_server, 2, 3, "<bk>/<srv> [opts]",                         \
	    "change a server's state, weight, address or maxconn")             \
	COMMAND("set severity-output", USER, run_set_severity, USAGE,          \
	    "[none|number|string]",                                            \
	    "set presence of severity level in feedback information")          \
	COMMAND("set ssl ca-file", ADMIN, run_set_ssl_ca_file, USAGE,          \
	    "<cafile> <payload>", "replace a CA file")                         \
	COMMAND("set ssl cert", ADMIN, run_set_ssl_cert, USAGE,                \
	    "<certfile> <payload>", "replace a certificate file")              \
	COMMAND("set ssl crl-file", ADMIN, run_set_ssl_crl_file, USAGE,        \
	    "<crlfile> <payload>", "replace a CRL file")                       \
	COMMAND("set table", OPERATOR, run_set_table, OWN,                     \
	    "<table> key <key> [data.<type> <value>]*",                        \
	    "update or create a table entry's data")                           \
	COMMAND("set timeout", USER, run_set_timeout, USAGE, "[cli] <delay>",  \
	    "change a timeout setting")                                        \
	COMMAND("set tls cert", ADMIN, run_set_tls_cert, USAGE,                \
	    "<tls> <certfile> <payload>",                                      \
	    "replace a certificate of a [tls] section, at once")               \
	SETTING("set weight", ADMIN, run_set_weight, USAGE, describe_weight,   \
	    run_set_weight, 1, 2, "<bk>/<srv> <weight>",                       \
	    "change a server's weight")                                        \
	COMMAND("show acl", OPERATOR, run_show_acl, USAGE,                     \
	    "[@<ver>] [<acl>] [json]",                                         \
	    "report the address lists, or the entries of one")                 \
	COMMAND("show backend", USER, run_show_backend, USAGE, "[json]",       \
	    "list backends in the current running config")                     \
	COMMAND("show bandwidth clients", OPERATOR,                            \
	    run_show_bandwidth_clients, USAGE, "[json]",                       \
	    "report the client ranges whose bandwidth commands have limited")  \
	COMMAND("show capacity", USER, run_show_capacity, STRICT, "[json]",    \
	    "report what is used of what there is, and when it will run out")  \
	COMMAND("show changes", OPERATOR, run_show_changes, USAGE,             \
	    "[<max>] [json]",                                                  \
	    "report what was changed through the admin sockets")               \
	COMMAND("show cli level", USER, run_show_cli_level, USAGE, "[json]",   \
	    "display the level of the current CLI session")                    \
	COMMAND("show cli sockets", USER, run_show_cli_sockets, USAGE,         \
	    "[json]", "dump list of cli sockets")                              \
	COMMAND("show closed", OPERATOR, run_show_closed, OWN,                 \
	    "[<id>|<number>] [<filter>]* [json]",                              \
	    "report the sessions that have ended, the latest first")           \
	COMMAND("show config", ADMIN, run_show_config, STRICT, "[json]",       \
	    "print the configuration that runs, as a file")                    \
	COMMAND("show drains", USER, run_show_drains, STRICT, "[json]",        \
	    "report the servers that are being drained")                       \
	COMMAND("show drift", OPERATOR, run_show_drift, STRICT, "[json]",      \
	    "report what differs between the files, what was loaded, and "     \
	    "what runs")                                                       \
	COMMAND("show env", OPERATOR, run_show_env, USAGE, "[<var>] [json]",   \
	    "dump environment variables known to the process")                 \
	COMMAND("show errors", OPERATOR, run_show_errors, USAGE,               \
	    "[<px>] [request|response] [json]",                                \
	    "report last request and/or response errors for each proxy")       \
	COMMAND("show events", USER, run_show_events, OWN,                     \
	    "[<number>] [<about>] [json]",                                     \
	    "report what has happened to servers, backends and pools")         \
	COMMAND("show expiring", OPERATOR, run_show_expiring, STRICT,          \
	    "[json]",                                                          \
	    "report what was set for a time, and what is put back then")       \
	COMMAND("show failures", OPERATOR, run_show_failures, OWN,             \
	    "[<number>] [<filter>]* [json]",                                   \
	    "report how many sessions failed, by cause and server")            \
	COMMAND("show info", USER, run_show_info, USAGE,                       \
	    "[desc|flat|json|typed|float]*",                                   \
	    "report information about the running process")                    \
	COMMAND("show memory", USER, run_show_memory, STRICT, "[json]",        \
	    "report what the process's memory goes to, and what is not "       \
	    "explained")                                                       \
	COMMAND("show pool", USER, run_show_pool, STRICT, "[<pool>] [json]",   \
	    "report the Leader/Followers counters of all pools or one")        \
	COMMAND("show rebalances", USER, run_show_rebalances, STRICT,          \
	    "[json]",                                                          \
	    "report the backends whose sessions are being rebalanced")         \
	COMMAND("show resolvers", USER, run_show_resolvers, USAGE, "[json]",   \
	    "report the name servers, and the names looked up")                \
	COMMAND("show schema json", USER, run_show_schema, USAGE, "",          \
	    "report schema used for stats")                                    \
	COMMAND("show servers conn", USER, run_show_servers_conn, USAGE,       \
	    "[<backend>] [json]",                                              \
	    "dump server connections status (all or for a single backend)")    \
	COMMAND("show servers state", USER, run_show_servers_state, USAGE,     \
	    "[<backend>] [json]",                                              \
	    "dump volatile server information (all or for a single backend)")  \
	COMMAND("show servers", USER, run_show_servers, USAGE,                 \
	    "[<backend>] [json]",                                              \
	    "report where the servers are and how they do, as a table")        \
	COMMAND("show sess", OPERATOR, run_show_sess, OWN,                     \
	    "[<id>|all] [<filter>]* [json]",                                   \
	    "report the list of current sessions or dump this exact session")  \
	COMMAND("show sets", USER, run_show_sets, USAGE, "[<backend>] [json]", \
	    "report the sets of servers, their sources and last errors")       \
	COMMAND("show ssl ca-file", OPERATOR, run_show_ssl_ca_file, USAGE,     \
	    "[<cafile>] [json]",                                               \
	    "display the SSL CA files used in memory, or the details of one")  \
	COMMAND("show ssl cert", OPERATOR, run_show_ssl_cert, USAGE,           \
	    "[<certfile>] [json]",                                             \
	    "display the SSL certificates used in memory, or the details of "  \
	    "a "                                                               \
	    "file")                                                            \
	COMMAND("show ssl crl-file", OPERATOR, run_show_ssl_crl_file, USAGE,   \
	    "[<crlfile>] [json]",                                              \
	    "display the SSL CRL files used in memory, or the details of one") \
	COMMAND("show stat", USER, run_show_stat, OWN,                         \
	    "[desc|flat|json|no-maint|typed|up]*",                             \
	    "report counters for each proxy and server")                       \
	COMMAND("show table", USER, run_show_table, OWN,                       \
	    "[<table> [<filter>]*] [json]",                                    \
	    "report table usage stats or dump this table's contents")          \
	COMMAND("show threads", USER, run_show_threads, STRICT,                \
	    "[<pool>] [json]",                                                 \
	    "report what each thread of all pools or of one does")             \
	COMMAND("show tls", USER, run_show_tls, STRICT, "[<tls>] [json]",      \
	    "report the [tls] sections, their certificates and handshakes")    \
	COMMAND("show top clients", OPERATOR, run_show_top_clients, STRICT,    \
	    "[bytes|sessions|errors] [last <time>] [json]",                    \
	    "report the clients with the most bytes, sessions or errors")      \
	COMMAND("show version", USER, run_show_version, USAGE, "[json]",       \
	    "show version of the current process")                             \
	COMMAND("shutdown frontend", ADMIN, run_shutdown_frontend, USAGE,      \
	    "<frontend>", "stop a specific frontend")                          \
	COMMAND("shutdown session", ADMIN, run_shutdown_session, USAGE,        \
	    "<id>", "kill a specific session")                                 \
	COMMAND("shutdown sessions server", ADMIN,                             \
	    run_shutdown_sessions_server, USAGE, "<bk>/<srv>",                 \
	    "kill sessions on a server")                                       \
	COMMAND("undo drift", ADMIN, run_undo_drift, OWN, "<setting>",         \
	    "set what a command has changed to the value of the file")         \
	COMMAND("upgrade", ADMIN, run_upgrade, USAGE, "[<program>|@<name>]",   \
	    "have another process take over, of a newer program perhaps")      \
	COMMAND("user", USER, run_user, USAGE, "",                             \
	    "lower the level of the current CLI session to user")              \
	COMMAND("wait", ADMIN, run_wait, OWN, "<delay>|-h [<condition>]",      \
	    "wait the specified delay or condition")                           \
	COMMAND("help", USER, run_help, OWN, "[<command>]",                    \
	    "list matching or all commands")                                   \
	COMMAND("prompt", USER, run_prompt, USAGE, "[timed]",                  \
	    "toggle interactive mode with prompt")                             \
	COMMAND("quit", USER, run_quit, USAGE, "", "disconnect")
/* clang-format on */
#define COMMANDS_ALWAYS 3

/* The functions of each row. */
#define COMMAND_PROTOTYPE(words, level, function, ...)                         \
	bool function(struct call *call);
#define SETTING_PROTOTYPES(                                                    \
    words, level, function, arguments, describe, restore, ...)                 \
	bool function(struct call *call);                                      \
	enum setting_answer describe(                                          \
	    struct call *call, struct setting *ret_setting);                   \
	bool restore(struct call *call);
COMMANDS_TABLE(COMMAND_PROTOTYPE, SETTING_PROTOTYPES)
#undef COMMAND_PROTOTYPE
#undef SETTING_PROTOTYPES

/* Returns why the server cannot be deleted, in HAProxy's words, NULL if it can
 * be. */
const char *server_unremovable_text(enum server_removable removable);

struct pools;

/* The value before and after `set pool`; long lists of CPUs are cut. */
#define SET_POOL_TEXT_SIZE 96
struct set_pool_change {
	char before[SET_POOL_TEXT_SIZE], after[SET_POOL_TEXT_SIZE];
};

/* Changes a pool.  args: POOL, the setting, its value in one or more words,
 * NULL.  Returns false with err set and the pool unchanged. */
bool set_pool(struct pools *pools, char *const *args,
    struct set_pool_change *ret_change, struct err *err);

#endif
