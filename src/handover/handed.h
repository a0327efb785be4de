/* SPDX-License-Identifier: MIT
 * The listening sockets that an upgrade hands over, with their options and, for
 * unix sockets, the modes and owners of their files.  While both processes
 * listen, the other one sets what its own configuration says, and may fail
 * afterwards.
 *
 * All functions run on the control thread and do not block.
 */
#ifndef HANDOVER_HANDED_H
#define HANDOVER_HANDED_H

#include <stdbool.h>
#include <stddef.h>

#include "net/addr.h"
#include "net/handover.h"

struct handed_socket;

/* Starts zeroed. */
struct handed {
	struct handed_socket *sockets;
	size_t n, room;
	size_t sent;
	size_t noted;         /* index behind the socket that was noted last */
	bool short_of_memory; /* a socket could not be added */
};

/* Adds a listening socket, and reads its options or the mode and owner of its
 * file.  The descriptor stays its owner's.  asked: the address as it is
 * configured. */
void handed_add(struct handed *handed, const struct addr *asked, int fd);

/* Puts sockets that were not sent yet into the message, as many as it takes.
 * The caller adds their number to handed->sent. */
void handed_put(const struct handed *handed, struct handover *message);

/* Notes that the socket of the descriptor is still open, and that no thread is
 * about to close it. */
void handed_note_open(struct handed *handed, int fd);

/* Restores what the sockets that were noted as open had when they were added,
 * as far as this process may.  Logs what it may not restore. */
void handed_restore(const struct handed *handed);

void handed_free(struct handed *handed);

#endif
