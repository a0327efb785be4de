/* SPDX-License-Identifier: MIT
 * Fixed scripts for a pool of one thread, whose traces are kept.
 */
#include <stddef.h>
#include <string.h>

#include "sim/plan.h"
#include "sim/sim.h"
#include "sim/world.h"

#define PAUSE_NS 100000u

static void
pause_for_pool(void)
{
	world_control(PAUSE_NS);
}

/* One event, one note, and an event that a note comes after. */
static void
one_by_one(void)
{
	world_write(&fakes[0], 3);
	pause_for_pool();
	world_note(&fakes[1], NOTE_RESUME);
	pause_for_pool();
	world_write(&fakes[1], 1);
	world_note(&fakes[1], NOTE_RESUME);
	pause_for_pool();
}

/* More than a turn's budget: the handler comes back by the mailbox, behind what
 * is ready. */
static void
long_reads(void)
{
	world_write(&fakes[0], 20);
	world_write(&fakes[1], 5);
	world_write(&fakes[2], 2);
	pause_for_pool();
}

/* The generation that an event in the batch was meant for is gone when it is
 * looked at. */
static void
stale_events(void)
{
	struct handle_event e = {
	    .handle = event_handler_handle(&fakes[3].handler, HANDLE_CLIENT),
	    .ready = HANDLE_READABLE};
	struct handle_event twice[] = {e, e, e};

	scripted_feed(machine_set(world.machine, 0), twice, 3);
	pause_for_pool();
	world_write(&fakes[3], 2);
	pause_for_pool();
}

/* To each policy and back, with an event in each. */
static void
policies(void)
{
	static const enum policy_kind kinds[] = {POLICY_ALWAYS, POLICY_KERNEL,
	    POLICY_ADAPTIVE, POLICY_KERNEL, POLICY_ALWAYS};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		world_set_policy(kinds[i]);
		pause_for_pool();
		world_write(&fakes[0], 1);
		pause_for_pool();
	}
}

static struct golden goldens[] = {
    {"adaptive", POLICY_ADAPTIVE, one_by_one},
    {"always", POLICY_ALWAYS, one_by_one},
    {"kernel", POLICY_KERNEL, one_by_one},
    {"long-reads", POLICY_ADAPTIVE, long_reads},
    {"long-reads-kernel", POLICY_KERNEL, long_reads},
    {"stale", POLICY_ADAPTIVE, stale_events},
    {"policies", POLICY_ADAPTIVE, policies},
};

#define GOLDENS (sizeof(goldens) / sizeof(goldens[0]))

const char *
golden_name(unsigned i)
{
	return i < GOLDENS ? goldens[i].name : NULL;
}

struct golden *
golden_find(const char *name)
{
	for (unsigned i = 0; i < GOLDENS; i++)
		if (strcmp(goldens[i].name, name) == 0)
			return &goldens[i];
	return NULL;
}

void *
plan_golden(void *arg)
{
	const struct golden *golden = arg;
	struct setup setup = {
	    .threads = 1,
	    .shards = 1,
	    .fakes = 4,
	    .policy = (enum policy_kind)golden->policy,
	};

	for (unsigned i = 0; i < setup.fakes; i++)
		setup.manners[i] = (struct manner){.budget = 4};
	setup.manners[3].ends_every = 2;
	world_open(&setup);
	pause_for_pool();
	golden->script();
	world_settle();
	world_close();
	return NULL;
}
