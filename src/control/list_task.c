/* SPDX-License-Identifier: MIT
 * See list_task.h.
 */
#include "control/list_task.h"

#include <stdlib.h>

#include "base/atomics.h"
#include "base/thread.h"

struct list_task {
	struct list node;
	unsigned refs; /* the caller's, and one of list_tasks */
	struct list_tasks *tasks;
	struct acl_list *list; /* a reference; NULL: completed */
	/* Only for a commit. */
	unsigned version;
	struct acl_content *entries; /* NULL: a change */
	bool sealed;                 /* set by the thread */

	bool ended; /* set by the thread */
	pthread_t thread;
	struct list_result result;
	struct list_task_end end;
};

static void
do_task(struct list_task *t)
{
	if (t->entries)
		t->sealed = acl_content_seal(t->entries);
	else
		acl_list_make_tables(t->list);
}

static void *
list_task_thread(void *arg)
{
	struct list_task *t = arg;
	struct list_tasks *tasks = t->tasks;

	(void)pthread_setname_np(pthread_self(), "lfproxy-lists");
	do_task(t);
	atomic_store_release(&t->ended, true); /* [P42] */
	ev_async_send(tasks->loop, &tasks->ended);
	return NULL;
}

/* Puts what the thread has made into force, or undoes it if that is not
 * possible. */
static enum acl_outcome
end_in_list(struct list_task *t)
{
	struct grace *grace = t->tasks->grace;

	return t->entries ? acl_list_end_commit(t->list, t->version, t->entries,
	                        t->sealed, grace)
	                  : acl_list_end_change(t->list, grace);
}

/* Completes a task whose thread has ended, and reports its end. */
static void
carry_out(struct list_task *t, bool stopping)
{
	struct list_result *r = &t->result;

	r->before = acl_list_entries(t->list);
	r->outcome = end_in_list(t);
	r->after = acl_list_entries(t->list);
	acl_list_unref(t->list);
	t->list = NULL;
	t->end.ended(t->end.arg, stopping ? NULL : r);
	list_remove(&t->node);
	list_task_unref(t);
}

static void
on_tasks_ended(struct ev_loop *loop, ev_async *ended, int events)
{
	struct list_tasks *tasks = ended->data;

	(void)loop;
	(void)events;
	list_for_each_safe (node, &tasks->all) {
		struct list_task *t =
		    container_of(node, struct list_task, node);

		if (!atomic_load_acquire(&t->ended)) /* [P42] */
			continue;
		(void)pthread_join(t->thread, NULL);
		carry_out(t, false);
	}
}

void
list_tasks_init(struct list_tasks *tasks, struct grace *grace)
{
	*tasks = (struct list_tasks){.grace = grace};
	list_init(&tasks->all);
}

void
list_tasks_start(struct list_tasks *tasks, struct ev_loop *loop)
{
	tasks->loop = loop;
	ev_async_init(&tasks->ended, on_tasks_ended);
	tasks->ended.data = tasks;
	ev_async_start(loop, &tasks->ended);
}

void
list_tasks_fini(struct list_tasks *tasks)
{
	if (!tasks->loop)
		return;
	list_for_each_safe (node, &tasks->all) {
		struct list_task *t =
		    container_of(node, struct list_task, node);

		(void)pthread_join(t->thread, NULL);
		carry_out(t, true);
	}
	ev_async_stop(tasks->loop, &tasks->ended);
}

/* Returns a task that has no thread yet, or NULL when memory is short. */
static struct list_task *
list_task_new(
    struct list_tasks *tasks, struct acl_list *list, struct list_task_end end)
{
	struct list_task *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct list_task){
	    .refs = 2, .tasks = tasks, .list = acl_list_ref(list), .end = end};
	list_init(&t->node);
	return t;
}

static void
list_task_free(struct list_task *t)
{
	acl_list_unref(t->list);
	free(t);
}

/* Begins the task, or does it at once while there is no loop.  Returns false if
 * a thread cannot be started. */
static bool
begin_task(struct list_task *t)
{
	if (!t->tasks->loop) {
		do_task(t);
		carry_out(t, false);
		return true;
	}
	if (thread_start(&t->thread, NULL, list_task_thread, t) != 0)
		return false;
	list_append(&t->tasks->all, &t->node);
	return true;
}

struct list_task *
list_task_commit(struct list_tasks *tasks, struct acl_list *list,
    unsigned version, struct list_task_end end, enum acl_outcome *ret_outcome)
{
	struct list_task *t = list_task_new(tasks, list, end);

	*ret_outcome = ACL_SHORT;
	if (!t)
		return NULL;
	t->version = version;
	*ret_outcome = acl_list_begin_commit(list, version, &t->entries);
	if (*ret_outcome == ACL_DONE && begin_task(t))
		return t;
	if (*ret_outcome == ACL_DONE)
		*ret_outcome = end_in_list(t);
	list_task_free(t);
	return NULL;
}

struct list_task *
list_task_change(
    struct list_tasks *tasks, struct acl_list *list, struct list_task_end end)
{
	struct list_task *t = list_task_new(tasks, list, end);

	if (t && begin_task(t))
		return t;
	(void)acl_list_end_change(list, tasks->grace);
	if (t)
		list_task_free(t);
	return NULL;
}

const struct list_result *
list_task_result(const struct list_task *task)
{
	return task->list ? NULL : &task->result;
}

void
list_task_unref(struct list_task *task)
{
	if (task && --task->refs == 0)
		free(task);
}
