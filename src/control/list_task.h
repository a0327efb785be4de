/* SPDX-License-Identifier: MIT
 * Work on address lists that takes longer than the control loop may block, on
 * a thread for each: a commit of a version with many entries, which sorts them
 * and makes their table; and a change for which a table is made of all entries.
 * The list is busy until the result is in force.
 *
 * All functions run on the control thread.  None blocks but list_tasks_fini.
 */
#ifndef CONTROL_LIST_TASK_H
#define CONTROL_LIST_TASK_H

#include <ev.h>

#include "acl/acl.h"
#include "base/err.h"
#include "base/list.h"

struct grace;
struct list_task;

struct list_tasks {
	struct ev_loop *loop;
	struct grace *grace;
	ev_async ended; /* sent by the threads */
	struct list all;
};

/* Prepares the given storage: no task is under way.  Tables that are replaced
 * are freed after a grace period. */
void list_tasks_start(
    struct list_tasks *tasks, struct ev_loop *loop, struct grace *grace);

/* Waits for the tasks that are under way, and carries them out.  Without a
 * start, does nothing. */
void list_tasks_fini(struct list_tasks *tasks);

struct list_result {
	enum acl_outcome outcome;
	size_t before, after; /* entries */
};

/* The end of a task, called once, also if its caller has given it back.
 * result: NULL when lfproxy stops. */
struct list_task_end {
	void (*ended)(void *arg, const struct list_result *result);
	void *arg;
};

/* Begins to put the version into force.  Returns a task, which the caller gives
 * back by list_task_unref; or NULL, with the reason in *ret_outcome, and then
 * `end` is never called. */
struct list_task *list_task_commit(struct list_tasks *tasks,
    struct acl_list *list, unsigned version, struct list_task_end end,
    enum acl_outcome *ret_outcome) MUST_CHECK;

/* Goes on with a change that has returned ACL_LATER.  Returns a task as
 * list_task_commit, or NULL when memory is short: the change is undone, and
 * `end` is never called. */
struct list_task *list_task_change(struct list_tasks *tasks,
    struct acl_list *list, struct list_task_end end) MUST_CHECK;

/* Returns NULL as long as the task is under way. */
const struct list_result *list_task_result(const struct list_task *task);

/* The task goes on without its caller.  NULL is allowed. */
void list_task_unref(struct list_task *task);

#endif
