/* SPDX-License-Identifier: MIT
 * Timed tasks of the control loop, any number of them on one ev_timer.
 *
 * A task is embedded in the object it works for, and runs once each time it was
 * scheduled.  The timer expires at multiples of TASK_TIMER_ROUND_MS, so that
 * tasks scheduled for nearly the same time cost one wake-up.  Tasks run for
 * TASK_TIMER_BUDGET_NS per wake-up; those left over run TASK_TIMER_REST_MS
 * later, because checks and clients wait meanwhile.
 *
 * All functions run on the control thread.
 */
#ifndef LOOP_TASK_TIMER_H
#define LOOP_TASK_TIMER_H

#include <ev.h>
#include <stdint.h>

#include "base/list.h"

#define TASK_TIMER_ROUND_MS  10
#define TASK_TIMER_BUDGET_NS (500 * 1000)
#define TASK_TIMER_REST_MS   2

struct task_timer {
	struct ev_loop *loop;
	ev_timer timer;
	struct list tasks; /* in the order of at_ms */
};

struct timed_task {
	struct list node;
	struct task_timer *timer;
	uint64_t at_ms; /* clock_now_ms */
	/* Runs after the task was taken off the timer, so it may schedule the
	 * task again, or free the object that embeds it. */
	void (*run)(struct timed_task *task, uint64_t now_ms);
};

/* Initializes a timer without tasks on the loop. */
void task_timer_init(struct task_timer *timer, struct ev_loop *loop);
/* Stops the timer.  Tasks that are still scheduled never run. */
void task_timer_fini(struct task_timer *timer);

/* Initializes a task of the timer that is not scheduled. */
void timed_task_init(struct timed_task *task, struct task_timer *timer,
    void (*run)(struct timed_task *task, uint64_t now_ms));

/* Runs the task at at_ms or later.  Replaces the time of a task that is already
 * scheduled. */
void timed_task_schedule(struct timed_task *task, uint64_t at_ms);

/* Cancels the task.  Does nothing if the task is not scheduled. */
void timed_task_cancel(struct timed_task *task);

#endif
