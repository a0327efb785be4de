/* SPDX-License-Identifier: MIT
 * Promotion: who leads a shard, and who is next.
 *
 * The paper's promotion protocol behind a table of functions: promotion_futex
 * implements it for lfproxy, and the same tests compare promotion_futex with
 * the textbook form (tests/unit/lf/promotion_mutex.h).
 *
 *                   join, nobody leads
 *        +--------------------------------------> LEADING <--+
 *        |                                        |  |  |    | resume
 *     joining ----join, the leader is busy: -------+  |  +-> BUSY (inline turn)
 *        ^        take it over                        |       |
 *        |                               promote      |       | taken over
 *        |   LEAD                                     v       v
 *      PARKED <---join, somebody leads-- joining <-- PROCESSING
 *        |
 *        +--RETIRE, MOVE, WORK--> leaves the stand, or joins again
 *
 * Leadership is a token: whoever holds it may look at the parked members and
 * call them, nobody else.  Busy means that the token lies on the table: the
 * leader runs a handler and anybody may pick it up.
 *
 * Invariants, checked by tests/unit/lf for every kind and by the SPIN models:
 * at most one member holds the token; a parked member gets exactly one command;
 * nobody is parked while the token is with nobody; what a holder wrote before
 * it passed the token on, or laid it down, the next holder sees.
 */
#ifndef LF_PROMOTION_H
#define LF_PROMOTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "base/list.h"

enum member_command {
	MEMBER_WAIT,   /* parked: no command so far */
	MEMBER_LEAD,   /* the caller leads */
	MEMBER_RETIRE, /* the caller must leave */
	MEMBER_MOVE,   /* the caller's place has changed: join there */
	MEMBER_WORK,   /* there is work: look into the mailbox, join again */
};

/* Where the token is: with nobody, with a holder, or laid on the table by a
 * leader that is busy. */
enum promotion_token { TOKEN_NOBODY, TOKEN_HELD, TOKEN_TABLE };

/* Which parked member is promoted. */
enum promotion_order {
	ORDER_LIFO,     /* the last to park: its caches are warm */
	ORDER_FIFO,     /* the first to park: all take their turn */
	ORDER_PRIORITY, /* the best class, in it the last to park */
};

struct event_handler;

/* A thread's place at the stand.  The thread owns the memory; it must not move
 * while the thread is between join and the end of join. */
struct member {
	uint32_t command;     /* the caller writes, the parked thread reads */
	uint16_t id;          /* 1 to 1024, unique in its promotion's pool */
	uint16_t grade;       /* class for ORDER_PRIORITY, 0 is the best */
	struct member *below; /* in the stack of those who have just parked */
	struct list bench;    /* among those the holder has seen parked */
	uint64_t called_ns;   /* when it was promoted, for the delay */

	/* What others want of the thread.  Set by anybody, followed by an order
	 * to the shard; join looks at both after it has parked.  [P10] */
	uint32_t summons CACHE_LINE_ALIGNED; /* MEMBER_RETIRE, _MOVE, or 0 */
	struct event_handler *mailbox;       /* owned handlers bound to it */
} CACHE_LINE_ALIGNED;

static inline bool
member_wanted(const struct member *member)
{
	return atomic_load_seq(&member->summons) != 0 ||
	       atomic_load_seq(&member->mailbox) != NULL; /* [P10] */
}

struct promotion;

/* What a member should do, asked by sweep: MEMBER_WAIT leaves it parked. */
typedef enum member_command (*promotion_ask)(struct member *member, void *arg);

struct promotion_ops {
	const char *name;
	/* kick(arg): makes the holder sweep soon.  0 or -errno. */
	int (*create)(void (*kick)(void *arg), void *arg,
	    struct promotion **ret_promotion);
	void (*free)(struct promotion *promotion); /* no member is left */

	/* Any thread. */
	/* Leads if nobody does or the leader is busy; else parks until a
	 * command comes.  Blocks. */
	enum member_command (*join)(
	    struct promotion *promotion, struct member *self);
	/* Takes the token if it is with nobody; if busy_too, also from a busy
	 * leader.  Does not block. */
	bool (*try_lead)(struct promotion *promotion, bool busy_too);
	/* As it was a moment ago.  [P18] */
	enum promotion_token (*token)(const struct promotion *promotion);

	/* The holder. */
	/* Passes the token to a parked member by the order; when none is parked
	 * it is with nobody.  True if one was called. */
	bool (*promote)(struct promotion *promotion);
	/* Calls a parked member by the order to come and join again
	 * (MEMBER_WORK); the token stays.  True if one was called. */
	bool (*invite)(struct promotion *promotion);
	/* Lays the token on the table; returns a ticket for resume.  [P18] */
	uint64_t (*busy)(struct promotion *promotion);
	/* Gives commands to the parked members that ask names. */
	void (*sweep)(
	    struct promotion *promotion, promotion_ask ask, void *arg);

	/* Who called busy: true if the token was still there and is taken. */
	bool (*resume)(struct promotion *promotion, uint64_t ticket);
};

/* What every kind starts with.  Read relaxed by anybody: advice and statistics,
 * not a basis for correctness. */
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

	/* A member may be called before it has counted itself. */
	return n > 0 ? (uint32_t)n : 0;
}

/* The holder: which of the bench (oldest first, not empty) the order prefers.
 */
struct member *promotion_pick(
    const struct promotion *promotion, struct list *bench);

const char *promotion_order_name(enum promotion_order order);

/* One atomic word, and a futex word for each follower. */
extern const struct promotion_ops promotion_futex;

#endif
