/* SPDX-License-Identifier: MIT
 * Chooses the client of an admin socket that is closed for a new one when the
 * socket's limit is reached.  No user can lock another one out, whatever its
 * connections do, and no user can lock out those with higher rights.
 *
 * Clients are counted by party: the user that the kernel vouches for on a unix
 * socket, not its process, since a user can have a process for each connection.
 * TCP admin sockets are reachable from this host alone and the kernel vouches
 * for none of their peers, so their clients are one party, whichever loopback
 * address they connect from.
 *
 * Rank decides before numbers: root and lfproxy's own user come first, then the
 * levels.  A client never makes room for one of a lower rank while it has an
 * answer coming.
 */
#ifndef ADMIN_CLIENT_ROOM_H
#define ADMIN_CLIENT_ROOM_H

#include "admin/client.h"
#include "base/list.h"

/* Returns the client to close for a newcomer with that mode (its peer and
 * level), or NULL if the newcomer has to be refused.  Runs on the control
 * thread.
 *
 * The client is taken from the party that has the most connections of the
 * newcomer's rank or below; among equals, from the lowest rank, then from the
 * newcomer's own party.  Within that party it is the one that has completed
 * nothing for longest: one that was idle for half a second, else one that was
 * stalled for as long, else one of the process that has the most connections.
 *
 * Where each party has but one connection, only a client of a lower rank, one
 * that has stalled for half a second, or one without a command is closed.
 * Where all clients have a higher rank, only one that is idle is. */
struct client *client_to_close(
    const struct list *clients, const struct command_mode *newcomer);

#endif
