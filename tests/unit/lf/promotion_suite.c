/* SPDX-License-Identifier: MIT
 * See promotion_suite.h.
 */
#include "lf/promotion_suite.h"

#include "unit.h"

#define FOLLOWERS 6

/* A promotion and how often it has kicked. */
struct stand {
	struct promotion *promotion;
	uint32_t kicks;
};

/* A thread that joins once and tells what it was commanded. */
struct follower {
	struct member member; /* first: aligned */
	struct promotion *promotion;
	pthread_t id;
	uint32_t command; /* enum member_command, MEMBER_WAIT: still in join */
	uint32_t commands;
};

static void
count_kick(void *arg)
{
	struct stand *s = arg;

	atomic_add_relaxed(&s->kicks, 1u);
}

static struct promotion *
create(struct stand *s, void **state)
{
	const struct promotion_ops *ops = *state;

	*s = (struct stand){.kicks = 0};
	assert_int_equal(ops->create(count_kick, s, &s->promotion), 0);
	assert_ptr_equal(s->promotion->ops, ops);
	assert_int_equal(promotion_token(s->promotion), TOKEN_FREE);
	assert_int_equal(promotion_parked(s->promotion), 0);
	return s->promotion;
}

static void
end(struct promotion *p)
{
	assert_int_equal(promotion_parked(p), 0);
	p->ops->free(p);
}

static void *
follow(void *arg)
{
	struct follower *f = arg;
	enum member_command c = promotion_join(f->promotion, &f->member);

	atomic_add_relaxed(&f->commands, 1u);
	atomic_store_release(&f->command, (uint32_t)c);
	return NULL;
}

/* Parks one follower after the other, so that their order is known. */
static void
park(struct promotion *p, struct follower *followers, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct follower *f = &followers[i];

		f->promotion = p;
		f->command = MEMBER_WAIT;
		f->commands = 0;
		f->member.id = (uint16_t)(i + 2);
		assert_int_equal(pthread_create(&f->id, NULL, follow, f), 0);
		assert_true(unit_wait(promotion_parked(p) == i + 1));
	}
}

static bool
commanded(struct follower *f, enum member_command command)
{
	return unit_wait(atomic_load_acquire(&f->command) == (uint32_t)command);
}

static void
join_followers(struct follower *followers, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(pthread_join(followers[i].id, NULL), 0);
		assert_int_equal(followers[i].commands, 1);
	}
}

static enum member_command
retire_all(struct member *member, void *arg)
{
	(void)member;
	(void)arg;
	return MEMBER_RETIRE;
}

static void
join_leads_when_nobody_does(void **state)
{
	struct stand s;
	struct promotion *p = create(&s, state);
	struct member self = {.id = 1};

	assert_int_equal(promotion_join(p, &self), MEMBER_LEAD);
	assert_int_equal(promotion_token(p), TOKEN_HELD);
	assert_int_equal(promotion_parked(p), 0);
	assert_false(promotion_promote(p));
	assert_int_equal(promotion_token(p), TOKEN_FREE);
	end(p);
}

static void
promote_without_follower_leaves_it_to_the_next_join(void **state)
{
	struct stand s;
	struct promotion *p = create(&s, state);
	struct member one = {.id = 1}, other = {.id = 2};

	for (int i = 0; i < 3; i++) {
		assert_int_equal(promotion_join(p, &one), MEMBER_LEAD);
		assert_false(promotion_promote(p));
		assert_int_equal(promotion_join(p, &other), MEMBER_LEAD);
		assert_false(promotion_promote(p));
	}
	end(p);
}

static void
a_follower_waits_until_it_is_promoted(void **state)
{
	struct stand s;
	struct promotion *p = create(&s, state);
	struct follower f[1] = {0};
	struct member self = {.id = 1};

	assert_int_equal(promotion_join(p, &self), MEMBER_LEAD);
	park(p, f, 1);
	assert_int_equal(atomic_load_acquire(&f[0].command), MEMBER_WAIT);
	assert_true(promotion_promote(p));
	assert_int_equal(promotion_parked(p), 0);
	assert_int_equal(promotion_token(p), TOKEN_HELD);
	assert_true(commanded(&f[0], MEMBER_LEAD));
	assert_true(f[0].member.called_ns > 0);
	join_followers(f, 1);
	assert_false(promotion_promote(p));
	end(p);
}

/* Parks all and promotes until nobody is left: who leads, one after the other,
 * by its place in the queue. */
static void
promote_all(void **state, enum promotion_order order, const uint16_t *grades,
    const unsigned *expected)
{
	struct stand s;
	struct promotion *p = create(&s, state);
	struct follower f[FOLLOWERS] = {0};
	struct member self = {.id = 1};

	atomic_store_relaxed(&p->order, (uint32_t)order);
	for (unsigned i = 0; i < FOLLOWERS; i++)
		f[i].member.grade = grades[i];
	assert_int_equal(promotion_join(p, &self), MEMBER_LEAD);
	park(p, f, FOLLOWERS);
	for (unsigned i = 0; i < FOLLOWERS; i++) {
		assert_true(promotion_promote(p));
		assert_true(commanded(&f[expected[i]], MEMBER_LEAD));
		assert_int_equal(promotion_parked(p), FOLLOWERS - 1 - i);
		for (unsigned later = i + 1; later < FOLLOWERS; later++)
			assert_int_equal(
			    atomic_load_acquire(&f[expected[later]].command),
			    MEMBER_WAIT);
	}
	assert_false(promotion_promote(p));
	join_followers(f, FOLLOWERS);
	end(p);
}

static const uint16_t mixed[FOLLOWERS] = {1, 0, 2, 0, 1, 2};

static void
lifo_promotes_the_last_to_park(void **state)
{
	promote_all(
	    state, ORDER_LIFO, mixed, (const unsigned[]){5, 4, 3, 2, 1, 0});
}

static void
fifo_promotes_the_first_to_park(void **state)
{
	promote_all(
	    state, ORDER_FIFO, mixed, (const unsigned[]){0, 1, 2, 3, 4, 5});
}

static void
priority_promotes_the_best_class_and_in_it_the_last(void **state)
{
	promote_all(
	    state, ORDER_PRIORITY, mixed, (const unsigned[]){3, 1, 4, 0, 5, 2});
}

static void
a_leader_is_outranked_by_parked_members_of_a_better_class(void **state)
{
	struct stand s;
	struct promotion *p = create(&s, state);
	struct follower f[2] = {{.member.grade = 1}, {.member.grade = 2}};
	struct member self = {.id = 1, .grade = 1};

	atomic_store_relaxed(&p->order, (uint32_t)ORDER_PRIORITY);
	assert_int_equal(promotion_join(p, &self), MEMBER_LEAD);
	assert_false(promotion_outranked(p, &self));
	park(p, f, 2);
	assert_false(promotion_outranked(p, &self));
	self.grade = 2;
	assert_true(promotion_outranked(p, &self));
	assert_int_equal(promotion_parked(p), 2);
	assert_true(promotion_promote(p));
	assert_true(commanded(&f[0], MEMBER_LEAD));
	assert_false(promotion_outranked(p, &self));
	assert_true(promotion_promote(p));
	assert_false(promotion_promote(p));
	join_followers(f, 2);
	end(p);
}

static void
the_order_can_change_while_members_are_parked(void **state)
{
	struct stand s;
	struct promotion *p = create(&s, state);
	struct follower f[4] = {0};
	struct member self = {.id = 1};

	assert_int_equal(promotion_join(p, &self), MEMBER_LEAD);
	park(p, f, 4);
	assert_true(promotion_promote(p));
	assert_true(commanded(&f[3], MEMBER_LEAD));
	atomic_store_relaxed(&p->order, (uint32_t)ORDER_FIFO);
	assert_true(promotion_promote(p));
	assert_true(commanded(&f[0], MEMBER_LEAD));
	atomic_store_relaxed(&p->order, (uint32_t)ORDER_LIFO);
	assert_true(promotion_promote(p));
	assert_true(commanded(&f[2], MEMBER_LEAD));
	assert_true(promotion_promote(p));
	join_followers(f, 4);
	assert_false(promotion_promote(p));
	end(p);
}

static void
try_lead_takes_the_token_from_nobody_only(void **state)
{
	struct stand s;
	struct promotion *p = create(&s, state);

	assert_true(promotion_try_lead(p, false));
	assert_int_equal(promotion_token(p), TOKEN_HELD);
	assert_false(promotion_try_lead(p, false));
	assert_false(promotion_try_lead(p, true));
	assert_false(promotion_promote(p));
	assert_true(promotion_try_lead(p, true));
	assert_int_equal(p->taken_over, 0);
	assert_false(promotion_promote(p));
	end(p);
}

static void
a_busy_leader_resumes_what_nobody_took(void **state)
{
	struct stand s;
	struct promotion *p = create(&s, state);
	struct follower f[2] = {0};
	struct member self = {.id = 1};

	assert_int_equal(promotion_join(p, &self), MEMBER_LEAD);
	park(p, f, 2);
	for (int i = 0; i < 3; i++) {
		uint64_t ticket = promotion_busy(p);

		assert_int_equal(promotion_token(p), TOKEN_PUBLISHED);
		assert_false(promotion_try_lead(p, false));
		assert_true(promotion_resume(p, ticket));
		assert_int_equal(promotion_token(p), TOKEN_HELD);
		assert_false(promotion_resume(p, ticket));
	}
	assert_int_equal(p->taken_over, 0);
	assert_int_equal(promotion_parked(p), 2);
	p->ops->sweep(p, retire_all, NULL);
	join_followers(f, 2);
	assert_false(promotion_promote(p));
	end(p);
}

static void
a_join_takes_over_from_a_busy_leader(void **state)
{
	struct stand s;
	struct promotion *p = create(&s, state);
	struct member self = {.id = 1}, other = {.id = 2};
	uint64_t ticket;

	assert_int_equal(promotion_join(p, &self), MEMBER_LEAD);
	ticket = promotion_busy(p);
	assert_int_equal(promotion_join(p, &other), MEMBER_LEAD);
	assert_int_equal(promotion_token(p), TOKEN_HELD);
	assert_int_equal(p->taken_over, 1);
	assert_false(promotion_resume(p, ticket));
	assert_int_equal(promotion_token(p), TOKEN_HELD);
	assert_false(promotion_promote(p));
	assert_false(promotion_resume(p, ticket));
	end(p);
}

/* What the guard does. */
static void
a_taken_over_token_can_be_given_to_a_parked_member(void **state)
{
	struct stand s;
	struct promotion *p = create(&s, state);
	struct follower f[2] = {0};
	struct member self = {.id = 1};
	uint64_t ticket;

	assert_int_equal(promotion_join(p, &self), MEMBER_LEAD);
	park(p, f, 2);
	ticket = promotion_busy(p);
	assert_true(promotion_try_lead(p, true));
	assert_true(promotion_promote(p));
	assert_true(commanded(&f[1], MEMBER_LEAD));
	assert_int_equal(p->taken_over, 1);
	assert_false(promotion_resume(p, ticket));
	assert_true(promotion_promote(p));
	join_followers(f, 2);
	assert_false(promotion_promote(p));
	end(p);
}

static void
an_old_ticket_does_not_resume_the_next_leaders_busy(void **state)
{
	struct stand s;
	struct promotion *p = create(&s, state);
	struct member self = {.id = 1}, other = {.id = 2};
	uint64_t old, ticket;

	assert_int_equal(promotion_join(p, &self), MEMBER_LEAD);
	old = promotion_busy(p);
	assert_int_equal(promotion_join(p, &other), MEMBER_LEAD);
	ticket = promotion_busy(p);
	assert_false(promotion_resume(p, old));
	assert_int_equal(promotion_token(p), TOKEN_PUBLISHED);
	assert_true(promotion_resume(p, ticket));
	/* The same leader's own old one neither. */
	ticket = promotion_busy(p);
	assert_true(promotion_resume(p, ticket));
	old = ticket;
	ticket = promotion_busy(p);
	assert_false(promotion_resume(p, old));
	assert_true(promotion_resume(p, ticket));
	assert_false(promotion_promote(p));
	end(p);
}

static enum member_command
by_table(struct member *member, void *arg)
{
	const enum member_command *commands = arg;

	return commands[member->id];
}

static void
sweep_gives_each_the_command_that_ask_names(void **state)
{
	enum member_command commands[FOLLOWERS + 2] = {
	    [2] = MEMBER_RETIRE, [4] = MEMBER_MOVE, [5] = MEMBER_WORK};
	struct stand s;
	struct promotion *p = create(&s, state);
	struct follower f[FOLLOWERS] = {0};
	struct member self = {.id = 1};

	assert_int_equal(promotion_join(p, &self), MEMBER_LEAD);
	park(p, f, FOLLOWERS);
	promotion_sweep(p, by_table, commands);
	assert_int_equal(promotion_parked(p), 3);
	assert_true(commanded(&f[0], MEMBER_RETIRE));
	assert_true(commanded(&f[2], MEMBER_MOVE));
	assert_true(commanded(&f[3], MEMBER_WORK));
	for (unsigned i = 1; i < FOLLOWERS; i += i == 1 ? 3 : 1)
		assert_int_equal(
		    atomic_load_acquire(&f[i].command), MEMBER_WAIT);
	assert_int_equal(promotion_token(p), TOKEN_HELD);
	/* The others keep their order. */
	assert_true(promotion_promote(p));
	assert_true(commanded(&f[5], MEMBER_LEAD));
	promotion_sweep(p, retire_all, NULL);
	assert_true(commanded(&f[4], MEMBER_RETIRE));
	assert_true(commanded(&f[1], MEMBER_RETIRE));
	join_followers(f, FOLLOWERS);
	assert_false(promotion_promote(p));
	end(p);
}

static void
a_member_that_is_wanted_kicks_when_it_parks(void **state)
{
	struct stand s;
	struct promotion *p = create(&s, state);
	struct follower f[3] = {0};
	struct member self = {.id = 1};

	assert_int_equal(promotion_join(p, &self), MEMBER_LEAD);
	park(p, f, 1);
	assert_int_equal(atomic_load_relaxed(&s.kicks), 0);
	promotion_sweep(p, retire_all, NULL);
	join_followers(f, 1);

	f[0].member.summons = MEMBER_RETIRE;
	park(p, f, 1);
	assert_true(unit_wait(atomic_load_relaxed(&s.kicks) == 1));
	promotion_sweep(p, retire_all, NULL);
	join_followers(f, 1);
	assert_false(promotion_promote(p));
	end(p);
}

#define WITH_OPS(test)                                                         \
	{                                                                      \
		.name = #test, .test_func = test,                              \
		.initial_state = (void *)(uintptr_t)ops                        \
	}

int
promotion_suite_run(const struct promotion_ops *ops)
{
	const struct CMUnitTest tests[] = {
	    WITH_OPS(join_leads_when_nobody_does),
	    WITH_OPS(promote_without_follower_leaves_it_to_the_next_join),
	    WITH_OPS(a_follower_waits_until_it_is_promoted),
	    WITH_OPS(lifo_promotes_the_last_to_park),
	    WITH_OPS(fifo_promotes_the_first_to_park),
	    WITH_OPS(priority_promotes_the_best_class_and_in_it_the_last),
	    WITH_OPS(a_leader_is_outranked_by_parked_members_of_a_better_class),
	    WITH_OPS(the_order_can_change_while_members_are_parked),
	    WITH_OPS(try_lead_takes_the_token_from_nobody_only),
	    WITH_OPS(a_busy_leader_resumes_what_nobody_took),
	    WITH_OPS(a_join_takes_over_from_a_busy_leader),
	    WITH_OPS(a_taken_over_token_can_be_given_to_a_parked_member),
	    WITH_OPS(an_old_ticket_does_not_resume_the_next_leaders_busy),
	    WITH_OPS(sweep_gives_each_the_command_that_ask_names),
	    WITH_OPS(a_member_that_is_wanted_kicks_when_it_parks),
	    WITH_OPS(promotion_stress_one_leader_at_a_time),
	    WITH_OPS(promotion_stress_the_holder_hands_its_data_on),
	    WITH_OPS(promotion_stress_nobody_stays_parked_without_a_leader),
	};

	unit_watchdog();
	return cmocka_run_group_tests_name(ops->name, tests, NULL, NULL);
}
