/* SPDX-License-Identifier: MIT
 * Promotion: who leads a shard, and who is next.
 *
 * The paper's promotion protocol behind a table, so that its textbook form and
 * faster ones can be exchanged and held against each other by the same tests.
 *
 *            join, nobody leads
 *      +-------------------------------------> LEADING
 *      |                                       |    ^
 *   joining                        promote     |    | a leader's promote
 *      |                                       v    | or close
 *      |   join, somebody leads           PROCESSING|
 *      +-------------------> PARKED ----------------+
 *                               \  close
 *                                +-----------> RETIRED
 *
 * Invariants: at most one member leads; a parked member gets exactly one
 * command; nobody stays parked while nobody leads, unless every member is
 * parked in join itself; after close every join answers MEMBER_RETIRE.
 */
#ifndef LF_PROMOTION_H
#define LF_PROMOTION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"

enum member_command {
	MEMBER_WAIT,   /* parked: no command so far */
	MEMBER_LEAD,   /* the caller leads */
	MEMBER_RETIRE, /* the caller must leave */
};

/* A thread's place in the stand; the thread owns the memory, the promotion the
 * contents. */
struct member {
	struct member *next; /* below it in the stack of the parked */
	enum member_command command;
	pthread_cond_t called;
};

struct promotion;

struct promotion_ops {
	const char *name;
	int (*create)(struct promotion **ret_promotion); /* 0 or -errno */
	void (*free)(struct promotion *promotion);       /* no member is left */
	/* Leads at once if nobody does, else parks until a command comes.  What
	 * the last leader wrote before it gave leadership up is seen.  Blocks.
	 */
	enum member_command (*join)(
	    struct promotion *promotion, struct member *self);
	/* The leader: gives leadership to the follower that parked last, or,
	 * when none is parked, to whoever joins next.  True if one was woken.
	 */
	bool (*promote)(struct promotion *promotion);
	/* Any thread: every parked member and every later join gets
	 * MEMBER_RETIRE.  The leader is not told: wake it, it will join. */
	void (*close)(struct promotion *promotion);
};

/* What every kind starts with.  Written by the operations, read relaxed by
 * anybody: advice and statistics, not a basis for correctness. */
struct promotion {
	const struct promotion_ops *ops;
	uint32_t parked; /* followers */
	uint32_t led;    /* somebody leads */
};

static inline enum member_command
promotion_join(struct promotion *promotion, struct member *self)
{
	return promotion->ops->join(promotion, self);
}

static inline bool
promotion_promote(struct promotion *promotion)
{
	return promotion->ops->promote(promotion);
}

static inline void
promotion_close(struct promotion *promotion)
{
	promotion->ops->close(promotion);
}

static inline uint32_t
promotion_parked(const struct promotion *promotion)
{
	return atomic_load_relaxed(&promotion->parked);
}

static inline bool
promotion_led(const struct promotion *promotion)
{
	return atomic_load_relaxed(&promotion->led);
}

/* The textbook version: one mutex, a condition variable for each follower. */
extern const struct promotion_ops promotion_mutex;

#endif
