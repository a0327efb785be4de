/* SPDX-License-Identifier: MIT
 * A pool on scripted handle sets, with handlers that do as a test says.
 *
 * No sockets and no kernel events: what a leader finds, and when, is the
 * test's.  Whatever a test is about, rig_finish checks what must hold always:
 * one owner at a time, an exact ledger, no bit and no byte left behind, nothing
 * allocated on a pool thread.
 *
 * The main thread is the control thread: rig_control does what lfproxy's
 * control thread does for a pool, and rig_quiet goes on doing it while it
 * waits.
 */
#ifndef UNIT_LF_POOL_RIG_H
#define UNIT_LF_POOL_RIG_H

#include "lf/event_handler.h"
#include "lf/handle_set_scripted.h"
#include "lf/pool.h"

/* How a pool is set up. */
struct rig_setup {
	const struct promotion_ops *promotion;
	enum policy_kind policy;
	enum promotion_order order;
	unsigned threads, shards;
	/* The pool takes the machine for one with so many CPUs, if not 0. */
	unsigned cpus;
	unsigned spares; /* as in pool_options */
	bool alarms;
	/* Called with each new handle set before threads use it; may be NULL.
	 */
	void (*stage)(struct handle_set *set);
};

struct rig;
struct fake;

typedef enum turn (*fake_turn)(
    struct fake *fake, uint32_t pending, struct pool_thread *self);

/* A handler with one wire.  It follows a NOTE_MOVE by itself. */
struct fake {
	struct event_handler handler; /* first */
	struct rig *rig;
	fake_turn turn; /* what its turn answers; NULL: TURN_DONE */
	uint32_t open;  /* others look at it after the generation */
	uint32_t inside, overlaps;
	/* Whoever posts something counts want up beforehand; the turn that gets
	 * it copies want to seen.  Equal in the end: nothing was lost. */
	uint32_t want, seen;
	uint32_t bits;  /* all that ever came */
	uint64_t turns; /* plain: the owner's, handed on by the claim */
	uint32_t number,
	    left;      /* for turn functions; number: its wire as well */
	uint64_t read; /* bytes; the owner's */
	uint32_t moves;
};

#define RIG_FAKES_MAX 64

struct rig {
	struct rig_setup setup;
	struct machine *machine;
	struct grace *grace;
	struct pool *pool;
	struct fake *fakes[RIG_FAKES_MAX];
	unsigned fakes_n;
	uint32_t ticket, late, served; /* for turn functions */
	uint32_t guard_called;         /* by a pool thread */
	bool no_threads;               /* new ones fail to begin */
	bool guarding;
	uint64_t guard_ms, tick_ms; /* when it was last their turn */
	uint64_t allocations;       /* at the start */
	struct pool_status status;  /* as it was when the rig was quiet */
};

/* Starts the pool and waits until its threads wait or are parked.  Followed by
 * rig_finish. */
void rig_start(struct rig *rig, const struct rig_setup *setup);

/* A free handler, registered with shard number modulo shards. */
struct fake *rig_fake(struct rig *rig, fake_turn turn);

/* A turn function that counts the rig's served up. */
enum turn rig_serve(
    struct fake *fake, uint32_t pending, struct pool_thread *self);

/* One readable event for the fake. */
void rig_feed(struct rig *rig, struct fake *fake);

/* Does the control thread's work, and returns whether the count is n. */
bool rig_count_is(struct rig *rig, const uint32_t *count, uint32_t n);

/* The event of a fake's present generation; counts want up. */
struct handle_event rig_event(
    struct fake *fake, enum handle_side side, uint32_t ready);

/* The set of shard 0. */
struct scripted *rig_script(struct rig *rig);

/* To shard 0: a batch of one event for each of n fakes, from the first on. */
void rig_feed_each(struct rig *rig, unsigned first, unsigned n);

/* Any thread: as for sessions, whose slots are used again.  False if the
 * handler has ended, or is about to begin anew. */
bool fake_note(struct fake *fake, uint32_t note);

/* The control thread's work that is due: guard, tick, notes to those that have
 * to move. */
void rig_control(struct rig *rig);

/* Events fed or written were all looked at and nobody owns anything; false when
 * that does not come to pass. */
bool rig_quiet(struct rig *rig);

/* Waits for quiet, ends the pool, and asserts what must hold always; status,
 * and the fakes can be looked at afterwards. */
void rig_finish(struct rig *rig);

/* Ends the pool as it is, without asking for quiet. */
void rig_abandon(struct rig *rig);

/* Live changes, with the classes that the rig's pools have. */
void rig_set_threads(struct rig *rig, unsigned threads);
void rig_set_shards(struct rig *rig, unsigned shards);

/* For a turn, whose answer it is: ends the handler. */
enum turn fake_retire(struct fake *fake);

/* Likewise, and begins it anew, as a slot that is given back and taken again.
 */
enum turn fake_reincarnate(struct fake *fake, struct pool_thread *self);

struct rig_test {
	const char *name;
	void (*run)(void **state); /* *state: const struct rig_setup * */
	unsigned threads_min, threads_max;
};

#define RIG_TEST(test)                                                         \
	{                                                                      \
#test, test, 1, 4                                              \
	}
#define RIG_TEST_FOR(test, min, max)                                           \
	{                                                                      \
#test, test, min, max                                          \
	}

/* Runs every test with adaptive and always and 1, 2 and 4 threads on one shard;
 * main's result. */
int rig_run(const char *group, const struct rig_test *tests, size_t n);

/* "adaptive, lifo, 2 shards, 8 threads"; the caller frees. */
char *rig_setup_name(const struct rig_setup *setup);

#endif
