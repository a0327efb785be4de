/* SPDX-License-Identifier: MIT
 * What the files of the pools share.  Nobody else includes this.
 */
#ifndef CONTROL_POOLS_INTERNAL_H
#define CONTROL_POOLS_INTERNAL_H

#include "control/autoscale.h"
#include "control/pools.h"

struct pools_entry {
	struct pool *pool;
	bool autoscaled, bindable;
	bool fresh;   /* between prepare and apply or cancel */
	bool leaving; /* the present spec lacks it */
	bool idle;    /* it is, since idle_at, grace_stamp */
	uint64_t idle_at;
	struct autoscale autoscale;
};

struct pools {
	struct ev_loop *loop;
	struct proxy *proxy;
	struct grace *grace;
	struct pools_entry *entries;
	size_t n;
	unsigned next_index; /* of the next pool's first thread */
	uint64_t wake_ns;
	bool guarding; /* the guard is wanted at all */
	ev_timer tick, guard, scale;
	ev_async call; /* a pool works again */
};

/* It is one of them. */
struct pools_entry *pools_entry_of(
    const struct pools *pools, const struct pool *pool);

/* Looks at their progress every few milliseconds until there is none left. */
void pools_changed(struct pools *pools);

#endif
