/* SPDX-License-Identifier: MIT
 * See later.h.
 */
#include "control/later.h"

#include "base/clock.h"

static struct later_task *
task_of(struct list *node)
{
	return container_of(node, struct later_task, node);
}

static void
arm(struct later *later, uint64_t now_ms, uint64_t at_ms)
{
	at_ms = (at_ms + LATER_ROUND_MS - 1) / LATER_ROUND_MS * LATER_ROUND_MS;
	ev_now_update(later->loop);
	ev_timer_stop(later->loop, &later->timer);
	ev_timer_set(&later->timer,
	    at_ms > now_ms ? (double)(at_ms - now_ms) / 1e3 : 0., 0.);
	ev_timer_start(later->loop, &later->timer);
}

static void
arm_for_next(struct later *later, uint64_t now_ms, uint64_t not_before_ms)
{
	uint64_t at_ms;

	ev_timer_stop(later->loop, &later->timer);
	if (list_empty(&later->tasks))
		return;
	at_ms = task_of(later->tasks.next)->at_ms;
	arm(later, now_ms, at_ms > not_before_ms ? at_ms : not_before_ms);
}

/* One that asks again does so for later than now_ms, so this ends. */
static void
on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct later *later = timer->data;
	uint64_t from_ns = clock_now_ns(), now_ms = from_ns / 1000000;
	uint64_t not_before_ms = 0;

	(void)loop;
	(void)events;
	while (!list_empty(&later->tasks)) {
		struct later_task *task = task_of(later->tasks.next);

		if (task->at_ms > now_ms)
			break;
		if (clock_now_ns() - from_ns > LATER_BUDGET_NS) {
			not_before_ms = clock_now_ms() + LATER_REST_MS;
			break;
		}
		list_remove(&task->node);
		task->run(task, now_ms);
	}
	arm_for_next(later, clock_now_ms(), not_before_ms);
}

void
later_init(struct later *later, struct ev_loop *loop)
{
	later->loop = loop;
	list_init(&later->tasks);
	ev_timer_init(&later->timer, on_timer, 0., 0.);
	later->timer.data = later;
}

void
later_fini(struct later *later)
{
	ev_timer_stop(later->loop, &later->timer);
}

void
later_task_init(struct later_task *task,
    void (*run)(struct later_task *task, uint64_t now_ms))
{
	list_init(&task->node);
	task->at_ms = 0;
	task->run = run;
}

void
later_at(struct later *later, struct later_task *task, uint64_t at_ms)
{
	uint64_t now_ms = clock_now_ms();
	struct list *before;

	list_remove(&task->node);
	task->at_ms = at_ms > now_ms ? at_ms : now_ms + 1;
	before = later->tasks.next;
	while (before != &later->tasks && task_of(before)->at_ms <= task->at_ms)
		before = before->next;
	list_append(before, &task->node);
	if (later->tasks.next == &task->node)
		arm_for_next(later, now_ms, 0);
}

void
later_cancel(struct later *later, struct later_task *task)
{
	(void)later;
	list_remove(&task->node);
}
