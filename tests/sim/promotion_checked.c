/* SPDX-License-Identifier: MIT
 * promotion_futex behind checks: who holds the token, who is parked, and
 * whether the best class leads.
 */
#include "sim/world.h"

#include <stddef.h>

#include "sim/sim.h"

#define MEMBERS_MAX 64
#define NO_THREAD   (-1)

struct book {
	struct promotion *promotion;
	int holder; /* a simulated thread, or NO_THREAD, also while it changes
	             */
	int busy;   /* the thread that has laid down the token for a turn, as
	             * long as no other takes it */
	unsigned parked;
	struct member *members[MEMBERS_MAX]; /* inside join, by thread */
	uint64_t looked_ns; /* when a leader last looked for a better class */
	bool look_is_due;   /* before the next turn */
	bool looks_around;  /* the busy thread has led another shard since */
};

static struct book books[SHARDS_MAX];
static unsigned books_n;
static struct member *all_members[MEMBERS_MAX]; /* by thread */

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

void
promotion_checked_member(struct member *member)
{
	all_members[sim_self()] = member;
}

static int
checked_create(void (*kick)(void *arg), void *arg, struct promotion **ret)
{
	int rc = promotion_futex.create(kick, arg, ret);

	if (books_n == SHARDS_MAX)
		sim_fail("too many shards");
	if (rc < 0)
		return rc;
	(*ret)->ops = &promotion_checked;
	books[books_n++] = (struct book){
	    .promotion = *ret, .holder = NO_THREAD, .busy = NO_THREAD};
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
	b->busy = NO_THREAD;
	for (unsigned i = 0; i < books_n; i++)
		books[i].looks_around |= books[i].busy == b->holder;
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

/* Whether a member that surely sleeps there is of a better class. */
static bool
better_is_parked(const struct book *b, const struct member *self)
{
	for (unsigned t = 0; t < MEMBERS_MAX; t++) {
		const struct member *m = b->members[t];

		if (m && m->grade < self->grade && m->command == MEMBER_WAIT &&
		    sim_blocked_on(&m->command) > 0)
			return true;
	}
	return false;
}

static bool
class_decides(const struct promotion *p)
{
	bool adaptive = false;

	sim_pause(true);
	for (unsigned i = 0; world.pool && i < pool_shards(world.pool); i++) {
		struct shard *s = pool_shard(world.pool, i);

		adaptive |= s->promotion == p && s->policy == POLICY_ADAPTIVE;
	}
	sim_pause(false);
	return adaptive && p->order == ORDER_PRIORITY;
}

void
promotion_checked_change(void)
{
	for (unsigned i = 0; i < books_n; i++)
		books[i].look_is_due = false;
}

/* A leader that begins a turn while a better class is parked and the last look
 * is too long ago has not known that for lack of a clock: it reads the clock
 * after each turn, and so the look comes before the next turn. */
static void
check_class(struct book *b, const struct promotion *p)
{
	const struct member *self = all_members[sim_self()];
	bool outranked = class_decides(p) && better_is_parked(b, self);

	if (outranked && b->look_is_due)
		sim_fail("class %u leads shard %d, and a better one is parked",
		    self->grade, (int)(b - books));
	b->look_is_due =
	    outranked && sim_now_ns() - b->looked_ns > POLICY_RANK_NS;
}

static bool
checked_outranked(struct promotion *p, const struct member *self)
{
	struct book *b = book_of(p);

	check_holder(b, "a look for a better class");
	b->looked_ns = sim_now_ns();
	b->look_is_due = false;
	return promotion_futex.outranked(p, self);
}

static uint64_t
checked_busy(struct promotion *p)
{
	check_class(book_of(p), p);
	gives(p, "lays down the token of shard")->busy = (int)sim_self();
	book_of(p)->looks_around = false;
	return promotion_futex.busy(p);
}

static bool
checked_resume(struct promotion *p, uint64_t ticket)
{
	struct book *b = book_of(p);
	bool leads = promotion_futex.resume(p, ticket);

	if (b->busy == (int)sim_self())
		b->busy = NO_THREAD;
	if (leads)
		took(b, "takes up its token of shard");
	return leads;
}

void
promotion_checked_long(const struct promotion *promotion)
{
	const struct book *b = book_of(promotion);

	/* A leader that looks at other shards may get a long turn there, and
	 * then any waiting one; its own token is published. */
	if (b->holder == (int)sim_self() ||
	    (b->busy == (int)sim_self() && !b->looks_around))
		sim_fail("the leader of shard %d runs a long turn itself",
		    (int)(b - books));
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
