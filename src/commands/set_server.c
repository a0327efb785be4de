/* SPDX-License-Identifier: MIT
 * `set server`.
 */
#include "commands/commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "commands/expiring.h"
#include "commands/setting_access.h"
#include "config/hint.h"
#include "model/backend.h"
#include "model/server_operator.h"

/* The answer to an unknown option, in HAProxy's words. */
#define USAGE                                                                  \
	"usage: set server <backend>/<server> addr | agent | agent-addr | "    \
	"agent-port | agent-send | check-addr | check-port | fqdn | health | " \
	"ssl | state | weight"

/* An option of `set server`: what sets it, or the command that sets the same,
 * `set weight BACKEND/SERVER VALUE`, or why it cannot be set. */
struct option {
	const char *name;
	const char *needs; /* the value, for the error when it is missing */
	bool (*set)(struct call *call, struct server *server,
	    const struct option *option);
	bool (*run)(struct call *call);
	const char *refusal;
	const char *off; /* the error when the check or the agent is off */
	enum setting_answer (*describe)(
	    struct call *call, struct setting *ret_setting);
	bool agent; /* of the agent, not of the health check */
};

/* -- health -- */

static const char *const health_names[] = {
    [OPERATOR_UP] = "up",
    [OPERATOR_STOPPING] = "stopping",
    [OPERATOR_DOWN] = "down",
};
_Static_assert(
    OPERATOR_DOWN + 1 == sizeof(health_names) / sizeof(health_names[0]),
    "a name each");

static const char *
server_health_name(const struct server *server)
{
	return health_names[!server_is_up(server)     ? OPERATOR_DOWN
	                    : server->state->stopping ? OPERATOR_STOPPING
	                                              : OPERATOR_UP];
}

/* Returns the health for the audit: an ejection, which `up` may end, is
 * shown. */
static const char *
health_text(const struct server *server)
{
	return server_is_up(server) && server_is_ejected(server)
	           ? "ejected"
	           : server_health_name(server);
}

/* Returns whether the word would set the health of a tracked server.  A server
 * that tracks another has only its ejection of its own. */
static bool
is_tracked_health(const struct server *server, const char *word)
{
	return server->tracked &&
	       !(server_is_ejected(server) && strcmp(word, "up") == 0);
}

static bool
set_health(
    struct call *call, struct server *server, const struct option *option)
{
	const char *before = health_text(server), *word = call_arg(call, 2);

	if (is_tracked_health(server, word))
		return err_set(
		    call->err, "cannot change health on a tracking server.");
	for (enum operator_health h = OPERATOR_UP; h <= OPERATOR_DOWN; h++) {
		if (strcmp(word, health_names[h]) != 0)
			continue;
		operator_set_health(server, h);
		call_audit_server(
		    call, server, option->name, before, health_text(server));
		return true;
	}
	return err_set(call->err,
	    "'set server <srv> health' expects 'up', 'stopping', or 'down'.");
}

static const char *
agent_health_name(const struct server *server)
{
	return server->state->agent_down ? "down" : "up";
}

static bool
set_agent_health(
    struct call *call, struct server *server, const struct option *option)
{
	const char *word = call_arg(call, 2);
	const char *before = agent_health_name(server);

	(void)option;
	if (strcmp(word, "up") != 0 && strcmp(word, "down") != 0)
		return err_set(call->err,
		    "'set server <srv> agent' expects 'up' or 'down'.");
	operator_set_agent(server, strcmp(word, "up") == 0);
	call_audit_server(call, server, "agent health", before, word);
	return true;
}

/* -- address -- */

#define SAID_SIZE 256

/* Replaces the IP address, but not the port.  Says what has changed, if
 * anything has.  Returns false, and says why, if text is not an IP address. */
static bool
change_ip(struct addr *addr, unsigned port, const char *text,
    char ret_said[SAID_SIZE])
{
	char from[ADDR_TEXT_SIZE], to[ADDR_TEXT_SIZE];
	struct addr next;

	if (addr->sa.sa_family == AF_UNIX) {
		snprintf(ret_said, SAID_SIZE,
		    "Update for the current server address family is only "
		    "supported through configuration file.");
		return false;
	}
	if (!addr_parse_ip(text, &next)) {
		snprintf(ret_said, SAID_SIZE, "Invalid addr '%s'", text);
		return false;
	}
	addr_set_port(&next, port);
	if (!addr_equal(&next, addr))
		snprintf(ret_said, SAID_SIZE, "IP changed from '%s' to '%s'",
		    addr_host(addr, from), addr_host(&next, to));
	*addr = next;
	return true;
}

/* Writes the port as the command takes it: `80`, or `+0` for that of the
 * client. */
static const char *
port_text(const struct server *server, unsigned port, char out[12])
{
	snprintf(out, 12, port > 0 ? "%u" : "%+d",
	    port > 0 ? (int)port : server->spec->port_offset);
	return out;
}

/* Makes the port that of the client again, if the file maps ports and the text
 * has its offset; otherwise refuses in HAProxy's words. */
static bool
set_mapped_port(const struct server *server, struct addr *addr,
    const char *text, char ret_said[SAID_SIZE])
{
	unsigned before = addr_port(addr);
	char from[12], to[12];

	if (!server_spec_maps_port(server->spec) ||
	    strcmp(text, port_text(server, 0, to)) != 0) {
		snprintf(ret_said, SAID_SIZE,
		    "can't change <port> to port map because it is "
		    "incompatible with current health check port configuration "
		    "(use 'port' statement from the 'server' directive).");
		return false;
	}
	if (before != 0)
		snprintf(ret_said, SAID_SIZE, "port changed from '%s' to '%s'",
		    port_text(server, before, from), to);
	addr_set_port(addr, 0);
	return true;
}

/* Replaces the port.  Says what has changed, if anything has.  Returns false,
 * and says why, if the text is not allowed. */
static bool
change_port(const struct server *server, struct addr *addr, const char *text,
    char ret_said[SAID_SIZE])
{
	unsigned before = addr_port(addr);
	char from[12];
	uint64_t port;

	if (text[0] == '-' || text[0] == '+')
		return set_mapped_port(server, addr, text, ret_said);
	if (!text_parse_number(text, 1, 65535, &port, NULL)) {
		snprintf(ret_said, SAID_SIZE,
		    "problem converting port '%s' to an int", text);
		return false;
	}
	if (port != before)
		snprintf(ret_said, SAID_SIZE, "port changed from '%s' to '%u'",
		    port_text(server, before, from), (unsigned)port);
	addr_set_port(addr, (unsigned)port);
	return true;
}

static void
audit_addr(const struct call *call, const struct server *server,
    const char *what, const struct addr *before, const struct addr *after)
{
	char from[ADDR_TEXT_SIZE], to[ADDR_TEXT_SIZE];

	call_audit_server(
	    call, server, what, addr_text(before, from), addr_text(after, to));
}

/* Sets the address that the file gives.  Returns false when memory is short. */
static bool
set_addr_of_file(struct server *server)
{
	return server->spec->host
	           ? operator_follow_name(server)
	           : operator_set_addr(server, &server->spec->addr);
}

static bool
restore_addr(
    struct call *call, struct server *server, const struct option *option)
{
	char from[ADDR_TEXT_SIZE], to[ADDR_TEXT_SIZE];
	bool is_set = server->state->overrides.addr.is_set;

	snprintf(from, sizeof(from), "%s", server_address(server, to));
	if (!set_addr_of_file(server))
		return err_oom(call->err);
	if (!is_set) {
		call_say(call, SEVERITY_WARNING, "nothing changed");
		return true;
	}
	call_say(call, SEVERITY_WARNING,
	    "address changed from '%s' to '%s', that of the file, by 'stats "
	    "socket command'",
	    from, server_address(server, to));
	call_audit_server(
	    call, server, option->name, from, server_address(server, to));
	return true;
}

/* Takes both or nothing: an IP address beside a port that is not allowed is not
 * taken, as in HAProxy since 2.9. */
static bool
set_addr(struct call *call, struct server *server, const struct option *option)
{
	struct addr addr = *server_addr(server);
	unsigned port = server_is_unresolved(server) ? server->spec->port
	                                             : addr_port(&addr);
	char of_ip[SAID_SIZE] = "", of_port[SAID_SIZE] = "";
	char from[ADDR_TEXT_SIZE], to[ADDR_TEXT_SIZE];

	if (strcmp(call_arg(call, 2), SETTING_FILE) == 0 && !*call_arg(call, 3))
		return restore_addr(call, server, option);
	snprintf(from, sizeof(from), "%s", server_address(server, to));
	if (!change_ip(&addr, port, call_arg(call, 2), of_ip)) {
		call_fail(call);
		call_say(call, SEVERITY_WARNING, "%s", of_ip);
		return true;
	}
	if (strcmp(call_arg(call, 3), "port") == 0 &&
	    !change_port(server, &addr, call_arg(call, 4), of_port)) {
		call_fail(call);
		call_say(call, SEVERITY_WARNING, "%s", of_port);
		return true;
	}
	if (!operator_set_addr(server, &addr))
		return err_oom(call->err);
	if (*of_ip || *of_port)
		call_say(call, SEVERITY_WARNING,
		    "%s%s%s by 'stats socket command'", of_ip,
		    *of_ip && *of_port ? ", " : "", of_port);
	else
		call_say(call, SEVERITY_WARNING, "nothing changed");
	call_audit_server(
	    call, server, option->name, from, server_address(server, to));
	return true;
}

/* -- health checks and the agent -- */

static bool
parse_check_port(struct call *call, const char *text, int *ret_port)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end)
		return err_set(call->err, "provided port is not an integer");
	if (n < 0 || n > 65535)
		return err_set(call->err, "provided port is invalid");
	*ret_port = (int)n;
	return true;
}

/* Sets where the check or the agent connects.  addr NULL and port -1 leave the
 * address and the port unchanged. */
static bool
set_check_place(struct call *call, struct server *server,
    const struct option *option, const struct addr *addr, int port)
{
	struct addr *now =
	    option->agent ? &server->agent.addr : &server->check.addr;
	struct addr before = *now;

	if (option->agent)
		operator_set_agent_at(server, addr, port);
	else
		operator_set_check_at(server, addr, port);
	audit_addr(call, server, option->agent ? "agent-addr" : "check-addr",
	    &before, now);
	return true;
}

static bool
set_check_addr(
    struct call *call, struct server *server, const struct option *option)
{
	struct addr addr = {.sa.sa_family = AF_UNSPEC};
	char subject[2 * CALL_NAME_SIZE + 32];
	int port = -1;

	if (strcmp(call_arg(call, 2), SETTING_FILE) != 0 &&
	    !addr_parse_ip(call_arg(call, 2), &addr))
		return err_set(
		    call->err, "invalid addr '%s'", call_arg(call, 2));
	if (strcmp(call_arg(call, 3), "port") != 0)
		return set_check_place(call, server, option, &addr, port);
	if (!parse_check_port(call, call_arg(call, 4), &port) ||
	    !set_check_place(call, server, option, &addr, port))
		return false;
	/* The port is a setting of its own, which may be set for a time. */
	snprintf(subject, sizeof(subject), "server %s/%s %s-port",
	    server->backend->spec->name, server->spec->name,
	    option->agent ? "agent" : "check");
	expiring_overrule(call->env->expiring, call, subject);
	return true;
}

static bool
set_check_port(
    struct call *call, struct server *server, const struct option *option)
{
	int port;

	return parse_check_port(call, call_arg(call, 2), &port) &&
	       set_check_place(call, server, option, NULL, port);
}

/* Any text of that length has a value of a setting (put_bytes). */
#define AGENT_SEND_MAX ((SETTING_VALUE_SIZE - 10) / 2)

static uint64_t
sent_digest(const struct server *server)
{
	const struct pattern *send = server->agent.send;

	return override_digest(send->bytes, send->n);
}

/* Takes the text, or `hex` and bytes in hexadecimal. */
static bool
set_agent_send(
    struct call *call, struct server *server, const struct option *option)
{
	const char *text = call_arg(call, 2), *digits = call_arg(call, 3);
	bool is_hex = *digits && strcmp(text, SETTING_HEX) == 0;
	uint64_t before = sent_digest(server);

	if (strlen(is_hex ? digits : text) > AGENT_SEND_MAX)
		return err_set(call->err,
		    "the text is too long; it may have %d characters",
		    AGENT_SEND_MAX);
	if (is_hex) {
		if (!operator_set_agent_send_hex(server, digits, call->err))
			return false;
	} else if (!operator_set_agent_send(server, text)) {
		return err_set(
		    call->err, "cannot allocate memory for new string");
	}
	/* The text may be a password. */
	if (sent_digest(server) != before)
		call_audit_server(
		    call, server, option->name, NULL, "(not shown)");
	return true;
}

/* -- changes that expire -- */

static enum setting_answer
describe_health(struct call *call, struct setting *ret_setting)
{
	struct server *s = setting_of_server(call, "health", ret_setting);

	return s ? setting_known(ret_setting, "%s", server_health_name(s))
	         : SETTING_INVALID;
}

static enum setting_answer
describe_agent_health(struct call *call, struct setting *ret_setting)
{
	struct server *s = setting_of_server(call, "agent health", ret_setting);

	return s ? setting_known(ret_setting, "%s", agent_health_name(s))
	         : SETTING_INVALID;
}

/* -- the command -- */

#define IP_AND_PORT "an address and optionally a port"
#define NO_CHECK    "health checks are not enabled on this server"
#define NO_AGENT    "agent checks are not enabled on this server"

/* clang-format off: a row each. */
static const struct option options[] = {
    {"addr", IP_AND_PORT, set_addr, .describe = describe_addr},
    {"agent", NULL, set_agent_health, .describe = describe_agent_health,
        .agent = true, .off = NO_AGENT "."},
    {"agent-addr", IP_AND_PORT, set_check_addr, .describe = describe_agent_addr,
        .agent = true, .off = NO_AGENT},
    {"agent-port", "a port", set_check_port, .describe = describe_agent_port,
        .agent = true, .off = NO_AGENT},
    {"agent-send", NULL, set_agent_send, .describe = describe_agent_send,
        .agent = true, .off = NO_AGENT "."},
    {"check-addr", IP_AND_PORT, set_check_addr, .describe = describe_check_addr,
        .off = NO_CHECK},
    {"check-port", "a port", set_check_port, .describe = describe_check_port,
        .off = NO_CHECK},
    {"fqdn", "a FQDN",
        .refusal = "set server <b>/<s> fqdn failed because no "
                   "resolution is configured."}, /* of names at run time */
    {"health", NULL, set_health, .describe = describe_health},
    {"maxconn", .run = run_set_maxconn_server,
        .describe = describe_maxconn_server},
    {"ssl", .refusal = "'set server <srv> ssl' cannot be set.  default-server "
                       "should define ssl settings"},
    {"state", .run = restore_state, .describe = describe_state},
    {"weight", .run = run_set_weight, .describe = describe_weight},
};
/* clang-format on */

static const struct option *
set_server_find_option(const struct call *call)
{
	size_t i;

	return name_table_find(
	           NAME_TABLE(options, sizeof(options) / sizeof(options[0])),
	           call_arg(call, 1), &i)
	           ? &options[i]
	           : NULL;
}

bool
run_set_server(struct call *call)
{
	struct server *s = call_server(call, call_arg(call, 0));
	const struct option *option = set_server_find_option(call);
	struct call same = *call;

	if (!s)
		return false;
	if (!option)
		return err_set(call->err, USAGE);
	if (option->needs && !*call_arg(call, 2))
		return err_set(call->err, "set server <b>/<s> %s requires %s.",
		    option->name, option->needs);
	if (option->off && !(option->agent ? s->agent.on : s->check.on))
		return err_set(call->err, "%s", option->off);
	if (option->refusal)
		return err_set(call->err, "%s", option->refusal);
	if (option->set)
		return option->set(call, s, option);
	same.args = (char *[]){call->args[0], call->args[2], NULL};
	return option->run(&same);
}

enum setting_answer
describe_server(struct call *call, struct setting *ret_setting)
{
	const struct option *option = set_server_find_option(call);

	return option && option->describe ? option->describe(call, ret_setting)
	                                  : SETTING_INVALID;
}
