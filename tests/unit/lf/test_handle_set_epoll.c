/* SPDX-License-Identifier: MIT
 * The handle set on epoll: the edge semantics that the sessions rely on.
 */
#include "lf/handle_set.h"

#include <errno.h>
#include <sys/socket.h>

#include "unit.h"

#define INTEREST (HANDLE_READABLE | HANDLE_WRITABLE | HANDLE_READ_CLOSED)

struct bench {
	struct handle_set *set;
	int ours, peer;
	handle_t handle;
	struct handle_event events[8];
};

static int
setup(void **state)
{
	static struct bench b;
	int ends[2];

	assert_int_equal(handle_set_epoll_new(&b.set), 0);
	assert_int_equal(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	b.ours = ends[0];
	b.peer = ends[1];
	b.handle = handle_make(77, 12345, HANDLE_SERVER);
	*state = &b;
	return 0;
}

static int
teardown(void **state)
{
	struct bench *b = *state;

	handle_set_free(b->set);
	if (b->ours >= 0)
		close(b->ours);
	if (b->peer >= 0)
		close(b->peer);
	return 0;
}

static int
wait_now(struct bench *b)
{
	return handle_set_wait(b->set, b->events, (int)UNIT_N(b->events), 0);
}

/* Exactly one event, of our handle, with these bits. */
static void
assert_one(struct bench *b, uint32_t ready)
{
	assert_int_equal(wait_now(b), 1);
	assert_int_equal(b->events[0].handle, b->handle);
	assert_int_equal(b->events[0].ready, ready);
}

static void
add(struct bench *b)
{
	assert_int_equal(
	    handle_set_add(b->set, b->ours, b->handle, INTEREST), 0);
}

static void
add_reports_the_present_state(void **state)
{
	struct bench *b = *state;

	assert_int_equal(write(b->peer, "x", 1), 1);
	add(b);
	assert_one(b, HANDLE_READABLE | HANDLE_WRITABLE);
}

static void
an_edge_is_reported_once(void **state)
{
	struct bench *b = *state;

	add(b);
	assert_one(b, HANDLE_WRITABLE);
	assert_int_equal(wait_now(b), 0);
	assert_int_equal(write(b->peer, "x", 1), 1);
	assert_one(b, HANDLE_READABLE | HANDLE_WRITABLE);
	assert_int_equal(wait_now(b), 0);
	assert_int_equal(write(b->peer, "y", 1), 1);
	assert_one(b, HANDLE_READABLE | HANDLE_WRITABLE);
}

static void
only_the_interest_is_reported(void **state)
{
	struct bench *b = *state;

	assert_int_equal(
	    handle_set_add(b->set, b->ours, b->handle, HANDLE_READABLE), 0);
	assert_int_equal(wait_now(b), 0);
	assert_int_equal(write(b->peer, "x", 1), 1);
	assert_one(b, HANDLE_READABLE);
}

static void
reactivate_reports_the_present_state_again(void **state)
{
	struct bench *b = *state;

	add(b);
	assert_int_equal(write(b->peer, "x", 1), 1);
	assert_one(b, HANDLE_READABLE | HANDLE_WRITABLE);
	assert_int_equal(wait_now(b), 0);
	b->handle = handle_make(78, 12345, HANDLE_SERVER);
	assert_int_equal(
	    handle_set_reactivate(b->set, b->ours, b->handle, INTEREST), 0);
	assert_one(b, HANDLE_READABLE | HANDLE_WRITABLE);
}

static void
a_half_close_is_told_from_a_hang_up(void **state)
{
	struct bench *b = *state;

	add(b);
	assert_one(b, HANDLE_WRITABLE);
	shutdown(b->peer, SHUT_WR);
	assert_one(b, HANDLE_READABLE | HANDLE_WRITABLE | HANDLE_READ_CLOSED);
	close(b->peer);
	b->peer = -1;
	assert_one(b, HANDLE_READABLE | HANDLE_WRITABLE | HANDLE_READ_CLOSED |
	                  HANDLE_HUNG_UP);
}

static void
an_error_is_reported_without_interest(void **state)
{
	struct bench *b = *state;

	/* What we wrote is unread when the peer closes: a reset. */
	assert_int_equal(handle_set_add(b->set, b->ours, b->handle, 0), 0);
	assert_int_equal(write(b->ours, "x", 1), 1);
	close(b->peer);
	b->peer = -1;
	assert_one(b, HANDLE_HUNG_UP | HANDLE_ERROR);
}

static void
what_is_removed_is_silent(void **state)
{
	struct bench *b = *state;

	add(b);
	assert_int_equal(handle_set_remove(b->set, b->ours), 0);
	assert_int_equal(write(b->peer, "x", 1), 1);
	assert_int_equal(wait_now(b), 0);
	assert_int_equal(handle_set_remove(b->set, b->ours), -ENOENT);
	assert_int_equal(
	    handle_set_reactivate(b->set, b->ours, b->handle, INTEREST),
	    -ENOENT);
	add(b);
	assert_one(b, HANDLE_READABLE | HANDLE_WRITABLE);
}

static void
closing_removes(void **state)
{
	struct bench *b = *state;

	add(b);
	close(b->ours);
	b->ours = -1;
	assert_int_equal(wait_now(b), 0);
}

static void
add_of_no_descriptor_or_twice_is_an_error(void **state)
{
	struct bench *b = *state;

	assert_int_equal(
	    handle_set_add(b->set, -1, b->handle, INTEREST), -EBADF);
	add(b);
	assert_int_equal(
	    handle_set_add(b->set, b->ours, b->handle, INTEREST), -EEXIST);
}

static void
wait_returns_at_most_max_and_keeps_the_rest(void **state)
{
	struct bench *b = *state;
	int ends[5][2], n, seen = 0;

	for (int i = 0; i < 5; i++) {
		assert_int_equal(
		    socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
		assert_int_equal(
		    handle_set_add(b->set, ends[i][0],
		        handle_make(1, (uint32_t)i, HANDLE_CLIENT), INTEREST),
		    0);
	}
	for (int waits = 0; waits < 3; waits++) {
		n = handle_set_wait(b->set, b->events, 2, 0);
		assert_in_range(n, 0, 2);
		for (int i = 0; i < n; i++)
			seen |= 1 << handle_slot(b->events[i].handle);
	}
	assert_int_equal(seen, 0x1f);
	for (int i = 0; i < 5; i++) {
		close(ends[i][0]);
		close(ends[i][1]);
	}
}

static void
a_wake_beforehand_ends_the_next_wait_only(void **state)
{
	struct bench *b = *state;

	handle_set_wake(b->set);
	/* Without a time-out: it must not block. */
	assert_int_equal(
	    handle_set_wait(b->set, b->events, (int)UNIT_N(b->events), -1), 0);
	for (int i = 0; i < 1000; i++) {
		handle_set_wake(b->set);
		handle_set_wake(b->set);
		assert_int_equal(handle_set_wait(b->set, b->events,
		                     (int)UNIT_N(b->events), -1),
		    0);
	}
	add(b);
	assert_one(b, HANDLE_WRITABLE);
}

struct sleeper {
	struct handle_set *set;
	uint32_t rounds, result;
};

static void *
sleep_again_and_again(void *arg)
{
	struct sleeper *s = arg;
	struct handle_event e;

	for (int i = 0; i < 2000; i++) {
		int n = handle_set_wait(s->set, &e, 1, -1);

		atomic_or_acq_rel(&s->result, (uint32_t)n);
		atomic_add_acq_rel(&s->rounds, 1u);
	}
	return NULL;
}

static void
every_wake_ends_a_wait_of_another_thread(void **state)
{
	struct bench *b = *state;
	struct sleeper s = {.set = b->set};
	struct unit_threads threads;
	bool woke = true;

	unit_threads_start(&threads, 1, sleep_again_and_again, &s);
	for (uint32_t i = 0; i < 2000 && woke; i++) {
		uint64_t end = unit_now_ms() + UNIT_DEADLINE_S * 1000u;

		handle_set_wake(b->set);
		while ((woke = atomic_load_acquire(&s.rounds) > i) == false &&
		       unit_now_ms() < end)
			;
	}
	assert_true(woke);
	unit_threads_join(&threads);
	assert_int_equal(s.result, 0);
}

static void
wait_ends_after_its_time(void **state)
{
	struct bench *b = *state;
	uint64_t begin = unit_now_ms();

	assert_int_equal(handle_set_wait(b->set, b->events, 1, 20), 0);
	assert_true(unit_now_ms() - begin >= 19);
}

#define ON_BENCH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    ON_BENCH(add_reports_the_present_state),
	    ON_BENCH(an_edge_is_reported_once),
	    ON_BENCH(only_the_interest_is_reported),
	    ON_BENCH(reactivate_reports_the_present_state_again),
	    ON_BENCH(a_half_close_is_told_from_a_hang_up),
	    ON_BENCH(an_error_is_reported_without_interest),
	    ON_BENCH(what_is_removed_is_silent),
	    ON_BENCH(closing_removes),
	    ON_BENCH(add_of_no_descriptor_or_twice_is_an_error),
	    ON_BENCH(wait_returns_at_most_max_and_keeps_the_rest),
	    ON_BENCH(a_wake_beforehand_ends_the_next_wait_only),
	    ON_BENCH(every_wake_ends_a_wait_of_another_thread),
	    ON_BENCH(wait_ends_after_its_time),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
