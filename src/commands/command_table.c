/* SPDX-License-Identifier: MIT
 * See command_table.h.
 */
#include "commands/command_table.h"

#include "commands/commands_add.h"
#include "commands/commands_cli.h"
#include "commands/commands_drain.h"
#include "commands/commands_frontend.h"
#include "commands/commands_own.h"
#include "commands/commands_server.h"
#include "commands/commands_session.h"
#include "commands/commands_show.h"
#include "commands/commands_wait.h"
#include "commands/explain.h"
#include "commands/show_capacity.h"
#include "commands/show_events.h"
#include "commands/show_info.h"
#include "commands/show_memory.h"
#include "commands/show_servers.h"
#include "commands/show_stat.h"

/* Behind what a command of undo.c takes. */
#define FOR " [for <duration>]"

const struct command commands[] = {
    {"add server", LEVEL_ADMIN, run_add_server,
        "<bk>/<srv> <address> [<option>]*", "create a new server"},
    {"cancel drain", LEVEL_ADMIN, run_cancel_drain, "<bk>/<srv>",
        "stop draining a server; it is as it was before"},
    {"cancel expiring", LEVEL_ADMIN, run_cancel_expiring, "<id>",
        "keep what was set for a time"},
    {"cancel rebalance", LEVEL_ADMIN, run_cancel_rebalance, "<backend>",
        "close no further sessions of a backend"},
    {"clear counters", LEVEL_OPERATOR, run_clear_counters, "[all]",
        "clear max statistics counters (or all counters)"},
    {"clear loop", LEVEL_ADMIN, run_clear_loop, "",
        "count the control loop's turns and the checks' delays anew"},
    {"del server", LEVEL_ADMIN, run_del_server, "<bk>/<srv>",
        "remove a server that is in maintenance"},
    {"disable agent", LEVEL_ADMIN, run_disable_agent, "<bk>/<srv>" FOR,
        "disable agent checks"},
    {"disable frontend", LEVEL_ADMIN, run_disable_frontend, "<frontend>" FOR,
        "temporarily disable specific frontend"},
    {"disable health", LEVEL_ADMIN, run_disable_health, "<bk>/<srv>" FOR,
        "disable health checks"},
    {"disable server", LEVEL_ADMIN, run_disable_server, "<bk>/<srv>" FOR,
        "disable a server for maintenance"},
    {"drain server", LEVEL_ADMIN, run_drain_server,
        "<bk>/<srv> [over <duration>] [then <kill|maint>]",
        "take a server out of service, little by little"},
    {"enable agent", LEVEL_ADMIN, run_enable_agent, "<bk>/<srv>" FOR,
        "enable agent checks"},
    {"enable frontend", LEVEL_ADMIN, run_enable_frontend, "<frontend>" FOR,
        "re-enable specific frontend"},
    {"enable health", LEVEL_ADMIN, run_enable_health, "<bk>/<srv>" FOR,
        "enable health checks"},
    {"enable server", LEVEL_ADMIN, run_enable_server, "<bk>/<srv>" FOR,
        "enable a disabled server"},
    {"explain", LEVEL_USER, run_explain,
        "<source> [<frontend>] [to <address>] [sni <name>] [json]",
        "report where a client would be sent, and why; nothing is opened"},
    {"get weight", LEVEL_USER, run_get_weight, "<bk>/<srv>",
        "report a server's current weight"},
    {"operator", LEVEL_OPERATOR, run_operator, "",
        "lower the level of the current CLI session to operator"},
    {"rebalance backend", LEVEL_ADMIN, run_rebalance,
        "<backend> [over <duration>] [dry-run] [json]",
        "close old sessions of servers that have more than their share"},
    {"reload", LEVEL_ADMIN, run_reload, "",
        "read the configuration again and apply what has changed"},
    {"set maxconn frontend", LEVEL_ADMIN, run_set_maxconn_frontend,
        "<frontend> <value>" FOR, "change a frontend's maxconn setting"},
    {"set maxconn global", LEVEL_ADMIN, run_set_maxconn_global, "<value>" FOR,
        "change the per-process maxconn setting"},
    {"set maxconn server", LEVEL_ADMIN, run_set_maxconn_server,
        "<bk>/<srv> <value>" FOR, "change a server's maxconn setting"},
    {"set pool", LEVEL_ADMIN, run_set_pool, "<pool> <what> <value>" FOR,
        "change threads, shards, promotion, order, or cpus of a pool"},
    {"set rate-limit", LEVEL_ADMIN, run_set_rate_limit, "<setting> <value>" FOR,
        "change a rate limiting value"},
    {"set server", LEVEL_ADMIN, run_set_server, "<bk>/<srv> [opts]" FOR,
        "change a server's state, weight, address or maxconn"},
    {"set severity-output", LEVEL_USER, run_set_severity,
        "[none|number|string]",
        "set presence of severity level in feedback information"},
    {"set timeout", LEVEL_USER, run_set_timeout, "[cli] <delay>",
        "change a timeout setting"},
    {"set weight", LEVEL_ADMIN, run_set_weight, "<bk>/<srv> <weight>" FOR,
        "change a server's weight"},
    {"show backend", LEVEL_USER, run_show_backend, "[json]",
        "list backends in the current running config"},
    {"show capacity", LEVEL_USER, run_show_capacity, "[json]",
        "report what is used of what there is, and when it will run out"},
    {"show changes", LEVEL_OPERATOR, run_show_changes, "[<max>] [json]",
        "report what was changed through the admin sockets"},
    {"show cli level", LEVEL_USER, run_show_cli_level, "[json]",
        "display the level of the current CLI session"},
    {"show cli sockets", LEVEL_USER, run_show_cli_sockets, "[json]",
        "dump list of cli sockets"},
    {"show closed", LEVEL_OPERATOR, run_show_closed,
        "[<id>|<number>] [<filter>]* [json]",
        "report the sessions that have ended, the latest first"},
    {"show drains", LEVEL_USER, run_show_drains, "[json]",
        "report the servers that are being drained"},
    {"show env", LEVEL_OPERATOR, run_show_env, "[<var>] [json]",
        "dump environment variables known to the process"},
    {"show errors", LEVEL_OPERATOR, run_show_errors,
        "[<px>] [request|response] [json]",
        "report last request and/or response errors for each proxy"},
    {"show events", LEVEL_USER, run_show_events, "[<number>] [<about>] [json]",
        "report what has happened to servers, backends and pools"},
    {"show expiring", LEVEL_OPERATOR, run_show_expiring, "[json]",
        "report what was set for a time, and what is put back then"},
    {"show info", LEVEL_USER, run_show_info, "[desc|flat|json|typed|float]*",
        "report information about the running process"},
    {"show memory", LEVEL_USER, run_show_memory, "[json]",
        "report what the process's memory goes to, and what is not explained"},
    {"show pool", LEVEL_USER, run_show_pool, "[<pool>] [json]",
        "report the Leader/Followers counters of all pools or one"},
    {"show rebalances", LEVEL_USER, run_show_rebalances, "[json]",
        "report the backends whose sessions are being spread anew"},
    {"show schema json", LEVEL_USER, run_show_schema, "",
        "report schema used for stats"},
    {"show servers conn", LEVEL_USER, run_show_servers_conn,
        "[<backend>] [json]",
        "dump server connections status (all or for a single backend)"},
    {"show servers state", LEVEL_USER, run_show_servers_state,
        "[<backend>] [json]",
        "dump volatile server information (all or for a single backend)"},
    /* Behind those that start with its words. */
    {"show servers", LEVEL_USER, run_show_servers, "[<backend>] [json]",
        "report where the servers are and how they do, as a table"},
    {"show sess", LEVEL_OPERATOR, run_show_sess,
        "[<id>|all] [<filter>]* [json]",
        "report the list of current sessions or dump this exact session"},
    {"show stat", LEVEL_USER, run_show_stat,
        "[desc|flat|json|no-maint|typed|up]*",
        "report counters for each proxy and server"},
    {"show table", LEVEL_USER, run_show_table, "[<table>] [json]",
        "report table usage stats or dump this table's contents"},
    {"show threads", LEVEL_USER, run_show_threads, "[<pool>] [json]",
        "report what each thread of all pools or of one does"},
    {"show version", LEVEL_USER, run_show_version, "[json]",
        "show version of the current process"},
    {"shutdown frontend", LEVEL_ADMIN, run_shutdown_frontend, "<frontend>",
        "stop a specific frontend"},
    {"shutdown session", LEVEL_ADMIN, run_shutdown_session, "<id>",
        "kill a specific session"},
    {"shutdown sessions server", LEVEL_ADMIN, run_shutdown_sessions_server,
        "<bk>/<srv>", "kill sessions on a server"},
    {"user", LEVEL_USER, run_user, "",
        "lower the level of the current CLI session to user"},
    {"wait", LEVEL_ADMIN, run_wait, "<delay>|-h [<condition>]",
        "wait the specified delay or condition"},
    {"help", LEVEL_USER, run_help, "[<command>]",
        "list matching or all commands"},
    {"prompt", LEVEL_USER, run_prompt, "",
        "toggle interactive mode with prompt"},
    {"quit", LEVEL_USER, run_quit, "", "disconnect"},
};

const size_t commands_n = sizeof(commands) / sizeof(commands[0]);

bool
command_checks_args(const struct command *command)
{
	static bool (*const checking[])(struct call * call) = {
	    run_add_server,
	    run_drain_server,
	    run_explain,
	    run_help,
	    run_rebalance,
	    run_set_pool,
	    run_set_rate_limit,
	    run_set_server,
	    run_show_closed,
	    run_show_events,
	    run_show_sess,
	    run_show_stat,
	    run_wait,
	};

	for (size_t i = 0; i < sizeof(checking) / sizeof(checking[0]); i++)
		if (checking[i] == command->run)
			return true;
	return false;
}
