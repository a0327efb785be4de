/* SPDX-License-Identifier: MIT
 * `commit acl` of a version with many entries: a thread sorts them and makes
 * the table, which takes longer than the control loop may block.
 *
 * All functions run on the control thread.  None blocks but
 * list_commits_fini.
 */
#ifndef CONTROL_LIST_COMMIT_H
#define CONTROL_LIST_COMMIT_H

#include <ev.h>

#include "acl/acl.h"
#include "base/err.h"
#include "base/list.h"

struct grace;
struct list_commit;

struct list_commits {
	struct ev_loop *loop;
	struct grace *grace;
	ev_async ended; /* sent by the threads */
	struct list all;
};

void list_commits_start(
    struct list_commits *commits, struct ev_loop *loop, struct grace *grace);

/* Waits for the commits that are under way, and carries them out.  Without a
 * start, does nothing. */
void list_commits_fini(struct list_commits *commits);

/* The outcome of a commit. */
struct list_committed {
	enum acl_outcome outcome;
	size_t before, after; /* entries */
};

/* The end of a commit, called once, also if its caller has given it back.
 * result: NULL when lfproxy stops. */
struct list_commit_end {
	void (*ended)(void *arg, const struct list_committed *result);
	void *arg;
};

/* Begins to put the version into force; the list is busy until that is done.
 * Returns a commit, which the caller gives back by list_commit_unref; or NULL,
 * with the reason in *ret_outcome, and then `end` is never called. */
struct list_commit *list_commit_begin(struct list_commits *commits,
    struct acl_list *list, unsigned version, struct list_commit_end end,
    enum acl_outcome *ret_outcome) MUST_CHECK;

/* Returns NULL as long as the commit is under way. */
const struct list_committed *list_commit_result(
    const struct list_commit *commit);

/* The commit goes on without its caller.  NULL is allowed. */
void list_commit_unref(struct list_commit *commit);

#endif
