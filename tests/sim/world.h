/* SPDX-License-Identifier: MIT
 * What the core lives in when it is simulated: a pool on scripted handle sets,
 * handlers, a control thread's duties, and what must hold.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "base/clock.h"
#include "lf/event_handler.h"
#include "lf/handle_set_scripted.h"
#include "lf/pool.h"
#include "proxy/keeper.h"

#define FAKES_MAX  12
#define SHARDS_MAX 16
/* The keeper's limit for turns, and the time between two of its looks. */
#define GUARD_NS KEEPER_GUARD_NS

struct pacing;

/* How a handler behaves; any of it may be 0. */
struct manner {
	uint32_t busy_ns;      /* a turn takes up to so long */
	uint32_t places_ns;    /* from choosing a shard to being registered */
	unsigned budget;       /* bytes a turn reads; TURN_MORE if it was all */
	unsigned ends_every;   /* turns until it ends and begins anew */
	unsigned notes_itself; /* every so many turns */
	uint32_t long_ns; /* every other turn is declared, and takes so long */
	uint32_t deadline_ms; /* has deadlines, so far away at most */
	uint32_t paced_ns;    /* waits for bandwidth, for so long at most */
	bool pauses;          /* as an acceptor, until it is resumed */
	bool wants_nice;      /* its short turns want long ones to be nicer */
	bool refused;         /* its shifts to another shard */
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
	bool after_long; /* the last one was, maybe in the same run */
	/* Whoever posts something counts want up beforehand; the turn that gets
	 * it copies want to seen. */
	uint32_t want, seen;
	uint64_t read, written;
	unsigned turns;
	bool registered; /* closed once for each time it was opened */
	/* The times of the handler, for world_keeper.c. */
	uint64_t deadline_ms; /* 0: none */
	struct pacing *pacing;
	uint64_t due_ns; /* when its bandwidth is, while it waits */
	uint32_t paused;
	struct fake *next_paused;
	uint64_t paused_ns; /* since when */
};

struct setup {
	unsigned threads, shards, fakes;
	enum policy_kind policy;
	enum promotion_order order;
	bool lasting; /* some turns take longer than the guard allows */
	bool alarms;  /* shards have alarms, unless they are refused */
	bool stays;   /* the system lets no thread return from a nice value */
	unsigned spares, long_nice;
	uint64_t awake_ns; /* as in struct pool_options */
	struct manner manners[FAKES_MAX];
};

struct world {
	struct setup setup;
	struct machine *machine;
	struct grace *grace;
	struct pool *pool;
	unsigned busy;       /* handlers that take their time now */
	unsigned apart_max;  /* threads that may be apart */
	unsigned long_limit; /* long turns admitted at once, since they were
	                        fewer than the pool's present limit */
	bool guarded;        /* by the keeper */
	bool closing;        /* shards close and open */
	uint64_t tick_due_ns;
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
void world_set_long_nice(unsigned nice);
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
void world_check_long(
    const struct event_handler *handler, const struct pool_thread *self);

/* A turn begins that is not long. */
void world_check_short(const struct pool_thread *self);

/* A thread looks at a handle set. */
void world_looked(const struct handle_set *set);
/* A thread is about to wait for at most so many events. */
void world_waits(const struct handle_set *set, int max);

/* For the simulator: invariants while no thread can run; and the state. */
void world_idle(void);
void world_describe(void);

/* The keeper, on a thread of its own.  It begins before the pool and is freed
 * after it. */
void keeper_of_world_start(void);
void keeper_of_world_guard(void);
/* The pool has other shards. */
void keeper_of_world_watch(void);
void keeper_of_world_stop(void);
void keeper_of_world_free(void);
void keeper_of_world_call_guard(void *arg);
/* Called by the control thread, at intervals longer than a round. */
void keeper_of_world_check_moves(void);
/* A handler begins, has a turn, and ends, on its owner. */
void keeper_of_world_begin(struct fake *fake);
void keeper_of_world_turn(struct fake *fake, uint32_t pending);
void keeper_of_world_end(struct fake *fake);
/* While no thread can run. */
void keeper_of_world_check(void);
/* NULL, or what is still to come. */
const char *keeper_of_world_owes(void);

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
