/* SPDX-License-Identifier: MIT
 * See conformance.h.
 */
#include "lf/conformance.h"

#include <sched.h>
#include <stdlib.h>

#include "base/ensure.h"
#include "lf/pool_rig.h"
#include "unit.h"

#define HANDLERS 24
#define BUDGET   3 /* bytes per turn; more is TURN_MORE */

/* The release build and ThreadSanitizer look for what threads do to each other,
 * so their load takes the whole time.  AddressSanitizer and the emulator look
 * at the same calls, whichever thread makes them. */
#if defined(__SANITIZE_ADDRESS__) || defined(UNIT_EMULATED)
#define SHARE 0.25
#else
#define SHARE 1.0
#endif

struct combination {
	struct rig_setup setup;
	unsigned ms;
};

struct load {
	struct rig *rig;
	uint32_t random;
	uint64_t written[HANDLERS];
	/* The other source: notes from a thread that is none of the pool's. */
	pthread_t noter;
	uint32_t stop;
	uint64_t notes;
};

/* As a session: reads what there is, up to a budget; a few end now and then and
 * begin anew. */
static enum turn
read_wire(struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	uint32_t n =
	    machine_read(fake->rig->machine, (int)fake->number, BUDGET);

	(void)pending;
	fake->read += n;
	if (fake->number % 4 == 3 && fake->turns % 61 == 0)
		return fake_reincarnate(fake, self);
	return n == BUDGET ? TURN_MORE : TURN_DONE;
}

static void
write_some(struct load *l)
{
	unsigned n = unit_random(&l->random) % 12;

	for (unsigned i = 0; i < n; i++) {
		uint32_t which = unit_random(&l->random) % HANDLERS;
		uint32_t bytes = unit_random(&l->random) % 8 + 1;
		struct fake *f = l->rig->fakes[which];

		atomic_add_relaxed(&f->want, 1u);
		l->written[which] += bytes;
		machine_write(l->rig->machine, (int)which, bytes);
	}
}

static void *
leave_notes(void *arg)
{
	struct load *l = arg;
	uint32_t random = 4711;

	/* On a busy machine it may not have run before it is to stop. */
	while (!atomic_load_relaxed(&l->stop) || l->notes == 0) {
		struct fake *f = l->rig->fakes[unit_random(&random) % HANDLERS];

		atomic_add_relaxed(&f->want, 1u);
		l->notes += fake_note(f, NOTE_RESUME);
		/* A thread that sleeps now and then, as control does, sees
		 * leaders that sleep. */
		if (random % 8 == 0)
			unit_nap();
	}
	return NULL;
}

/* One write and one note, each to a pool that is at rest: a lost wake-up shows
 * as a test that hangs.  Returns when all was seen. */
static void
wake_from_sleep(struct rig *rig)
{
	for (unsigned i = 0; i < HANDLERS; i++) {
		struct fake *f = rig->fakes[i];
		uint64_t turns = f->turns;

		machine_write(rig->machine, (int)i, 1);
		assert_true(rig_quiet(rig));
		assert_true(f->turns > turns);
		f->left++;
		turns = f->turns;
		assert_true(fake_note(f, NOTE_RESUME));
		assert_true(rig_quiet(rig));
		assert_true(f->turns > turns);
	}
}

static void
drive(struct load *l, uint64_t ms)
{
	uint64_t end_ms = unit_now_ms() + ms;

	do {
		write_some(l);
		rig_control(l->rig);
		if (unit_random(&l->random) % 4 == 0)
			unit_nap();
		else
			sched_yield();
	} while (unit_now_ms() < end_ms);
}

/* A change, and how long it is watched; 0: leave it as it is. */
struct change {
	unsigned threads, shards;
	int policy, order; /* from 1 */
};

static const struct change changes[] = {
    {.threads = 8},
    {.shards = 4},
    {.policy = 1 + POLICY_ALWAYS, .order = 1 + ORDER_FIFO},
    {.shards = 1},
    {.threads = 2},
    {.policy = 1 + POLICY_KERNEL},
    {.threads = 5, .order = 1 + ORDER_PRIORITY},
    {.shards = 4},
    {.policy = 1 + POLICY_ADAPTIVE},
    /* Both in one breath: threads go while shards still close. */
    {.shards = 1, .threads = 1},
    {.policy = 1 + POLICY_ALWAYS, .order = 1 + ORDER_LIFO},
};

static void
change(struct rig *rig, const struct change *c)
{
	if (c->shards > 0)
		rig_set_shards(rig, c->shards);
	if (c->threads > 0)
		rig_set_threads(rig, c->threads);
	if (c->policy > 0)
		pool_set_policy(rig->pool, (enum policy_kind)(c->policy - 1));
	if (c->order > 0)
		pool_set_order(rig->pool, (enum promotion_order)(c->order - 1));
}

/* From wherever the setup begins. */
static void
go_through_changes(struct load *l, unsigned ms)
{
	struct rig *rig = l->rig;

	rig_set_shards(rig, 1);
	rig_set_threads(rig, 1);
	for (size_t i = 0; i < UNIT_N(changes); i++) {
		drive(l, ms / UNIT_N(changes));
		change(rig, &changes[i]);
	}
	drive(l, ms / UNIT_N(changes));
}

static void
return_to_setup(struct rig *rig)
{
	rig_set_threads(rig, rig->setup.threads);
	rig_set_shards(rig, rig->setup.shards);
	pool_set_policy(rig->pool, rig->setup.policy);
	pool_set_order(rig->pool, rig->setup.order);
}

static void
nothing_is_left(struct load *l)
{
	struct rig *rig = l->rig;

	assert_true(rig_quiet(rig));
	for (unsigned i = 0; i < HANDLERS; i++) {
		struct fake *f = rig->fakes[i];

		assert_int_equal(f->read, l->written[i] + f->left);
		/* A note that came while it ended ended with it. */
		if (i % 4 != 3)
			assert_int_equal(f->seen, f->want);
		/* The pool's shards, not one that was closed. */
		assert_true(
		    f->handler.shard->id < pool_shards_wanted(rig->pool));
	}
}

static void
conforms(void **state)
{
	const struct combination *c = *state;
	struct load l = {.random = 20231};
	struct rig rig;

	alarm(UNIT_DEADLINE_S * 3);
	rig_start(&rig, &c->setup);
	l.rig = &rig;
	for (unsigned i = 0; i < HANDLERS; i++)
		rig_fake(&rig, read_wire);
	wake_from_sleep(&rig);
	assert_int_equal(pthread_create(&l.noter, NULL, leave_notes, &l), 0);
	drive(&l, c->ms / 3);
	go_through_changes(&l, c->ms - c->ms / 3);
	return_to_setup(&rig);
	atomic_store_relaxed(&l.stop, 1u);
	assert_int_equal(pthread_join(l.noter, NULL), 0);
	nothing_is_left(&l);
	wake_from_sleep(&rig);
	rig_finish(&rig);
	assert_true(l.notes > 0);
	assert_int_equal(rig.status.handlers, HANDLERS);
	assert_int_equal(rig.status.threads, c->setup.threads);
	assert_int_equal(rig.status.shards, c->setup.shards);
	assert_true(rig.status.sum.turns >= rig.status.sum.dispatched);
}

static const struct {
	unsigned shards, threads;
} sizes[] = {{1, 1}, {1, 2}, {2, 2}, {1, 8}, {2, 8}, {4, 8}};

#define COMBINATIONS_MAX (3 * 3 * UNIT_N(sizes))

static size_t
make_combinations(
    const struct promotion_ops *promotion, unsigned ms, struct combination *ret)
{
	size_t n = 0;

	for (int policy = POLICY_ADAPTIVE; policy <= POLICY_KERNEL; policy++)
		for (int order = ORDER_LIFO; order <= ORDER_PRIORITY; order++)
			for (size_t i = 0; i < UNIT_N(sizes); i++)
				ret[n++] = (struct combination){
				    .setup = {.promotion = promotion,
				        .policy = policy,
				        .order = order,
				        .threads = sizes[i].threads,
				        .shards = sizes[i].shards},
				    .ms = ms};
	return n;
}

static unsigned
scaled(unsigned ms)
{
	const char *scale = getenv("LFPROXY_CONFORMANCE");

	return (unsigned)(SHARE * ms * (scale ? strtod(scale, NULL) : 1));
}

int
conformance_run(
    const char *group, const struct promotion_ops *promotion, unsigned ms)
{
	static struct combination combinations[COMBINATIONS_MAX];
	static struct CMUnitTest tests[COMBINATIONS_MAX];
	size_t n = make_combinations(promotion, scaled(ms), combinations);
	int rc;

	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){
		    .name = rig_setup_name(&combinations[i].setup),
		    .test_func = conforms,
		    .initial_state = &combinations[i]};
	rc = _cmocka_run_group_tests(group, tests, n, NULL, NULL);
	for (size_t i = 0; i < n; i++)
		free((void *)(uintptr_t)tests[i].name);
	return rc;
}
