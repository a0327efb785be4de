/* SPDX-License-Identifier: MIT
 * See world.h.
 */
#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "sim/kernel.h"
#include "sim/sim.h"

#define TICK_NS (10 * NS_PER_MS)
/* Nothing that is under way takes longer: many times the longest turns. */
#define SETTLE_NS    (4000 * NS_PER_MS)
#define SETTLE_STEPS 400000u

struct world world;
struct fake fakes[FAKES_MAX];

static struct shard *
place(struct fake *f, struct pool_thread *self)
{
	if (!self)
		return pool_shard(
		    world.pool, f->number % pool_shards_wanted(world.pool));
	return pool_place(world.pool, self);
}

static void
enter(struct fake *f, struct shard *shard)
{
	struct event_handler *h = &f->handler;
	enum handle_side side =
	    f->manner.listener ? HANDLE_LISTENER : HANDLE_CLIENT;

	if (f->registered)
		sim_fail("handler %u is registered twice", f->number);
	f->registered = true;
	shard_enter(shard, h);
	ENSURE(handle_set_add(shard->set, (int)f->number,
	           event_handler_handle(h, side), HANDLE_READABLE) == 0);
}

static void
leave(struct fake *f)
{
	if (!f->registered)
		sim_fail("handler %u is closed twice", f->number);
	f->registered = false;
	ENSURE(handle_set_remove(f->handler.shard->set, (int)f->number) == 0);
	shard_leave(&f->handler);
}

/* From the choice of a shard to the handler's registration there, now and then
 * for so long, while shards close. */
static void
take_time_on_the_way(uint64_t longest_ns)
{
	if (!world.closing || !sim_by_chance(4))
		return;
	world.busy++;
	sim_sleep(sim_random((uint32_t)longest_ns) + 1);
	world.busy--;
}

static struct shard *
place_slowly(struct fake *f, struct pool_thread *self)
{
	struct shard *to = place(f, self);

	if (f->manner.places_ns > 0) {
		world.busy++;
		sim_sleep(sim_random(f->manner.places_ns) + 1);
		world.busy--;
	} else {
		/* Longer than two ticks. */
		take_time_on_the_way(3 * TICK_NS);
	}
	return to;
}

static void
move_to(struct fake *f, struct shard *to)
{
	if (to == f->handler.shard)
		return;
	leave(f);
	take_time_on_the_way(NS_PER_MS);
	enter(f, to);
	sim_note("moves to shard", to->id);
}

/* A shift that is refused ends where it began, as in session_turn.c. */
static void
find_place(struct fake *f, uint32_t pending, struct pool_thread *self)
{
	struct shard *from = f->handler.shard;
	struct shard *to = pool_shift_home(self->pool, from);

	if (pending & NOTE_MOVE) {
		move_to(f, pool_home_of(self->pool, f->handler.slot));
		return;
	}
	move_to(f, to);
	if (f->manner.refused)
		move_to(f, from);
}

/* As a slot that is given back and taken again. */
static enum turn
begin_anew(struct fake *f, struct pool_thread *self)
{
	struct event_handler *h = &f->handler;

	sim_note("ends, handler", f->number);
	keeper_of_world_end(f);
	leave(f);
	f->inside = 0;
	atomic_store_release(&f->open, 0u);
	claim_retire(&h->claim);
	claim_open(&h->claim);
	atomic_store_release(&f->open, 1u);
	keeper_of_world_begin(f);
	enter(f, place_slowly(f, self));
	if (event_handler_run(h, self) == TURN_MORE)
		shard_submit(h);
	return TURN_RETIRED;
}

/* Every other turn, of a handler that declares any. */
static void
declare_long(struct fake *f)
{
	if (f->manner.long_ns == 0 || f->turns % 2 == 0)
		return;
	event_handler_declare_long(&f->handler);
	f->declared = true;
}

static void
take_long(struct fake *f)
{
	world.busy++;
	sim_sleep(sim_random(f->manner.long_ns) + 1);
	world.busy--;
}

static enum turn
turn(struct event_handler *handler, uint32_t pending, struct pool_thread *self)
{
	struct fake *f = (struct fake *)(void *)handler;
	const struct manner *m = &f->manner;
	uint32_t n;

	sim_note("runs handler", f->number);
	if (f->inside++ > 0)
		sim_fail("handler %u has two owners", f->number);
	if (!f->registered)
		sim_fail("handler %u runs after its end", f->number);
	f->turns++;
	if (pending != 0)
		f->seen = f->want;
	f->is_long = f->declared;
	f->declared = false;
	if (f->is_long)
		world_check_long(handler, self);
	else if (!f->after_long)
		world_check_short(self);
	if (m->wants_nice && !f->is_long)
		pool_nice_want(self);
	keeper_of_world_turn(f, pending);
	if (pending & (NOTE_MOVE | NOTE_SHIFT))
		find_place(f, pending, self);
	n = machine_read(world.machine, (int)f->number, m->budget);
	f->read += n;
	if (f->is_long)
		take_long(f);
	else
		declare_long(f);
	f->after_long = f->is_long;
	f->is_long = false;
	if (m->busy_ns > 0) {
		world.busy++;
		sim_sleep(sim_random(m->busy_ns) + 1);
		world.busy--;
	}
	if (m->notes_itself > 0 && f->turns % m->notes_itself == 0)
		event_handler_note(handler, NOTE_RESUME);
	if (m->ends_every > 0 && f->turns % m->ends_every == 0)
		return begin_anew(f, self);
	f->inside = 0;
	return n == m->budget ? TURN_MORE : TURN_DONE;
}

static const struct event_handler_ops ops = {.turn = turn};

void
world_write(struct fake *fake, uint32_t bytes)
{
	sim_note("writes to handler", fake->number);
	fake->want++;
	fake->written += bytes;
	machine_write(world.machine, (int)fake->number, bytes);
}

/* The generation is read first: one that ends in between says so, then changes
 * its generation, and the note is refused. */
void
world_note(struct fake *fake, uint32_t note)
{
	struct event_handler *h = &fake->handler;
	uint32_t generation = claim_generation_acquire(&h->claim);

	if (!atomic_load_acquire(&fake->open))
		return;
	sim_note("leaves a note with handler", fake->number);
	fake->want++;
	(void)shard_note(h, generation, note);
}

static const char *
role_name(uint32_t role)
{
	return thread_role_name((enum thread_role)role);
}

static bool
begin_thread(struct pool_thread *self, void *arg)
{
	(void)arg;
	promotion_checked_member(&self->member);
	sim_call_me("lf-", self->member.id - 1u, &self->stats.role, role_name);
	return true;
}

static struct handle_set_ops noted_ops;
static const struct handle_set_ops *scripted_ops;

static int
noted_wait(struct handle_set *set, struct handle_event *events, int max,
    int timeout_ms)
{
	int n;

	sim_note("waits for ms", timeout_ms);
	world_looked(set);
	world_waits(set, max);
	n = scripted_ops->wait(set, events, max, timeout_ms);
	sim_note("finds events", n);
	return n;
}

static void
noted_wake(struct handle_set *set)
{
	sim_note("wakes who waits", 0);
	scripted_ops->wake(set);
}

/* The scripted set, with notes of what goes on there. */
static int
new_set(void *arg, struct handle_set **ret_set)
{
	int rc = machine_new_set(arg, ret_set);

	if (rc < 0)
		return rc;
	scripted_ops = (*ret_set)->ops;
	noted_ops = *scripted_ops;
	noted_ops.wait = noted_wait;
	noted_ops.wake = noted_wake;
	(*ret_set)->ops = &noted_ops;
	return 0;
}

/* Two classes as soon as there are two threads. */
static unsigned
make_classes(unsigned threads, struct pool_class ret[POOL_CLASSES_MAX])
{
	ret[0] = (struct pool_class){.threads = (threads + 1) / 2};
	ret[1] = (struct pool_class){.threads = threads / 2, .nice = 1};
	return threads > 1 ? 2 : 1;
}

/* Threads apart leave one for each shard, and half of the first class. */
static unsigned
spares_for(unsigned threads, unsigned shards)
{
	unsigned half = (threads + 1) / 2 / 2;
	unsigned most = threads > shards ? threads - shards : 0;
	unsigned spares = world.setup.spares;

	spares = spares < half ? spares : half;
	world.apart_max = spares < most ? spares : most;
	return world.apart_max;
}

/* A slot is given out once: each fake keeps its own through all schedules.
 * Giving them out takes no steps: only the first schedules of a process would
 * have these, and others would not be replayed. */
static void
take_slots(void)
{
	sim_pause(true);
	for (unsigned i = 0; i < FAKES_MAX && !fakes[i].handler.ops; i++)
		ENSURE(
		    event_handler_init(&fakes[i].handler, &ops, HANDLE_CLIENT));
	sim_pause(false);
}

static void
make_fake(unsigned i)
{
	struct fake *f = &fakes[i];
	struct event_handler *h = &f->handler;
	struct event_handler fresh = {.ops = &ops, .slot = h->slot};

	memset(f, 0, sizeof(*f));
	*h = fresh;
	claim_init(&h->claim);
	f->number = i;
	f->manner = world.setup.manners[i];
	h->first_side = f->manner.listener ? HANDLE_LISTENER : HANDLE_CLIENT;
	claim_open(&h->claim);
	f->open = 1;
	keeper_of_world_begin(f);
	enter(f, place(f, NULL));
	ENSURE(claim_drop(&h->claim));
}

void
world_open(const struct setup *setup)
{
	promotion_checked_reset();
	take_slots();
	world = (struct world){
	    .setup = *setup,
	    .machine = machine_new(FAKES_MAX),
	    .grace = grace_new(),
	    .tick_due_ns = sim_now_ns(),
	};
	struct pool_options options = {
	    .name = "sim",
	    .shards = setup->shards,
	    .policy = setup->policy,
	    .order = setup->order,
	    .long_nice = setup->long_nice,
	    .alarms = setup->alarms,
	    .promotion = &promotion_checked,
	    .wake_ns = 5000,
	    .awake_ns = setup->awake_ns,
	    .grace = world.grace,
	    .new_set = new_set,
	    .thread_init = begin_thread,
	    .call_guard = keeper_of_world_call_guard,
	    .arg = world.machine,
	};

	for (unsigned i = 0; i < SHARDS_MAX; i++)
		world.neglect[i].excused = true;
	sim_let_return(!setup->stays);
	options.classes_n = make_classes(setup->threads, options.classes);
	options.spares = spares_for(setup->threads, setup->shards);
	keeper_of_world_start();
	ENSURE(pool_new(&options, &world.pool) == 0);
	keeper_of_world_guard();
	for (unsigned i = 0; i < setup->fakes; i++)
		make_fake(i);
}

static void
note_all_to_move(void)
{
	for (unsigned i = 0; i < world.setup.fakes; i++)
		world_note(&fakes[i], NOTE_MOVE);
}

static void
do_duties(void)
{
	if (sim_now_ns() < world.tick_due_ns)
		return;
	world.tick_due_ns = sim_now_ns() + TICK_NS;
	if (pool_tick(world.pool) &&
	    pool_shards(world.pool) > pool_shards_wanted(world.pool))
		note_all_to_move();
	keeper_of_world_check_moves();
}

void
world_control(uint64_t ns)
{
	uint64_t end_ns = sim_now_ns() + ns;

	do {
		uint64_t now_ns, next_ns;

		do_duties();
		now_ns = sim_now_ns();
		next_ns = world.tick_due_ns;
		if (end_ns < next_ns)
			next_ns = end_ns;
		if (next_ns > now_ns)
			sim_sleep(next_ns - now_ns);
	} while (sim_now_ns() < end_ns);
}

void
world_set_threads(unsigned threads)
{
	struct pool_class classes[POOL_CLASSES_MAX];
	unsigned n = make_classes(threads, classes);
	unsigned apart_before = world.apart_max;
	struct err err;

	/* Too few for the shards are refused. */
	world_check_long(NULL, NULL);
	pool_set_spares(
	    world.pool, spares_for(threads, pool_shards_wanted(world.pool)));
	if (!pool_set_threads(world.pool, classes, n, &err))
		world.apart_max = apart_before;
}

void
world_set_shards(unsigned shards)
{
	unsigned most = pool_threads(world.pool) - world.apart_max;
	struct err err;

	if (!pool_set_shards(world.pool, shards < most ? shards : most, &err))
		return;
	keeper_of_world_watch();
	note_all_to_move();
}

void
world_shift(unsigned shard, unsigned every)
{
	for (unsigned i = 0; i < pool_shards(world.pool); i++)
		pool_set_shift(world.pool, i, shard);
	for (unsigned i = 0; i < world.setup.fakes; i++)
		if (i % every == 0)
			world_note(&fakes[i], NOTE_SHIFT);
}

void
world_set_policy(enum policy_kind policy)
{
	sim_note("policy", policy);
	promotion_checked_change();
	pool_set_policy(world.pool, policy);
	promotion_checked_change();
}

void
world_set_order(enum promotion_order order)
{
	promotion_checked_change();
	pool_set_order(world.pool, order);
	promotion_checked_change();
}

void
world_set_long_nice(unsigned nice)
{
	struct err err;

	sim_note("long turns are nicer by", nice);
	world_check_long(NULL, NULL);
	/* Without spare threads it may be refused. */
	(void)!pool_set_long_nice(world.pool, nice, &err);
}

void
world_settle(void)
{
	uint64_t end_ns = sim_now_ns() + SETTLE_NS;
	uint64_t end_steps = sim_steps() + SETTLE_STEPS;

	for (;;) {
		const char *what;

		sim_pause(true);
		what = world_unrest();
		if (!what)
			world_check_settled();
		sim_pause(false);
		if (!what)
			return;
		if (sim_now_ns() > end_ns || sim_steps() > end_steps)
			sim_fail("it does not come to rest: %s", what);
		world_control(NS_PER_MS);
	}
}

void
world_close(void)
{
	sim_note("the pool ends", 0);
	world.guarded = false;
	keeper_of_world_stop();
	pool_free(world.pool);
	world.pool = NULL;
	keeper_of_world_free();
	grace_free(world.grace);
	machine_free(world.machine);
}
