/* SPDX-License-Identifier: MIT
 * Carries operators' changes over to the process that takes over in an upgrade
 * (handover/upgrade.h), or that starts from the state file (state_file.h), as
 * the commands that make them again.
 *
 * All functions run on the control thread.
 */
#ifndef COMMANDS_CARRY_OVER_H
#define COMMANDS_CARRY_OVER_H

#include <stdio.h>

#include "commands/call.h"

/* Writes the commands that make each change of running.h again, one a line, and
 * lines that set the health of servers that are down or stopping. */
void carry_over_write(const struct command_env *env, FILE *out);

/* Removes the lines about servers that the sources of sets have still to
 * report, and returns them, for free(3).  Returns NULL, with lines unchanged,
 * when memory is short. */
char *carry_over_postpone(const struct command_env *env, char *lines);

/* Logs that a line of the former process cannot be followed, and why. */
void carry_over_log_left_out(const char *line, const char *why);

/* Runs the commands and reads the lines of records.h.  last: those from
 * the first one on that needs control_start (servers that were added or
 * deleted, pools, what is to happen later); otherwise those before it.  Logs
 * what fails: the configuration may be another one. */
void carry_over_run(
    const struct command_env *env, const char *lines, bool last);

#endif
