/* SPDX-License-Identifier: MIT
 * See list_task.h.
 */
#include "watch/list_task.h"

#include <errno.h>
#include <stdlib.h>

#include "base/worker.h"

/* Two, so that a large commit does not delay those of other lists. */
static struct work_queue list_tasks = {.at_once = 2};

struct list_task {
	struct work work;
	unsigned refs; /* the caller's and the worker's */
	struct grace *grace;
	struct acl_list *list; /* a reference; NULL: completed */
	unsigned version;
	struct acl_content *entries;
	bool sealed; /* by the worker */

	struct list_result result;
	struct list_task_end end;
};

static void
run_task(struct work *work)
{
	struct list_task *t = container_of(work, struct list_task, work);

	t->sealed = acl_content_seal(t->entries);
}

/* Completes the task, and reports its end.  ECANCELED: lfproxy stops. */
static void
end_task(struct work *work, int error)
{
	struct list_task *t = container_of(work, struct list_task, work);
	struct list_result *r = &t->result;

	r->before = acl_list_entries(t->list);
	r->outcome = acl_list_end_commit(
	    t->list, t->version, t->entries, t->sealed, t->grace);
	r->after = acl_list_entries(t->list);
	acl_list_unref(t->list);
	t->list = NULL;
	t->end.ended(t->end.arg, error == ECANCELED ? NULL : r);
	list_task_unref(t);
}

struct list_task *
list_task_commit(struct acl_list *list, unsigned version,
    struct list_task_end end, struct grace *grace,
    enum acl_outcome *ret_outcome)
{
	struct list_task *t = calloc(1, sizeof(*t));

	*ret_outcome = ACL_SHORT;
	if (!t)
		return NULL;
	*t = (struct list_task){
	    .work = {.queue = &list_tasks, .run = run_task, .done = end_task},
	    .refs = 2,
	    .grace = grace,
	    .list = list,
	    .version = version,
	    .end = end};
	*ret_outcome = acl_list_begin_commit(list, version, &t->entries);
	if (*ret_outcome != ACL_DONE) {
		free(t);
		return NULL;
	}
	acl_list_ref(list);
	worker_submit(&t->work);
	return t;
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
