/* SPDX-License-Identifier: MIT
 * `show servers state` and `show servers conn`, see command.h: HAProxy's
 * columns.
 */
#ifndef COMMANDS_SHOW_SERVERS_H
#define COMMANDS_SHOW_SERVERS_H

#include "commands/command.h"

bool run_show_servers_state(struct call *call);
bool run_show_servers_conn(struct call *call);

/* A table for people; servers_table.c. */
bool run_show_servers(struct call *call);

#endif
