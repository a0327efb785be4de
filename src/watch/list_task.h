/* SPDX-License-Identifier: MIT
 * Commits of versions with many entries: sorting the entries and making their
 * table takes longer than the control loop may block, so the worker does so.
 * No other command changes the list until the version is in force.
 *
 * Before the worker is started, when commands of a former process are run, a
 * task is done at once: list_task_commit blocks.
 *
 * All functions run on the control thread.
 */
#ifndef WATCH_LIST_TASK_H
#define WATCH_LIST_TASK_H

#include "acl/acl.h"
#include "base/err.h"

struct grace;
struct list_task;

struct list_result {
	enum acl_outcome outcome;
	size_t before, after; /* entries */
};

/* How the end of a task is reported: `ended` is called once, also after
 * list_task_unref.  result: NULL when lfproxy stops. */
struct list_task_end {
	void (*ended)(void *arg, const struct list_result *result);
	void *arg;
};

/* Begins to put the version into force.  Tables that are replaced are freed
 * after a grace period.  Returns a task, which the caller gives back by
 * list_task_unref.  Returns NULL with the reason in *ret_outcome if no task was
 * begun: then `end` is never called. */
struct list_task *list_task_commit(struct acl_list *list, unsigned version,
    struct list_task_end end, struct grace *grace,
    enum acl_outcome *ret_outcome) MUST_CHECK;

/* Returns the result, or NULL as long as the task is under way. */
const struct list_result *list_task_result(const struct list_task *task);

/* Gives up the caller's reference.  The task goes on.  Accepts NULL. */
void list_task_unref(struct list_task *task);

#endif
