/* SPDX-License-Identifier: MIT
 * The server: accepts the sessions, at three listeners.
 */
#ifndef TOOLS_UPGRADELOAD_SERVER_H
#define TOOLS_UPGRADELOAD_SERVER_H

/* Serves until SIGTERM or SIGINT. */
void server_run(void);

#endif
