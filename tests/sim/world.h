/* SPDX-License-Identifier: MIT
 * What the core lives in when it is simulated: a pool on scripted handle sets,
 * handlers, a control thread's duties, and what must hold.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "lf/event_handler.h"
#include "lf/handle_set_scripted.h"
#include "lf/pool.h"

#define FAKES_MAX      12
#define SHARDS_MAX     16
#define GUARD_LIMIT_NS 1000000u

/* How a handler behaves; any of it may be 0. */
struct manner {
	uint32_t busy_ns;      /* a turn takes up to so long */
	uint32_t places_ns;    /* from choosing a shard to being registered */
	unsigned budget;       /* bytes a turn reads; TURN_MORE if it was all */
	unsigned ends_every;   /* turns until it ends and begins anew */
	unsigned notes_itself; /* every so many turns */
	uint32_t long_ns; /* every other turn is declared, and takes so long */
	bool refused;     /* its shifts to another shard */
	bool listener;
};

/* A handler with a wire, as a session has a socket. */
struct fake {
	struct event_handler handler; /* first */
	struct manner manner;
	unsigned number; /* of its wire, too */
	uint32_t open;   /* others look at it after the generation */
	uint32_t inside; /* turns under way: 1 at most */
	bool declared;   /* its next turn is long */
	bool is_long;    /* the turn under way is long */
	/* Whoever posts something counts want up beforehand; the turn that gets
	 * it copies want to seen. */
	uint32_t want, seen;
	uint64_t read, written;
	unsigned turns;
	bool registered; /* closed once for each time it was opened */
};

struct setup {
	unsigned threads, shards, fakes;
	enum policy_kind policy;
	enum promotion_order order;
	bool lasting;      /* some turns take longer than the guard allows */
	uint64_t guard_ns; /* between two looks of the guard */
	uint64_t awake_ns; /* as in struct pool_options */
	struct manner manners[FAKES_MAX];
};

struct world {
	struct setup setup;
	struct machine *machine;
	struct grace *grace;
	struct pool *pool;
	unsigned busy;       /* handlers that take their time now */
	unsigned long_limit; /* long turns admitted at once, since they were
	                        fewer than the pool's present limit */
	uint32_t guard_called;
	bool guarding;
	bool closing; /* shards close and open */
	bool on_duty; /* the control thread waits for what comes up */
	uint64_t guard_due_ns, tick_due_ns;
	/* By shard: how long its events have not been looked at although a
	 * thread had nothing to do. */
	struct neglect {
		uint64_t since_ns;
		bool excused; /* at the last look at it */
	} neglect[SHARDS_MAX];
	/* By shard: how long a leader's turn has lasted, with events left in
	 * the batch, while threads that stand by sleep. */
	struct rest {
		uint64_t turn_ns; /* when the turn began */
		uint64_t since_ns;
	} rests[SHARDS_MAX];
};

extern struct world world;
extern struct fake fakes[FAKES_MAX];

/* The control thread. */
void world_open(const struct setup *setup);
/* Its duties that come up in so much time. */
void world_control(uint64_t ns);
void world_set_threads(unsigned threads);
void world_set_shards(unsigned shards);
/* Moves one in `every` handlers to the shard, which may be a closed one. */
void world_shift(unsigned shard, unsigned every);
void world_set_policy(enum policy_kind policy);
void world_set_order(enum promotion_order order);
/* Nothing is under way and everything was seen, within bounded time and steps;
 * then the ledger and all handlers are checked. */
void world_settle(void);
void world_close(void);

/* Any thread. */
void world_write(struct fake *fake, uint32_t bytes);
void world_note(struct fake *fake, uint32_t note);

/* NULL, or what is not yet at rest; and what must hold at rest. */
const char *world_unrest(void);
void world_check_settled(void);

/* The handler begins a long turn, or, for NULL, the number of threads is about
 * to change. */
void world_check_long(const struct event_handler *handler);

/* A thread looks at a handle set. */
void world_looked(const struct handle_set *set);
/* A thread is about to wait for at most so many events. */
void world_waits(const struct handle_set *set, int max);

/* For the simulator: invariants while no thread can run; and the state. */
void world_idle(void);
void world_describe(void);

/* promotion_futex, with the rules of the token and of parking checked. */
extern const struct promotion_ops promotion_checked;
/* Called before and after each change of order and policy. */
void promotion_checked_change(void);
/* The calling thread's member. */
void promotion_checked_member(struct member *member);
/* Forgets the promotions of the schedule before. */
void promotion_checked_reset(void);
/* The calling thread begins a long turn of that shard. */
void promotion_checked_long(const struct promotion *promotion);
/* While no thread can run. */
void promotion_checked_idle(void);

#endif
