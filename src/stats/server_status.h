/* SPDX-License-Identifier: MIT
 * A server's state in HAProxy's words, as column `status` of `show stat`.
 */
#ifndef STATS_SERVER_STATUS_H
#define STATS_SERVER_STATUS_H

#include <stddef.h>

#include "model/server.h"

/* `UP 2/3` is up with two more failures to go, `DOWN 1/2` is down with one
 * success of two.  One that tracks another has the other's. */
void server_status_text(const struct server *server, char *out, size_t size);

#endif
