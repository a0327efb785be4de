/* SPDX-License-Identifier: MIT
 * `wait`, as HAProxy 3.0 has it; see command.h.
 */
#ifndef COMMANDS_COMMANDS_WAIT_H
#define COMMANDS_COMMANDS_WAIT_H

#include "commands/command.h"

bool run_wait(struct call *call);

#endif
