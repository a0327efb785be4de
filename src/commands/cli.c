/* SPDX-License-Identifier: MIT
 * Commands about the connection itself: `operator`, `user`, `prompt`, `quit`,
 * `set severity-output`, `set timeout`.
 */
#include "commands/commands.h"

#include <string.h>

#include "base/text.h"

bool
run_prompt(struct call *call)
{
	call->mode->prompt = !call->mode->prompt;
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
	const char *how = call->args[0] ? call->args[0] : "";

	if (strcmp(how, "none") == 0)
		call->mode->severity = SEVERITY_NONE;
	else if (strcmp(how, "number") == 0)
		call->mode->severity = SEVERITY_NUMBER;
	else if (strcmp(how, "string") == 0)
		call->mode->severity = SEVERITY_STRING;
	else if (strcmp(how, "status") == 0)
		call->mode->severity = SEVERITY_STATUS;
	else
		return err_set(call->err,
		    "one of 'none', 'number', 'string' is a required argument");
	return true;
}

/* A bare number is seconds here, because it is in HAProxy and hatop sends
 * one. */
bool
run_set_timeout(struct call *call)
{
	const char *text;
	uint64_t seconds, ms;
	struct err why;

	if (!call->args[0] || strcmp(call->args[0], "cli") != 0)
		return err_set(call->err, "'set timeout' only supports 'cli'.");
	text = call->args[1];
	if (!text)
		return err_set(call->err, "Expects an integer value.");
	if (text_parse_number(text, 1, 86400, &seconds, &why))
		ms = seconds * 1000;
	else if (!text_parse_duration(text, 1000, 86400000, &ms, &why))
		return err_set(call->err, "Invalid timeout value.");
	call->mode->timeout_s = (double)ms / 1e3;
	return true;
}
