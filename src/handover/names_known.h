/* SPDX-License-Identifier: MIT
 * The objects of this process, numbered from 1 for the process that hands its
 * sessions over (session_receiver.h): the images of sessions have these numbers
 * in place of names.
 *
 * All functions run on the control thread and do not block.
 */
#ifndef HANDOVER_NAMES_KNOWN_H
#define HANDOVER_NAMES_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/model.h"

/* The object that a number stands for: a frontend, one of its routes, a server,
 * or a backend.  The model owns these objects; servers are pinned. */
struct named {
	struct frontend *frontend; /* of a route as well */
	unsigned route;            /* backends_n of the frontend: no route */
	struct server *server;
	struct counters *counters; /* NULL for a route */
	uint32_t held; /* server, frontend: sessions of the predecessor */
};

struct names_known {
	struct named *all; /* by number - 1 */
	size_t n, room;
};

/* Numbers all objects of the model, and writes a line of NAMES for each
 * (net/handover.h).  names starts zeroed.  Returns false when memory is
 * short. */
bool names_known_list(
    struct names_known *names, const struct model *model, FILE *out) MUST_CHECK;

/* Frees the numbers, also after a failure, and leaves none. */
void names_known_free(struct names_known *names);

/* Returns what the number stands for, or NULL. */
struct named *names_known_find(
    const struct names_known *names, uint64_t number);

/* Gets the index of the frontend's route with that number; for 0, backends_n.
 * Returns false if the number is not that of one of its routes. */
bool names_known_find_route(const struct names_known *names,
    const struct frontend *frontend, uint64_t number, unsigned *ret_route);

#endif
