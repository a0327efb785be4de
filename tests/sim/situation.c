/* SPDX-License-Identifier: MIT
 * Situations in which few steps of few threads decide, for a search through all
 * their schedules.
 */
#include <stddef.h>
#include <string.h>

#include "sim/plan.h"
#include "sim/sim.h"
#include "sim/world.h"

struct situation {
	const char *name;
	struct setup setup;
	void (*before)(void);
	void (*search)(void); /* what the schedules differ in */
};

static void
write_to_all(void)
{
	for (unsigned i = 0; i < world.setup.fakes; i++)
		world_write(&fakes[i], 1);
}

/* A thread retires while events arrive: it may be leading, in a turn, about to
 * park, parked, or promoted just now. */
static void
write_and_retire(void)
{
	write_to_all();
	world_set_threads(world.setup.threads - 1);
	world_settle();
}

/* Turns end, and threads park, while the token is let go. */
static void
write_twice(void)
{
	write_to_all();
	write_to_all();
	world_settle();
}

/* The guard gives the token of the better class's thread, in a long turn, to
 * the other one. */
static void
let_the_lower_class_lead(void)
{
	while (promotion_parked(pool_shard(world.pool, 0)->promotion) > 0) {
		world_write(&fakes[0], 1);
		world_control(3000000);
	}
	world_settle();
}

/* Writes one event after the other, for longer than a leader may go on without
 * a look for a better class. */
static void
write_steadily(void)
{
	for (unsigned i = 0; i < 5; i++) {
		world_write(&fakes[1], 1);
		world_control(400000);
	}
	world_settle();
}

/* A shard closes while a turn registers a handler that may have been placed
 * there. */
static void
write_and_close(void)
{
	for (unsigned i = 0; i < 4; i++) {
		world_write(&fakes[0], 1);
		world_control(1000);
		world_set_shards(1);
		(void)pool_tick(world.pool);
		world_settle();
		world_set_shards(2);
		world_settle();
	}
}

/* Handlers wait for the one long turn that two threads may run, and fewer and
 * more threads may run as many while they wait. */
static void
write_and_resize(void)
{
	write_to_all();
	world_control(1000);
	write_to_all();
	world_set_threads(1);
	world_control(4000);
	write_to_all();
	world_set_threads(3);
	world_settle();
}

static void
set_spares(unsigned spares)
{
	world.setup.spares = spares;
	world_set_threads(world.setup.threads);
}

/* Handlers wait for threads apart, which go and come meanwhile. */
static void
write_and_exchange_threads_apart(void)
{
	write_to_all();
	world_control(1000);
	write_to_all();
	set_spares(0);
	world_control(4000);
	write_to_all();
	set_spares(2);
	write_to_all();
	world_settle();
	world_set_long_nice(0);
	world_settle();
}

/* Deadlines, bandwidth and the end of a pause come while the keeper sleeps, or
 * is about to. */
static void
write_and_let_time_pass(void)
{
	write_to_all();
	world_settle();
	world_control(50000000);
	write_to_all();
	world_settle();
}

/* Two short events: the leader calls the follower for the second one, and that
 * thread stands by. */
static void
call_a_follower(void)
{
	world_write(&fakes[0], 1);
	world_write(&fakes[1], 1);
	world_control(100000);
}

/* An order, which concerns no thread. */
static void
order_all(void)
{
	world_set_threads(world.setup.threads);
}

/* Wake-ups come for the leader, together with events or without. */
static void
order_and_write(void)
{
	call_a_follower();
	order_all();
	world_control(100000);
	call_a_follower();
	world_note(&fakes[1], NOTE_RESUME);
	order_all();
	write_to_all();
	world_control(2000000);
	world_set_threads(world.setup.threads - 1);
	world_settle();
}

/* The leader's turn is longer than that of the follower that it has called, and
 * so the second thread leads, and the first one stands by. */
static void
let_the_second_thread_lead(void)
{
	world_write(&fakes[0], 1);
	world_write(&fakes[1], 1);
	world_control(1000000);
}

/* The leader retires, while the other thread is about to wait beside it again.
 */
static void
retire_the_leader(void)
{
	world_write(&fakes[1], 1);
	world_set_threads(world.setup.threads - 1);
	world_settle();
}

/* The first thread stands by and takes single events, which the leader could
 * have taken. */
static void
write_single_events(void)
{
	const struct shard *shard = pool_shard(world.pool, 0);

	for (unsigned i = 0; i < 4 * POLICY_NEEDLESS; i++) {
		world_write(&fakes[1], 1);
		world_control(200000);
	}
	if (shard->standbys > 0)
		sim_fail("a thread stands by, and the leader could have taken "
		         "its events");
	world_settle();
}

/* A long turn begins while a thread stands by, and an event is left. */
static void
leave_an_event(void)
{
	call_a_follower();
	world_write(&fakes[2], 1);
	world_write(&fakes[3], 1);
	world_settle();
}

/* The first thread leads, the other one stands by, and the next turn of a
 * handler is expected to be long. */
static void
learn_of_long_turns(void)
{
	for (unsigned i = 0; i <= POLICY_LONG_TURNS; i++) {
		world_write(&fakes[2], 1);
		world_control(i < POLICY_LONG_TURNS ? 80000000 : 10000000);
	}
}

static void
write_for_a_long_turn(void)
{
	world_write(&fakes[2], 1);
	world_control(500000);
	world_write(&fakes[0], 1);
	world_settle();
}

static struct situation situations[] = {
    {
        .name = "retire",
        .setup =
            {.threads = 2, .shards = 1, .fakes = 2, .policy = POLICY_ALWAYS},
        .search = write_and_retire,
    },
    {
        .name = "park",
        .setup = {.threads = 2,
            .shards = 1,
            .fakes = 2,
            .policy = POLICY_ALWAYS,
            .manners = {{.busy_ns = 2000}, {.busy_ns = 2000}}},
        .search = write_twice,
    },
    {
        .name = "long",
        .setup = {.threads = 2,
            .shards = 1,
            .fakes = 3,
            .policy = POLICY_ADAPTIVE,
            .manners = {{.long_ns = 20000}, {.long_ns = 20000},
                {.long_ns = 20000}}},
        .search = write_and_resize,
    },
    {
        .name = "classes",
        .setup = {.threads = 2,
            .shards = 1,
            .fakes = 2,
            .policy = POLICY_ADAPTIVE,
            .order = ORDER_PRIORITY,
            .manners = {{.busy_ns = 20000000}}},
        .before = let_the_lower_class_lead,
        .search = write_steadily,
    },
    {
        .name = "standby",
        .setup = {.threads = 2,
            .shards = 1,
            .fakes = 4,
            .policy = POLICY_ADAPTIVE,
            .manners = {{.busy_ns = 20000}, {.busy_ns = 20000}}},
        .search = order_and_write,
    },
    {
        .name = "standbys",
        .setup = {.threads = 3,
            .shards = 1,
            .fakes = 4,
            .policy = POLICY_ADAPTIVE,
            .manners = {{.busy_ns = 20000}, {.busy_ns = 20000}}},
        .search = order_and_write,
    },
    {
        .name = "leave",
        .setup = {.threads = 2,
            .shards = 1,
            .fakes = 4,
            .policy = POLICY_ADAPTIVE,
            .manners = {{.busy_ns = 200000}}},
        .before = let_the_second_thread_lead,
        .search = retire_the_leader,
    },
    {
        .name = "needless",
        .setup = {.threads = 2,
            .shards = 1,
            .fakes = 2,
            .policy = POLICY_ADAPTIVE,
            .manners = {{.busy_ns = 200000}}},
        .before = let_the_second_thread_lead,
        .search = write_single_events,
    },
    {
        .name = "rest",
        .setup = {.threads = 2,
            .shards = 1,
            .fakes = 4,
            .policy = POLICY_ADAPTIVE,
            .lasting = true,
            .manners = {[2] = {.busy_ns = 60000000}}},
        .search = leave_an_event,
    },
    {
        .name = "give-up",
        .setup = {.threads = 2,
            .shards = 1,
            .fakes = 4,
            .policy = POLICY_ADAPTIVE,
            .manners = {[2] = {.busy_ns = 5000000}}},
        .before = learn_of_long_turns,
        .search = write_for_a_long_turn,
    },
    {
        .name = "apart",
        .setup = {.threads = 4,
            .shards = 1,
            .fakes = 4,
            .policy = POLICY_ADAPTIVE,
            .stays = true,
            .spares = 2,
            .long_nice = 5,
            .manners = {{.long_ns = 20000}, {.long_ns = 20000},
                {.long_ns = 20000}, {.long_ns = 20000}}},
        .search = write_and_exchange_threads_apart,
    },
    {
        .name = "times",
        .setup = {.threads = 2,
            .shards = 1,
            .fakes = 3,
            .policy = POLICY_ADAPTIVE,
            .manners = {{.deadline_ms = 300}, {.paced_ns = 3000000},
                {.pauses = true}}},
        .search = write_and_let_time_pass,
    },
    {
        .name = "close",
        .setup = {.threads = 2,
            .shards = 2,
            .fakes = 1,
            .policy = POLICY_ADAPTIVE,
            .manners = {{.ends_every = 2, .places_ns = 30000000}}},
        .search = write_and_close,
    },
};

#define SITUATIONS (sizeof(situations) / sizeof(situations[0]))

const char *
situation_name(unsigned i)
{
	return i < SITUATIONS ? situations[i].name : NULL;
}

struct situation *
situation_find(const char *name)
{
	for (unsigned i = 0; i < SITUATIONS; i++)
		if (strcmp(situations[i].name, name) == 0)
			return &situations[i];
	return NULL;
}

void *
plan_situation(void *arg)
{
	const struct situation *situation = arg;
	struct setup setup = situation->setup;

	for (unsigned i = 0; i < setup.fakes; i++)
		setup.manners[i].budget = 4;
	world_open(&setup);
	world_settle();
	if (situation->before)
		situation->before();
	sim_search(true);
	situation->search();
	sim_search(false);
	world_close();
	return NULL;
}
