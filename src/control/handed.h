/* SPDX-License-Identifier: MIT
 * The listening sockets that an upgrade hands over, and what they had before:
 * the other process sets the options and the files' modes and owners of its own
 * configuration while both listen, and may fail afterwards.
 *
 * Control thread only, and never blocking.
 */
#ifndef CONTROL_HANDED_H
#define CONTROL_HANDED_H

#include <stdbool.h>
#include <stddef.h>

#include "net/addr.h"
#include "net/handover.h"

struct handed_socket;

/* Begins zeroed. */
struct handed {
	struct handed_socket *sockets;
	size_t n, room;
	size_t sent;
	bool short_of_memory; /* a socket could not be added */
};

/* Adds a listening socket, whose descriptor stays its owner's, and reads what
 * it has.  asked: the address that was asked for. */
void handed_add(struct handed *handed, const struct addr *asked, int fd);

/* Puts those that were not sent into the message, as many as it takes; the
 * caller adds their number to sent. */
void handed_put(const struct handed *handed, struct handover *message);

/* Gives the sockets that are still open back what they had when they were
 * added, as far as this process may; logs what it may not. */
void handed_restore(const struct handed *handed);

void handed_free(struct handed *handed);

#endif
