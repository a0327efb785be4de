/* SPDX-License-Identifier: MIT
 * The side of an upgrade that hands its sessions over, after the successor
 * has the listening sockets (upgrade.h).
 *
 *   NAMES: what the successor knows
 *     --> sessions that wait in queues are told, in their order
 *     --> all sessions are told, again and again: those that could not leave
 *         may be able to later
 *
 * A session leaves in a turn of its own (proxy/session_leave.h), on its own
 * thread, so no byte and no decision can come in between.  The control thread
 * only tells sessions to leave, so that at most SENDER_WINDOW of them are on
 * their way, and none while the socket is full.  Sessions that stay drain as
 * after SIGTERM once a whole pass has moved none.
 *
 * All functions run on the control thread.
 */
#ifndef HANDOVER_SESSION_SENDER_H
#define HANDOVER_SESSION_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct instance;
struct lineage;
struct session_sender;

/* Sessions that are on their way at a time.  A session pauses until all before
 * it in the channel have gone on, and the events of others wait behind those
 * that were told to leave. */
#define SENDER_WINDOW  128u
#define SENDER_TICK_MS 1
/* The bytes of the channel that the kernel counts for a session's message. */
#define SENDER_MESSAGE 1280u
/* If no session acts for this time, those that were told have ended. */
#define SENDER_LOST_MS 20
/* How long the successor may take to tell what it knows. */
#define SENDER_NAMES_MS 5000
/* Between two looks at the counters, while sessions leave. */
#define SENDER_SUMS_MS 100
/* Between two passes, when nothing has left; doubles. */
#define SENDER_PAUSE_MIN_MS 10
#define SENDER_PAUSE_MAX_MS 2000

/* Begins to send.  Takes ownership of the channel and of later, the lines of
 * HANDOVER_LATER or NULL, also on failure.  Calls settled once, when no more
 * sessions leave for now.  passed: how many have left; lost: the successor
 * has ended.  Returns NULL when memory is short. */
struct session_sender *session_sender_new(struct instance *instance,
    const struct lineage *lineage, int channel, char *later,
    void (*settled)(void *arg, uint32_t passed, bool lost), void *arg);

/* Sends the last sums and records, waiting for the socket, and frees the
 * sender. To be called after the pools have ended: sessions use the channel.
 * Accepts NULL. */
void session_sender_free(struct session_sender *sender);

/* Stops the watchers; to be called before the loop ends.  Accepts NULL. */
void session_sender_stop(struct session_sender *sender);

#endif
