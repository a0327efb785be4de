/* SPDX-License-Identifier: MIT
 * Servers that a reload, or `del server`, has removed while they had sessions.
 *
 * Their sessions may go on for the backend's timeout_drain.  A server that
 * returns to the same backend, with the same name and address, while it has
 * sessions left, gets its former state.
 *
 * All functions run on the control thread.
 */
#ifndef MODEL_REMOVED_H
#define MODEL_REMOVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/addr.h"

struct model;
struct model_state;
struct removed_server;
struct server;
struct server_spec;
struct server_state;

/* All removed servers, sorted by their hashes. */
struct removed_servers {
	struct removed_server **all;
	size_t n, room;
};

/* A server that the present model does not have, until its sessions have ended.
 */
struct removed_server {
	uint64_t backend_hash, name_hash; /* of these names */
	struct server_state *state;
	char *backend, *name;
	char *host; /* as in the spec, with port; or NULL, with addr */
	unsigned port;
	int port_offset;
	struct addr addr;
	uint64_t since;      /* grace_stamp */
	uint64_t expires_ms; /* clock_now_ms */
	bool gone; /* had no session left; a late one may still come */
};

/* Notes the servers of `before` that the model does not have. */
void removed_note(struct model *model, const struct model *before);

/* Drops from the list the servers that the model has again, and what operators
 * had set for them unless they are of a set: the file did not have it any
 * more. */
void removed_revive(struct model *model);

/* Does both for servers of the PRESENT model that have come and gone. */
void removed_follow(struct model *model, struct server *const *came,
    size_t came_n, struct server *const *gone, size_t gone_n);

/* Drops removed servers without sessions from the list.  Returns true if the
 * time of a server with sessions is over (server_state.expired): the caller
 * then tells sessions to look at it. */
bool removed_watch(struct model *present, uint64_t now_ms);

/* Returns the state of a removed server that returns with this spec, or NULL
 * if there is none or the operator has deleted it. */
struct server_state *removed_find(const struct model_state *state,
    const char *backend, const struct server_spec *spec);

/* Returns the removed servers of the backend, *ret_n of them; among them may be
 * servers of a backend whose name has the same hash. */
struct removed_server *const *removed_of_backend(
    const struct removed_servers *removed, const char *backend, size_t *ret_n);

/* Frees the list. */
void removed_free_all(struct model_state *state);

#endif
