/* SPDX-License-Identifier: MIT
 * Commands about the connection itself: `operator`, `user`, `prompt`, `quit`,
 * `set severity-output`, `set timeout`.
 */
#include "commands/commands.h"

#include <string.h>

#include "config/hint.h"

bool
run_prompt(struct call *call)
{
	struct command_mode *mode = call->mode;

	if (strcmp(call_arg(call, 0), "timed") == 0) {
		mode->prompt = true;
		mode->timed = !mode->timed;
	} else {
		mode->prompt = !mode->prompt;
	}
	return true;
}

bool
run_quit(struct call *call)
{
	call->mode->quit = true;
	return true;
}

bool
run_operator(struct call *call)
{
	if (call->mode->level > LEVEL_OPERATOR)
		call->mode->level = LEVEL_OPERATOR;
	return true;
}

bool
run_user(struct call *call)
{
	call->mode->level = LEVEL_USER;
	return true;
}

bool
run_set_severity(struct call *call)
{
	static const char *const names[] = {
	    [SEVERITY_NONE] = "none",
	    [SEVERITY_NUMBER] = "number",
	    [SEVERITY_STRING] = "string",
	    [SEVERITY_STATUS] = "status",
	};
	_Static_assert(SEVERITY_STATUS + 1 == sizeof(names) / sizeof(names[0]),
	    "a name each");
	size_t i;

	if (!name_table_find(
	        NAME_TABLE(names, SEVERITY_STATUS + 1), call_arg(call, 0), &i))
		return err_set(call->err,
		    "one of 'none', 'number', 'string' is a required "
		    "argument");
	call->mode->severity = (enum severity_output)i;
	return true;
}

/* A bare number is seconds here, because it is in HAProxy and hatop sends
 * one. */
bool
run_set_timeout(struct call *call)
{
	uint64_t ms;

	if (strcmp(call_arg(call, 0), "cli") != 0)
		return err_set(call->err, "'set timeout' only supports 'cli'.");
	if (!call->args[1])
		return err_set(call->err, "Expects an integer value.");
	if (!call_time(call->args[1], 1000, 1000, 86400000, &ms))
		return err_set(call->err, "Invalid timeout value.");
	call->mode->timeout_s = (double)ms / 1e3;
	return true;
}
