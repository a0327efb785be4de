/* SPDX-License-Identifier: MIT
 * The side of an upgrade that takes sessions over, once the predecessor has
 * left the listening sockets to this one (takeover.h).
 *
 *   NAMES -->                        what sessions may belong to, by number
 *         <-- LATER                  what is to happen to operators' changes
 *         <-- COUNTS                 how many the predecessor has at servers
 *                                    and of frontends
 *         <-- PASSED                 how many sessions it has
 *         <-- SESSION...             each goes on here at once
 *         <-- PASSED                 how many stay there for now
 *         <-- SOURCES...             what sources of limits have used
 *         <-- CLOSED...              records of ended sessions, in order
 *         <-- COUNTERS               the sums, which go on here
 *   REOPEN -->, <-- REOPEN           files of the access log were renamed
 *
 * The numbers mean the objects of the model at the beginning, which stays until
 * the predecessor has ended; a reload in between makes no difference to a
 * session that comes.  While the predecessor has sessions at a server, or of
 * a frontend, they count here, too, so that maxconn holds for both processes
 * together.
 *
 * All functions run on the control thread.
 */
#ifndef HANDOVER_SESSION_RECEIVER_H
#define HANDOVER_SESSION_RECEIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "proxy/proxy.h"

struct instance;
struct pools;
struct session_receiver;

/* How long new clients wait for the first PASSED, at most. */
#define RECEIVER_ACCEPT_MS 1000
/* How long those of frontends with limits by source wait for the sessions. */
#define RECEIVER_COME_MS 3000
/* How long a turn of the loop takes sessions over, at most. */
#define RECEIVER_TURN_NS (1000 * 1000)
/* Sessions that wait for their first turn here at a time.  While there are so
 * many, the others wait in the channel, which the predecessor sees and tells
 * no more sessions to leave. */
#define RECEIVER_WINDOW  64u
#define RECEIVER_TICK_MS 1

/* The parts of the layers above. */
struct receiver_hooks {
	/* Lets clients in.  Called when the predecessor has told how many
	 * sessions it has, and again when less is still to be taken over
	 * (then). */
	void (*accept)(void *arg, enum takeover then);
	/* Takes over lines of HANDOVER_LATER. */
	void (*take_later)(void *arg, const char *lines);
	void *arg;
};

/* Begins to receive.  Copies the hooks.  Takes ownership of the channel, which
 * is non-blocking, also on failure.  Returns NULL when memory is short. */
struct session_receiver *session_receiver_new(struct instance *instance,
    struct pools *pools, const struct receiver_hooks *hooks, int channel);

/* Accepts NULL. */
void session_receiver_free(struct session_receiver *receiver);

/* Returns whether the predecessor is still there.  NULL: it is not. */
bool session_receiver_is_open(const struct session_receiver *receiver);

/* Makes the predecessor, and any before it, open the files of the access log
 * again, which have been renamed.  NULL: there is none. */
void session_receiver_reopen(struct session_receiver *receiver);

struct receiver_status {
	uint32_t taken;   /* sessions that go on here */
	uint32_t refused; /* that could not, and were reset */
	uint32_t left; /* that are with the former process, as it last said */
	/* From the last turn of a session there to its first one here: of
	 * 99.9% of them at most, and of all. */
	uint64_t pause_p999_ns, pause_max_ns;
	uint32_t long_pauses; /* of more than PAUSE_LONG_NS */
};

/* receiver may be NULL: all are 0. */
struct receiver_status session_receiver_status(
    const struct session_receiver *receiver);

#endif
