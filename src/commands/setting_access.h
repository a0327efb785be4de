/* SPDX-License-Identifier: MIT
 * Settings that a command can change for a time: `set weight app/a 50 for 10m`.
 *
 * The table row of such a command (SETTING in commands.h) names a function that
 * describes the setting with its present value, and one that sets a value
 * again.  expiring.c needs nothing else.
 */
#ifndef COMMANDS_SETTING_ACCESS_H
#define COMMANDS_SETTING_ACCESS_H

#include "commands/call.h"
#include "settings/settings.h"

enum setting_answer {
	SETTING_KNOWN,
	SETTING_INVALID,      /* the command will fail and say why */
	SETTING_UNRESTORABLE, /* has no value to be set again; err says why */
	SETTING_BUSY, /* cannot be changed now, but later; err says why */
};

/* How the value that a command sets is read and restored. */
struct setting_access {
	/* Fills *ret_setting, which is zeroed.  The arguments are those of the
	 * command, or those of restore. */
	enum setting_answer (*describe)(
	    struct call *call, struct setting *ret_setting);
	/* Sets the value again; the arguments are the names and the value. */
	bool (*restore)(struct call *call);
	unsigned names;    /* arguments that name the setting */
	unsigned args_min; /* names, and one for a value */
};

/* Begins the description of a setting of the server that argument 0 names.
 * Returns NULL if the server does not exist. */
struct server *setting_of_server(
    struct call *call, const char *what, struct setting *ret_setting);

/* Prints the present value.  Returns SETTING_KNOWN. */
enum setting_answer setting_known(struct setting *setting, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the object without a server, a frontend or a pool. */
struct setting_object setting_object_of(const struct command_env *env);

/* Describe what an option of `set server` sets. */
enum setting_answer describe_addr(struct call *call, struct setting *ret);
enum setting_answer describe_check_addr(struct call *call, struct setting *ret);
enum setting_answer describe_check_port(struct call *call, struct setting *ret);
enum setting_answer describe_agent_addr(struct call *call, struct setting *ret);
enum setting_answer describe_agent_port(struct call *call, struct setting *ret);
enum setting_answer describe_agent_send(struct call *call, struct setting *ret);

#endif
