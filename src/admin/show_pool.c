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
	uint64_t sum = s->dispatched + s->merged + s->stale + s->in_batch;

	fprintf(out,
	    "  %-15s fetched %" PRIu64 " %c dispatched %" PRIu64
	    " + merged %" PRIu64 " + stale %" PRIu64 " + in batch %" PRIu64
	    "\n",
	    "ledger", s->fetched, s->fetched == sum ? '=' : '~', s->dispatched,
	    s->merged, s->stale, s->in_batch);
}

void
show_pool_render(FILE *out, const char *name, const struct pool_status *s)
{
	fprintf(out, "pool %s\n", name);
	put(out, "threads", s->threads);
	put(out, "leading", s->leading);
	put(out, "processing", s->processing);
	put(out, "following", s->following);
	fprintf(out, "  %-15s %s\n", "promotion", policy_name(s->policy));
	put_ledger(out, s);
	put(out, "waits", s->waits);
	put(out, "resumed", s->resumed);
	put(out, "turns", s->turns);
	put(out, "inline_turns", s->inline_turns);
	put(out, "promotions", s->promotions);
	put(out, "wakes", s->wakes);
	put(out, "relay_turn_ns", s->relay_turn_ns);
	put(out, "accept_turn_ns", s->accept_turn_ns);
}

static bool
no_such_pool(struct control *control, const char *name, struct err *err)
{
	char names[400];
	size_t n = 0;

	names[0] = '\0';
	for (size_t i = 0; i < control_pools(control) && n < sizeof(names); i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s",
		    i ? ", " : "", pool_name(control_pool(control, i)));
	return err_set(err, "No such pool '%.64s'. There is: %s.", name, names);
}

bool
show_pool(struct control *control, const char *name, FILE *out, struct err *err)
{
	bool found = false;

	for (size_t i = 0; i < control_pools(control); i++) {
		struct pool *pool = control_pool(control, i);
		struct pool_status status;

		if (name && strcmp(name, pool_name(pool)) != 0)
			continue;
		found = true;
		pool_status(pool, &status);
		show_pool_render(out, pool_name(pool), &status);
	}
	return found || no_such_pool(control, name, err);
}
