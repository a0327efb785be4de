/* SPDX-License-Identifier: MIT
 * State that the steps of drains (drains.c) share with the lines by which
 * another process goes on with them (drains_later.c).
 */
#ifndef ORDERS_DRAINS_INTERNAL_H
#define ORDERS_DRAINS_INTERNAL_H

#include "loop/task_timer.h"
#include "model/server.h"
#include "orders/drains.h"

/* The longest interval at which a drain looks whether its last session has
 * ended. */
#define DRAIN_LOOK_MS 500

#define DRAIN_REMOVED "the configuration has this server no more"

struct drain {
	struct list node;
	struct timed_task task;
	struct instance *instance;
	struct server_state *state; /* counted reference */
	char *backend, *server;
	struct drain_order order;
	enum drain_phase phase;
	enum server_admin admin_was;
	uint64_t from_ms, phase_from_ms;
	uint64_t from_wall_ms; /* from_ms, by the wall clock */
	uint32_t sessions_began;
	uint32_t kill_n;  /* sessions at the beginning of KILLING */
	uint32_t notes_n; /* sessions that were told to end since then */
	uint32_t next;    /* the slot to scan next */
};

/* Returns the drain of a node of drains.all. */
struct drain *drain_at_node(struct list *node);

/* Returns the drain of the server with that state, or NULL. */
struct drain *drain_find(
    const struct drains *drains, const struct server_state *state);

/* Returns the server that is drained, or NULL when a reload has removed or
 * replaced it. */
struct server *drain_server(const struct drain *d);

/* Adds a drain that has not begun: it takes no step before its task is
 * scheduled.  Returns NULL when memory is short. */
struct drain *drain_new(struct drains *drains, const struct server *server,
    const struct drain_order *order);

#endif
