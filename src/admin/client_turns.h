/* SPDX-License-Identifier: MIT
 * Turns of admin clients: whose commands are run, and for how long.
 *
 * A client that can go on queues up and gets slices of time, one after the
 * other, until it has to wait for its peer.  Whoever has just got something
 * from its peer does not wait for all those who were cut off by the end of a
 * slice: one of the former goes, then one of the latter.  In each round of the
 * control loop all of them together get CLIENT_TURNS_BUDGET_NS, and if that was
 * not enough the next round is CLIENT_TURNS_REST_S later.  So neither one of
 * them nor all of them hold up the others, the checks, or the guard of the
 * pools, however many commands they send, nor do they take more than a quarter
 * of a CPU from the sessions.  A single command is not interrupted.
 */
#ifndef ADMIN_CLIENT_TURNS_H
#define ADMIN_CLIENT_TURNS_H

#include <ev.h>
#include <stdbool.h>

#include "base/list.h"

#define CLIENT_TURNS_BUDGET_NS (500 * 1000)
#define CLIENT_TURNS_SLICE_NS  (100 * 1000)
#define CLIENT_TURNS_REST_S    1.5e-3

struct client_turn {
	struct list node;
	bool queued;
	/* One step; false when the peer is to do something first, or the
	 * client is gone: then this is not touched again. */
	bool (*step)(struct client_turn *turn);
};

struct client_turns {
	struct ev_loop *loop;
	struct list fresh; /* have not had a slice since they asked */
	struct list going; /* have, and could have gone on */
	bool went;         /* the last slice was one of these */
	ev_prepare before_wait;
	ev_timer rest; /* active: no turns until it is over */
};

/* Control thread, as all of these. */
void client_turns_init(struct client_turns *turns, struct ev_loop *loop);
/* Nobody may queue any more. */
void client_turns_fini(struct client_turns *turns);

/* Queues up, if it does not already. */
void client_turn_ask(struct client_turns *turns, struct client_turn *turn);
/* Leaves the queue, if it is there. */
void client_turn_leave(struct client_turn *turn);

#endif
