/* SPDX-License-Identifier: MIT
 * Promotion under stress: eight threads that lead, promote, lay the token down,
 * sweep, take over, and join again.
 */
#include "lf/promotion_suite.h"

#include <sched.h>

#include "unit.h"

#define THREADS  8
#define ROUND_MS 60

struct stress {
	struct promotion *promotion;
	struct member members[THREADS];
	uint32_t ticket;
	uint32_t orders; /* a member wants to be swept */
	/* Holders, and what was seen that must not be. */
	uint32_t holders, two_holders, wrong;
	uint64_t led; /* plain: the holder's, handed on by the promotion */
	uint64_t led_by_threads;
	uint32_t taken_over, ended;
};

static void
order(void *arg)
{
	struct stress *s = arg;

	(void)atomic_swap_seq(&s->orders, 1u);
}

static enum member_command
ask(struct member *member, void *arg)
{
	(void)arg;
	return (enum member_command)atomic_load_seq(&member->summons);
}

static void
hold(struct stress *s)
{
	if (atomic_add_relaxed(&s->holders, 1u) != 0)
		atomic_add_relaxed(&s->two_holders, 1u);
	atomic_bump_own(&s->led, 1u);
}

/* Before the step that passes the token on, never after it. */
static void
let_go(struct stress *s)
{
	atomic_sub_relaxed(&s->holders, 1u);
}

/* False when another thread has taken the published token. */
static bool
be_busy(struct stress *s, uint32_t random)
{
	uint64_t ticket;

	let_go(s);
	ticket = promotion_busy(s->promotion);
	for (uint32_t i = random % 4; i > 0; i--)
		sched_yield();
	if (!promotion_resume(s->promotion, ticket))
		return false;
	if (atomic_add_relaxed(&s->holders, 1u) != 0)
		atomic_add_relaxed(&s->two_holders, 1u);
	return true;
}

static void
lead(struct stress *s, struct member *self, uint32_t *random)
{
	hold(s);
	for (;;) {
		if (atomic_load_seq(&s->orders)) {
			(void)atomic_swap_seq(&s->orders, 0u);
			promotion_sweep(s->promotion, ask, NULL);
		}
		if (member_wanted(self) || unit_random(random) % 4 == 0)
			break;
		if (!be_busy(s, unit_random(random)))
			return;
	}
	let_go(s);
	promotion_promote(s->promotion);
}

static void *
take_part(void *arg)
{
	struct stress *s = arg;
	uint32_t n = unit_ticket(&s->ticket), random = 77 + n;
	struct member *self = &s->members[n];
	uint64_t led = 0;

	while (atomic_load_seq(&self->summons) == 0) {
		enum member_command c = MEMBER_LEAD;

		/* As a thread does that looks next door. */
		if (unit_random(&random) % 2 == 0 ||
		    !promotion_try_lead(s->promotion, random % 3 == 0))
			c = promotion_join(s->promotion, self);
		if (c == MEMBER_LEAD) {
			lead(s, self, &random);
			led++;
		} else if (c != MEMBER_RETIRE ||
		           atomic_load_seq(&self->summons) != MEMBER_RETIRE) {
			atomic_add_relaxed(&s->wrong, 1u);
		}
	}
	atomic_add_relaxed(&s->led_by_threads, led);
	atomic_add_relaxed(&s->ended, 1u);
	return NULL;
}

/* All end; a holder must be there for those who are parked. */
static void
summon_all(struct stress *s)
{
	for (unsigned i = 0; i < THREADS; i++)
		(void)atomic_swap_seq(
		    &s->members[i].summons, (uint32_t)MEMBER_RETIRE);
	order(s);
}

static void
run(struct stress *s, void **state, void *(*main_of)(void *arg),
    bool (*until)(struct stress *s, uint64_t end_ms))
{
	const struct promotion_ops *ops = *state;
	struct unit_threads threads;

	memset(s, 0, sizeof(*s));
	assert_int_equal(ops->create(order, s, &s->promotion), 0);
	for (unsigned i = 0; i < THREADS; i++)
		s->members[i].id = (uint16_t)(i + 1);
	unit_threads_start(&threads, THREADS, main_of, s);
	assert_true(until(s, unit_now_ms() + ROUND_MS));
	summon_all(s);
	assert_true(unit_wait(atomic_load_relaxed(&s->ended) == THREADS));
	unit_threads_join(&threads);
	assert_int_equal(s->two_holders, 0);
	assert_int_equal(s->wrong, 0);
	assert_int_equal(promotion_parked(s->promotion), 0);
	assert_int_equal(promotion_token(s->promotion), TOKEN_FREE);
	s->promotion->ops->free(s->promotion);
}

static bool
until_time_is_over(struct stress *s, uint64_t end_ms)
{
	/* On a busy machine the threads may come late. */
	while (unit_now_ms() < end_ms ||
	       (atomic_load_relaxed(&s->led) == 0 &&
	           unit_now_ms() < end_ms + UNIT_DEADLINE_S * 1000u))
		sched_yield();
	return true;
}

/* The guard: takes over from a busy leader and gives to a parked member. */
static bool
guard_until_time_is_over(struct stress *s, uint64_t end_ms)
{
	while (unit_now_ms() < end_ms) {
		if (promotion_parked(s->promotion) > 0 &&
		    promotion_try_lead(s->promotion, true)) {
			hold(s);
			let_go(s);
			s->taken_over++;
			(void)promotion_promote(s->promotion);
		}
		sched_yield();
	}
	return true;
}

void
promotion_stress_one_leader_at_a_time(void **state)
{
	for (uint32_t round = 0; round < 3 * 3; round++) {
		struct stress s;

		run(&s, state, take_part, until_time_is_over);
		assert_int_equal(s.led, s.led_by_threads);
		assert_true(s.led > 0);
	}
}

void
promotion_stress_the_holder_hands_its_data_on(void **state)
{
	struct stress s;

	run(&s, state, take_part, guard_until_time_is_over);
	assert_int_equal(s.led, s.led_by_threads + s.taken_over);
}

/* The leader of a moment waits for something that only its successor brings: a
 * stand in which somebody stays parked while nobody leads would hang. */
static void *
lead_in_relay(void *arg)
{
	struct stress *s = arg;
	struct member *self = &s->members[unit_ticket(&s->ticket)];

	while (atomic_load_seq(&self->summons) == 0) {
		uint64_t mine;

		if (promotion_join(s->promotion, self) != MEMBER_LEAD)
			continue;
		hold(s);
		mine = atomic_add_relaxed(&s->led_by_threads, 1u) + 1;
		if (atomic_swap_seq(&s->orders, 0u))
			promotion_sweep(s->promotion, ask, NULL);
		let_go(s);
		promotion_promote(s->promotion);
		if (mine % 16 != 0 || mine >= 4000)
			continue;
		if (!unit_wait(atomic_load_relaxed(&s->led_by_threads) > mine))
			atomic_add_relaxed(&s->wrong, 1u);
	}
	atomic_add_relaxed(&s->ended, 1u);
	return NULL;
}

static bool
until_enough_have_led(struct stress *s, uint64_t end_ms)
{
	(void)end_ms;
	return unit_wait(atomic_load_relaxed(&s->led_by_threads) >= 4000);
}

void
promotion_stress_nobody_stays_parked_without_a_leader(void **state)
{
	struct stress s;

	run(&s, state, lead_in_relay, until_enough_have_led);
	assert_true(s.led >= 4000);
}
