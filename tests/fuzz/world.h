/* SPDX-License-Identifier: MIT
 * An lfproxy to be fuzzed from within: a control loop with everything that runs
 * in lfproxy, with frontends, backends, pools with threads, and sessions, so
 * that commands have something to work on and take effect.
 */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include "admin/admin.h"
#include "lfproxy/endpoints.h"
#include "commands/command.h"
#include "commands/expiring.h"
#include "live/control.h"

#define WORLD_SERVERS  3 /* that listen: a, b, d */
#define WORLD_SESSIONS 3
#define WORLD_ENDS     8

struct world {
	char dir[80]; /* of the unix sockets and the configuration */
	struct control *control;
	struct endpoints *endpoints;
	struct audit audit;
	struct command_env env;
	struct expiring expiring;
	struct ev_loop *loop;
	uint64_t healed_at; /* changes after the last healing */
	int servers[WORLD_SERVERS];
	int clients[WORLD_SESSIONS];
	int ends[WORLD_ENDS]; /* the last that servers were connected by */
	unsigned ends_n;
};

/* Makes it when it is asked for first; it ends with the process. */
struct world *world_get(void);

/* A turn of the control loop, without waiting. */
void world_turn(struct world *w);

/* Undoes what commands have changed, so that one input finds what another one
 * found.  reload: also what only a reload brings back. */
void world_heal(struct world *w, bool reload);

#endif
