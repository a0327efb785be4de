/* SPDX-License-Identifier: MIT
 * The settings of commands: the functions in a command's row of commands.h, and
 * those in an option of `set server` (setting_access.h).
 */
#include "commands/setting_access.h"

#include <stdarg.h>
#include <string.h>

#include "commands/commands.h"
#include "model/model.h"

enum setting_answer
setting_known(struct setting *setting, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(setting->value, sizeof(setting->value), fmt, ap);
	va_end(ap);
	return SETTING_KNOWN;
}

struct server *
setting_of_server(
    struct call *call, const char *what, struct setting *ret_setting)
{
	struct server *s = call_server(call, call_arg(call, 0));
	struct setting *set = ret_setting;

	if (!s)
		return NULL;
	SETTING_PRINT(set->proxy, "%s", s->backend->spec->name);
	SETTING_PRINT(set->part, "%s", s->spec->name);
	SETTING_PRINT(
	    set->subject, "server %s/%s %s", set->proxy, set->part, what);
	return s;
}

struct setting_object
setting_object_of(const struct command_env *env)
{
	return (struct setting_object){
	    .limits = &env->orders->limits, .pools = env->pools};
}

static enum setting_answer
describe(struct call *call, enum setting_id id, struct setting *ret)
{
	const struct spec *spec = call->env->instance->model->spec;
	struct setting_object of = setting_object_of(call->env);
	const char *name = call_arg(call, 0);
	size_t at;

	switch (setting_rows[id].scope) {
	case OF_SERVER:
		of.server = call_server(call, name);
		if (!of.server)
			return SETTING_INVALID;
		break;
	case OF_FRONTEND:
		of.frontend = call_frontend(call, name);
		if (!of.frontend)
			return SETTING_INVALID;
		break;
	case OF_POOL:
		if (!name_table_find(INDEXED_TABLE(spec, pools), name, &at))
			return SETTING_INVALID;
		of.pool = spec->pools[at].name;
		break;
	case OF_PROCESS:
		break;
	}
	setting_read(id, &of, ret);
	return SETTING_KNOWN;
}

#define DESCRIBES(name, id)                                                    \
	enum setting_answer name(struct call *call, struct setting *ret)       \
	{                                                                      \
		return describe(call, id, ret);                                \
	}

DESCRIBES(describe_addr, SETTING_ADDR)
DESCRIBES(describe_weight, SETTING_WEIGHT)
DESCRIBES(describe_state, SETTING_STATE)
DESCRIBES(describe_maxconn_server, SETTING_SERVER_MAXCONN)
DESCRIBES(describe_checks, SETTING_CHECKS)
DESCRIBES(describe_agent, SETTING_AGENT)
DESCRIBES(describe_frontend, SETTING_FRONTEND)
DESCRIBES(describe_maxconn_frontend, SETTING_FRONTEND_MAXCONN)
DESCRIBES(describe_maxconn_global, SETTING_GLOBAL_MAXCONN)
DESCRIBES(describe_check_port, SETTING_CHECK_PORT)
DESCRIBES(describe_agent_port, SETTING_AGENT_PORT)

/* Describes an address whose command may have a port as well, which is another
 * setting. */
static enum setting_answer
describe_place(struct call *call, enum setting_id id, struct setting *ret)
{
	if (strcmp(call_arg(call, 3), "port") != 0)
		return describe(call, id, ret);
	(void)describe(call, id, ret);
	err_set(call->err,
	    "'for' takes a single setting: give the port in a command of its "
	    "own, with %s.",
	    id == SETTING_CHECK_ADDR ? "check-port" : "agent-port");
	return SETTING_UNRESTORABLE;
}

enum setting_answer
describe_check_addr(struct call *call, struct setting *ret)
{
	return describe_place(call, SETTING_CHECK_ADDR, ret);
}

enum setting_answer
describe_agent_addr(struct call *call, struct setting *ret)
{
	return describe_place(call, SETTING_AGENT_ADDR, ret);
}

enum setting_answer
describe_agent_send(struct call *call, struct setting *ret)
{
	enum setting_answer answer = describe(call, SETTING_AGENT_SEND, ret);

	if (answer != SETTING_KNOWN ||
	    strlen(ret->value) < sizeof(ret->value) - 1)
		return answer;
	err_set(
	    call->err, "The present text is too long to be set again later.");
	return SETTING_UNRESTORABLE;
}

enum setting_answer
describe_pool(struct call *call, struct setting *ret)
{
	for (enum setting_id id = SETTING_THREADS; id <= SETTING_HANDSHAKE_NICE;
	     id++)
		if (strcmp(setting_rows[id].key, call_arg(call, 1)) == 0)
			return describe(call, id, ret);
	return SETTING_INVALID;
}

enum setting_answer
describe_rate_limit(struct call *call, struct setting *ret)
{
	const char *what = call_arg(call, 0);

	return strcmp(what, "connections") == 0
	           ? describe(call, SETTING_CONNECTIONS, ret)
	       : strcmp(what, "sessions") == 0
	           ? describe(call, SETTING_SESSIONS, ret)
	           : SETTING_INVALID;
}
