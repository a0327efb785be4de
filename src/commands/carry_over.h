/* SPDX-License-Identifier: MIT
 * Operators' changes, as commands that make them again: for the process that
 * takes over in an upgrade (control/upgrade.h).
 */
#ifndef COMMANDS_CARRY_OVER_H
#define COMMANDS_CARRY_OVER_H

#include <stdio.h>

#include "commands/call.h"

/* Writes a command for each change of servers, frontends, pools and address
 * lists that is in force and that the configuration does not have, one a line;
 * and one for each server that its checks have found down.  Those of pools come
 * last.  Control thread. */
void carry_over_write(const struct command_env *env, FILE *out);

/* Runs these commands; pools: those of pools, which need control_start, or the
 * others.  Logs what fails: the configuration may be another one.  Control
 * thread. */
void carry_over_run(
    const struct command_env *env, const char *lines, bool pools);

#endif
