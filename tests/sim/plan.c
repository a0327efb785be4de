/* SPDX-License-Identifier: MIT
 * See plan.h.
 */
#include "sim/plan.h"

#include <stddef.h>
#include <string.h>

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
choose_manner(void)
{
	static const uint32_t busy_ns[] = {0, 0, 0, 2000, 50000, 700000};

	return (struct manner){
	    .busy_ns = one_in(3) ? busy_ns[sim_random(6)] : 0,
	    .budget = any(1, 8),
	    .ends_every = one_in(4) ? any(2, 6) : 0,
	    .notes_itself = one_in(6) ? any(2, 5) : 0,
	    .listener = one_in(6),
	};
}

static void
choose_setup(struct setup *s)
{
	static const uint32_t guard_ns[] = {300000, 1000000, 1000000, 5000000};

	memset(s, 0, sizeof(*s));
	s->threads = one_in(2) ? any(1, 3) : any(1, 8);
	s->shards = any(1, s->threads < 4 ? s->threads : 4);
	s->policy = (enum policy_kind)sim_random(3);
	s->order = (enum promotion_order)sim_random(3);
	s->guard_ns = guard_ns[sim_random(4)];
	s->fakes = any(1, one_in(3) ? FAKES_MAX : 4);
	for (unsigned i = 0; i < s->fakes; i++)
		s->manners[i] = choose_manner();
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

	(void)arg;
	while (n-- > 0) {
		struct fake *f = &fakes[sim_random(world.setup.fakes)];

		if (one_in(4))
			world_note(f, NOTE_RESUME);
		else
			world_write(f, any(1, 8));
		if (!one_in(3))
			sim_sleep(choose_pause());
	}
	return NULL;
}

static void
set_policy(void)
{
	enum policy_kind policy = (enum policy_kind)sim_random(3);

	sim_note("policy", policy);
	pool_set_policy(world.pool, policy);
}

enum change { THREADS, SHARDS, POLICY, ORDER, CHANGES };

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
		sim_note("threads", n);
		world_set_threads(n);
		break;
	case SHARDS:
		n = any(1, 4);
		sim_note("shards", n);
		world_set_shards(n);
		break;
	case POLICY:
		set_policy();
		break;
	case ORDER:
	case CHANGES:
		pool_set_order(world.pool, (enum promotion_order)sim_random(3));
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

	while (rounds-- > 0) {
		unsigned n = one_in(2) ? 1 : any(1, 4);

		sim_note("shards", n);
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
	world_settle();
}

void *
plan_random(void *arg)
{
	pthread_t writers[2];
	unsigned n = sim_random(3), changes = sim_random(7);
	enum change favourite = (enum change)sim_random(CHANGES);
	struct setup setup;

	(void)arg;
	choose_setup(&setup);
	world_open(&setup);
	for (unsigned i = 0; i < n; i++)
		sim_thread_create(&writers[i], write_some, NULL);
	while (changes-- > 0) {
		if (!one_in(4))
			world_control(choose_pause());
		change_something(favourite);
	}
	for (unsigned i = 0; i < n; i++)
		sim_thread_join(writers[i]);
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
