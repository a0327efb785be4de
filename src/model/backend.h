/* SPDX-License-Identifier: MIT
 * A backend: servers of one kind, and the choice among them.
 *
 * The choice works on a lineup: an immutable array made by the control thread
 * whenever a server's state changes, and swapped in.  Data threads read it
 * inside a grace section (base/grace.h) and never lock.
 */
#ifndef MODEL_BACKEND_H
#define MODEL_BACKEND_H

#include "model/counters.h"
#include "model/server.h"
#include "model/spec.h"

struct lineup;
struct grace;

struct backend {
	const struct backend_spec *spec; /* borrowed from the model's spec */
	unsigned id;                     /* HAProxy's iid */
	struct grace *grace;             /* borrowed; frees old lineups */
	struct server **servers;         /* spec->servers_n of them */

	/* Shared. */
	struct lineup *lineup; /* [P4] released by control, acquired by data */
	struct counters *counters;
	uint64_t cursor CACHE_LINE_ALIGNED; /* round robin's place, relaxed */
	struct gauge sessions CACHE_LINE_ALIGNED;

	/* Control thread only. */
	unsigned usable CACHE_LINE_ALIGNED; /* servers in the lineup */
	uint64_t times_down;                /* no server was usable */
	uint64_t changed_ms;
	uint64_t down_ms;
	struct rate rate;
};

/* NULL when memory is short. */
struct backend *backend_new(
    const struct backend_spec *spec, unsigned id, struct grace *grace);
void backend_free(struct backend *backend);

/* Control thread: makes a lineup of the servers that are up and have weight.
 * When memory is short the old one stays and -ENOMEM is returned. */
int backend_rebuild(struct backend *backend);

/* Data threads, in a grace section: the server for a new session, or NULL when
 * none is usable.  Servers among the first tried_n of tried are passed over as
 * long as there is another one. */
struct server *backend_choose(
    struct backend *backend, struct server *const *tried, unsigned tried_n);

#endif
