/* SPDX-License-Identifier: MIT
 * See plan.h.
 */
#include "sim/plan.h"

#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "sim/sim.h"
#include "sim/world.h"

static uint32_t
any(uint32_t from, uint32_t to)
{
	return from + sim_random(to - from + 1);
}

static bool
one_in(uint32_t n)
{
	return sim_random(n) == 0;
}

static struct manner
choose_manner(bool long_turns)
{
	static const uint32_t busy_ns[] = {0, 0, 0, 2000, 50000, 700000};
	static const uint32_t long_ns[] = {2000, 300000, 5000000};

	static const uint32_t paced_ns[] = {100, 3000000, 30000000};

	return (struct manner){
	    .busy_ns = one_in(3) ? busy_ns[sim_random(6)] : 0,
	    .budget = any(1, 8),
	    .ends_every = one_in(4) ? any(2, 6) : 0,
	    .notes_itself = one_in(6) ? any(2, 5) : 0,
	    .refused = one_in(4),
	    .long_ns = long_turns ? long_ns[sim_random(3)] : 0,
	    .deadline_ms = one_in(6) ? any(1, 600) : 0,
	    .paced_ns = one_in(8) ? paced_ns[sim_random(3)] : 0,
	    .pauses = one_in(16),
	    .wants_nice = one_in(2),
	    .listener = one_in(6),
	};
}

static struct manner
choose_lasting_manner(void)
{
	return (struct manner){
	    .busy_ns = (uint32_t)(16 * GUARD_NS),
	    .budget = 8,
	};
}

/* Under kernel the guard does nothing about turns that last; and threads yield
 * for as long while the token is held. */
static enum policy_kind
choose_policy(const struct setup *s)
{
	return (enum policy_kind)sim_random(s->lasting ? 2 : 3);
}

static const unsigned long_nices[] = {0, 5, 20};

static void
choose_nice(struct setup *s)
{
	if (!one_in(4))
		return;
	s->long_nice = long_nices[sim_random(3)];
	s->stays = one_in(2);
	s->spares = sim_random(4);
}

static void
choose_setup(struct setup *s)
{
	bool long_turns;

	memset(s, 0, sizeof(*s));
	s->threads = one_in(2) ? any(1, 3) : any(1, 8);
	s->shards = any(1, s->threads < 4 ? s->threads : 4);
	s->lasting = one_in(8);
	s->policy = choose_policy(s);
	s->order = (enum promotion_order)sim_random(3);
	s->alarms = !one_in(4);
	choose_nice(s);
	s->awake_ns = one_in(4) ? 20000 : 0;
	s->fakes = any(1, one_in(3) ? FAKES_MAX : 4);
	long_turns = s->long_nice > 0 || one_in(3);
	for (unsigned i = 0; i < s->fakes; i++)
		s->manners[i] = choose_manner(long_turns && one_in(2));
	if (s->lasting)
		s->manners[0] = choose_lasting_manner();
}

/* A pause between two things that somebody does. */
static uint64_t
choose_pause(void)
{
	static const uint32_t longest_ns[] = {
	    1, 1000, 10000, 100000, 3000000, 20000000, 70000000};

	return sim_random(longest_ns[sim_random(one_in(4) ? 7 : 5)]) + 1;
}

static void *
write_some(void *arg)
{
	unsigned n = any(1, 10);
	bool *done = arg;

	while (n-- > 0) {
		struct fake *f = &fakes[sim_random(world.setup.fakes)];

		if (one_in(4))
			world_note(f, NOTE_RESUME);
		else
			world_write(f, any(1, 8));
		if (!one_in(3))
			sim_sleep(choose_pause());
	}
	*done = true;
	return NULL;
}

static void
set_policy(void)
{
	world_set_policy(choose_policy(&world.setup));
}

enum change { THREADS, SHARDS, SHIFT, POLICY, ORDER, NICE, CHANGES };

/* Half of a schedule's changes are of one kind: what only this kind brings
 * about comes about more often. */
static void
change_something(enum change favourite)
{
	enum change change =
	    one_in(2) ? favourite : (enum change)sim_random(CHANGES);
	unsigned n;

	switch (change) {
	case THREADS:
		n = any(1, 8);
		world.setup.spares = sim_random(4);
		sim_note("threads", n);
		world_set_threads(n);
		break;
	case SHARDS:
		n = any(1, 4);
		sim_note("shards", n);
		world_set_shards(n);
		break;
	case SHIFT:
		n = sim_random(4);
		sim_note("shift to shard", n);
		world_shift(n, any(1, 3));
		break;
	case POLICY:
		set_policy();
		break;
	case NICE:
		world_set_long_nice(long_nices[sim_random(3)]);
		break;
	case ORDER:
	case CHANGES:
		world_set_order((enum promotion_order)sim_random(3));
		break;
	}
}

/* One event and then one note for a pool at rest. */
static void
wake_from_sleep(void)
{
	struct fake *f = &fakes[sim_random(world.setup.fakes)];

	world_write(f, 1);
	world_settle();
	world_note(f, NOTE_RESUME);
	world_settle();
}

/* Shards that close give their handle sets back and get others, with handlers,
 * writers and orders on their way to them. */
static void
close_and_open_shards(void)
{
	unsigned rounds = any(1, 3);

	world.closing = true;
	while (rounds-- > 0) {
		unsigned n = one_in(2) ? 1 : any(1, 4);

		sim_note("shards", n);
		if (one_in(2))
			world_shift(sim_random(4), 1);
		world_set_shards(n);
		/* Handlers are on their way to shards that close at once. */
		if (one_in(3))
			world_set_shards(1);
		if (one_in(2))
			(void)pool_tick(world.pool);
		world_write(&fakes[sim_random(world.setup.fakes)], any(1, 8));
		if (one_in(2))
			set_policy();
		world_control(choose_pause());
		if (one_in(2))
			world_settle();
	}
	world.closing = false;
	world_settle();
}

void *
plan_random(void *arg)
{
	pthread_t writers[2];
	bool done[2] = {false, false};
	unsigned n = sim_random(3), changes = sim_random(7);
	enum change favourite = (enum change)sim_random(CHANGES);
	struct setup setup;

	(void)arg;
	choose_setup(&setup);
	world_open(&setup);
	for (unsigned i = 0; i < n; i++)
		sim_thread_create(&writers[i], write_some, &done[i]);
	while (changes-- > 0) {
		if (!one_in(4))
			world_control(choose_pause());
		change_something(favourite);
	}
	for (unsigned i = 0; i < n; i++) {
		while (!done[i])
			world_control(NS_PER_MS);
		sim_thread_join(writers[i]);
	}
	/* Now and then the end comes in the midst of it. */
	if (!one_in(8)) {
		world_settle();
		if (one_in(2))
			wake_from_sleep();
		if (one_in(3))
			close_and_open_shards();
	}
	world_close();
	return NULL;
}
