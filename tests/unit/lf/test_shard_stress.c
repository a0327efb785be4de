/* SPDX-License-Identifier: MIT
 * A shard under fire: events, notes, turns that want to go on, handlers that
 * change their generation, all at once.
 */
#include "lf/shard.h"

#include <sched.h>

#include "lf/pool_rig.h"
#include "unit.h"

#define NOTERS 3

/* Posted and seen, or the deadline has passed; no nap, so that the next post
 * comes while the leader is on its way to sleep. */
static bool
seen_soon(struct fake *f, uint32_t want)
{
	uint64_t end = unit_now_ms() + UNIT_DEADLINE_S * 1000u;

	while (atomic_load_acquire(&f->seen) != want) {
		if (unit_now_ms() > end)
			return false;
		sched_yield();
	}
	return true;
}

static void
no_note_is_slept_through(void **state)
{
	struct rig rig;
	struct fake *f;

	rig_start(&rig, *state);
	f = rig_fake(&rig, NULL);
	for (uint32_t want = 1; want <= 3000; want++) {
		atomic_store_relaxed(&f->want, want);
		assert_true(shard_note(&f->handler, 1, NOTE_RESUME));
		assert_true(seen_soon(f, want));
	}
	rig_finish(&rig);
	assert_int_equal(rig.status.sum.fetched, 0);
}

static void
no_event_is_slept_through(void **state)
{
	struct rig rig;
	struct fake *f;

	rig_start(&rig, *state);
	f = rig_fake(&rig, NULL);
	for (uint32_t want = 1; want <= 3000; want++) {
		rig_feed_each(&rig, 0, 1);
		assert_true(seen_soon(f, want));
	}
	rig_finish(&rig);
}

static enum turn
go_on_now_and_then(
    struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	(void)pending;
	(void)self;
	return fake->turns % 3 == 0 ? TURN_MORE : TURN_DONE;
}

/* As a session that tries another server: the old events are stale from here
 * on; seen says that they are settled. */
static enum turn
renew_now_and_then(
    struct fake *fake, uint32_t pending, struct pool_thread *self)
{
	(void)pending;
	(void)self;
	if (fake->turns % 7 == 0)
		claim_renew(&fake->handler.claim, NOTE_RESUME);
	return fake->turns % 5 == 0 ? TURN_MORE : TURN_DONE;
}

struct fire {
	struct rig *rig;
	uint32_t ticket, stop, notes;
};

static void *
leave_notes(void *arg)
{
	struct fire *fire = arg;
	uint32_t random = unit_ticket(&fire->ticket) * 7 + 1;

	while (!atomic_load_relaxed(&fire->stop)) {
		uint32_t which = unit_random(&random) % fire->rig->fakes_n;
		struct fake *f = fire->rig->fakes[which];

		atomic_add_relaxed(&f->want, 1u);
		if (shard_note(&f->handler, claim_generation(&f->handler.claim),
		        NOTE_RESUME))
			atomic_add_relaxed(&fire->notes, 1u);
		if (random % 16 == 0)
			sched_yield();
	}
	return NULL;
}

static void
feed_at_random(struct rig *rig, uint32_t *random)
{
	struct handle_event batch[SHARD_BATCH];
	unsigned n = unit_random(random) % 16 + 1;

	/* Not faster than they are taken. */
	if (scripted_counts(rig_script(rig)).queued > 4 * SHARD_BATCH) {
		sched_yield();
		return;
	}
	for (unsigned i = 0; i < n; i++)
		batch[i] =
		    rig_event(rig->fakes[unit_random(random) % rig->fakes_n],
		        HANDLE_SERVER, HANDLE_READABLE);
	scripted_feed(rig_script(rig), batch, n);
}

static void
shoot(struct rig *rig)
{
	struct fire fire = {.rig = rig};
	struct unit_threads threads;
	uint64_t end = unit_now_ms() + 120;
	uint32_t random = 99;

	unit_threads_start(&threads, NOTERS, leave_notes, &fire);
	while (unit_now_ms() < end)
		feed_at_random(rig, &random);
	/* On a busy machine they may come late. */
	assert_true(unit_wait(atomic_load_relaxed(&fire.notes) > 0));
	atomic_store_relaxed(&fire.stop, 1u);
	unit_threads_join(&threads);
	/* One more event for each, in its present generation: whatever was
	 * refused before, this one must be seen. */
	assert_true(rig_quiet(rig));
	rig_feed_each(rig, 0, rig->fakes_n);
}

static void
everything_posted_is_dispatched_in_the_end(void **state)
{
	struct rig rig;

	rig_start(&rig, *state);
	for (int i = 0; i < 12; i++)
		rig_fake(&rig, go_on_now_and_then);
	shoot(&rig);
	rig_finish(&rig);
	assert_int_equal(rig.status.sum.stale, 0);
	for (int i = 0; i < 12; i++) {
		assert_int_equal(rig.fakes[i]->seen, rig.fakes[i]->want);
		assert_int_equal(rig.fakes[i]->bits,
		    NOTE_RESUME | HANDLE_READABLE << HANDLE_SIDE_SHIFT |
		        HANDLE_READABLE);
	}
}

static void
changing_generations_leave_an_exact_ledger(void **state)
{
	struct rig rig;

	rig_start(&rig, *state);
	for (int i = 0; i < 12; i++)
		rig_fake(&rig, renew_now_and_then);
	shoot(&rig);
	rig_finish(&rig);
	for (int i = 0; i < 12; i++)
		assert_int_equal(rig.fakes[i]->seen, rig.fakes[i]->want);
}

static void
one_busy_handler_has_one_owner_at_a_time(void **state)
{
	struct rig rig;

	rig_start(&rig, *state);
	rig_fake(&rig, go_on_now_and_then);
	shoot(&rig);
	rig_finish(&rig);
	assert_int_equal(rig.fakes[0]->seen, rig.fakes[0]->want);
}

int
main(void)
{
	static const struct rig_test tests[] = {
	    RIG_TEST(no_note_is_slept_through),
	    RIG_TEST(no_event_is_slept_through),
	    RIG_TEST(everything_posted_is_dispatched_in_the_end),
	    RIG_TEST(changing_generations_leave_an_exact_ledger),
	    RIG_TEST(one_busy_handler_has_one_owner_at_a_time),
	};

	return rig_run("shard under stress", tests, UNIT_N(tests));
}
