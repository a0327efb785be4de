/* SPDX-License-Identifier: MIT
 * Shifting load: decides when sessions move from one shard of a pool to another
 * one, and which.
 *
 * Placement at accept evens out the number of sessions.  Long sessions may
 * differ in load later on, and then one shard's leader is saturated while
 * another one's sleeps.  Load is turn time.  A shard is overloaded if its turns
 * fill at least half of one thread's time, and take at least twice as long as
 * those of the least loaded shard.  If a shard is overloaded at SHIFT_STREAK
 * looks in a row, sessions that make up half the difference to the least loaded
 * shard move there.  Other shards that were overloaded in the same time are
 * relieved with it: the next one gives sessions to the next least loaded shard.
 *
 *   look: overloaded --> MARK --> look: overloaded --> look: overloaded
 *           ^              sessions are read                    |
 *           |                                                   v
 *           +----- a look is skipped, then the effect judged -- MOVE
 *                                                  sessions are read again
 *
 * Two rules keep sessions from moving back and forth.  A session moves only if
 * that makes the difference smaller, so a session that is the whole load of its
 * shard stays.  A decision that has brought less than half of what was
 * expected, or for which no session was found at any shard, is followed by a
 * pause, which is twice as long each time.
 *
 * These functions only compute.  The caller measures, and moves the sessions.
 */
#ifndef POOLS_SHIFT_H
#define POOLS_SHIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHIFT_LOOK_MS 2000
#define SHIFT_STREAK  3
/* The most sessions that move from one shard at once. */
#define SHIFT_MOVES_MAX 1000
/* The most shards that a decision tries to relieve: for each of them all
 * sessions are read. */
#define SHIFT_PAIRS_MAX 8
/* The longest pause, in looks. */
#define SHIFT_PAUSE_MAX 32

/* The turn time of a shard. */
struct shift_load {
	uint64_t total_ns;  /* so far */
	uint64_t busy_ns;   /* between the last two looks */
	uint64_t marked_ns; /* total_ns when the sessions were read */
	bool paired;        /* gives or gets sessions by this decision */
};

/* Starts zeroed, and is zeroed again when the number of shards changes. */
struct shift {
	unsigned streak;    /* looks in a row that found an overload */
	unsigned from;      /* the shard that was found overloaded */
	uint64_t window_ns; /* since the sessions were read */
	unsigned pairs;     /* of the last decision */
	bool moved;         /* a pair of the last decision moved a session */
	unsigned wait;      /* looks to skip */
	unsigned pause;     /* looks to skip after a move without effect */
	bool judging;       /* the last decision's effect is not known yet */
	unsigned judged_from, judged_to; /* the pair that is judged */
	uint64_t gap_permille; /* the most that their loads should differ by */
};

/* A session at the overloaded shard. */
struct shift_session {
	uint32_t index, generation;
	uint64_t load_ns; /* its turn time since the sessions were read */
};

struct shift_move {
	unsigned from, to;
	uint64_t window_ns;
	uint64_t from_ns, to_ns; /* turn time of both in the window */
	/* The most loaded of the sessions that may move; after shift_choose,
	 * those that do move. */
	size_t n;
	uint64_t above_ns; /* load that a session must have to be kept */
	uint64_t moved_ns; /* sum of the sessions that move */
	bool more;         /* too many to move all at once */
	struct shift_session sessions[2 * SHIFT_MOVES_MAX];
};

/* Notes the turn time of a shard so far.  Called for each shard before
 * shift_look. */
void shift_sample(struct shift_load *load, uint64_t total_ns);

enum shift_step {
	SHIFT_NONE, /* do nothing */
	SHIFT_MARK, /* read the turn time of all sessions */
	SHIFT_MOVE, /* read it again, and move sessions */
};

/* Looks at the loads of n shards.  elapsed_ns: the time since the last call,
 * about SHIFT_LOOK_MS or longer.  On SHIFT_MOVE, ret_move is filled: the caller
 * offers it the sessions of shard `from`, calls shift_choose, moves the
 * sessions that shift_choose leaves, and goes on with shift_next until that
 * returns false. */
enum shift_step shift_look(struct shift *shift, struct shift_load *loads,
    unsigned n, uint64_t elapsed_ns, struct shift_move *ret_move);

/* Adds a session of the overloaded shard to the move, if it may be one that
 * moves. */
void shift_offer(struct shift_move *move, const struct shift_session *session);

/* Keeps in the move only the sessions that do move, the most loaded first. */
void shift_choose(
    struct shift *shift, struct shift_load *loads, struct shift_move *move);

/* Fills ret_move as shift_look does, for the next overloaded shard.  Returns
 * false if there is none. */
bool shift_next(struct shift *shift, struct shift_load *loads, unsigned n,
    struct shift_move *ret_move);

#endif
