/* SPDX-License-Identifier: MIT
 * See undo.h.
 */
#include "commands/undo.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/set_pool.h"
#include "model/backend.h"

static void put(char *to, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void
put(char *to, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(to, size, fmt, ap);
	va_end(ap);
}

#define PUT(to, ...) put((to), sizeof(to), __VA_ARGS__)

/* -- servers -- */

static void
about_server(struct undo *u, const struct server *s, const char *what)
{
	PUT(u->proxy, "%s", s->backend->spec->name);
	PUT(u->part, "%s", s->spec->name);
	PUT(u->subject, "server %s/%s %s", u->proxy, u->part, what);
}

static void
by_set_server(struct undo *u, const char *what)
{
	PUT(u->command, "set server %s/%s %s ", u->proxy, u->part, what);
}

static enum undo_answer
undo_weight(struct call *call, struct server *s, struct undo *u)
{
	(void)call;
	about_server(u, s, "weight");
	by_set_server(u, "weight");
	PUT(u->value, "%u", server_weight(s));
	PUT(u->file, "%u", s->spec->weight);
	u->server = s;
	u->of_server = "weight";
	return UNDO_IS_KNOWN;
}

static enum undo_answer
undo_state(struct call *call, struct server *s, struct undo *u)
{
	(void)call;
	about_server(u, s, "state");
	by_set_server(u, "state");
	PUT(u->value, "%s", server_admin_name(server_own_admin(s)));
	PUT(u->file, "%s",
	    server_admin_name(s->spec->disabled ? SERVER_MAINT : SERVER_READY));
	u->server = s;
	u->of_server = "state";
	return UNDO_IS_KNOWN;
}

static enum undo_answer
undo_maxconn(struct call *call, struct server *s, struct undo *u)
{
	(void)call;
	about_server(u, s, "maxconn");
	by_set_server(u, "maxconn");
	PUT(u->value, "%u", server_maxconn(s));
	PUT(u->file, "%u", s->spec->maxconn);
	return UNDO_IS_KNOWN;
}

/* Of a unix socket the command itself refuses to change it. */
static enum undo_answer
undo_addr(struct call *call, struct server *s, struct undo *u)
{
	char host[ADDR_TEXT_SIZE];

	if (server_lacks_address(s)) {
		err_set(call->err,
		    "Server has no address that could be put back: its name is "
		    "not resolved.");
		return UNDO_IS_IMPOSSIBLE;
	}
	about_server(u, s, "addr");
	by_set_server(u, "addr");
	PUT(u->value, "%s port %u", addr_host(server_addr(s), host),
	    addr_port(server_addr(s)));
	u->may_refuse = true;
	return UNDO_IS_KNOWN;
}

static enum undo_answer
undo_server_health(struct call *call, struct server *s, struct undo *u)
{
	(void)call;
	about_server(u, s, "health");
	by_set_server(u, "health");
	PUT(u->value, "%s", server_health_name(s));
	return UNDO_IS_KNOWN;
}

static enum undo_answer
undo_server_agent(struct call *call, struct server *s, struct undo *u)
{
	(void)call;
	about_server(u, s, "agent health");
	by_set_server(u, "agent");
	PUT(u->value, "%s", s->state->agent_down ? "down" : "up");
	return UNDO_IS_KNOWN;
}

/* 0, as in the command: that in the file. */
static enum undo_answer
undo_check_port(struct call *call, struct server *s, struct undo *u)
{
	(void)call;
	about_server(u, s, "check-port");
	by_set_server(u, "check-port");
	PUT(u->value, "%u", s->state->operator.check_port);
	return UNDO_IS_KNOWN;
}

static enum undo_answer
undo_agent_port(struct call *call, struct server *s, struct undo *u)
{
	(void)call;
	about_server(u, s, "agent-port");
	by_set_server(u, "agent-port");
	PUT(u->value, "%u", s->state->operator.agent_port);
	return UNDO_IS_KNOWN;
}

/* That there was no such order cannot be ordered. */
static enum undo_answer
no_undo(struct call *call, struct server *s, struct undo *u)
{
	(void)s;
	(void)u;
	err_set(call->err,
	    "'set server <srv> %s' cannot end in 'for': it has no former value "
	    "that could be set again. Allowed are addr, agent, agent-port, "
	    "check-port, health, maxconn, state, weight.",
	    call_arg(call, 1));
	return UNDO_IS_IMPOSSIBLE;
}

static const struct {
	const char *what;
	enum undo_answer (*of)(
	    struct call *call, struct server *s, struct undo *u);
} of_server[] = {
    {"addr", undo_addr},
    {"agent", undo_server_agent},
    {"agent-addr", no_undo},
    {"agent-port", undo_agent_port},
    {"agent-send", no_undo},
    {"check-addr", no_undo},
    {"check-port", undo_check_port},
    {"health", undo_server_health},
    {"maxconn", undo_maxconn},
    {"state", undo_state},
    {"weight", undo_weight},
};

static enum undo_answer
undo_set_server(struct call *call, struct server *s, struct undo *u)
{
	for (size_t i = 0; i < sizeof(of_server) / sizeof(of_server[0]); i++)
		if (strcmp(call_arg(call, 1), of_server[i].what) == 0)
			return of_server[i].of(call, s, u);
	return UNDO_IS_WRONG;
}

static void
by_verb(struct undo *u, const char *of, bool disabled)
{
	PUT(u->value, "%s", disabled ? "disable" : "enable");
	if (u->part[0])
		PUT(u->tail, " %s %s/%s", of, u->proxy, u->part);
	else
		PUT(u->tail, " %s %s", of, u->proxy);
}

static enum undo_answer
undo_health(struct call *call, struct server *s, struct undo *u)
{
	(void)call;
	about_server(u, s, "health checks");
	by_verb(u, "health", s->state->operator.check_paused);
	return UNDO_IS_KNOWN;
}

static enum undo_answer
undo_agent(struct call *call, struct server *s, struct undo *u)
{
	(void)call;
	about_server(u, s, "agent");
	by_verb(u, "agent", s->state->operator.agent_paused);
	return UNDO_IS_KNOWN;
}

/* -- frontends and limits -- */

/* One that is shut down can neither be enabled nor disabled, so the command
 * fails or changes nothing. */
static enum undo_answer
undo_frontend(struct call *call, struct server *s, struct undo *u)
{
	const struct frontend *f = call_frontend(call, call_arg(call, 0));

	(void)s;
	if (!f)
		return UNDO_IS_WRONG;
	PUT(u->proxy, "%s", f->spec->name);
	PUT(u->subject, "frontend %s", u->proxy);
	by_verb(u, "frontend", f->state->admin != FRONTEND_OPEN);
	return UNDO_IS_KNOWN;
}

static enum undo_answer
undo_maxconn_frontend(struct call *call, struct server *s, struct undo *u)
{
	const struct frontend *f = call_frontend(call, call_arg(call, 0));
	size_t most = control_session_limit(call->env->control);
	uint32_t now;

	(void)s;
	if (!f)
		return UNDO_IS_WRONG;
	now = atomic_load_relaxed(&f->state->maxconn);
	PUT(u->proxy, "%s", f->spec->name);
	PUT(u->subject, "frontend %s maxconn", u->proxy);
	PUT(u->command, "set maxconn frontend %s ", u->proxy);
	PUT(u->value, "%zu", now < most ? now : most);
	PUT(u->file, "%zu",
	    f->spec->maxconn > 0 && f->spec->maxconn < most ? f->spec->maxconn
	                                                    : most);
	return UNDO_IS_KNOWN;
}

static const struct global_spec *
global_spec(const struct call *call)
{
	return &control_model(call->env->control)->spec->global;
}

static enum undo_answer
undo_maxconn_global(struct call *call, struct server *s, struct undo *u)
{
	size_t most = control_session_limit(call->env->control);
	unsigned file = global_spec(call)->maxconn;

	(void)s;
	PUT(u->file, "%zu", file > 0 && file < most ? file : most);
	PUT(u->subject, "global maxconn");
	PUT(u->command, "set maxconn global ");
	PUT(u->value, "%zu", control_maxconn(call->env->control));
	return UNDO_IS_KNOWN;
}

static enum undo_answer
undo_rate_limit(struct call *call, struct server *s, struct undo *u)
{
	const struct proxy_limits *now =
	    &control_proxy(call->env->control)->limits;
	const char *what = call_arg(call, 0);
	bool connections = strcmp(what, "connections") == 0;

	(void)s;
	if (!connections && strcmp(what, "sessions") != 0)
		return UNDO_IS_WRONG;
	PUT(u->subject, "%s per second", what);
	PUT(u->command, "set rate-limit %s global ", what);
	PUT(u->value, "%u",
	    connections ? atomic_load_relaxed(&now->connect_rate)
	                : atomic_load_relaxed(&now->session_rate));
	PUT(u->file, "%u",
	    connections ? global_spec(call)->rate_connections
	                : global_spec(call)->rate_sessions);
	return UNDO_IS_KNOWN;
}

/* The subject is the pool's alone, so that a frontend of that name is none. */
static enum undo_answer
undo_pool(struct call *call, struct server *s, struct undo *u)
{
	const char *pool = call_arg(call, 0), *what = call_arg(call, 1);

	(void)s;
	if (!set_pool_value(control_pools(call->env->control), pool, what,
	        u->value, sizeof(u->value)))
		return UNDO_IS_WRONG;
	if (strlen(u->value) + 1 == sizeof(u->value)) {
		err_set(call->err,
		    "The present %s of the pool are too long a list to be set "
		    "again later.",
		    what);
		return UNDO_IS_IMPOSSIBLE;
	}
	PUT(u->proxy, "%s", pool);
	PUT(u->subject, "pool %s %s", pool, what);
	PUT(u->command, "set pool %s %s ", pool, what);
	u->reload_resets = true;
	return UNDO_IS_KNOWN;
}

/* -- which command -- */

/* Those that begin with a server's name have that looked up.  args: the value
 * is the last of them, and may be the word `for`. */
static const struct {
	bool (*run)(struct call *call);
	unsigned args;
	bool has_server;
	enum undo_answer (*of)(
	    struct call *call, struct server *s, struct undo *u);
} undos[] = {
    {run_set_server, 3, true, undo_set_server},
    {run_set_weight, 2, true, undo_weight},
    {run_set_maxconn_server, 2, true, undo_maxconn},
    {run_enable_server, 1, true, undo_state},
    {run_disable_server, 1, true, undo_state},
    {run_enable_health, 1, true, undo_health},
    {run_disable_health, 1, true, undo_health},
    {run_enable_agent, 1, true, undo_agent},
    {run_disable_agent, 1, true, undo_agent},
    {run_enable_frontend, 1, false, undo_frontend},
    {run_disable_frontend, 1, false, undo_frontend},
    {run_set_maxconn_frontend, 2, false, undo_maxconn_frontend},
    {run_set_maxconn_global, 1, false, undo_maxconn_global},
    {run_set_rate_limit, 3, false, undo_rate_limit},
    {run_set_pool, 3, false, undo_pool},
};

#define UNDOS (sizeof(undos) / sizeof(undos[0]))

static size_t
find(const struct command *command)
{
	size_t i = 0;

	while (i < UNDOS && undos[i].run != command->run)
		i++;
	return i;
}

unsigned
undo_args(const struct command *command)
{
	size_t i = find(command);

	return i < UNDOS ? undos[i].args : 0;
}

enum undo_answer
undo_of(struct call *call, const struct command *command, struct undo *ret_undo)
{
	struct server *s = NULL;
	size_t i = find(command);

	memset(ret_undo, 0, sizeof(*ret_undo));
	if (i == UNDOS) {
		err_set(call->err,
		    "'%s' cannot end in 'for': there is no former value that "
		    "could be set again. Allowed are " UNDO_COMMANDS ".",
		    command->words);
		return UNDO_IS_IMPOSSIBLE;
	}
	if (undos[i].has_server) {
		s = call_server(call, call_arg(call, 0));
		if (!s)
			return UNDO_IS_WRONG;
	}
	return undos[i].of(call, s, ret_undo);
}
