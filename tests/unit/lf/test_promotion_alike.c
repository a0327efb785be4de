/* SPDX-License-Identifier: MIT
 * The textbook promotion is the oracle: the same random schedule of operations,
 * one at a time, gets the same answers from both kinds, and the same members
 * get the same commands.
 */
#include "lf/promotion_mutex.h"

#include <semaphore.h>
#include <stdlib.h>

#include "unit.h"

#define MEMBERS 6
#define STEPS   1500
#define TICKETS 4

/* A member's thread: joins when it is told to, and tells the command. */
struct player {
	struct member member; /* first: aligned */
	struct promotion *promotion;
	sem_t go;
	pthread_t id;
	uint32_t command; /* of the last join; MEMBER_WAIT: in it */
	uint32_t stop;
};

struct side {
	struct promotion *promotion;
	struct player players[MEMBERS];
	uint64_t tickets[TICKETS];
	uint32_t kicks;
};

struct match {
	struct side sides[2];
	bool out[MEMBERS]; /* not in join */
	unsigned parked;
	unsigned tickets_n;
	uint32_t random;
};

static void *
play(void *arg)
{
	struct player *p = arg;

	for (;;) {
		sem_wait(&p->go);
		if (atomic_load_relaxed(&p->stop))
			return NULL;
		atomic_store_release(&p->command,
		    (uint32_t)promotion_join(p->promotion, &p->member));
	}
}

static void
count_kick(void *arg)
{
	struct side *s = arg;

	atomic_add_relaxed(&s->kicks, 1u);
}

static void
start_side(struct side *s, const struct promotion_ops *ops)
{
	memset(s, 0, sizeof(*s));
	assert_int_equal(ops->create(count_kick, s, &s->promotion), 0);
	for (unsigned i = 0; i < MEMBERS; i++) {
		struct player *p = &s->players[i];

		p->promotion = s->promotion;
		p->member.id = (uint16_t)(i + 1);
		p->member.grade = (uint16_t)(i % 3);
		p->command = MEMBER_RETIRE;
		sem_init(&p->go, 0, 0);
		assert_int_equal(pthread_create(&p->id, NULL, play, p), 0);
	}
}

static void
end_side(struct side *s)
{
	for (unsigned i = 0; i < MEMBERS; i++) {
		struct player *p = &s->players[i];

		atomic_store_relaxed(&p->stop, 1u);
		sem_post(&p->go);
		assert_int_equal(pthread_join(p->id, NULL), 0);
		sem_destroy(&p->go);
	}
	s->promotion->ops->free(s->promotion);
}

static unsigned
choose(struct match *m, unsigned n)
{
	return unit_random(&m->random) % n;
}

/* One member joins on both sides: it leads at once on both, or parks on both.
 */
static void
join(struct match *m)
{
	unsigned i = choose(m, MEMBERS);
	bool parks = promotion_token(m->sides[0].promotion) == TOKEN_HELD;
	uint32_t summons = choose(m, 4) == 0 ? MEMBER_MOVE : 0;

	if (!m->out[i])
		return;
	m->parked += parks;
	for (int k = 0; k < 2; k++) {
		struct side *s = &m->sides[k];
		struct player *p = &s->players[i];

		p->member.summons = summons;
		atomic_store_relaxed(&p->command, MEMBER_WAIT);
		sem_post(&p->go);
		if (parks)
			assert_true(unit_wait(
			    promotion_parked(s->promotion) == m->parked));
		else
			assert_true(unit_wait(
			    atomic_load_acquire(&p->command) == MEMBER_LEAD));
	}
	m->out[i] = !parks;
	if (parks && summons != 0)
		assert_true(unit_wait(atomic_load_relaxed(&m->sides[0].kicks) ==
		                      atomic_load_relaxed(&m->sides[1].kicks)));
}

/* Those who left join with this command: the same on both sides, so many. */
static void
expect_called(struct match *m, unsigned n)
{
	unsigned seen = 0;

	for (unsigned i = 0; i < MEMBERS; i++) {
		struct player *p = &m->sides[0].players[i];
		struct player *q = &m->sides[1].players[i];
		uint32_t c;

		if (m->out[i])
			continue;
		/* Who comes out on one side does on the other. */
		if (seen < n)
			(void)unit_wait(
			    atomic_load_acquire(&p->command) != MEMBER_WAIT ||
			    promotion_parked(m->sides[0].promotion) ==
			        m->parked);
		c = atomic_load_acquire(&p->command);
		if (c == MEMBER_WAIT)
			continue;
		assert_true(unit_wait(atomic_load_acquire(&q->command) == c));
		m->out[i] = true;
		seen++;
	}
	assert_int_equal(seen, n);
}

static void
promote(struct match *m)
{
	bool called[2];

	for (int k = 0; k < 2; k++)
		called[k] = promotion_promote(m->sides[k].promotion);
	assert_int_equal(called[0], called[1]);
	assert_int_equal(called[0], m->parked > 0);
	if (!called[0])
		return;
	m->parked--;
	/* Until the one that was called is out. */
	assert_true(unit_wait(({
		unsigned in = 0;

		for (unsigned i = 0; i < MEMBERS; i++)
			in +=
			    !m->out[i] &&
			    atomic_load_acquire(
			        &m->sides[0].players[i].command) == MEMBER_WAIT;
		in == m->parked;
	})));
	expect_called(m, 1);
}

struct sweeping {
	uint32_t which;
	enum member_command command;
	unsigned n;
};

static enum member_command
ask(struct member *member, void *arg)
{
	struct sweeping *w = arg;

	if (!(w->which >> member->id & 1))
		return MEMBER_WAIT;
	w->n++;
	return w->command;
}

static void
sweep(struct match *m)
{
	struct sweeping w[2];

	w[0] = w[1] = (struct sweeping){.which = unit_random(&m->random),
	    .command = (enum member_command)(MEMBER_RETIRE + choose(m, 3))};
	for (int k = 0; k < 2; k++)
		promotion_sweep(m->sides[k].promotion, ask, &w[k]);
	assert_int_equal(w[0].n, w[1].n);
	m->parked -= w[0].n;
	for (unsigned i = 0; i < MEMBERS; i++)
		if (!m->out[i] && w[0].which >> (i + 1) & 1)
			assert_true(
			    unit_wait(atomic_load_acquire(
			                  &m->sides[0].players[i].command) ==
			              (uint32_t)w[0].command));
	expect_called(m, w[0].n);
}

static void
be_busy(struct match *m)
{
	for (int k = 0; k < 2; k++)
		m->sides[k].tickets[m->tickets_n % TICKETS] =
		    promotion_busy(m->sides[k].promotion);
	m->tickets_n++;
}

/* Also with tickets that were used long ago. */
static void
resume(struct match *m)
{
	unsigned t = choose(m, TICKETS);
	bool mine[2];

	if (t >= m->tickets_n)
		return;
	for (int k = 0; k < 2; k++)
		mine[k] = promotion_resume(
		    m->sides[k].promotion, m->sides[k].tickets[t]);
	assert_int_equal(mine[0], mine[1]);
}

static void
try_lead(struct match *m)
{
	bool busy_too = choose(m, 2), taken[2];

	for (int k = 0; k < 2; k++)
		taken[k] = promotion_try_lead(m->sides[k].promotion, busy_too);
	assert_int_equal(taken[0], taken[1]);
}

static void
set_order(struct match *m)
{
	uint32_t order = choose(m, 3);

	for (int k = 0; k < 2; k++)
		atomic_store_relaxed(&m->sides[k].promotion->order, order);
}

static void
step(struct match *m)
{
	bool held = promotion_token(m->sides[0].promotion) == TOKEN_HELD;

	switch (choose(m, 16)) {
	case 0:
		set_order(m);
		break;
	case 1:
		try_lead(m);
		break;
	case 2:
	case 3:
		resume(m);
		break;
	case 4:
	case 5:
		if (held)
			be_busy(m);
		break;
	case 6:
		if (held)
			sweep(m);
		break;
	case 7:
	case 8:
	case 9:
		if (held)
			promote(m);
		break;
	default:
		join(m);
	}
}

static void
compare(struct match *m)
{
	const struct promotion *p = m->sides[0].promotion;
	const struct promotion *q = m->sides[1].promotion;

	assert_int_equal(promotion_token(p), promotion_token(q));
	assert_int_equal(promotion_parked(p), m->parked);
	assert_int_equal(promotion_parked(q), m->parked);
	assert_int_equal(p->taken_over, q->taken_over);
}

static void
retire_the_rest(struct match *m)
{
	struct sweeping w[2];

	(void)promotion_try_lead(m->sides[0].promotion, true);
	(void)promotion_try_lead(m->sides[1].promotion, true);
	w[0] = w[1] = (struct sweeping){.which = ~0u, .command = MEMBER_RETIRE};
	for (int k = 0; k < 2; k++)
		promotion_sweep(m->sides[k].promotion, ask, &w[k]);
	assert_int_equal(w[0].n, m->parked);
	assert_int_equal(w[1].n, m->parked);
}

static void
the_same_schedule_gets_the_same_answers(void **state)
{
	struct match *m = aligned_alloc(CACHE_LINE, sizeof(*m));

	(void)state;
	assert_non_null(m);
	for (uint32_t seed = 1; seed <= 4; seed++) {
		memset(m, 0, sizeof(*m));
		m->random = seed * 2654435761u;
		start_side(&m->sides[0], &promotion_mutex);
		start_side(&m->sides[1], &promotion_futex);
		for (unsigned i = 0; i < MEMBERS; i++)
			m->out[i] = true;
		for (int i = 0; i < STEPS; i++) {
			step(m);
			compare(m);
		}
		assert_true(m->sides[0].promotion->taken_over > 0);
		assert_true(m->sides[0].kicks > 0);
		retire_the_rest(m);
		end_side(&m->sides[0]);
		end_side(&m->sides[1]);
	}
	free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_same_schedule_gets_the_same_answers),
	};

	unit_watchdog();
	return cmocka_run_group_tests_name(
	    "promotion: mutex and futex alike", tests, NULL, NULL);
}
