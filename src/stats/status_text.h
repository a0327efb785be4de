/* SPDX-License-Identifier: MIT
 * The state of a server as HAProxy words it in the column `status` of `show
 * stat`.
 */
#ifndef STATS_STATUS_TEXT_H
#define STATS_STATUS_TEXT_H

#include <stddef.h>

#include "model/server.h"

/* Writes the status to out.  `UP 2/3` means that two more failed checks take
 * the server down, `DOWN 1/2` that one of two successful checks is there.  A
 * server that tracks another one has the status of that one. */
void server_status_text(const struct server *server, char *out, size_t size);

#endif
