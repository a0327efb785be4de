/* SPDX-License-Identifier: MIT
 * promotion_futex behind checks: who holds the token, who is parked.
 */
#include "sim/world.h"

#include <stddef.h>

#include "sim/sim.h"

#define PROMOTIONS_MAX 16
#define MEMBERS_MAX    64
#define NO_THREAD      (-1)

struct book {
	struct promotion *promotion;
	int holder; /* a simulated thread, or NO_THREAD, also while it changes
	             */
	unsigned parked;
	struct member *members[MEMBERS_MAX]; /* inside join, by thread */
};

static struct book books[PROMOTIONS_MAX];
static unsigned books_n;

static struct book *
book_of(const struct promotion *p)
{
	for (unsigned i = 0; i < books_n; i++)
		if (books[i].promotion == p)
			return &books[i];
	sim_fail("a promotion that was never made");
}

void
promotion_checked_reset(void)
{
	books_n = 0;
}

static int
checked_create(void (*kick)(void *arg), void *arg, struct promotion **ret)
{
	int rc = promotion_futex.create(kick, arg, ret);

	if (books_n == PROMOTIONS_MAX)
		sim_fail("too many shards");
	if (rc < 0)
		return rc;
	(*ret)->ops = &promotion_checked;
	books[books_n++] =
	    (struct book){.promotion = *ret, .holder = NO_THREAD};
	return 0;
}

static void
took(struct book *b, const char *how)
{
	if (b->holder != NO_THREAD)
		sim_fail("shard %d has two leaders: thread %d holds the token, "
		         "thread %u got it by %s",
		    (int)(b - books), b->holder, sim_self(), how);
	b->holder = (int)sim_self();
	sim_note(how, b - books);
}

static void
check_holder(const struct book *b, const char *what)
{
	if (b->holder != (int)sim_self())
		sim_fail("%s of shard %d by a thread that does not hold the "
		         "token; %d does",
		    what, (int)(b - books), b->holder);
}

/* For a moment the token may be anybody's. */
static struct book *
gives(struct promotion *p, const char *how)
{
	struct book *b = book_of(p);

	check_holder(b, how);
	sim_note(how, b - books);
	b->holder = NO_THREAD;
	return b;
}

static enum member_command
checked_join(struct promotion *p, struct member *member)
{
	struct book *b = book_of(p);
	enum member_command command;

	sim_note("joins", b - books);
	b->members[sim_self()] = member;
	command = promotion_futex.join(p, member);
	b->members[sim_self()] = NULL;
	if (command == MEMBER_LEAD)
		took(b, "leads");
	else
		sim_note("was called, command", command);
	return command;
}

static bool
checked_try_lead(struct promotion *p, bool busy_too)
{
	bool leads = promotion_futex.try_lead(p, busy_too);

	if (leads)
		took(book_of(p), "takes the token of shard");
	return leads;
}

static enum promotion_token
checked_token(const struct promotion *p)
{
	return promotion_futex.token(p);
}

static bool
checked_promote(struct promotion *p)
{
	(void)gives(p, "promotes at shard");
	return promotion_futex.promote(p);
}

static bool
checked_invite(struct promotion *p)
{
	check_holder(book_of(p), "an invitation");
	return promotion_futex.invite(p);
}

static bool
checked_outranked(struct promotion *p, const struct member *self)
{
	check_holder(book_of(p), "a look for a better class");
	return promotion_futex.outranked(p, self);
}

static uint64_t
checked_busy(struct promotion *p)
{
	(void)gives(p, "lays down the token of shard");
	return promotion_futex.busy(p);
}

static bool
checked_resume(struct promotion *p, uint64_t ticket)
{
	bool leads = promotion_futex.resume(p, ticket);

	if (leads)
		took(book_of(p), "takes up its token of shard");
	return leads;
}

static void
checked_sweep(struct promotion *p, promotion_ask ask, void *arg)
{
	check_holder(book_of(p), "a sweep");
	promotion_futex.sweep(p, ask, arg);
}

/* Nobody is parked while nobody leads, and nobody stays parked after a command.
 */
void
promotion_checked_idle(void)
{
	for (unsigned i = 0; i < books_n; i++) {
		struct book *b = &books[i];

		for (unsigned t = 0; t < MEMBERS_MAX; t++) {
			if (!b->members[t])
				continue;
			if (b->members[t]->command != MEMBER_WAIT)
				sim_fail("thread %u was given command %u and "
				         "not woken",
				    t, b->members[t]->command);
			if (promotion_futex.token(b->promotion) == TOKEN_FREE)
				sim_fail(
				    "no thread leads shard %u, and thread %u "
				    "is parked there",
				    i, t);
		}
	}
}

/* free comes after all threads have left. */
static void
checked_free(struct promotion *p)
{
	promotion_futex.free(p);
}

const struct promotion_ops promotion_checked = {
    .name = "futex, checked",
    .create = checked_create,
    .free = checked_free,
    .join = checked_join,
    .try_lead = checked_try_lead,
    .token = checked_token,
    .promote = checked_promote,
    .invite = checked_invite,
    .outranked = checked_outranked,
    .busy = checked_busy,
    .resume = checked_resume,
    .sweep = checked_sweep,
};
