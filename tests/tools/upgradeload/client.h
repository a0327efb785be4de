/* SPDX-License-Identifier: MIT
 * The client: opens the sessions.
 */
#ifndef TOOLS_UPGRADELOAD_CLIENT_H
#define TOOLS_UPGRADELOAD_CLIENT_H

#include "tools/upgradeload/load.h"

/* Opens a session of this kind. */
void client_open(enum kind kind);

/* Opens all sessions, and after their first answers those of ONCE, until all
 * have ended behind SIGUSR1, or until a signal.  Returns how many of ONCE it
 * has opened a second. */
double client_run(void);

#endif
