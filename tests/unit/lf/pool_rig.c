/* SPDX-License-Identifier: MIT
 * See pool_rig.h.
 */
#include "lf/pool_rig.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "base/err.h"
#include "lf/alloc_count.h"
#include "unit.h"

/* As on lfproxy's control thread. */
#define GUARD_LIMIT_NS NS_PER_MS
#define GUARD_EVERY_MS 1
#define TICK_EVERY_MS  10

static void
enter(struct fake *f, struct shard *shard)
{
	shard_enter(shard, &f->handler);
	ENSURE(handle_set_add(shard->set, (int)f->number,
	           event_handler_handle(&f->handler, HANDLE_CLIENT),
	           HANDLE_READABLE) == 0);
}

/* As sessions do. */
static void
find_place(struct fake *fake, struct pool_thread *self)
{
	struct event_handler *h = &fake->handler;
	struct shard *to = pool_home_of(self->pool, h->slot);

	if (to == h->shard)
		return;
	ENSURE(handle_set_remove(h->shard->set, (int)fake->number) == 0);
	shard_leave(h);
	enter(fake, to);
	fake->moves++;
}

static enum turn
run_turn(
    struct event_handler *handler, uint32_t pending, struct pool_thread *self)
{
	struct fake *f = (struct fake *)(void *)handler;
	enum turn turn;

	if (atomic_add_relaxed(&f->inside, 1u) != 0)
		atomic_add_relaxed(&f->overlaps, 1u);
	f->turns++;
	atomic_or_acq_rel(&f->bits, pending);
	if (pending != 0)
		atomic_store_release(&f->seen, atomic_load_relaxed(&f->want));
	if (pending & NOTE_MOVE)
		find_place(f, self);
	turn = f->turn ? f->turn(f, pending, self) : TURN_DONE;
	/* One that has retired has left before. */
	if (turn != TURN_RETIRED)
		atomic_sub_relaxed(&f->inside, 1u);
	return turn;
}

static const struct event_handler_ops fake_ops = {.turn = run_turn};

static bool
count_allocations(struct pool_thread *self, void *arg)
{
	const struct rig *rig = arg;

	(void)self;
	alloc_count_thread(true);
	return !rig->no_threads;
}

static void
call_guard(void *arg)
{
	struct rig *rig = arg;

	atomic_store_relaxed(&rig->guard_called, 1u);
}

static int
new_set(void *arg, struct handle_set **ret_set)
{
	struct rig *rig = arg;
	int rc = machine_new_set(rig->machine, ret_set);

	if (rc == 0 && rig->setup.stage)
		rig->setup.stage(*ret_set);
	return rc;
}

/* Two classes as soon as there are two threads. */
static unsigned
make_classes(unsigned threads, struct pool_class ret[POOL_CLASSES_MAX])
{
	ret[0] = (struct pool_class){.threads = (threads + 1) / 2};
	ret[1] = (struct pool_class){.threads = threads / 2, .nice = 1};
	return threads > 1 ? 2 : 1;
}

static unsigned
count_waiting(struct rig *rig)
{
	unsigned n = 0;

	for (unsigned i = 0; i < machine_sets(rig->machine); i++)
		n += scripted_counts(machine_set(rig->machine, i)).waiting;
	return n;
}

static unsigned
count_parked(struct rig *rig)
{
	unsigned n = 0;

	for (unsigned i = 0; i < pool_shards(rig->pool); i++)
		n += promotion_parked(pool_shard(rig->pool, i)->promotion);
	return n;
}

static bool
all_rest(struct rig *rig)
{
	return count_waiting(rig) + count_parked(rig) >=
	       pool_threads(rig->pool);
}

void
rig_start(struct rig *rig, const struct rig_setup *setup)
{
	*rig = (struct rig){
	    .setup = *setup,
	    .machine = machine_new(RIG_FAKES_MAX),
	    .grace = grace_new(),
	    .guarding = true,
	    .allocations = alloc_count(),
	};
	struct pool_options options = {
	    .name = "rig",
	    .shards = setup->shards,
	    .spares = setup->spares,
	    .policy = setup->policy,
	    .order = setup->order,
	    .promotion = setup->promotion,
	    .alarms = setup->alarms,
	    .wake_ns = 5000,
	    .grace = rig->grace,
	    .new_set = new_set,
	    .thread_init = count_allocations,
	    .call_guard = call_guard,
	    .arg = rig,
	};
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (unsigned i = 0; i < setup->cpus; i++)
		CPU_SET(i, &cpus);
	options.cpus = setup->cpus > 0 ? &cpus : NULL;
	options.classes_n = make_classes(setup->threads, options.classes);
	assert_int_equal(pool_new(&options, &rig->pool), 0);
	assert_true(unit_wait(all_rest(rig)));
}

static struct shard *
shard_for(struct rig *rig, const struct fake *f)
{
	return pool_shard(rig->pool, f->number % pool_shards_wanted(rig->pool));
}

/* Slots are for ever, and so is the memory of what they lead to. */
struct fake *
rig_fake(struct rig *rig, fake_turn turn)
{
	struct fake *f = calloc(1, sizeof(*f));

	ENSURE(f && rig->fakes_n < RIG_FAKES_MAX);
	ENSURE(event_handler_init(&f->handler, &fake_ops, HANDLE_CLIENT));
	f->rig = rig;
	f->turn = turn;
	f->number = rig->fakes_n;
	claim_open(&f->handler.claim);
	f->open = 1;
	enter(f, shard_for(rig, f));
	ENSURE(claim_drop(&f->handler.claim));
	rig->fakes[rig->fakes_n++] = f;
	return f;
}

enum turn
fake_retire(struct fake *fake)
{
	struct event_handler *h = &fake->handler;

	ENSURE(handle_set_remove(h->shard->set, (int)fake->number) == 0);
	shard_leave(h);
	atomic_sub_relaxed(&fake->inside, 1u);
	atomic_store_release(&fake->open, 0u);
	claim_retire(&h->claim);
	return TURN_RETIRED;
}

enum turn
fake_reincarnate(struct fake *fake, struct pool_thread *self)
{
	struct event_handler *h = &fake->handler;

	(void)fake_retire(fake);
	claim_open(&h->claim);
	atomic_store_release(&fake->open, 1u);
	enter(fake, pool_place(self->pool, self));
	if (event_handler_run(h, self) == TURN_MORE)
		shard_submit(h);
	return TURN_RETIRED;
}

struct handle_event
rig_event(struct fake *fake, enum handle_side side, uint32_t ready)
{
	atomic_add_relaxed(&fake->want, 1u);
	return (struct handle_event){
	    .handle = event_handler_handle(&fake->handler, side),
	    .ready = ready};
}

struct scripted *
rig_script(struct rig *rig)
{
	return machine_set(rig->machine, 0);
}

void
rig_feed_each(struct rig *rig, unsigned first, unsigned n)
{
	struct handle_event events[RIG_FAKES_MAX];

	for (unsigned i = 0; i < n; i++)
		events[i] = rig_event(
		    rig->fakes[first + i], HANDLE_CLIENT, HANDLE_READABLE);
	scripted_feed(rig_script(rig), events, n);
}

/* The generation is read first: one that ends in between says so, then changes
 * its generation, and the note is refused.  A free slot must not get a note, as
 * nobody owns it. */
bool
fake_note(struct fake *fake, uint32_t note)
{
	struct event_handler *h = &fake->handler;
	uint32_t generation = claim_generation_acquire(&h->claim);

	return atomic_load_acquire(&fake->open) &&
	       shard_note(h, generation, note);
}

static void
note_all_to_move(struct rig *rig)
{
	for (unsigned i = 0; i < rig->fakes_n; i++)
		(void)fake_note(rig->fakes[i], NOTE_MOVE);
}

void
rig_control(struct rig *rig)
{
	uint64_t now_ms = unit_now_ms();

	if (atomic_load_relaxed(&rig->guard_called)) {
		atomic_store_relaxed(&rig->guard_called, 0u);
		rig->guarding = true;
	}
	if (rig->guarding && now_ms >= rig->guard_ms + GUARD_EVERY_MS) {
		rig->guard_ms = now_ms;
		rig->guarding =
		    pool_guard(rig->pool, clock_now_ns(), GUARD_LIMIT_NS);
	}
	if (now_ms >= rig->tick_ms + TICK_EVERY_MS) {
		rig->tick_ms = now_ms;
		if (pool_tick(rig->pool) &&
		    pool_shards(rig->pool) > pool_shards_wanted(rig->pool))
			note_all_to_move(rig);
	}
}

static uint64_t
count_returned(struct rig *rig)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < machine_sets(rig->machine); i++)
		n += scripted_counts(machine_set(rig->machine, i)).returned;
	return n;
}

static unsigned
count_queued(struct rig *rig)
{
	unsigned n = 0;

	for (unsigned i = 0; i < machine_sets(rig->machine); i++)
		n += scripted_counts(machine_set(rig->machine, i)).queued;
	return n;
}

/* Acquired: what the last owner wrote can be read when nobody owns it. */
static bool
any_owned(const struct rig *rig)
{
	for (unsigned i = 0; i < rig->fakes_n; i++)
		if (atomic_load_acquire(&rig->fakes[i]->handler.claim.word) &
		    CLAIM_OWNED)
			return true;
	return false;
}

static bool
is_quiet(struct rig *rig)
{
	uint64_t returned = count_returned(rig);
	struct pool_status s;

	rig_control(rig);
	pool_status(rig->pool, &s);
	return count_queued(rig) == 0 && s.sum.fetched == returned &&
	       s.in_batch == 0 && !any_owned(rig) &&
	       machine_unread(rig->machine) == 0 &&
	       pool_shards(rig->pool) == pool_shards_wanted(rig->pool) &&
	       machine_sets_open(rig->machine) == pool_shards(rig->pool) &&
	       s.threads == pool_threads(rig->pool) && all_rest(rig) &&
	       count_returned(rig) == returned;
}

bool
rig_quiet(struct rig *rig)
{
	return unit_wait(is_quiet(rig));
}

static void
end_pool(struct rig *rig)
{
	unsigned made = machine_sets(rig->machine);

	pool_free(rig->pool);
	for (unsigned i = 0; i < made; i++)
		assert_int_equal(
		    scripted_counts(machine_set(rig->machine, i)).freed, 1);
	for (unsigned i = 0; i < rig->fakes_n; i++)
		assert_int_equal(rig->fakes[i]->overlaps, 0);
	assert_int_equal(alloc_count(), rig->allocations);
	grace_free(rig->grace);
	machine_free(rig->machine);
}

void
rig_finish(struct rig *rig)
{
	const struct thread_stats *s = &rig->status.sum;
	uint64_t handlers = 0;

	assert_true(rig_quiet(rig));
	pool_status(rig->pool, &rig->status);
	assert_int_equal(s->fetched, count_returned(rig));
	assert_int_equal(s->fetched, s->dispatched + s->merged + s->stale);
	for (unsigned i = 0; i < pool_shards(rig->pool); i++)
		handlers +=
		    atomic_load_relaxed(&pool_shard(rig->pool, i)->handlers);
	assert_int_equal(handlers, rig->status.handlers);
	for (unsigned i = 0; i < rig->fakes_n; i++)
		assert_int_equal(
		    atomic_load_acquire(&rig->fakes[i]->handler.claim.word) &
		        CLAIM_PENDING,
		    0);
	end_pool(rig);
}

void
rig_abandon(struct rig *rig)
{
	end_pool(rig);
}

void
rig_set_threads(struct rig *rig, unsigned threads)
{
	struct pool_class classes[POOL_CLASSES_MAX];
	unsigned n = make_classes(threads, classes);
	struct err err;

	assert_true(pool_set_threads(rig->pool, classes, n, &err));
	assert_int_equal(pool_threads(rig->pool), threads);
}

void
rig_set_shards(struct rig *rig, unsigned shards)
{
	struct err err;

	assert_true(pool_set_shards(rig->pool, shards, &err));
	note_all_to_move(rig);
}

char *
rig_setup_name(const struct rig_setup *setup)
{
	char *name;

	ENSURE(
	    asprintf(&name, "%s, %s, %u shard%s, %u thread%s",
	        policy_name(setup->policy), promotion_order_name(setup->order),
	        setup->shards, setup->shards == 1 ? "" : "s", setup->threads,
	        setup->threads == 1 ? "" : "s") > 0);
	return name;
}

static const struct rig_setup setups[] = {
    {.policy = POLICY_ADAPTIVE, .threads = 1, .shards = 1},
    {.policy = POLICY_ADAPTIVE, .threads = 2, .shards = 1},
    {.policy = POLICY_ADAPTIVE, .threads = 4, .shards = 1},
    {.policy = POLICY_ALWAYS, .threads = 1, .shards = 1},
    {.policy = POLICY_ALWAYS, .threads = 2, .shards = 1},
    {.policy = POLICY_ALWAYS, .threads = 4, .shards = 1},
};

static char *
name_of(const struct rig_test *test, const struct rig_setup *setup)
{
	char *name;

	ENSURE(asprintf(&name, "%s (%s, %u %s)", test->name,
	           policy_name(setup->policy), setup->threads,
	           setup->threads == 1 ? "thread" : "threads") > 0);
	return name;
}

int
rig_run(const char *group, const struct rig_test *tests, size_t n)
{
	struct CMUnitTest *all = calloc(n * UNIT_N(setups), sizeof(*all));
	size_t all_n = 0;
	int rc;

	ENSURE(all);
	for (size_t t = 0; t < n; t++) {
		for (size_t s = 0; s < UNIT_N(setups); s++) {
			if (setups[s].threads < tests[t].threads_min ||
			    setups[s].threads > tests[t].threads_max)
				continue;
			all[all_n++] = (struct CMUnitTest){
			    .name = name_of(&tests[t], &setups[s]),
			    .test_func = tests[t].run,
			    .initial_state = (void *)(uintptr_t)&setups[s]};
		}
	}
	unit_watchdog();
	rc = _cmocka_run_group_tests(group, all, all_n, NULL, NULL);
	while (all_n > 0)
		free((void *)(uintptr_t)all[--all_n].name);
	free(all);
	return rc;
}

enum turn
rig_serve(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	(void)pending;
	(void)self;
	atomic_add_acq_rel(&fake->rig->served, 1u);
	return TURN_DONE;
}

void
rig_feed(struct rig *rig, struct fake *fake)
{
	struct handle_event e = rig_event(fake, HANDLE_CLIENT, HANDLE_READABLE);

	scripted_feed(
	    machine_set(rig->machine, fake->handler.shard->id), &e, 1);
}

bool
rig_count_is(struct rig *rig, const uint32_t *count, uint32_t n)
{
	rig_control(rig);
	return atomic_load_acquire(count) == n;
}
