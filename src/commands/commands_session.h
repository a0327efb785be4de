/* SPDX-License-Identifier: MIT
 * HAProxy's commands about sessions; see command.h.
 */
#ifndef COMMANDS_COMMANDS_SESSION_H
#define COMMANDS_COMMANDS_SESSION_H

#include "commands/command.h"

bool run_shutdown_session(struct call *call);
bool run_shutdown_sessions_server(struct call *call);

/* show_sess.c */
bool run_show_sess(struct call *call);

/* show_closed.c */
bool run_show_closed(struct call *call);

#endif
