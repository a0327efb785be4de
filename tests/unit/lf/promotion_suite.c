/* SPDX-License-Identifier: MIT
 * See promotion_suite.h.
 */
#include "lf/promotion_suite.h"

#include <sched.h>

#include "unit.h"

#define FOLLOWERS 6

/* A thread that joins once and tells what it was commanded. */
struct follower {
	struct promotion *promotion;
	struct member member;
	pthread_t id;
	uint32_t command; /* enum member_command, MEMBER_WAIT: still in join */
	uint32_t commands;
};

static const struct promotion_ops *
ops_of(void **state)
{
	return *state;
}

static struct promotion *
create(void **state)
{
	struct promotion *p = NULL;

	assert_int_equal(ops_of(state)->create(&p), 0);
	assert_non_null(p);
	assert_ptr_equal(p->ops, ops_of(state));
	assert_false(promotion_led(p));
	assert_int_equal(promotion_parked(p), 0);
	return p;
}

static void *
follow(void *arg)
{
	struct follower *f = arg;
	enum member_command c = promotion_join(f->promotion, &f->member);

	atomic_add_relaxed(&f->commands, 1u);
	atomic_store_release(&f->command, c);
	return NULL;
}

/* Parks one follower after the other, so that their order is known. */
static void
park(struct promotion *p, struct follower *followers, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		followers[i] = (struct follower){.promotion = p};
		assert_int_equal(pthread_create(&followers[i].id, NULL, follow,
		                     &followers[i]),
		    0);
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
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(pthread_join(followers[i].id, NULL), 0);
}

static void
join_leads_when_nobody_does(void **state)
{
	struct promotion *p = create(state);
	struct member self;

	assert_int_equal(promotion_join(p, &self), MEMBER_LEAD);
	assert_true(promotion_led(p));
	assert_int_equal(promotion_parked(p), 0);
	promotion_promote(p);
	p->ops->free(p);
}

static void
promote_without_follower_leaves_it_to_the_next_join(void **state)
{
	struct promotion *p = create(state);
	struct member one, other;

	for (int i = 0; i < 3; i++) {
		assert_int_equal(promotion_join(p, &one), MEMBER_LEAD);
		assert_false(promotion_promote(p));
		assert_false(promotion_led(p));
		assert_int_equal(promotion_join(p, &other), MEMBER_LEAD);
		assert_true(promotion_led(p));
		assert_false(promotion_promote(p));
	}
	p->ops->free(p);
}

static void
a_follower_waits_until_it_is_promoted(void **state)
{
	struct promotion *p = create(state);
	struct follower f[1];
	struct member self;

	assert_int_equal(promotion_join(p, &self), MEMBER_LEAD);
	park(p, f, 1);
	assert_int_equal(atomic_load_acquire(&f[0].command), MEMBER_WAIT);
	assert_true(promotion_promote(p));
	assert_int_equal(promotion_parked(p), 0);
	assert_true(promotion_led(p));
	assert_true(commanded(&f[0], MEMBER_LEAD));
	join_followers(f, 1);
	assert_false(promotion_promote(p));
	assert_false(promotion_led(p));
	p->ops->free(p);
}

static void
the_last_to_park_is_the_first_to_lead(void **state)
{
	struct promotion *p = create(state);
	struct follower f[FOLLOWERS];
	struct member self;

	assert_int_equal(promotion_join(p, &self), MEMBER_LEAD);
	park(p, f, FOLLOWERS);
	for (unsigned i = FOLLOWERS; i-- > 0;) {
		assert_true(promotion_promote(p));
		assert_true(commanded(&f[i], MEMBER_LEAD));
		assert_int_equal(promotion_parked(p), i);
		for (unsigned below = 0; below < i; below++)
			assert_int_equal(atomic_load_acquire(&f[below].command),
			    MEMBER_WAIT);
	}
	assert_false(promotion_promote(p));
	join_followers(f, FOLLOWERS);
	for (unsigned i = 0; i < FOLLOWERS; i++)
		assert_int_equal(f[i].commands, 1);
	p->ops->free(p);
}

static void
close_retires_all_who_are_parked(void **state)
{
	struct promotion *p = create(state);
	struct follower f[FOLLOWERS];
	struct member self;

	assert_int_equal(promotion_join(p, &self), MEMBER_LEAD);
	park(p, f, FOLLOWERS);
	promotion_close(p);
	for (unsigned i = 0; i < FOLLOWERS; i++)
		assert_true(commanded(&f[i], MEMBER_RETIRE));
	join_followers(f, FOLLOWERS);
	assert_int_equal(promotion_parked(p), 0);
	assert_false(promotion_promote(p));
	assert_int_equal(promotion_join(p, &self), MEMBER_RETIRE);
	p->ops->free(p);
}

static void
after_close_every_join_retires(void **state)
{
	struct promotion *p = create(state);
	struct member self;

	promotion_close(p);
	for (int i = 0; i < 3; i++)
		assert_int_equal(promotion_join(p, &self), MEMBER_RETIRE);
	promotion_close(p);
	assert_int_equal(promotion_join(p, &self), MEMBER_RETIRE);
	assert_int_equal(promotion_parked(p), 0);
	p->ops->free(p);
}

static void
a_promoted_follower_keeps_leadership_through_close(void **state)
{
	struct promotion *p = create(state);
	struct follower f[2];
	struct member self;

	assert_int_equal(promotion_join(p, &self), MEMBER_LEAD);
	park(p, f, 2);
	assert_true(promotion_promote(p));
	promotion_close(p);
	assert_true(commanded(&f[1], MEMBER_LEAD));
	assert_true(commanded(&f[0], MEMBER_RETIRE));
	join_followers(f, 2);
	assert_false(promotion_promote(p));
	p->ops->free(p);
}

/* Threads lead, give up, work, and join again, as in a pool. */
struct stand {
	struct promotion *promotion;
	uint32_t leaders, two_leaders, wrong;
	uint64_t led; /* plain: the leader's, handed on by the promotion */
	uint64_t led_by_threads;
	uint32_t ended;
};

static void *
take_turns(void *arg)
{
	struct stand *s = arg;
	struct member self;
	uint64_t led = 0;
	enum member_command c;

	while ((c = promotion_join(s->promotion, &self)) == MEMBER_LEAD) {
		if (atomic_add_relaxed(&s->leaders, 1u) != 0)
			atomic_add_relaxed(&s->two_leaders, 1u);
		s->led++;
		led++;
		if (led % 8 == 0)
			sched_yield();
		atomic_sub_relaxed(&s->leaders, 1u);
		promotion_promote(s->promotion);
	}
	if (c != MEMBER_RETIRE)
		atomic_add_relaxed(&s->wrong, 1u);
	atomic_add_relaxed(&s->led_by_threads, led);
	atomic_add_relaxed(&s->ended, 1u);
	return NULL;
}

static void
eight_threads_have_one_leader_at_a_time_and_all_end(void **state)
{
	for (int round = 0; round < 10; round++) {
		struct stand s = {.promotion = create(state)};
		struct unit_threads threads;
		uint64_t end = unit_now_ms() + 40;

		unit_threads_start(&threads, 8, take_turns, &s);
		while (unit_now_ms() < end)
			sched_yield();
		promotion_close(s.promotion);
		assert_true(unit_wait(atomic_load_relaxed(&s.ended) == 8));
		unit_threads_join(&threads);
		assert_int_equal(s.two_leaders, 0);
		assert_int_equal(s.wrong, 0);
		assert_int_equal(s.led, s.led_by_threads);
		assert_true(s.led > 0);
		s.promotion->ops->free(s.promotion);
	}
}

/* The leader of a moment waits for something that only its successor brings:
 * a stand in which somebody stays parked while nobody leads would hang. */
static void *
lead_in_relay(void *arg)
{
	struct stand *s = arg;
	struct member self;

	while (promotion_join(s->promotion, &self) == MEMBER_LEAD) {
		uint64_t mine = atomic_add_relaxed(&s->led_by_threads, 1u) + 1;

		promotion_promote(s->promotion);
		if (mine % 16 != 0 || mine >= 4000)
			continue;
		if (!unit_wait(atomic_load_relaxed(&s->led_by_threads) > mine))
			atomic_add_relaxed(&s->wrong, 1u);
	}
	atomic_add_relaxed(&s->ended, 1u);
	return NULL;
}

static void
nobody_stays_parked_while_nobody_leads(void **state)
{
	struct stand s = {.promotion = create(state)};
	struct unit_threads threads;

	unit_threads_start(&threads, 8, lead_in_relay, &s);
	assert_true(unit_wait(atomic_load_relaxed(&s.led_by_threads) >= 4000));
	promotion_close(s.promotion);
	unit_threads_join(&threads);
	assert_int_equal(s.wrong, 0);
	assert_int_equal(s.ended, 8);
	s.promotion->ops->free(s.promotion);
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
	    WITH_OPS(the_last_to_park_is_the_first_to_lead),
	    WITH_OPS(close_retires_all_who_are_parked),
	    WITH_OPS(after_close_every_join_retires),
	    WITH_OPS(a_promoted_follower_keeps_leadership_through_close),
	    WITH_OPS(eight_threads_have_one_leader_at_a_time_and_all_end),
	    WITH_OPS(nobody_stays_parked_while_nobody_leads),
	};

	unit_watchdog();
	return cmocka_run_group_tests_name(ops->name, tests, NULL, NULL);
}
