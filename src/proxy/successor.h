/* SPDX-License-Identifier: MIT
 * The process that takes over from this one, as sessions see it when they are
 * handed over (session_leave.h): the socket to it, and the names that it knows.
 *
 * The successor numbers the objects whose sessions and sums it can take: a
 * frontend, the route from a frontend to a backend, a backend, and a server at
 * an address.  Each is a line of text.  A session that belongs to any other
 * object stays.
 *
 * The control thread fills it before sessions are told to leave; after that any
 * thread reads it.
 */
#ifndef PROXY_SUCCESSOR_H
#define PROXY_SUCCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/model.h"

struct successor {
	int channel;     /* net/handover.h; borrowed */
	uint32_t passed; /* sessions handed over; any thread, relaxed */
	/* Turns that have found NOTE_LEAVE; any thread, relaxed. */
	uint32_t told;
	/* Whether the channel was full since the control thread cleared this;
	 * any thread, relaxed. */
	uint32_t full;
	struct known_name *names; /* a hash table of room places */
	size_t n, room;
};

/* The longest line: two names and an address. */
#define SUCCESSOR_LINE_MAX 512

/* Writes the line of a frontend.  Returns out. */
const char *successor_frontend_line(
    const struct frontend *frontend, char out[SUCCESSOR_LINE_MAX]);
/* Writes the line of one of its routes.  Returns out. */
const char *successor_route_line(const struct frontend *frontend,
    unsigned route, char out[SUCCESSOR_LINE_MAX]);
/* Writes the line of a backend.  Returns out. */
const char *successor_backend_line(
    const struct backend *backend, char out[SUCCESSOR_LINE_MAX]);
/* Writes the line of a server.  Returns out. */
const char *successor_server_line(
    const struct server *server, char out[SUCCESSOR_LINE_MAX]);

/* Makes a successor without names.  Borrows the channel.  Returns NULL when
 * memory is short. */
struct successor *successor_new(int channel);
/* Frees the successor.  To be called after the pools have ended.  Accepts NULL.
 */
void successor_free(struct successor *successor);

/* Adds lines, each with its newline.  They are numbered from 1 on in the order
 * in which they are added.  Returns false when memory is short. */
bool successor_add_lines(
    struct successor *successor, const char *lines) MUST_CHECK;

/* Returns the number of a line; 0: the successor does not know it.  Any
 * thread. */
uint32_t successor_find(const struct successor *successor, const char *line);

#endif
