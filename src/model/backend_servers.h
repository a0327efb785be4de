/* SPDX-License-Identifier: MIT
 * The servers of a backend: made with its model, and changed while the model is
 * PRESENT.
 *
 *   list of specs --prepare--> next servers --commit--> the backend's
 *                                  +--cancel
 *
 * A change replaces the lists of the backend and of its spec; nothing else is
 * copied.  A server that stays is the same object, with the same spec.  Only
 * the control thread reads these lists: data threads find servers in lineups.
 *
 * A server that has gone stays in memory, with its spec, while a lineup has it
 * or a session has pinned it (server_pin), and a grace period longer;
 * model_reclaim frees it.
 *
 * All functions run on the control thread.
 */
#ifndef MODEL_BACKEND_SERVERS_H
#define MODEL_BACKEND_SERVERS_H

#include "model/backend.h"

struct backend_change {
	struct backend *backend;
	struct server_spec **specs; /* owned */
	size_t n, singles_n;        /* as in backend_spec */
	/* Owned, with NULL at the end.  came and gone are parts of the next and
	 * of the present list. */
	struct server **servers, **came, **gone;
	size_t came_n, gone_n;
	uint32_t *came_at; /* index of each in servers */
	uint32_t *to;      /* for name_index_change */
};

/* Makes the servers of a new backend, which keep the states of those of
 * `before`, unless that is NULL.  Returns false when memory is short. */
bool backend_make_servers(
    struct backend *backend, const struct backend *before) MUST_CHECK;

/* Makes a server whose spec says so track another server of its model.  All
 * servers of the model are made. */
void backend_track(struct server *server);

/* Prepares a change of the backend's servers.  specs: the next list, of n
 * pointers from malloc.  It has specs that the backend has already, in the same
 * order, and others, which are owned by the list.  A server with another spec
 * but the same name and address keeps its state.  Takes ownership of the list,
 * also on failure.  Returns false when memory is short.  Otherwise
 * backend_change_commit or backend_change_cancel has to follow; ret_change
 * stays in place until then. */
bool backend_change_prepare(struct backend_change *ret_change,
    struct backend *backend, struct server_spec **specs, size_t n,
    size_t singles_n) MUST_CHECK;

/* Makes the change, and marks the backend if that changes its lineup
 * (server_change.h).  Servers that track others may have come, but no other
 * server may track one that goes.  Cannot fail.  came and gone can be read
 * until backend_change_fini, and servers that have gone until the control loop
 * goes on. */
void backend_change_commit(struct backend_change *change);

/* Drops a change that was prepared, with the specs that are new. */
void backend_change_cancel(struct backend_change *change);

/* Frees a change that was committed. */
void backend_change_fini(struct backend_change *change);

/* Frees the servers of the model that have gone and that no thread uses any
 * more. */
void backend_servers_reclaim(struct model *model);

/* Frees them all, with the model. */
void backend_servers_free_gone(struct model *model);

#endif
