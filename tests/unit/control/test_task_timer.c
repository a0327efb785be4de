/* SPDX-License-Identifier: MIT
 * Tasks on one timer; the oldest of many; shares of a number over a time.
 */
#include "control/task_timer.h"

#include <stdlib.h>

#include "base/clock.h"
#include "control/drains.h"
#include "control/oldest_sessions.h"
#include "unit.h"

struct job {
	struct timed_task task;
	unsigned ran, again;
	uint64_t at_ms, busy_ms;
};

static unsigned ran_in_order;

static void
on_job(struct timed_task *task, uint64_t now_ms)
{
	struct job *job = container_of(task, struct job, task);
	uint64_t until_ms = unit_now_ms() + job->busy_ms;

	(void)now_ms;
	job->at_ms = clock_now_ms();
	job->ran = ++ran_in_order;
	while (unit_now_ms() < until_ms)
		;
	if (job->again > 0) {
		job->again--;
		timed_task_schedule(task, 0);
	}
}

static struct ev_loop *
start(struct task_timer *timer, struct job *jobs, size_t n)
{
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);

	assert_non_null(loop);
	task_timer_init(timer, loop);
	ran_in_order = 0;
	for (size_t i = 0; i < n; i++) {
		jobs[i] = (struct job){.ran = 0};
		timed_task_init(&jobs[i].task, timer, on_job);
	}
	return loop;
}

/* The loop ends when nothing is left to wait for. */
static void
finish(struct task_timer *timer, struct ev_loop *loop)
{
	ev_run(loop, 0);
	assert_true(list_empty(&timer->tasks));
	task_timer_fini(timer);
	ev_loop_destroy(loop);
}

static void
tasks_run_in_the_order_of_their_times_and_not_before(void **state)
{
	uint64_t now_ms = clock_now_ms();
	struct task_timer timer;
	struct job jobs[4];
	struct ev_loop *loop = start(&timer, jobs, 4);

	(void)state;
	timed_task_schedule(&jobs[0].task, now_ms + 60);
	timed_task_schedule(&jobs[1].task, now_ms + 20);
	timed_task_schedule(&jobs[2].task, now_ms + 40);
	timed_task_schedule(&jobs[3].task, now_ms + 10);
	/* Another time instead, and not at all. */
	timed_task_schedule(&jobs[1].task, now_ms + 80);
	timed_task_cancel(&jobs[3].task);
	finish(&timer, loop);
	assert_int_equal(jobs[2].ran, 1);
	assert_int_equal(jobs[0].ran, 2);
	assert_int_equal(jobs[1].ran, 3);
	assert_int_equal(jobs[3].ran, 0);
	assert_true(jobs[2].at_ms >= now_ms + 40);
	assert_true(jobs[0].at_ms >= now_ms + 60);
	assert_true(jobs[1].at_ms >= now_ms + 80);
}

static void
task_that_asks_again_is_run_again_and_the_loop_lives(void **state)
{
	struct task_timer timer;
	struct job jobs[2];
	struct ev_loop *loop = start(&timer, jobs, 2);

	(void)state;
	jobs[0].again = 5;
	timed_task_schedule(&jobs[0].task, 0);
	timed_task_schedule(&jobs[1].task, clock_now_ms() + 30);
	finish(&timer, loop);
	assert_int_equal(jobs[0].again, 0);
	assert_int_equal(ran_in_order, 7);
}

/* Each takes 2 ms, so they are run in turns of their own. */
static void
long_tasks_leave_the_loop_to_others(void **state)
{
	uint64_t now_ms = clock_now_ms();
	struct task_timer timer;
	struct job jobs[8];
	struct ev_loop *loop = start(&timer, jobs, 8);
	unsigned before;

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		jobs[i].busy_ms = 2;
		timed_task_schedule(&jobs[i].task, now_ms + 1);
	}
	while (ran_in_order == 0)
		ev_run(loop, EVRUN_ONCE);
	while (ran_in_order < 8) {
		before = ran_in_order;
		ev_run(loop, EVRUN_ONCE);
		assert_true(ran_in_order - before <= 1);
	}
	finish(&timer, loop);
}

static void
oldest_keeps_the_oldest_sorted(void **state)
{
	struct oldest_sessions oldest = {NULL};
	uint32_t seed = 99;
	uint64_t all[500];

	(void)state;
	assert_true(oldest_sessions_reset(&oldest, 0));
	oldest_sessions_offer(&oldest, &(struct session_age){.born_ms = 1});
	assert_int_equal(oldest.n, 0);
	oldest_sessions_sort(&oldest);
	assert_true(oldest_sessions_reset(&oldest, 20));
	for (size_t i = 0; i < UNIT_N(all); i++)
		all[i] = i * 3;
	for (size_t i = UNIT_N(all) - 1; i > 0; i--) {
		size_t j = unit_random(&seed) % (i + 1);
		uint64_t t = all[i];

		all[i] = all[j];
		all[j] = t;
	}
	for (size_t i = 0; i < UNIT_N(all); i++)
		oldest_sessions_offer(&oldest,
		    &(struct session_age){.born_ms = all[i], .id = all[i] + 7});
	oldest_sessions_sort(&oldest);
	assert_int_equal(oldest.n, 20);
	for (size_t i = 0; i < oldest.n; i++) {
		assert_int_equal(oldest.all[i].born_ms, 3 * i);
		assert_int_equal(oldest.all[i].id, 3 * i + 7);
	}
	/* Fewer than there is room for. */
	assert_true(oldest_sessions_reset(&oldest, 5));
	assert_int_equal(oldest.n, 0);
	oldest_sessions_offer(&oldest, &(struct session_age){.born_ms = 9});
	assert_int_equal(oldest.n, 1);
	oldest_sessions_fini(&oldest);
}

static void
share_grows_evenly_to_the_whole(void **state)
{
	uint32_t before = 0;

	(void)state;
	assert_int_equal(drain_share(10, 0, 5000), 0);
	assert_int_equal(drain_share(10, 1, 5000), 1);
	assert_int_equal(drain_share(10, 2500, 5000), 5);
	assert_int_equal(drain_share(10, 5000, 5000), 10);
	assert_int_equal(drain_share(10, 9999, 5000), 10);
	assert_int_equal(drain_share(0, 100, 5000), 0);
	for (uint64_t ms = 0; ms <= 5000; ms += 50) {
		uint32_t now = drain_share(100000, ms, 5000);

		assert_int_equal(now - before, ms > 0 ? 1000 : 0);
		before = now;
	}
}

static void
orders_read_as_they_are_written(void **state)
{
	char text[DRAIN_TEXT_SIZE];

	(void)state;
	assert_string_equal(
	    drain_order_text(&(struct drain_order){0}, text), "drain");
	assert_string_equal(
	    drain_order_text(&(struct drain_order){.over_ms = 600000,
	                         .then = DRAIN_THEN_KILL},
	        text),
	    "drain over 10m then kill");
	assert_string_equal(
	    drain_order_text(
	        &(struct drain_order){.then = DRAIN_THEN_MAINT}, text),
	    "drain then maint");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
	        tasks_run_in_the_order_of_their_times_and_not_before),
	    cmocka_unit_test(
	        task_that_asks_again_is_run_again_and_the_loop_lives),
	    cmocka_unit_test(long_tasks_leave_the_loop_to_others),
	    cmocka_unit_test(oldest_keeps_the_oldest_sorted),
	    cmocka_unit_test(share_grows_evenly_to_the_whole),
	    cmocka_unit_test(orders_read_as_they_are_written),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
