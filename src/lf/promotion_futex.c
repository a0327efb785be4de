/* SPDX-License-Identifier: MIT
 * Promotion without a lock: one word for the token and the newly parked, and a
 * futex word for each member.
 *
 *     63                    18 17 16 15            0
 *    +------------------------+-----+---------------+
 *    |          tag           |state|   stack top   |
 *    +------------------------+-----+---------------+
 *
 *   state: FREE, HELD, or PUBLISHED (held by a leader that is busy)
 *   stack top: id of the member that parked last, 0: none
 *   tag: grows with every change of the state
 *
 * Members push themselves onto the stack with the same exchange that sees that
 * the token is held, so no member parks while the state is FREE; and the
 * holder lets go (to FREE) with an exchange that sees the stack empty.  The
 * holder takes the whole stack at once and keeps those members on a bench that
 * only the holder touches, from which the order picks.  Members are never
 * popped singly, so a stack link cannot go stale (no ABA); the tag is for
 * resume: a leader whose token was taken while it was busy must
 * not mistake the next leader's busy for its own.
 *
 * A member's command word goes WAIT -> command once for each time it parks.
 * [P11]: the word's release is for the member alone; the holder's data is
 * ordered by the token's own exchanges.
 */
#include "lf/promotion.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ensure.h"

#define TOP_MASK   0xffffull
#define STATE_MASK (3ull << 16)
#define FREE       ((uint64_t)TOKEN_FREE << 16)
#define HELD       ((uint64_t)TOKEN_HELD << 16)
#define PUBLISHED  ((uint64_t)TOKEN_PUBLISHED << 16)
#define TAG_ONE    (1ull << 18)
#define MEMBERS    1025 /* ids from 1 */

struct promotion_by_futex {
	struct promotion promotion;
	void (*kick)(void *arg);
	void *kick_arg;
	struct list bench; /* the holder's: parked members, oldest first */
	struct member *members[MEMBERS];  /* by id; written before a push */
	uint64_t word CACHE_LINE_ALIGNED; /* [P11] */
} CACHE_LINE_ALIGNED;

static struct promotion_by_futex *
futex_of(struct promotion *promotion)
{
	return (struct promotion_by_futex *)(void *)promotion;
}

static void
futex_wait(uint32_t *word, uint32_t while_equal)
{
	/* EAGAIN and EINTR: the caller looks again in any case. */
	(void)syscall(
	    SYS_futex, word, FUTEX_WAIT_PRIVATE, while_equal, NULL, NULL, 0);
}

static void
futex_wake(uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static uint64_t
with_state(uint64_t word, uint64_t state)
{
	return ((word & ~STATE_MASK) | state) + TAG_ONE;
}

/* Once entered, a member stays where it is for the promotion's life. */
static struct member *
member_at(struct promotion_by_futex *p, uint64_t word)
{
	return atomic_load_acquire(&p->members[word & TOP_MASK]);
}

static int
futex_create(
    void (*kick)(void *arg), void *arg, struct promotion **ret_promotion)
{
	struct promotion_by_futex *p = aligned_alloc(CACHE_LINE, sizeof(*p));

	if (!p)
		return -ENOMEM;
	*p = (struct promotion_by_futex){
	    .promotion = {.ops = &promotion_futex},
	    .kick = kick,
	    .kick_arg = arg,
	};
	list_init(&p->bench);
	*ret_promotion = &p->promotion;
	return 0;
}

static void
futex_free(struct promotion *promotion)
{
	struct promotion_by_futex *p = futex_of(promotion);

	if (!p)
		return;
	ENSURE(list_empty(&p->bench) && (p->word & TOP_MASK) == 0);
	free(p);
}

static enum member_command
wait_for_command(struct member *self)
{
	uint32_t command;

	while ((command = atomic_load_acquire(&self->command)) == MEMBER_WAIT)
		futex_wait(&self->command, MEMBER_WAIT); /* [P11] */
	return (enum member_command)command;
}

/* The push is a read-modify-write before the look at what others want, theirs
 * is one before they order a sweep: one of the two sees the other.  [P10] */
static enum member_command
parked(struct promotion_by_futex *p, struct member *self)
{
	atomic_add_relaxed(&p->promotion.parked, 1u);
	if (member_wanted(self)) /* [P10] */
		p->kick(p->kick_arg);
	return wait_for_command(self);
}

static enum member_command
futex_join(struct promotion *promotion, struct member *self)
{
	struct promotion_by_futex *p = futex_of(promotion);
	uint64_t word = atomic_load_relaxed(&p->word), next;
	uint64_t state;

	atomic_store_release(&p->members[self->id], self);
	atomic_store_relaxed(&self->command, MEMBER_WAIT);
	do {
		state = word & STATE_MASK;
		if (state == HELD) {
			self->below = member_at(p, word);
			next = ((word & ~TOP_MASK) | self->id) + TAG_ONE;
		} else {
			next = with_state(word, HELD);
		}
	} while (!atomic_cas_seq(&p->word, &word, next)); /* [P10] [P11] */
	if (state == HELD)
		return parked(p, self);
	if (state == PUBLISHED)
		atomic_add_relaxed(&promotion->taken_over, 1u);
	return MEMBER_LEAD;
}

static bool
futex_try_lead(struct promotion *promotion, bool busy_too)
{
	struct promotion_by_futex *p = futex_of(promotion);
	uint64_t word = atomic_load_relaxed(&p->word);

	do {
		uint64_t state = word & STATE_MASK;

		if (state == HELD || (state == PUBLISHED && !busy_too))
			return false;
	} while (!atomic_cas_acq_rel(
	    &p->word, &word, with_state(word, HELD))); /* [P11] */
	if ((word & STATE_MASK) == PUBLISHED)
		atomic_add_relaxed(&promotion->taken_over, 1u);
	return true;
}

static enum promotion_token
futex_token(const struct promotion *promotion)
{
	const struct promotion_by_futex *p =
	    (const struct promotion_by_futex *)(const void *)promotion;

	return (enum promotion_token)(
	    (atomic_load_seq(&p->word) & STATE_MASK) >> 16); /* [P18] */
}

/* The holder: those who have parked since go to the bench's young end. */
static void
seat(struct promotion_by_futex *p)
{
	uint64_t word = atomic_load_relaxed(&p->word);
	struct list young;

	if ((word & TOP_MASK) == 0)
		return;
	while (!atomic_cas_acq_rel(&p->word, &word, word & ~TOP_MASK))
		; /* [P11] */
	list_init(&young);
	for (struct member *m = member_at(p, word); m; m = m->below) {
		list_init(&m->bench);
		list_append(young.next, &m->bench);
	}
	while (!list_empty(&young)) {
		struct list *n = young.next;

		list_remove(n);
		list_append(&p->bench, n);
	}
}

/* After the release store the member may have gone on, and its memory may have
 * been freed.  So the member is not read again, and the wake-up may find no
 * waiter. */
static void
call_member(
    struct promotion_by_futex *p, struct member *m, enum member_command c)
{
	list_remove(&m->bench);
	atomic_sub_relaxed(&p->promotion.parked, 1u);
	atomic_store_release(&m->command, c); /* [P11] */
	futex_wake(&m->command);
}

static bool
futex_promote(struct promotion *promotion)
{
	struct promotion_by_futex *p = futex_of(promotion);
	uint64_t word;

	for (;;) {
		seat(p);
		if (!list_empty(&p->bench)) {
			struct member *m = promotion_pick(promotion, &p->bench);

			m->called_ns = clock_now_ns();
			call_member(p, m, MEMBER_LEAD);
			return true;
		}
		word = atomic_load_relaxed(&p->word);
		ENSURE((word & STATE_MASK) == HELD);
		/* Succeeds only if no member has parked meanwhile. */
		if ((word & TOP_MASK) == 0 &&
		    atomic_cas_seq(&p->word, &word,
		        with_state(word, FREE))) /* [P11] [P18] */
			return false;
	}
}

static bool
futex_invite(struct promotion *promotion)
{
	struct promotion_by_futex *p = futex_of(promotion);
	struct member *m;

	seat(p);
	if (list_empty(&p->bench))
		return false;
	m = promotion_pick(promotion, &p->bench);
	m->called_ns = clock_now_ns();
	call_member(p, m, MEMBER_WORK);
	return true;
}

static bool
futex_outranked(struct promotion *promotion, const struct member *self)
{
	struct promotion_by_futex *p = futex_of(promotion);

	seat(p);
	return promotion_outranks(&p->bench, self);
}

static uint64_t
futex_busy(struct promotion *promotion)
{
	struct promotion_by_futex *p = futex_of(promotion);
	uint64_t word = atomic_load_relaxed(&p->word), next;

	do
		next = with_state(word, PUBLISHED);
	while (!atomic_cas_seq(&p->word, &word, next)); /* [P11] [P18] */
	return next & ~TOP_MASK;
}

/* While the token is published no member can park: one that joins takes the
 * token.  So either the word is still as busy left it, or a member has taken
 * the token. */
static bool
futex_resume(struct promotion *promotion, uint64_t ticket)
{
	struct promotion_by_futex *p = futex_of(promotion);
	uint64_t word = atomic_load_relaxed(&p->word);

	while ((word & ~TOP_MASK) == ticket)
		if (atomic_cas_acq_rel(
		        &p->word, &word, with_state(word, HELD))) /* [P11] */
			return true;
	return false;
}

static void
futex_sweep(struct promotion *promotion, promotion_ask ask, void *arg)
{
	struct promotion_by_futex *p = futex_of(promotion);

	seat(p);
	list_for_each_safe (n, &p->bench) {
		struct member *m = container_of(n, struct member, bench);
		enum member_command c = ask(m, arg);

		if (c != MEMBER_WAIT)
			call_member(p, m, c);
	}
}

const struct promotion_ops promotion_futex = {
    .name = "futex",
    .create = futex_create,
    .free = futex_free,
    .join = futex_join,
    .try_lead = futex_try_lead,
    .token = futex_token,
    .promote = futex_promote,
    .invite = futex_invite,
    .outranked = futex_outranked,
    .busy = futex_busy,
    .resume = futex_resume,
    .sweep = futex_sweep,
};
