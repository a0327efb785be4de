/* SPDX-License-Identifier: MIT
 * Handles: how a registered descriptor is named, and what can happen to it.
 *
 * The name is what the kernel gives back with an event: the slot of the event
 * handler, its generation, and which of its descriptors.  It is never a
 * pointer, so an event that arrives late can be recognized and refused.
 *
 *     63            32 31              2  1 0
 *    +----------------+-----------------+-----+
 *    |   generation   |      slot       | side|
 *    +----------------+-----------------+-----+
 */
#ifndef LF_HANDLE_H
#define LF_HANDLE_H

#include <stdint.h>

typedef uint64_t
    handle_t; /* a number, not a struct: it travels in epoll_data */

enum handle_side {
	HANDLE_CLIENT,   /* of a session */
	HANDLE_SERVER,   /* of a session */
	HANDLE_LISTENER, /* the one handle of an acceptor */
};

/* Kinds of events.  A session's two sides share the claim's 31 pending bits:
 * side 0 has bits 0-7 and side 1 bits 8-15.  Bits from 16 on are notes between
 * threads of lfproxy (event_handler.h). */
#define HANDLE_READABLE    0x01u /* data, or the end of it */
#define HANDLE_WRITABLE    0x02u /* room in the send buffer, or connected */
#define HANDLE_READ_CLOSED 0x04u /* the peer will send no more */
#define HANDLE_HUNG_UP     0x08u /* both directions are closed */
#define HANDLE_ERROR       0x10u /* SO_ERROR holds an error */
#define HANDLE_READ_ON     0x20u /* a short read has not emptied the queue */
#define HANDLE_ALL         0x3fu
#define HANDLE_SIDE_SHIFT  8

static inline handle_t
handle_make(uint32_t generation, uint32_t slot, enum handle_side side)
{
	return (uint64_t)generation << 32 | (uint64_t)slot << 2 | side;
}

static inline uint32_t
handle_generation(handle_t handle)
{
	return (uint32_t)(handle >> 32);
}

static inline uint32_t
handle_slot(handle_t handle)
{
	return (uint32_t)handle >> 2;
}

static inline enum handle_side
handle_side(handle_t handle)
{
	return (enum handle_side)(handle & 3);
}

/* Converts the bits of an event into the handler's pending bits. */
static inline uint32_t
handle_pending(handle_t handle, uint32_t ready)
{
	return handle_side(handle) == HANDLE_SERVER ? ready << HANDLE_SIDE_SHIFT
	                                            : ready;
}

#endif
