/* SPDX-License-Identifier: MIT
 * What must hold in the world.  See world.h.
 */
#include <stdio.h>
#include <string.h>

#include "lf/admission.h"
#include "lf/pool_internal.h"
#include "lf/shard_internal.h"
#include "sim/sim.h"
#include "sim/world.h"

/* A shard's events may not be looked at for so long, see longest_neglect_ns. */
#define NEGLECT_LIMITS 2
#define NEGLECT_LOOKS  3
/* BESIDE_LOOK_MS, and the longest turn. */
#define CHANGE_NS 100000000u
/* The most by which make_classes makes a class nicer. */
#define CLASS_NICE_MAX 1
/* That of pool_nice.c. */
#define IDLE_NS 4000000u

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

static unsigned
count_waiting_apart(void)
{
	return sim_blocked_on(&pool_admission(world.pool)->ready);
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
	if (sums.waiting + count_parked() + count_waiting_apart() < s.threads)
		return "a thread neither waits nor is parked";
	return keeper_of_world_owes();
}

static unsigned
long_limit_for(unsigned threads)
{
	unsigned cpus = (unsigned)CPU_COUNT(pool_cpu_set(world.pool));
	unsigned others = threads > 1 ? threads - 1 : 1;

	unsigned limit = cpus < others ? cpus : others;
	unsigned apart = pool_wanted(world.pool, GRADE_APART);

	return apart > 0 && apart < limit ? apart : limit;
}

/* That of its class, or for as long as it lives; the process has 0. */
static int
nice_for(unsigned grade)
{
	struct pool_class classes[POOL_CLASSES_MAX];
	unsigned nice = pool_long_nice(world.pool);

	if (grade == GRADE_APART)
		return nice == POOL_NICE_IDLE ? POOL_NICE_FOR_LIFE : (int)nice;
	(void)pool_classes(world.pool, classes);
	return classes[grade].nice;
}

static void
check_nice(void)
{
	for (unsigned i = 0; i < world.pool->places_n; i++) {
		const struct pool_thread *t = world.pool->places[i];

		if (pool_thread_state(t) != THREAD_RUNNING)
			continue;
		if (sim_is_idle(t->tid))
			sim_fail("a thread stays in SCHED_IDLE");
		if (sim_nice(t->tid) != nice_for(t->member.grade))
			sim_fail("a thread of class %u stays at nice %d",
			    t->member.grade, sim_nice(t->tid));
	}
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
	if (s.long_limit != long_limit_for(s.threads))
		sim_fail("%u long turns may run in %u threads on %d CPUs",
		    s.long_limit, s.threads,
		    CPU_COUNT(pool_cpu_set(world.pool)));
	if (s.long_running > 0 || s.long_waiting > 0)
		sim_fail("%u long turns run and %u wait, when nothing is left",
		    s.long_running, s.long_waiting);
	check_nice();
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

static unsigned
count_admitted(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < world.setup.fakes; i++)
		n += fakes[i].is_long ||
		     fakes[i].handler.next_turn == NEXT_ADMITTED;
	return n;
}

/* Long turns run as many as are allowed, and none by the leader.  When threads
 * go, admitted turns go on. */
void
world_check_long(
    const struct event_handler *handler, const struct pool_thread *self)
{
	const struct admission *a = pool_admission(world.pool);
	unsigned admitted;

	sim_pause(true);
	admitted = count_admitted();
	if (a->limit > world.long_limit || a->running <= a->limit)
		world.long_limit = a->limit;
	if (admitted > world.long_limit)
		sim_fail("%u long turns are admitted, %u may be", admitted,
		    world.long_limit);
	if (handler)
		promotion_checked_long(handler->shard->promotion);
	if (self && world.setup.stays && self->member.grade != GRADE_APART &&
	    sim_nice(0) > CLASS_NICE_MAX)
		sim_fail("a thread that cannot return runs a long turn nicer");
	sim_pause(false);
}

/* Events come to threads that are not nicer than their class.  A thread apart
 * runs what comes in the same turn. */
void
world_check_short(const struct pool_thread *self)
{
	if (self->member.grade == GRADE_APART)
		return;
	if (sim_is_idle(0) || sim_nice(0) > CLASS_NICE_MAX)
		sim_fail("a thread that is nicer runs a short turn");
}

/* The guard ends SCHED_IDLE after 4 ms, and one look. */
static void
check_idle_class(void)
{
	for (unsigned i = 0; world.guarded && i < world.pool->places_n; i++) {
		const struct pool_thread *t = world.pool->places[i];

		if (t->state == THREAD_RUNNING && sim_is_idle(t->tid) &&
		    t->idle_since_ns > 0 &&
		    sim_now_ns() > t->idle_since_ns + IDLE_NS + 2 * GUARD_NS)
			sim_fail("a thread is in SCHED_IDLE for %lu us",
			    (sim_now_ns() - t->idle_since_ns) / 1000);
	}
}

/* An admitted turn may be followed by a short one, which counts with it. */
static void
check_admission(void)
{
	const struct admission *a = pool_admission(world.pool);
	unsigned admitted = count_admitted();

	if (a->running < admitted)
		sim_fail("%u long turns run or are about to, and %u count",
		    admitted, a->running);
	if (a->waiting > 0 && a->running < a->limit)
		sim_fail("%u handlers wait, and %u of %u long turns run",
		    a->waiting, a->running, a->limit);
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

/* An alarm wakes the guard, which looks once in GUARD_NS; a turn has to be
 * under way for as long until the guard counts it as long.  The thread that it
 * asks for help may have begun a turn meanwhile, and then another one is asked.
 */
static uint64_t
longest_neglect_ns(void)
{
	return (NEGLECT_LIMITS + NEGLECT_LOOKS) * GUARD_NS +
	       (world.setup.alarms ? SHARD_CALM_ALARM_NS : 0);
}

/* A leader that sleeps has no order and no handler to look at, however long
 * the turn of a thread that has fetched the wake-up meant for the leader.  [P2]
 */
static void
check_leaders(void)
{
	for (unsigned i = 0; i < pool_shards(world.pool); i++) {
		const struct shard *s = pool_shard(world.pool, i);

		if (!s->asleep || counts_of(i).waiting == 0)
			continue;
		if (s->orders)
			sim_fail("the leader of shard %u sleeps, and has an "
			         "order",
			    i);
		if (s->mailbox)
			sim_fail("the leader of shard %u sleeps, and its "
			         "mailbox is full",
			    i);
	}
}

/* All threads that stand by sleep: none is in a turn, after which it looks at
 * the token and at orders. */
static bool
standbys_sleep(const struct shard *s)
{
	return s->policy == POLICY_ADAPTIVE && !s->closed && s->standbys > 0 &&
	       s->standbys == s->sleepers;
}

/* The guard wakes a thread that stands by while the leader's turn lasts. */
static void
check_rest(unsigned shard)
{
	const struct shard *s = pool_shard(world.pool, shard);
	struct rest *r = &world.rests[shard];
	bool waits = world.guarded && standbys_sleep(s) && shard_has_rest(s) &&
	             promotion_token(s->promotion) == TOKEN_PUBLISHED;

	if (!waits || r->turn_ns != s->busy_since_ns)
		*r = (struct rest){
		    .turn_ns = s->busy_since_ns, .since_ns = sim_now_ns()};
	else if (sim_now_ns() > r->since_ns + longest_neglect_ns())
		sim_fail("the leader of shard %u has been in a turn for %lu us "
		         "and has left events, and threads stand by and sleep",
		    shard, (sim_now_ns() - r->since_ns) / 1000);
}

/* After a change of the policy a thread that has waited as under POLICY_KERNEL
 * may have fetched the wake-up, and may be in a turn.  The guard comes to those
 * who have stood by since before. */
static bool
policy_has_changed(const struct shard *s)
{
	return world.busy > 0 && sim_now_ns() < s->changed_ns + CHANGE_NS;
}

static void
check_standbys(void)
{
	for (unsigned i = 0; i < pool_shards(world.pool); i++) {
		const struct shard *s = pool_shard(world.pool, i);

		check_rest(i);
		if (!standbys_sleep(s) || policy_has_changed(s))
			continue;
		if (promotion_token(s->promotion) == TOKEN_FREE)
			sim_fail("no thread leads shard %u, and threads stand "
			         "by and sleep%s",
			    i, shard_has_rest(s) ? "; events are left" : "");
		if (s->orders)
			sim_fail("shard %u has an order, and threads stand by "
			         "and sleep",
			    i);
	}
}

/* A thread that waits as under POLICY_KERNEL may see an order late. */
static bool
any_thread_rests(void)
{
	for (unsigned i = 0; i < pool_shards(world.pool); i++)
		if (pool_shard(world.pool, i)->asleep &&
		    counts_of(i).waiting > 0)
			return true;
	return count_parked() > 0;
}

static void
check_since(unsigned shard)
{
	const struct neglect *n = &world.neglect[shard];

	if (!n->excused && sim_now_ns() > n->since_ns + longest_neglect_ns())
		sim_fail("no thread has looked at the events of shard %u for "
		         "%lu us, and one has nothing to do",
		    shard, (sim_now_ns() - n->since_ns) / 1000);
}

void
world_looked(const struct handle_set *set)
{
	sim_pause(true);
	for (unsigned i = 0; world.pool && i < pool_shards(world.pool); i++) {
		if (pool_shard(world.pool, i)->set != set)
			continue;
		check_since(i);
		world.neglect[i].since_ns = sim_now_ns();
	}
	sim_pause(false);
}

/* No other thread can run what a thread that stands by has fetched.  Under
 * POLICY_KERNEL all threads stand by, and one may have decided how many events
 * to wait for just before another one's long turn ended. */
void
world_waits(const struct handle_set *set, int max)
{
	const char *role = sim_role();

	sim_pause(true);
	for (unsigned i = 0; world.pool && i < pool_shards(world.pool); i++) {
		const struct shard *s = pool_shard(world.pool, i);

		if (s->set == set && s->policy == POLICY_ADAPTIVE &&
		    s->standbys > 0 && s->long_ns > 0 && max > 1 && role &&
		    strcmp(role, thread_role_name(ROLE_STANDBY)) == 0)
			sim_fail("a thread stands by at shard %u for %d "
			         "events, and a turn was long",
			    i, max);
	}
	sim_pause(false);
}

/* As long as any thread of the pool is parked or waits for events, the events
 * of each shard are looked at.  Nothing changes from here until the next call's
 * moment, so what holds now counts until then. */
static void
check_neglect(void)
{
	bool excused = !world.guarded || !any_thread_rests();

	for (unsigned i = 0; i < pool_shards(world.pool); i++) {
		const struct shard *s = pool_shard(world.pool, i);
		struct neglect *n = &world.neglect[i];

		if (n->excused)
			n->since_ns = sim_now_ns();
		n->excused = excused || counts_of(i).waiting > 0 ||
		             s->policy == POLICY_KERNEL;
		check_since(i);
	}
	for (unsigned i = pool_shards(world.pool); i < SHARDS_MAX; i++)
		world.neglect[i].excused = true;
}

void
world_idle(void)
{
	promotion_checked_idle();
	if (!world.pool)
		return;
	if (world.busy == 0)
		check_mailboxes();
	/* Threads apart leave the queue as it is when the pool ends. */
	if (world.guarded)
		check_admission();
	check_leaders();
	check_standbys();
	check_neglect();
	check_idle_class();
	keeper_of_world_check();
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
		    "sleepers %u, standbys %u of %u, orders %u, mailbox %s, "
		    "queued %u, left %u, resumed %u, handlers %u%s\n",
		    i, policy_name((enum policy_kind)s->policy),
		    tokens[promotion_token(s->promotion)],
		    promotion_parked(s->promotion), c.waiting, s->asleep,
		    s->sleepers, s->standbys, s->parallel, s->orders,
		    s->mailbox ? "full" : "empty", c.queued, s->batch.left,
		    s->batch.resumed_n, s->handlers,
		    s->closed ? ", closed" : "");
	}
}
