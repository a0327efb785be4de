/* SPDX-License-Identifier: MIT
 * Measures the cost of a wake-up.  See policy_calibrate in policy.h.
 *
 * The same means as promotion's: a member parks, is called, and says when it
 * ran.  The caller waits a moment before each call, so that the member really
 * sleeps, as followers do.
 */
#include "lf/policy.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"
#include "lf/promotion.h"

#define ROUNDS     33
#define ASSUMED_NS 25000u
/* The measurement does not show the whole cost of waking: a follower that helps
 * parks again later, and has to fetch what the leader had in the caches of its
 * CPU.  With 5 us, the least that is measured, a kept-alive request took 13 to
 * 18 % more CPU than with 25 or 50, and a new connection 4 to 9 %. */
#define LEAST_NS 25000u
#define MOST_NS  200000u

struct partner {
	struct promotion *promotion;
	struct member member;
	uint64_t delay_ns[ROUNDS]; /* from the call until it ran */
	uint64_t call_ns[ROUNDS];  /* what the call took */
	uint32_t rounds;           /* done */
};

static void
no_kick(void *arg)
{
	(void)arg;
}

/* Parks, notes the delay, releases the token, waits until the main thread has
 * taken it, and parks again. */
static void *
partner_main(void *arg)
{
	struct partner *p = arg;

	while (promotion_join(p->promotion, &p->member) == MEMBER_LEAD) {
		uint32_t round = atomic_load_relaxed(&p->rounds);

		if (round < ROUNDS)
			p->delay_ns[round] =
			    clock_now_ns() - p->member.called_ns;
		atomic_store_release(&p->rounds, round + 1);
		promotion_promote(p->promotion);
		while (promotion_token(p->promotion) == TOKEN_FREE)
			nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	}
	return NULL;
}

static enum member_command
ask_to_retire(struct member *member, void *arg)
{
	(void)member;
	(void)arg;
	return MEMBER_RETIRE;
}

static void
wait_until_parked(struct partner *p)
{
	while (promotion_parked(p->promotion) == 0)
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	/* The member is counted as parked a little before it sleeps. */
	nanosleep(&(struct timespec){.tv_nsec = 30000}, NULL);
}

static void
play(struct partner *p)
{
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t from_ns;

		wait_until_parked(p);
		from_ns = clock_now_ns();
		promotion_promote(p->promotion);
		p->call_ns[i] = clock_now_ns() - from_ns;
		while (!promotion_try_lead(p->promotion, false))
			nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	}
	wait_until_parked(p);
	promotion_sweep(p->promotion, ask_to_retire, NULL);
}

static int
compare_ns(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The lower quartile: whatever else the machine does at the moment only adds.
 */
static uint64_t
typical_ns(uint64_t values[ROUNDS])
{
	qsort(values, ROUNDS, sizeof(*values), compare_ns);
	return values[ROUNDS / 4];
}

static bool
measure_hand_over(struct partner *p)
{
	pthread_t thread;
	int rc;

	if (promotion_futex.create(no_kick, NULL, &p->promotion) < 0)
		return false;
	p->member.id = 1;
	/* The main thread leads first. */
	(void)promotion_try_lead(p->promotion, false);
	rc = thread_start(&thread, NULL, partner_main, p);
	if (rc == 0) {
		play(p);
		pthread_join(thread, NULL);
	}
	p->promotion->ops->free(p->promotion);
	return rc == 0;
}

uint64_t
policy_calibrate(void)
{
	struct partner *p = aligned_alloc(CACHE_LINE, sizeof(*p));
	uint64_t cost = ASSUMED_NS;

	if (!p)
		return cost;
	*p = (struct partner){.rounds = 0};
	if (measure_hand_over(p))
		cost = typical_ns(p->call_ns) + typical_ns(p->delay_ns);
	free(p);
	if (cost < LEAST_NS)
		return LEAST_NS;
	return cost > MOST_NS ? MOST_NS : cost;
}
