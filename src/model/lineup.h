/* SPDX-License-Identifier: MIT
 * A lineup: the servers a backend may choose from, and the order of choice.
 *
 * Immutable once published.  An algorithm prepares here whatever lets its
 * choice be quick.
 */
#ifndef MODEL_LINEUP_H
#define MODEL_LINEUP_H

#include <stddef.h>
#include <stdint.h>

struct backend;
struct server;

struct lineup {
	struct server **servers; /* usable: up, with weight */
	unsigned servers_n;
	uint32_t *cycle; /* round robin: indexes into servers */
	size_t cycle_n;
};

/* A balancing algorithm. */
struct balance_ops {
	const char *name; /* as the configuration and `show stat` call it */
	/* Control thread: completes a lineup of at least one server.
	 * 0 or -ENOMEM. */
	int (*prepare)(struct lineup *lineup);
	/* Data threads: one of the lineup's servers, not among the first
	 * tried_n of tried if there is another one.  Does not wait. */
	struct server *(*choose)(struct backend *backend,
	    const struct lineup *lineup, struct server *const *tried,
	    unsigned tried_n);
};

extern const struct balance_ops balance_roundrobin;

/* The algorithm of a spec's kind (enum balance_kind). */
const struct balance_ops *balance_ops_of(int kind);

void lineup_free(void *lineup);

#endif
