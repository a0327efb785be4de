/* SPDX-License-Identifier: MIT
 * The commands of the admin socket, in one table.
 *
 * The code of `VERB NOUN` is in VERB_NOUN.c (show_sess.c).  A file named after
 * leading words has all commands that begin with them (clear.c, set_maxconn.c,
 * show_cli.c).  Commands that undo or list what a command does are in the file
 * of that command: `disable server` in enable_server.c, `cancel drain` and
 * `show drains` in drain_server.c, `cancel expiring` in show_expiring.c.
 * Commands about the connection itself are in cli.c.
 */
#ifndef COMMANDS_COMMANDS_H
#define COMMANDS_COMMANDS_H

#include "commands/setting.h"
#include "control/edit.h"

/* COMMAND(words, level, function, arguments, usage, help)
 * SETTING(words, level, function, arguments,
 *     describe, restore, names, args_min, usage, help)
 *
 * Rows are in the order in which `help` lists them; the last COMMANDS_ALWAYS
 * end every list.  A command whose words begin another's comes after it.
 *
 * words      the command itself; arguments follow
 * level      the least level that may call it; others get `Permission denied`
 * arguments  ARGS_USAGE: call_fits checks them, for lfproxyctl alone;
 *            ARGS_OWN: the command checks them, for every client
 * usage      arguments as in usage.h
 *
 * The change that a SETTING makes can expire (`for DURATION`): describe,
 * restore, names and args_min are those of struct setting_access. */
/* clang-format off: a row each. */
#define COMMANDS_TABLE(COMMAND, SETTING)                                       \
	COMMAND("add server", LEVEL_ADMIN, run_add_server, ARGS_OWN,           \
	    "<bk>/<srv> <address> [<option>]*", "create a new server")         \
	COMMAND("cancel drain", LEVEL_ADMIN, run_cancel_drain, ARGS_USAGE,     \
	    "<bk>/<srv>", "stop draining a server; it is as it was before")    \
	COMMAND("cancel expiring", LEVEL_ADMIN, run_cancel_expiring,           \
	    ARGS_USAGE, "<id>", "keep what was set for a time")                \
	COMMAND("cancel rebalance", LEVEL_ADMIN, run_cancel_rebalance,         \
	    ARGS_USAGE, "<backend>", "close no further sessions of a backend") \
	COMMAND("clear counters", LEVEL_OPERATOR, run_clear_counters,          \
	    ARGS_USAGE, "[all]",                                               \
	    "clear max statistics counters (or all counters)")                 \
	COMMAND("clear loop", LEVEL_ADMIN, run_clear_loop, ARGS_USAGE, "",     \
	    "reset the statistics of the control loop and of the checks' "     \
	    "delays")                                                          \
	COMMAND("del server", LEVEL_ADMIN, run_del_server, ARGS_USAGE,         \
	    "<bk>/<srv>", "remove a server that is in maintenance")            \
	SETTING("disable agent", LEVEL_ADMIN, run_disable_agent, ARGS_USAGE,   \
	    describe_agent, restore_agent, 1, 1, "<bk>/<srv>",                 \
	    "disable agent checks")                                            \
	SETTING("disable frontend", LEVEL_ADMIN, run_disable_frontend,         \
	    ARGS_USAGE, describe_frontend, restore_frontend, 1, 1,             \
	    "<frontend>", "temporarily disable specific frontend")             \
	SETTING("disable health", LEVEL_ADMIN, run_disable_health, ARGS_USAGE, \
	    describe_checks, restore_checks, 1, 1, "<bk>/<srv>",               \
	    "disable health checks")                                           \
	SETTING("disable server", LEVEL_ADMIN, run_disable_server, ARGS_USAGE, \
	    describe_state, restore_state, 1, 1, "<bk>/<srv>",                 \
	    "disable a server for maintenance")                                \
	COMMAND("drain server", LEVEL_ADMIN, run_drain_server, ARGS_OWN,       \
	    "<bk>/<srv> [over <duration>] [then <kill|maint>]",                \
	    "take a server out of service, little by little")                  \
	SETTING("enable agent", LEVEL_ADMIN, run_enable_agent, ARGS_USAGE,     \
	    describe_agent, restore_agent, 1, 1, "<bk>/<srv>",                 \
	    "enable agent checks")                                             \
	SETTING("enable frontend", LEVEL_ADMIN, run_enable_frontend,           \
	    ARGS_USAGE, describe_frontend, restore_frontend, 1, 1,             \
	    "<frontend>", "re-enable specific frontend")                       \
	SETTING("enable health", LEVEL_ADMIN, run_enable_health, ARGS_USAGE,   \
	    describe_checks, restore_checks, 1, 1, "<bk>/<srv>",               \
	    "enable health checks")                                            \
	SETTING("enable server", LEVEL_ADMIN, run_enable_server, ARGS_USAGE,   \
	    describe_state, restore_state, 1, 1, "<bk>/<srv>",                 \
	    "enable a disabled server")                                        \
	COMMAND("explain", LEVEL_USER, run_explain, ARGS_OWN,                  \
	    "<source> [<frontend>] [to <address>] [sni <name>] [json]",        \
	    "report where a client would be sent, and why; nothing is opened") \
	COMMAND("get weight", LEVEL_USER, run_get_weight, ARGS_USAGE,          \
	    "<bk>/<srv>", "report a server's current weight")                  \
	COMMAND("operator", LEVEL_OPERATOR, run_operator, ARGS_USAGE, "",      \
	    "lower the level of the current CLI session to operator")          \
	COMMAND("rebalance backend", LEVEL_ADMIN, run_rebalance, ARGS_OWN,     \
	    "<backend> [over <duration>] [dry-run] [json]",                    \
	    "close old sessions of servers that have more than their share")   \
	COMMAND("reload", LEVEL_ADMIN, run_reload, ARGS_USAGE, "",             \
	    "read the configuration again and apply what has changed")         \
	SETTING("set maxconn frontend", LEVEL_ADMIN, run_set_maxconn_frontend, \
	    ARGS_USAGE, describe_maxconn_frontend, run_set_maxconn_frontend,   \
	    1, 2, "<frontend> <value>", "change a frontend's maxconn setting") \
	SETTING("set maxconn global", LEVEL_ADMIN, run_set_maxconn_global,     \
	    ARGS_USAGE, describe_maxconn_global, run_set_maxconn_global, 0, 1, \
	    "<value>", "change the per-process maxconn setting")               \
	SETTING("set maxconn server", LEVEL_ADMIN, run_set_maxconn_server,     \
	    ARGS_USAGE, describe_maxconn_server, run_set_maxconn_server, 1, 2, \
	    "<bk>/<srv> <value>", "change a server's maxconn setting")         \
	SETTING("set pool", LEVEL_ADMIN, run_set_pool, ARGS_OWN,               \
	    describe_pool, run_set_pool, 2, 3, "<pool> <what> <value>",        \
	    "change threads, shards, promotion, order, or cpus of a pool")     \
	SETTING("set rate-limit", LEVEL_ADMIN, run_set_rate_limit, ARGS_OWN,   \
	    describe_rate_limit, run_set_rate_limit, 2, 3,                     \
	    "<setting> <value>", "change a rate limiting value")               \
	SETTING("set server", LEVEL_ADMIN, run_set_server, ARGS_OWN,           \
	    describe_server, run_set_server, 2, 3, "<bk>/<srv> [opts]",        \
	    "change a server's state, weight, address or maxconn")             \
	COMMAND("set severity-output", LEVEL_USER, run_set_severity,           \
	    ARGS_USAGE, "[none|number|string]",                                \
	    "set presence of severity level in feedback information")          \
	COMMAND("set timeout", LEVEL_USER, run_set_timeout, ARGS_USAGE,        \
	    "[cli] <delay>", "change a timeout setting")                       \
	SETTING("set weight", LEVEL_ADMIN, run_set_weight, ARGS_USAGE,         \
	    describe_weight, run_set_weight, 1, 2, "<bk>/<srv> <weight>",      \
	    "change a server's weight")                                        \
	COMMAND("show backend", LEVEL_USER, run_show_backend, ARGS_USAGE,      \
	    "[json]", "list backends in the current running config")           \
	COMMAND("show capacity", LEVEL_USER, run_show_capacity, ARGS_USAGE,    \
	    "[json]",                                                          \
	    "report what is used of what there is, and when it will run out")  \
	COMMAND("show changes", LEVEL_OPERATOR, run_show_changes, ARGS_USAGE,  \
	    "[<max>] [json]",                                                  \
	    "report what was changed through the admin sockets")               \
	COMMAND("show cli level", LEVEL_USER, run_show_cli_level, ARGS_USAGE,  \
	    "[json]", "display the level of the current CLI session")          \
	COMMAND("show cli sockets", LEVEL_USER, run_show_cli_sockets,          \
	    ARGS_USAGE, "[json]", "dump list of cli sockets")                  \
	COMMAND("show closed", LEVEL_OPERATOR, run_show_closed, ARGS_OWN,      \
	    "[<id>|<number>] [<filter>]* [json]",                              \
	    "report the sessions that have ended, the latest first")           \
	COMMAND("show drains", LEVEL_USER, run_show_drains, ARGS_USAGE,        \
	    "[json]", "report the servers that are being drained")             \
	COMMAND("show env", LEVEL_OPERATOR, run_show_env, ARGS_USAGE,          \
	    "[<var>] [json]",                                                  \
	    "dump environment variables known to the process")                 \
	COMMAND("show errors", LEVEL_OPERATOR, run_show_errors, ARGS_USAGE,    \
	    "[<px>] [request|response] [json]",                                \
	    "report last request and/or response errors for each proxy")       \
	COMMAND("show events", LEVEL_USER, run_show_events, ARGS_OWN,          \
	    "[<number>] [<about>] [json]",                                     \
	    "report what has happened to servers, backends and pools")         \
	COMMAND("show expiring", LEVEL_OPERATOR, run_show_expiring,            \
	    ARGS_USAGE, "[json]",                                              \
	    "report what was set for a time, and what is put back then")       \
	COMMAND("show info", LEVEL_USER, run_show_info, ARGS_USAGE,            \
	    "[desc|flat|json|typed|float]*",                                   \
	    "report information about the running process")                    \
	COMMAND("show memory", LEVEL_USER, run_show_memory, ARGS_USAGE,        \
	    "[json]",                                                          \
	    "report what the process's memory goes to, and what is not "       \
	    "explained")                                                       \
	COMMAND("show pool", LEVEL_USER, run_show_pool, ARGS_USAGE,            \
	    "[<pool>] [json]",                                                 \
	    "report the Leader/Followers counters of all pools or one")        \
	COMMAND("show rebalances", LEVEL_USER, run_show_rebalances,            \
	    ARGS_USAGE, "[json]",                                              \
	    "report the backends whose sessions are being rebalanced")         \
	COMMAND("show schema json", LEVEL_USER, run_show_schema, ARGS_USAGE,   \
	    "", "report schema used for stats")                                \
	COMMAND("show servers conn", LEVEL_USER, run_show_servers_conn,        \
	    ARGS_USAGE, "[<backend>] [json]",                                  \
	    "dump server connections status (all or for a single backend)")    \
	COMMAND("show servers state", LEVEL_USER, run_show_servers_state,      \
	    ARGS_USAGE, "[<backend>] [json]",                                  \
	    "dump volatile server information (all or for a single backend)")  \
	COMMAND("show servers", LEVEL_USER, run_show_servers, ARGS_USAGE,      \
	    "[<backend>] [json]",                                              \
	    "report where the servers are and how they do, as a table")        \
	COMMAND("show sess", LEVEL_OPERATOR, run_show_sess, ARGS_OWN,          \
	    "[<id>|all] [<filter>]* [json]",                                   \
	    "report the list of current sessions or dump this exact session")  \
	COMMAND("show stat", LEVEL_USER, run_show_stat, ARGS_OWN,              \
	    "[desc|flat|json|no-maint|typed|up]*",                             \
	    "report counters for each proxy and server")                       \
	COMMAND("show table", LEVEL_USER, run_show_table, ARGS_USAGE,          \
	    "[<table>] [json]",                                                \
	    "report table usage stats or dump this table's contents")          \
	COMMAND("show threads", LEVEL_USER, run_show_threads, ARGS_USAGE,      \
	    "[<pool>] [json]",                                                 \
	    "report what each thread of all pools or of one does")             \
	COMMAND("show version", LEVEL_USER, run_show_version, ARGS_USAGE,      \
	    "[json]", "show version of the current process")                   \
	COMMAND("shutdown frontend", LEVEL_ADMIN, run_shutdown_frontend,       \
	    ARGS_USAGE, "<frontend>", "stop a specific frontend")              \
	COMMAND("shutdown session", LEVEL_ADMIN, run_shutdown_session,         \
	    ARGS_USAGE, "<id>", "kill a specific session")                     \
	COMMAND("shutdown sessions server", LEVEL_ADMIN,                       \
	    run_shutdown_sessions_server, ARGS_USAGE, "<bk>/<srv>",            \
	    "kill sessions on a server")                                       \
	COMMAND("user", LEVEL_USER, run_user, ARGS_USAGE, "",                  \
	    "lower the level of the current CLI session to user")              \
	COMMAND("wait", LEVEL_ADMIN, run_wait, ARGS_OWN,                       \
	    "<delay>|-h [<condition>]",                                        \
	    "wait the specified delay or condition")                           \
	COMMAND("help", LEVEL_USER, run_help, ARGS_OWN, "[<command>]",         \
	    "list matching or all commands")                                   \
	COMMAND("prompt", LEVEL_USER, run_prompt, ARGS_USAGE, "",              \
	    "toggle interactive mode with prompt")                             \
	COMMAND("quit", LEVEL_USER, run_quit, ARGS_USAGE, "", "disconnect")
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

#endif
