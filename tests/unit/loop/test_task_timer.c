/* SPDX-License-Identifier: MIT
 * Tasks on one timer.
 */
#include "loop/task_timer.h"

#include <stdlib.h>

#include "base/clock.h"
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
	        tasks_run_in_the_order_of_their_times_and_not_before),
	    cmocka_unit_test(
	        task_that_asks_again_is_run_again_and_the_loop_lives),
	    cmocka_unit_test(long_tasks_leave_the_loop_to_others),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
