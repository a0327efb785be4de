/* SPDX-License-Identifier: MIT
 * See show_pool.h.
 */
#include "admin/show_pool.h"

#include <inttypes.h>
#include <string.h>

static void
put(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, "  %-15s %" PRIu64 "\n", key, value);
}

static void
put_ledger(FILE *out, const struct pool_status *s)
{
	uint64_t sum =
	    s->sum.dispatched + s->sum.merged + s->sum.stale + s->in_batch;

	fprintf(out,
	    "  %-15s fetched %" PRIu64 " %c dispatched %" PRIu64
	    " + merged %" PRIu64 " + stale %" PRIu64 " + in batch %" PRIu64
	    "\n",
	    "ledger", s->sum.fetched, s->sum.fetched == sum ? '=' : '~',
	    s->sum.dispatched, s->sum.merged, s->sum.stale, s->in_batch);
}

void
show_pool_render(FILE *out, const char *name, const struct pool_status *s)
{
	fprintf(out, "pool %s\n", name);
	put(out, "threads", s->threads);
	put(out, "leading", s->roles[ROLE_LEADING]);
	put(out, "processing", s->roles[ROLE_PROCESSING]);
	put(out, "following", s->roles[ROLE_FOLLOWING]);
	fprintf(out, "  %-15s %s\n", "promotion", policy_name(s->policy));
	put_ledger(out, s);
	put(out, "waits", s->sum.waits);
	put(out, "resumed", s->sum.resumed);
	put(out, "turns", s->sum.turns);
	put(out, "inline_turns", s->sum.inline_turns);
	put(out, "promotions", s->sum.promotions);
	put(out, "wakes", s->sum.wakes);
	put(out, "relay_turn_ns", s->turn_ns[TURN_RELAY]);
	put(out, "accept_turn_ns", s->turn_ns[TURN_ACCEPT]);
}

bool
show_pool(struct control *control, const char *name, FILE *out, struct err *err)
{
	struct pools *pools = control_pools(control);

	if (name && !pools_find(pools, name, err))
		return false;
	for (size_t i = 0; i < pools_count(pools); i++) {
		struct pool *pool = pools_at(pools, i);
		struct pool_status status;

		if (name && strcmp(name, pool_name(pool)) != 0)
			continue;
		pool_status(pool, &status);
		show_pool_render(out, pool_name(pool), &status);
	}
	return true;
}
