/* SPDX-License-Identifier: MIT
 * Turns: who asks gets one, in order, and nobody has the loop for long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "admin/client_slices.h"
#include "base/clock.h"

#define PLAYERS 8

struct player {
	struct client_slice slice;
	unsigned steps, wanted; /* done, and how many there are to be */
	uint64_t step_ns;       /* what each of them takes */
};

static struct ev_loop *loop;
static struct client_slices slices;
static struct player players[PLAYERS];
static struct player *order[PLAYERS * 1000];
static unsigned ordered;

/* Only steps take time, so a stall of the machine changes nothing. */
static uint64_t fake_ns;

static uint64_t
fake_now_ns(void)
{
	return fake_ns;
}

static bool
on_step(struct client_slice *slice)
{
	struct player *player = container_of(slice, struct player, slice);

	if (ordered == 0 || order[ordered - 1] != player)
		order[ordered++] = player;
	fake_ns += player->step_ns;
	return ++player->steps < player->wanted;
}

static int
setup(void **state)
{
	(void)state;
	loop = ev_loop_new(EVFLAG_AUTO);
	if (!loop)
		return -1;
	client_slices_init(&slices, loop);
	memset(players, 0, sizeof(players));
	for (int i = 0; i < PLAYERS; i++) {
		list_init(&players[i].slice.node);
		players[i].slice.step = on_step;
	}
	ordered = 0;
	clock_replace(fake_now_ns);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	client_slices_fini(&slices);
	ev_loop_destroy(loop);
	clock_replace(NULL);
	return 0;
}

static void
ask(unsigned i, unsigned wanted, uint64_t step_ns)
{
	players[i].wanted = wanted;
	players[i].step_ns = step_ns;
	client_slice_request(&slices, &players[i].slice);
}

static void
turns_come_in_the_order_of_asking(void **state)
{
	(void)state;
	ask(2, 1, 0);
	ask(0, 1, 0);
	ask(1, 1, 0);
	ask(2, 1, 0);
	ev_run(loop, EVRUN_NOWAIT);
	assert_int_equal(ordered, 3);
	assert_ptr_equal(order[0], &players[2]);
	assert_ptr_equal(order[1], &players[0]);
	assert_ptr_equal(order[2], &players[1]);
	assert_int_equal(players[2].steps, 1);
}

/* The first has work for ten slices, the others for a step: they take slices.
 */
static void
long_work_does_not_hold_up_the_others(void **state)
{
	(void)state;
	ask(0, 100, CLIENT_SLICE_NS / 10);
	ask(1, 1, 0);
	ask(2, 1, 0);
	while (players[0].steps < 100)
		ev_run(loop, EVRUN_NOWAIT);
	assert_int_equal(players[0].steps, 100);
	assert_ptr_equal(order[0], &players[0]);
	assert_ptr_equal(order[1], &players[1]);
	assert_ptr_equal(order[2], &players[0]);
	assert_ptr_equal(order[3], &players[2]);
}

/* Seven have work for many slices and queue up again; who asks then is next but
 * one at most, and does not wait for the round after. */
static void
who_has_just_asked_does_not_wait_for_those_who_go_on(void **state)
{
	const uint64_t step_ns = CLIENT_SLICE_NS / 10;
	unsigned before;

	(void)state;
	for (unsigned i = 0; i < PLAYERS - 1; i++)
		ask(i, 1000, step_ns);
	for (unsigned i = 0; i < PLAYERS; i++) {
		ev_run(loop, EVRUN_NOWAIT);
		while (ev_is_active(&slices.pause))
			ev_run(loop, EVRUN_NOWAIT);
	}
	for (unsigned i = 0; i < PLAYERS - 1; i++)
		assert_true(players[i].steps > 0);
	before = ordered;
	ask(PLAYERS - 1, 1, 0);
	while (players[PLAYERS - 1].steps == 0)
		ev_run(loop, EVRUN_NOWAIT);
	assert_ptr_equal(order[before], &players[PLAYERS - 1]);
}

/* And those who go on are not kept waiting by new ones that come and come. */
static void
who_goes_on_is_not_kept_waiting_by_who_asks(void **state)
{
	unsigned others = 0;

	(void)state;
	/* A step is a slice. */
	ask(0, 40, CLIENT_SLICE_NS);
	while (players[0].steps < 40 && others < 1000) {
		others = 0;
		for (unsigned j = 1; j < PLAYERS; j++) {
			ask(j, players[j].steps + 1, CLIENT_SLICE_NS);
			others += players[j].steps;
		}
		ev_run(loop, EVRUN_NOWAIT);
	}
	assert_int_equal(players[0].steps, 40);
	/* One of theirs for one of its own, and one for each round's start. */
	assert_true(others <= 2 * 40 + PLAYERS);
}

/* A round ends when its time is used up, however many want to go on. */
static void
round_has_a_budget(void **state)
{
	unsigned rounds = 0, steps = 0;

	(void)state;
	for (unsigned i = 0; i < PLAYERS; i++)
		ask(i, 4, CLIENT_SLICES_BUDGET_NS / 4);
	while (steps < PLAYERS * 4) {
		steps = 0;
		ev_run(loop, EVRUN_NOWAIT);
		for (unsigned i = 0; i < PLAYERS; i++)
			steps += players[i].steps;
		rounds++;
	}
	assert_true(rounds >= PLAYERS - 1);
}

static void
who_leaves_gets_no_turn(void **state)
{
	(void)state;
	ask(0, 1, 0);
	ask(1, 1, 0);
	list_remove(&players[0].slice.node);
	list_remove(&players[0].slice.node);
	ev_run(loop, EVRUN_NOWAIT);
	assert_int_equal(ordered, 1);
	assert_int_equal(players[0].steps, 0);
	assert_int_equal(players[1].steps, 1);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(turns_come_in_the_order_of_asking),
	    TEST(long_work_does_not_hold_up_the_others),
	    TEST(who_has_just_asked_does_not_wait_for_those_who_go_on),
	    TEST(who_goes_on_is_not_kept_waiting_by_who_asks),
	    TEST(round_has_a_budget),
	    TEST(who_leaves_gets_no_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
