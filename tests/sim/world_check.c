/* SPDX-License-Identifier: MIT
 * What must hold in the world.  See world.h.
 */
#include <stdio.h>

#include "sim/sim.h"
#include "sim/world.h"

struct sums {
	uint64_t returned;
	uint32_t queued, waiting;
};

static struct sums
sum_sets(void)
{
	struct sums s = {0};

	for (unsigned i = 0; i < machine_sets(world.machine); i++) {
		struct scripted_counts c =
		    scripted_counts(machine_set(world.machine, i));

		s.returned += c.returned;
		s.queued += c.queued;
		s.waiting += c.waiting;
	}
	return s;
}

static unsigned
count_parked(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < pool_shards(world.pool); i++)
		n += promotion_parked(pool_shard(world.pool, i)->promotion);
	return n;
}

static struct scripted_counts
counts_of(unsigned shard)
{
	struct shard *s = pool_shard(world.pool, shard);

	if (!s->set)
		return (struct scripted_counts){0};
	return scripted_counts(scripted_of(s->set));
}

static bool
any_claimed(void)
{
	for (unsigned i = 0; i < world.setup.fakes; i++)
		if (fakes[i].handler.claim.word & (CLAIM_OWNED | CLAIM_PENDING))
			return true;
	return false;
}

const char *
world_unrest(void)
{
	struct sums sums = sum_sets();
	static struct pool_status s;

	pool_status(world.pool, &s);
	if (sums.queued > 0)
		return "events lie in a handle set";
	if (s.in_batch > 0)
		return "events lie in a batch";
	if (any_claimed())
		return "a handler is owned";
	if (machine_unread(world.machine) > 0)
		return "bytes were not read";
	if (pool_shards(world.pool) != pool_shards_wanted(world.pool))
		return "a shard does not close";
	if (machine_sets_open(world.machine) != pool_shards(world.pool))
		return "a closed shard keeps its handle set";
	if (s.threads != pool_threads(world.pool))
		return "a thread does not retire";
	if (sums.waiting + count_parked() < s.threads)
		return "a thread neither waits nor is parked";
	return NULL;
}

void
world_check_settled(void)
{
	struct sums sums = sum_sets();
	static struct pool_status s;

	pool_status(world.pool, &s);
	if (s.sum.fetched != sums.returned)
		sim_fail("the ledger: %lu events returned, %lu fetched",
		    sums.returned, s.sum.fetched);
	if (s.sum.fetched != s.sum.dispatched + s.sum.merged + s.sum.stale)
		sim_fail("the ledger: fetched %lu, dispatched %lu, merged %lu, "
		         "stale %lu",
		    s.sum.fetched, s.sum.dispatched, s.sum.merged, s.sum.stale);
	if (s.handlers != world.setup.fakes)
		sim_fail("%lu handlers are registered, not %u", s.handlers,
		    world.setup.fakes);
	for (unsigned i = 0; i < world.setup.fakes; i++) {
		struct fake *f = &fakes[i];

		if (f->read != f->written)
			sim_fail("handler %u has read %lu of %lu bytes", i,
			    f->read, f->written);
		/* A note that came while it ended has ended with it. */
		if (f->manner.ends_every == 0 && f->seen != f->want)
			sim_fail("handler %u was not notified of an event", i);
		if (f->handler.shard->id >= pool_shards_wanted(world.pool))
			sim_fail("handler %u is at a closed shard", i);
	}
}

/* Whoever submits sees that somebody sleeps, or that one sees the mailbox.
 * [P2] Under POLICY_KERNEL a waiting thread looks again soon; not to be woken
 * is wrong all the same. */
static void
check_mailboxes(void)
{
	for (unsigned i = 0; i < pool_shards(world.pool); i++)
		if (pool_shard(world.pool, i)->mailbox &&
		    counts_of(i).waiting > 0)
			sim_fail("a thread sleeps at shard %u, and its mailbox "
			         "is full",
			    i);
}

void
world_idle(void)
{
	promotion_checked_idle();
	if (world.pool && world.busy == 0)
		check_mailboxes();
}

void
world_describe(void)
{
	if (!world.pool)
		return;
	fprintf(stderr, "Shards (%u wanted), %u threads wanted:\n",
	    pool_shards_wanted(world.pool), pool_threads(world.pool));
	for (unsigned i = 0; i < pool_shards(world.pool); i++) {
		static const char *const tokens[] = {
		    "free", "held", "published"};
		struct shard *s = pool_shard(world.pool, i);
		struct scripted_counts c = counts_of(i);

		fprintf(stderr,
		    "  %u: %s, token %s, parked %u, waiting %u, asleep %u, "
		    "sleepers %u, orders %u, mailbox %s, queued %u, left %u, "
		    "resumed %u, handlers %u%s\n",
		    i, policy_name((enum policy_kind)s->policy),
		    tokens[promotion_token(s->promotion)],
		    promotion_parked(s->promotion), c.waiting, s->asleep,
		    s->sleepers, s->orders, s->mailbox ? "full" : "empty",
		    c.queued, s->batch.left, s->batch.resumed_n, s->handlers,
		    s->closed ? ", closed" : "");
	}
}
