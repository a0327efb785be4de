/* SPDX-License-Identifier: MIT
 * The room for clients that the gate holds (held.h).
 *
 * A held client takes a session and a descriptor.  Held clients take at most a
 * quarter of maxconn, of the process and of each frontend, and those of one
 * address at most a quarter of that.  The other places stay with clients that
 * were let in.
 */
#ifndef PROXY_HELD_ROOM_H
#define PROXY_HELD_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct endpoint;
struct frontend;
struct proxy;

/* Addresses share this many counts, by a hash: those that share one count as
 * one address. */
#define HELD_ADDRESSES 1024

/* Any thread changes all fields. */
struct held_room {
	uint32_t all;
	uint32_t by_address[HELD_ADDRESSES];
};

/* Takes room for a client of the frontend, until held_room_give.  Returns false
 * when there is none.  Any thread, in a grace section. */
bool held_room_take(struct proxy *proxy, const struct frontend *frontend,
    const struct endpoint *client);

/* Gives the room back.  The arguments are those of held_room_take. */
void held_room_give(struct proxy *proxy, const struct frontend *frontend,
    const struct endpoint *client);

#endif
