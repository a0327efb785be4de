/* SPDX-License-Identifier: MIT
 * HAProxy's `add server` and `del server`; see command.h and control/edit.h.
 */
#ifndef COMMANDS_COMMANDS_ADD_H
#define COMMANDS_COMMANDS_ADD_H

#include "commands/command.h"
#include "control/edit.h"

bool run_add_server(struct call *call);
bool run_del_server(struct call *call);

/* Why the server cannot be deleted, in HAProxy's words; NULL when it can. */
const char *unremovable_text(enum server_removable removable);

#endif
