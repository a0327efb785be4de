/* SPDX-License-Identifier: MIT
 * Promotion: which thread leads a shard, and which one is next.
 *
 * The paper's promotion protocol behind a table of functions: promotion_futex
 * implements it for lfproxy, and the same tests compare promotion_futex with
 * the textbook form (tests/unit/lf/promotion_mutex.h).
 *
 *                   join, no leader
 *        +--------------------------------------> LEADING <--+
 *        |                                        |  |  |    | resume
 *     joining ----join, the leader is busy: -------+  |  +-> BUSY (inline turn)
 *        ^        take it over                        |       |
 *        |                               promote      |       | taken over
 *        |   LEAD                                     v       v
 *      PARKED <-join, another leads--- joining <-- PROCESSING
 *        |
 *        +--RETIRE, MOVE, WORK--> leaves, or joins again
 *
 * Leadership is a token.  Only its holder may look at the parked members and
 * call them.  A busy leader, which runs a handler, publishes the token, so that
 * any member may take it.
 *
 * Invariants, checked by tests/unit/lf for every kind and by the SPIN models:
 * at most one member holds the token; a parked member gets exactly one command;
 * no member is parked while no member holds the token; the next holder sees all
 * that a holder wrote before it passed the token on or published it.
 */
#ifndef LF_PROMOTION_H
#define LF_PROMOTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "base/list.h"

enum member_command {
	MEMBER_WAIT,   /* no command so far: stay parked */
	MEMBER_LEAD,   /* the caller leads */
	MEMBER_RETIRE, /* the caller must leave */
	MEMBER_MOVE,   /* the caller's home has changed: join there */
	MEMBER_VISIT,  /* lead a shard that is without a leader */
	MEMBER_WORK,   /* look for work, then join again */
};

/* The state of the token: without a holder, held, or published by its holder, a
 * busy leader, so that any member may take it. */
enum promotion_token { TOKEN_FREE, TOKEN_HELD, TOKEN_PUBLISHED };

/* The order in which parked members are promoted. */
enum promotion_order {
	ORDER_LIFO,     /* the last to park */
	ORDER_FIFO,     /* the first to park: all take their turn */
	ORDER_PRIORITY, /* the best class, in it the last to park */
};

/* The state of a thread for promotion.  The thread owns the memory, which must
 * not move during a call of join. */
struct member {
	uint32_t command; /* the caller writes, the parked thread reads */
	uint16_t id;      /* 1 to 1024, unique in its promotion's pool */
	uint16_t grade;   /* class for ORDER_PRIORITY, 0 is the best */
	struct member
	    *below;         /* in the stack of members that have just parked */
	struct list bench;  /* the parked members that the holder knows */
	uint64_t called_ns; /* when it was promoted, for the delay */

	/* The request of another thread, followed by an order to the shard.
	 * join looks at it after it has parked.  [P10] */
	uint32_t summons CACHE_LINE_ALIGNED; /* MEMBER_RETIRE, _MOVE, or 0 */
} CACHE_LINE_ALIGNED;

static inline bool
member_wanted(const struct member *member)
{
	return atomic_load_seq(&member->summons) != 0; /* [P10] */
}

struct promotion;

/* Returns the command for a parked member, for sweep; MEMBER_WAIT leaves the
 * member parked. */
typedef enum member_command (*promotion_ask)(struct member *member, void *arg);

struct promotion_ops {
	const char *name;
	/* kick(arg) makes the holder sweep soon.  Returns 0 or -errno. */
	int (*create)(void (*kick)(void *arg), void *arg,
	    struct promotion **ret_promotion);
	/* No member may be left. */
	void (*free)(struct promotion *promotion);

	/* -- called by any thread -- */

	/* Takes the token if no member holds it or the leader is busy; else
	 * parks until a command arrives.  Blocks. */
	enum member_command (*join)(
	    struct promotion *promotion, struct member *self);
	/* Takes the token if no member holds it; if busy_too, also a published
	 * one.  Never blocks. */
	bool (*try_lead)(struct promotion *promotion, bool busy_too);
	/* May be out of date when the function returns.  [P18] */
	enum promotion_token (*token)(const struct promotion *promotion);

	/* -- called by the holder -- */

	/* Passes the token to a parked member, chosen by the order, or gives
	 * the token up.  Returns whether a member was called.  [P18] */
	bool (*promote)(struct promotion *promotion);
	/* Calls a parked member, chosen by the order, to join again
	 * (MEMBER_WORK); the caller keeps the token.  Returns whether a member
	 * was called. */
	bool (*invite)(struct promotion *promotion);
	/* Returns whether a member of a better class than self is parked. */
	bool (*outranked)(
	    struct promotion *promotion, const struct member *self);
	/* Publishes the token.  Returns a ticket for resume.  [P18] */
	uint64_t (*busy)(struct promotion *promotion);
	/* Gives each parked member the command that ask returns. */
	void (*sweep)(
	    struct promotion *promotion, promotion_ask ask, void *arg);

	/* Takes the token back after busy.  Returns false if another member
	 * has taken it. */
	bool (*resume)(struct promotion *promotion, uint64_t ticket);
};

/* The part that every implementation starts with.  Any thread reads it,
 * relaxed; its values are hints and statistics. */
struct promotion {
	const struct promotion_ops *ops;
	uint32_t order;  /* enum promotion_order; the control thread writes */
	uint32_t parked; /* members */
	uint64_t taken_over;
};

static inline enum member_command
promotion_join(struct promotion *promotion, struct member *self)
{
	return promotion->ops->join(promotion, self);
}

static inline bool
promotion_try_lead(struct promotion *promotion, bool busy_too)
{
	return promotion->ops->try_lead(promotion, busy_too);
}

static inline enum promotion_token
promotion_token(const struct promotion *promotion)
{
	return promotion->ops->token(promotion);
}

static inline bool
promotion_promote(struct promotion *promotion)
{
	return promotion->ops->promote(promotion);
}

static inline bool
promotion_invite(struct promotion *promotion)
{
	return promotion->ops->invite(promotion);
}

static inline bool
promotion_outranked(struct promotion *promotion, const struct member *self)
{
	return promotion->ops->outranked(promotion, self);
}

static inline uint64_t
promotion_busy(struct promotion *promotion)
{
	return promotion->ops->busy(promotion);
}

static inline bool
promotion_resume(struct promotion *promotion, uint64_t ticket)
{
	return promotion->ops->resume(promotion, ticket);
}

static inline void
promotion_sweep(struct promotion *promotion, promotion_ask ask, void *arg)
{
	promotion->ops->sweep(promotion, ask, arg);
}

static inline uint32_t
promotion_parked(const struct promotion *promotion)
{
	int32_t n = (int32_t)atomic_load_relaxed(&promotion->parked);

	/* Negative for a moment if a member is called before it has counted
	 * itself. */
	return n > 0 ? (uint32_t)n : 0;
}

/* Returns the member of the bench that the order prefers.  The bench is sorted
 * oldest first and not empty.  Called by the holder. */
struct member *promotion_pick(
    const struct promotion *promotion, struct list *bench);

/* Returns whether a member of the bench, which may be empty, is of a better
 * class than self.  Called by the holder. */
bool promotion_outranks(struct list *bench, const struct member *self);

/* Returns the name that the configuration uses. */
const char *promotion_order_name(enum promotion_order order);

/* Promotion with a single atomic word, and a futex word for each follower. */
extern const struct promotion_ops promotion_futex;

#endif
