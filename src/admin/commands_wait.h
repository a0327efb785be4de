/* SPDX-License-Identifier: MIT
 * `wait`, as HAProxy 3.0 has it; see command.h.
 */
#ifndef ADMIN_COMMANDS_WAIT_H
#define ADMIN_COMMANDS_WAIT_H

#include "admin/command.h"

bool run_wait(struct call *call);

#endif
