/* SPDX-License-Identifier: MIT
 * The time that clients of the admin sockets get on the control loop.
 *
 * A client that can go on queues up and gets time slices, in which it takes
 * steps until it has to wait for its peer.  Clients that have just received
 * something and clients whose last slice ended before they were done alternate,
 * so that the former do not wait for all of the latter.
 *
 * All clients together get CLIENT_SLICES_BUDGET_NS in each round of the control
 * loop; if clients are left, the next round is CLIENT_SLICES_PAUSE_S later.  So
 * neither one client nor all of them hold up other clients, the checks or the
 * guard of the pools, however many commands they send, and they take no more
 * than a quarter of a CPU from the sessions.  A single command is not
 * interrupted.
 *
 * All functions run on the control thread.
 */
#ifndef ADMIN_CLIENT_SLICES_H
#define ADMIN_CLIENT_SLICES_H

#include <ev.h>
#include <stdbool.h>

#include "base/list.h"

#define CLIENT_SLICES_BUDGET_NS (500 * 1000)
#define CLIENT_SLICE_NS         (100 * 1000)
#define CLIENT_SLICES_PAUSE_S   1.5e-3

/* A client's place in the queue, embedded in the client. */
struct client_slice {
	struct list node; /* empty: not queued */
	/* Takes one step.  Returns false if the peer has to do something
	 * first, or if the client was freed with this slice. */
	bool (*step)(struct client_slice *slice);
};

struct client_slices {
	struct ev_loop *loop;
	struct list fresh;   /* have had no slice since they queued up */
	struct list ongoing; /* have had a slice, and can go on */
	bool ongoing_last;   /* the last slice was one of ongoing */
	ev_prepare before_wait;
	ev_timer pause; /* active: no slices until it ends */
};

/* Starts to serve the queue on the loop. */
void client_slices_init(struct client_slices *slices, struct ev_loop *loop);

/* Stops.  No client may queue up afterwards. */
void client_slices_fini(struct client_slices *slices);

/* Queues up, unless it is queued.  list_remove(&slice->node) leaves the queue.
 */
void client_slice_request(
    struct client_slices *slices, struct client_slice *slice);

#endif
