/* SPDX-License-Identifier: MIT
 * See task_timer.h.
 */
#include "loop/task_timer.h"

#include "base/clock.h"

static struct timed_task *
task_of(struct list *node)
{
	return container_of(node, struct timed_task, node);
}

static void
set_next_expiry(
    struct task_timer *timer, uint64_t now_ms, uint64_t not_before_ms)
{
	uint64_t at_ms;

	ev_timer_stop(timer->loop, &timer->timer);
	if (list_empty(&timer->tasks))
		return;
	at_ms = task_of(timer->tasks.next)->at_ms;
	if (at_ms < not_before_ms)
		at_ms = not_before_ms;
	at_ms = (at_ms + TASK_TIMER_ROUND_MS - 1) / TASK_TIMER_ROUND_MS *
	        TASK_TIMER_ROUND_MS;
	ev_now_update(timer->loop);
	ev_timer_set(&timer->timer,
	    at_ms > now_ms ? (double)(at_ms - now_ms) / 1e3 : 0., 0.);
	ev_timer_start(timer->loop, &timer->timer);
}

/* Runs the tasks that are due.  The loop ends because a task that schedules
 * itself again does so for later than now_ms. */
static void
on_task_timer(struct ev_loop *loop, ev_timer *watcher, int events)
{
	struct task_timer *timer = watcher->data;
	uint64_t from_ns = clock_now_ns(), now_ms = from_ns / 1000000;
	uint64_t not_before_ms = 0;

	(void)loop;
	(void)events;
	while (!list_empty(&timer->tasks)) {
		struct timed_task *task = task_of(timer->tasks.next);

		if (task->at_ms > now_ms)
			break;
		if (clock_now_ns() - from_ns > TASK_TIMER_BUDGET_NS) {
			not_before_ms = clock_now_ms() + TASK_TIMER_REST_MS;
			break;
		}
		list_remove(&task->node);
		task->run(task, now_ms);
	}
	set_next_expiry(timer, clock_now_ms(), not_before_ms);
}

void
task_timer_init(struct task_timer *timer, struct ev_loop *loop)
{
	timer->loop = loop;
	list_init(&timer->tasks);
	ev_timer_init(&timer->timer, on_task_timer, 0., 0.);
	timer->timer.data = timer;
}

void
task_timer_fini(struct task_timer *timer)
{
	ev_timer_stop(timer->loop, &timer->timer);
}

void
timed_task_init(struct timed_task *task, struct task_timer *timer,
    void (*run)(struct timed_task *task, uint64_t now_ms))
{
	*task = (struct timed_task){.timer = timer, .run = run};
	list_init(&task->node);
}

void
timed_task_schedule(struct timed_task *task, uint64_t at_ms)
{
	struct task_timer *timer = task->timer;
	uint64_t now_ms = clock_now_ms();
	struct list *before;

	list_remove(&task->node);
	task->at_ms = at_ms > now_ms ? at_ms : now_ms + 1;
	before = timer->tasks.next;
	while (before != &timer->tasks && task_of(before)->at_ms <= task->at_ms)
		before = before->next;
	list_append(before, &task->node);
	if (timer->tasks.next == &task->node)
		set_next_expiry(timer, now_ms, 0);
}

void
timed_task_cancel(struct timed_task *task)
{
	list_remove(&task->node);
}
