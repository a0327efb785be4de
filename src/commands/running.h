/* SPDX-License-Identifier: MIT
 * Lists the drift: the settings, servers and list entries that operators have
 * changed by commands since the configuration was loaded, as the commands that
 * make each change again, and as the lines of the file that would say the same.
 *
 * `show drift`, `lfproxyctl save config`, and the process that takes over in an
 * upgrade (carry_over.h) use this list.  Control thread.
 */
#ifndef COMMANDS_RUNNING_H
#define COMMANDS_RUNNING_H

#include "commands/call.h"

struct expiring_status;

/* A change.  Texts are valid for the time of the call. */
struct running_change {
	/* Commands that make it again, one a line. */
	const char *commands;
	/* The names that the audit log uses: `server app/a weight`, 100, 50. */
	const char *subject, *configured, *value;
	/* The value in the file (setting.h), or, of a list, the hash of the
	 * entries that were read (acl_list_digest); NULL: the change holds
	 * whatever the file has. */
	const char *base;
	/* When the change ends; NULL: never.  A setting whose value ends comes
	 * twice if the value that will be put back is not the file's: first
	 * with that value, then with the present one. */
	const struct expiring_status *ends;
	/* The command that sets a setting to the file's value; NULL: this is
	 * no setting. */
	const char *undo;
	bool is_secret; /* show neither commands nor text; value shows none */
	const char *unsaved; /* why key is NULL */
	const char *section; /* of the file: `backend app` */
	const char *server;  /* whose line has it; NULL: the section has it */
	/* The place of the server's line or of the section when the file was
	 * loaded; file NULL: not in a file. */
	struct spec_place place;
	/* The option of the server or the key of the section that would say the
	 * same, and its text; NULL: there is none.  `address` is the address of
	 * the server; `server` is its whole line, with NULL for a server that
	 * was deleted, and `entry` one of a list, with NULL and the range in
	 * configured for one that was deleted. */
	const char *key, *text;
};

/* Returns whether no setting of the server can be another than in the file. */
bool running_is_as_in_file(
    const struct command_env *env, const struct server *server);

typedef void running_fn(void *arg, const struct running_change *change);

/* Calls call for each change: of servers, frontends, the process, lists and
 * [tls] sections, then of servers that were added or deleted, and last of
 * pools. */
void running_changes(
    const struct command_env *env, running_fn *call, void *arg);

#endif
