/* SPDX-License-Identifier: MIT
 * Operators' changes, as commands that make them again: for the process that
 * takes over in an upgrade (control/upgrade.h).
 */
#ifndef COMMANDS_CARRY_OVER_H
#define COMMANDS_CARRY_OVER_H

#include <stdio.h>

#include "commands/call.h"

/* Writes the commands that make each change of running.h again, one a line, and
 * those that set the health of servers which are down or stopping.  Control
 * thread. */
void carry_over_write(const struct command_env *env, FILE *out);

/* Writes the ends of these changes, and drains, one a line (control/later.h).
 * Control thread. */
void carry_over_write_later(const struct command_env *env, FILE *out);

/* Takes those lines out that are about servers which the sources of sets have
 * still to report, and returns them, for free(3); NULL when memory is short.
 * Control thread. */
char *carry_over_postpone(const struct command_env *env, char *lines);

/* Runs these commands and reads these lines; last: those that need
 * control_start, about servers that were added or deleted, pools, and what is
 * to happen later; or the others.  Logs what fails: the configuration may be
 * another one.  Control thread. */
void carry_over_run(
    const struct command_env *env, const char *lines, bool last);

#endif
