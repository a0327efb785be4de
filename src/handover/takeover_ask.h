/* SPDX-License-Identifier: MIT
 * Asks a process that did not start this one to hand over, as `-x` does.
 *
 *   this process                         the process at the admin socket
 *   listens at an abstract name
 *   `upgrade @NAME` --admin socket-->    connects to the name
 */
#ifndef HANDOVER_TAKEOVER_ASK_H
#define HANDOVER_TAKEOVER_ASK_H

#include "base/err.h"

/* Asks the process at the admin socket.  Returns the channel to that process,
 * which the caller closes, or -1 with err set.  Blocks for TAKEOVER_WAIT_MS at
 * most. */
int takeover_ask(const char *admin, struct err *err) MUST_CHECK;

#endif
