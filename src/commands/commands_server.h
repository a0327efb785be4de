/* SPDX-License-Identifier: MIT
 * HAProxy's commands that change a server, and what it was set to; see
 * command.h and model/server_operator.h.
 */
#ifndef COMMANDS_COMMANDS_SERVER_H
#define COMMANDS_COMMANDS_SERVER_H

#include "commands/command.h"

bool run_get_weight(struct call *call);
bool run_set_weight(struct call *call);
bool run_set_maxconn_server(struct call *call);
bool run_enable_server(struct call *call);
bool run_disable_server(struct call *call);
bool run_enable_health(struct call *call);
bool run_disable_health(struct call *call);
bool run_enable_agent(struct call *call);
bool run_disable_agent(struct call *call);

/* set_server.c */
bool run_set_server(struct call *call);

/* For both: the weight that the text asks for, and that number of sessions.
 * False with an error. */
bool set_weight_of(struct call *call, struct server *server, const char *text);
bool set_maxconn_of(struct call *call, struct server *server, const char *text);
void set_admin_of(
    struct call *call, struct server *server, enum server_admin admin);

/* "up", "stopping" or "down". */
const char *server_health_name(const struct server *server);

#endif
