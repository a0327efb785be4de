/* SPDX-License-Identifier: MIT
 * Which client of an admin socket goes when there is no room for another one,
 * so that idlers, those who do not read, and a program gone wild, whatever they
 * do, do not lock the operator out.
 */
#ifndef ADMIN_CLIENT_ROOM_H
#define ADMIN_CLIENT_ROOM_H

#include <sys/types.h>

#include "admin/client.h"
#include "base/list.h"

/* For one of that process.  In this order: whoever has been idle for a while,
 * and so loses nothing; whoever has not taken the answer or sent the rest of a
 * line for a while; one of those of the process that has the most; and whoever
 * is idle but has just come.  NULL: nobody. */
struct client *client_to_go(const struct list *clients, pid_t pid);

#endif
