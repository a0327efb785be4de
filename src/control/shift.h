/* SPDX-License-Identifier: MIT
 * Shifting load: decides when sessions move from one shard of a pool to another
 * one, and which.
 *
 * Placement at accept evens out the number of sessions.  Long sessions may
 * differ in load later on, and then one shard's leader is saturated while
 * another one's sleeps.  Load is turn time.  A shard is overloaded if its turns
 * fill at least half of one thread's time, and take at least twice as long as
 * those of the least loaded shard.  If it is so at SHIFT_STREAK looks in a row,
 * sessions that make up half the difference to that shard move there.  Other
 * shards that were overloaded in the same time are relieved with it: the next
 * one gives sessions to the next least loaded shard.
 *
 *   look: overloaded --> MARK --> look: overloaded --> look: overloaded
 *           ^              sessions are read                    |
 *           |                                                   v
 *           +----- a look is skipped, then the effect judged -- MOVE
 *                                                  sessions are read again
 *
 * Two things keep sessions from going to and fro.  A session moves only if that
 * makes the difference smaller, so one that is the whole load of its shard
 * stays.  And a move that has not brought at least half of what was expected,
 * or for which no session was found at any shard, is followed by a pause, twice
 * as long each time.
 *
 * Only arithmetic: the caller measures, and moves the sessions.
 */
#ifndef CONTROL_SHIFT_H
#define CONTROL_SHIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHIFT_LOOK_MS 2000
#define SHIFT_STREAK  3
/* Sessions that move at once, at most. */
#define SHIFT_MOVES_MAX 1000
/* Shards that are relieved at once, or found to have no session that can move,
 * at most: for each of them all sessions are read. */
#define SHIFT_PAIRS_MAX 8
/* Looks. */
#define SHIFT_PAUSE_MAX 32

/* The turn time of a shard. */
struct shift_load {
	uint64_t total_ns;  /* so far */
	uint64_t busy_ns;   /* between the last two looks */
	uint64_t marked_ns; /* total_ns when the sessions were read */
	bool paired;        /* gives or gets sessions by this decision */
};

/* Initialized to zero; again when the number of shards changes. */
struct shift {
	unsigned streak;    /* looks in a row that found an overload */
	unsigned from;      /* of this shard */
	uint64_t window_ns; /* since the sessions were read */
	unsigned pairs;     /* of the last decision */
	bool moved;         /* a session, by any of them */
	unsigned wait;      /* looks to skip */
	unsigned pause;     /* looks to skip after a move without effect */
	bool judging;       /* the last move's effect is not known so far */
	unsigned judged_from, judged_to; /* the shards of that move */
	uint64_t gap_permille; /* the difference it should have left, at most */
};

/* A session at the overloaded shard. */
struct shift_session {
	uint32_t index, generation;
	uint64_t load_ns; /* its turn time since the sessions were read */
};

struct shift_move {
	unsigned from, to;
	uint64_t window_ns;
	uint64_t from_ns, to_ns; /* turn time of both since then */
	/* The most loaded ones of those that may move; after shift_choose those
	 * that do. */
	size_t n;
	uint64_t above_ns; /* load that a session must have to be kept */
	uint64_t moved_ns; /* load of those that move */
	bool more;         /* too many to move all at once */
	struct shift_session sessions[2 * SHIFT_MOVES_MAX];
};

/* Enters the turn time of a shard so far.  Called for each one before
 * shift_look. */
void shift_sample(struct shift_load *load, uint64_t total_ns);

enum shift_step {
	SHIFT_NONE, /* do nothing */
	SHIFT_MARK, /* read the turn time of all sessions */
	SHIFT_MOVE, /* read it again, and move sessions */
};

/* Looks at the shards, SHIFT_LOOK_MS after the last time or later: elapsed_ns.
 * On SHIFT_MOVE fills ret_move, for the caller to offer it the sessions of
 * shard `from`, to call shift_choose and to move those that it leaves, and so
 * on until shift_next returns false. */
enum shift_step shift_look(struct shift *shift, struct shift_load *loads,
    unsigned n, uint64_t elapsed_ns, struct shift_move *ret_move);

/* Adds a session of the overloaded shard, if it may be one that moves. */
void shift_offer(struct shift_move *move, const struct shift_session *session);

/* Leaves in the move the sessions that do move, the most loaded ones first. */
void shift_choose(
    struct shift *shift, struct shift_load *loads, struct shift_move *move);

/* Fills ret_move as shift_look does, for the next overloaded shard.  Returns
 * false if there is none. */
bool shift_next(struct shift *shift, struct shift_load *loads, unsigned n,
    struct shift_move *ret_move);

#endif
