/* SPDX-License-Identifier: MIT
 * The report on readiness, of the command `ready` and of /readyz.
 */
#ifndef COMMANDS_READY_H
#define COMMANDS_READY_H

#include <stdbool.h>

#include "commands/report.h"

struct command_env;
struct frontend;

/* Writes whether lfproxy, or that frontend alone unless it is NULL, is ready
 * (stats/ready.h), with the state of each frontend and its backends.  Returns
 * whether it is ready.  Runs on the control thread. */
bool ready_put(struct report *report, const struct command_env *env,
    const struct frontend *frontend);

#endif
