/* SPDX-License-Identifier: MIT
 * `set server`.
 */
#include "commands/commands.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model/backend.h"
#include "model/server_operator.h"

#define BY " by 'stats socket command'"

/* The answer to any other word: HAProxy's words in its order, and ours. */
#define USAGE                                                                  \
	"usage: set server <backend>/<server> addr | agent | agent-addr | "    \
	"agent-port | agent-send | check-addr | check-port | fqdn | health | " \
	"ssl | state | weight"

/* Runs the command that sets the same: `set weight BACKEND/SERVER VALUE`. */
static bool
run_with_value(struct call *call, bool (*run)(struct call *call))
{
	char *args[] = {call->args[0], call->args[2], NULL};
	struct call inner = *call;

	inner.args = args;
	return run(&inner);
}

static bool
set_state(struct call *call, struct server *server)
{
	(void)server;
	return run_with_value(call, restore_state);
}

static bool
set_weight(struct call *call, struct server *server)
{
	(void)server;
	return run_with_value(call, run_set_weight);
}

static bool
set_maxconn(struct call *call, struct server *server)
{
	(void)server;
	return run_with_value(call, run_set_maxconn_server);
}

static const char *
server_health_name(const struct server *server)
{
	if (!server_is_up(server))
		return "down";
	return server->state->stopping ? "stopping" : "up";
}

/* For the audit: what may change with it. */
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
set_health(struct call *call, struct server *server)
{
	static const char *const names[] = {
	    [OPERATOR_UP] = "up",
	    [OPERATOR_STOPPING] = "stopping",
	    [OPERATOR_DOWN] = "down",
	};
	const char *before = health_text(server);

	if (is_tracked_health(server, call_arg(call, 2)))
		return err_set(
		    call->err, "cannot change health on a tracking server.");
	for (enum operator_health h = OPERATOR_UP; h <= OPERATOR_DOWN; h++) {
		if (strcmp(call_arg(call, 2), names[h]) != 0)
			continue;
		operator_set_health(server, h);
		call_audit(call, before, health_text(server),
		    "server %s/%s health", server->backend->spec->name,
		    server->spec->name);
		return true;
	}
	return err_set(call->err,
	    "'set server <srv> health' expects 'up', 'stopping', or 'down'.");
}

static bool
set_agent(struct call *call, struct server *server)
{
	const char *word = call_arg(call, 2);
	const char *before = server->state->agent_down ? "down" : "up";

	if (!server->agent.on)
		return err_set(
		    call->err, "agent checks are not enabled on this server.");
	if (strcmp(word, "up") != 0 && strcmp(word, "down") != 0)
		return err_set(call->err,
		    "'set server <srv> agent' expects 'up' or 'down'.");
	operator_set_agent(server, strcmp(word, "up") == 0);
	call_audit(call, before, word, "server %s/%s agent health",
	    server->backend->spec->name, server->spec->name);
	return true;
}

/* An address has no port when it has none of a map. */
static bool
parse_port(const char *text, unsigned *ret_port)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end || n < 1 || n > 65535)
		return false;
	*ret_port = (unsigned)n;
	return true;
}

/* The answer, which joins several messages as HAProxy does. */
struct answer {
	char text[512];
	bool failed;
};

static void say(struct answer *answer, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
say(struct answer *answer, const char *fmt, ...)
{
	size_t len = strlen(answer->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(answer->text + len, sizeof(answer->text) - len, fmt, ap);
	va_end(ap);
}

/* The IP address, without its port, in addr.  False: it is none. */
static bool
change_ip(
    struct addr *addr, unsigned port, const char *text, struct answer *answer)
{
	char from[ADDR_TEXT_SIZE], to[ADDR_TEXT_SIZE];
	struct addr next;

	if (addr->sa.sa_family == AF_UNIX) {
		say(answer, "Update for the current server address family is "
		            "only supported through configuration file");
		return false;
	}
	if (!addr_parse_ip(text, &next)) {
		say(answer, "Invalid addr '%s'", text);
		return false;
	}
	addr_set_port(&next, port);
	if (addr_equal(&next, addr))
		say(answer, "no need to change the addr");
	else
		say(answer, "IP changed from '%s' to '%s'",
		    addr_host(addr, from), addr_host(&next, to));
	*addr = next;
	return true;
}

static void
change_port(struct addr *addr, const char *text, struct answer *answer)
{
	unsigned before = addr_port(addr), port = 0;

	answer->failed =
	    text[0] == '-' || text[0] == '+' || !parse_port(text, &port);
	if (text[0] == '-' || text[0] == '+')
		say(answer,
		    ", can't change <port> to port map because it is "
		    "incompatible with current health check port configuration "
		    "(use 'port' statement from the 'server' directive.");
	else if (!parse_port(text, &port))
		say(answer, ", problem converting port '%s' to an int", text);
	else if (port == before)
		say(answer, ", no need to change the port");
	else
		say(answer, ", port changed from '%u' to '%u'", before, port);
	if (!answer->failed)
		addr_set_port(addr, port);
}

static bool
set_addr(struct call *call, struct server *server)
{
	struct addr addr = *server_addr(server);
	unsigned port = server_is_unresolved(server) ? server->spec->port
	                                             : addr_port(&addr);
	char from[ADDR_TEXT_SIZE], to[ADDR_TEXT_SIZE];
	struct answer answer = {.text = ""};

	if (!*call_arg(call, 2))
		return err_set(call->err,
		    "set server <b>/<s> addr requires an address and "
		    "optionally a port.");
	addr_text(&addr, from);
	answer.failed = !change_ip(&addr, port, call_arg(call, 2), &answer);
	if (!answer.failed && strcmp(call_arg(call, 3), "port") == 0)
		change_port(&addr, call_arg(call, 4), &answer);
	if (!operator_set_addr(server, &addr))
		return err_oom(call->err);
	if (answer.failed)
		call_fail(call);
	call_say(call, SEVERITY_WARNING, "%s" BY, answer.text);
	call_audit(call, from, addr_text(&addr, to), "server %s/%s addr",
	    server->backend->spec->name, server->spec->name);
	return true;
}

/* An address and perhaps `port N`, of check and agent alike. */
struct place {
	struct addr addr;
	bool has_addr;
	int port; /* -1: not given */
};

static bool
parse_place_port(struct call *call, const char *text, int *ret_port)
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

static bool
parse_place(struct call *call, bool enabled, const char *disabled,
    struct place *ret_place)
{
	struct place p = {.has_addr = true, .port = -1};

	if (!enabled)
		return err_set(call->err, "%s", disabled);
	if (!addr_parse_ip(call_arg(call, 2), &p.addr))
		return err_set(
		    call->err, "invalid addr '%s'", call_arg(call, 2));
	if (strcmp(call_arg(call, 3), "port") == 0 &&
	    !parse_place_port(call, call_arg(call, 4), &p.port))
		return false;
	*ret_place = p;
	return true;
}

static void
audit_place(const struct call *call, const struct server *server,
    const char *what, const struct addr *before, const struct addr *after)
{
	char from[ADDR_TEXT_SIZE], to[ADDR_TEXT_SIZE];

	call_audit(call, addr_text(before, from), addr_text(after, to),
	    "server %s/%s %s", server->backend->spec->name, server->spec->name,
	    what);
}

#define NO_CHECK "health checks are not enabled on this server"
#define NO_AGENT "agent checks are not enabled on this server"

static bool
set_check_at(
    struct call *call, struct server *server, const struct place *place)
{
	struct addr before = server->check.addr;

	operator_set_check_at(
	    server, place->has_addr ? &place->addr : NULL, place->port);
	audit_place(call, server, "check-addr", &before, &server->check.addr);
	return true;
}

static bool
set_agent_at(
    struct call *call, struct server *server, const struct place *place)
{
	struct addr before = server->agent.addr;

	operator_set_agent_at(
	    server, place->has_addr ? &place->addr : NULL, place->port);
	audit_place(call, server, "agent-addr", &before, &server->agent.addr);
	return true;
}

static bool
set_check_addr(struct call *call, struct server *server)
{
	struct place place;

	if (!*call_arg(call, 2))
		return err_set(call->err,
		    "set server <b>/<s> check-addr requires an address and "
		    "optionally a port.");
	return parse_place(call, server->check.on, NO_CHECK, &place) &&
	       set_check_at(call, server, &place);
}

static bool
set_agent_addr(struct call *call, struct server *server)
{
	struct place place;

	if (!*call_arg(call, 2))
		return err_set(call->err,
		    "set server <b>/<s> agent-addr requires an address and "
		    "optionally a port.");
	return parse_place(call, server->agent.on, NO_AGENT, &place) &&
	       set_agent_at(call, server, &place);
}

static bool
set_check_port(struct call *call, struct server *server)
{
	struct place place = {.has_addr = false};

	if (!*call_arg(call, 2))
		return err_set(call->err,
		    "set server <b>/<s> check-port requires a port.");
	if (!server->check.on)
		return err_set(call->err, NO_CHECK);
	return parse_place_port(call, call_arg(call, 2), &place.port) &&
	       set_check_at(call, server, &place);
}

static bool
set_agent_port(struct call *call, struct server *server)
{
	struct place place = {.has_addr = false};

	if (!*call_arg(call, 2))
		return err_set(call->err,
		    "set server <b>/<s> agent-port requires a port.");
	if (!server->agent.on)
		return err_set(call->err, NO_AGENT);
	return parse_place_port(call, call_arg(call, 2), &place.port) &&
	       set_agent_at(call, server, &place);
}

static bool
set_agent_send(struct call *call, struct server *server)
{
	if (!server->agent.on)
		return err_set(call->err, NO_AGENT ".");
	if (!operator_set_agent_send(server, call_arg(call, 2)))
		return err_set(
		    call->err, "cannot allocate memory for new string");
	/* The text may be a password. */
	call_audit(call, NULL, "(not shown)", "server %s/%s agent-send",
	    server->backend->spec->name, server->spec->name);
	return true;
}

/* A name is resolved once, when the file is read. */
static bool
set_fqdn(struct call *call, struct server *server)
{
	(void)server;
	if (!*call_arg(call, 2))
		return err_set(
		    call->err, "set server <b>/<s> fqdn requires a FQDN.");
	return err_set(call->err,
	    "set server <b>/<s> fqdn failed because no resolution is "
	    "configured.");
}

static bool
set_ssl(struct call *call, struct server *server)
{
	(void)server;
	return err_set(call->err,
	    "'set server <srv> ssl' cannot be set.  default-server should "
	    "define ssl settings");
}

/* -- changes that expire -- */

static enum setting_answer
describe_addr(struct call *call, struct setting *ret_setting)
{
	struct server *s = setting_of_server(call, "addr", ret_setting);
	char host[ADDR_TEXT_SIZE];

	if (!s)
		return SETTING_INVALID;
	if (server_is_unresolved(s)) {
		err_set(call->err,
		    "Server has no address that could be put back: its name is "
		    "not resolved.");
		return SETTING_UNRESTORABLE;
	}
	SETTING_PRINT(ret_setting->value, "%s port %u",
	    addr_host(server_addr(s), host), addr_port(server_addr(s)));
	ret_setting->may_refuse = true;
	return SETTING_KNOWN;
}

static enum setting_answer
describe_health(struct call *call, struct setting *ret_setting)
{
	struct server *s = setting_of_server(call, "health", ret_setting);

	if (!s)
		return SETTING_INVALID;
	SETTING_PRINT(ret_setting->value, "%s", server_health_name(s));
	return SETTING_KNOWN;
}

static enum setting_answer
describe_agent_health(struct call *call, struct setting *ret_setting)
{
	struct server *s = setting_of_server(call, "agent health", ret_setting);

	if (!s)
		return SETTING_INVALID;
	SETTING_PRINT(
	    ret_setting->value, "%s", s->state->agent_down ? "down" : "up");
	return SETTING_KNOWN;
}

/* Port 0, here and in the command, is the port in the file. */
static enum setting_answer
describe_check_port(struct call *call, struct setting *ret_setting)
{
	struct server *s = setting_of_server(call, "check-port", ret_setting);

	if (!s)
		return SETTING_INVALID;
	SETTING_PRINT(ret_setting->value, "%u", s->state->overrides.check_port);
	return SETTING_KNOWN;
}

static enum setting_answer
describe_agent_port(struct call *call, struct setting *ret_setting)
{
	struct server *s = setting_of_server(call, "agent-port", ret_setting);

	if (!s)
		return SETTING_INVALID;
	SETTING_PRINT(ret_setting->value, "%u", s->state->overrides.agent_port);
	return SETTING_KNOWN;
}

/* For options that override the file: no command removes the override. */
static enum setting_answer
describe_override(struct call *call, struct setting *ret_setting)
{
	(void)ret_setting;
	err_set(call->err,
	    "'set server <srv> %s' cannot end in 'for': it has no former value "
	    "that could be set again. Allowed are addr, agent, agent-port, "
	    "check-port, health, maxconn, state, weight.",
	    call_arg(call, 1));
	return SETTING_UNRESTORABLE;
}

static const struct {
	const char *name;
	bool (*set)(struct call *call, struct server *server);
	enum setting_answer (*describe)(
	    struct call *call, struct setting *ret_setting);
} options[] = {
    {"addr", set_addr, describe_addr},
    {"agent", set_agent, describe_agent_health},
    {"agent-addr", set_agent_addr, describe_override},
    {"agent-port", set_agent_port, describe_agent_port},
    {"agent-send", set_agent_send, describe_override},
    {"check-addr", set_check_addr, describe_override},
    {"check-port", set_check_port, describe_check_port},
    {"fqdn", set_fqdn, NULL},
    {"health", set_health, describe_health},
    {"maxconn", set_maxconn, describe_maxconn_server},
    {"ssl", set_ssl, NULL},
    {"state", set_state, describe_state},
    {"weight", set_weight, describe_weight},
};

#define OPTIONS (sizeof(options) / sizeof(options[0]))

bool
run_set_server(struct call *call)
{
	struct server *s = call_server(call, call_arg(call, 0));

	if (!s)
		return false;
	for (size_t i = 0; i < OPTIONS; i++)
		if (strcmp(call_arg(call, 1), options[i].name) == 0)
			return options[i].set(call, s);
	return err_set(call->err, USAGE);
}

enum setting_answer
describe_server(struct call *call, struct setting *ret_setting)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (options[i].describe &&
		    strcmp(call_arg(call, 1), options[i].name) == 0)
			return options[i].describe(call, ret_setting);
	return SETTING_INVALID;
}
