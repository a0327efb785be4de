/* SPDX-License-Identifier: MIT
 * See list_commit.h.
 */
#include "control/list_commit.h"

#include <stdlib.h>

#include "base/atomics.h"
#include "base/thread.h"

struct list_commit {
	struct list node;
	unsigned refs; /* the caller's, and that of the commits */
	struct list_commits *commits;
	struct acl_list *list; /* a reference; NULL: carried out */
	unsigned version;
	struct acl_content *entries; /* the thread's, until it has ended */
	bool sealed;
	bool ended; /* set by the thread */
	pthread_t thread;
	struct list_committed result;
	struct list_commit_end end;
};

static void *
list_commit_thread(void *arg)
{
	struct list_commit *c = arg;
	struct list_commits *commits = c->commits;

	(void)pthread_setname_np(pthread_self(), "lfproxy-lists");
	c->sealed = acl_content_seal(c->entries);
	atomic_store_release(&c->ended, true); /* [P42] */
	ev_async_send(commits->loop, &commits->ended);
	return NULL;
}

/* Ends a commit whose entries are sealed, or could not be. */
static void
carry_out(struct list_commit *c, bool stopping)
{
	struct list_committed *r = &c->result;

	r->before = acl_list_entries(c->list);
	r->outcome = acl_list_end_commit(
	    c->list, c->version, c->entries, c->sealed, c->commits->grace);
	r->after = acl_list_entries(c->list);
	acl_list_unref(c->list);
	c->list = NULL;
	c->end.ended(c->end.arg, stopping ? NULL : r);
	list_remove(&c->node);
	list_commit_unref(c);
}

static void
on_commits_ended(struct ev_loop *loop, ev_async *ended, int events)
{
	struct list_commits *commits = ended->data;

	(void)loop;
	(void)events;
	list_for_each_safe (node, &commits->all) {
		struct list_commit *c =
		    container_of(node, struct list_commit, node);

		if (!atomic_load_acquire(&c->ended)) /* [P42] */
			continue;
		(void)pthread_join(c->thread, NULL);
		carry_out(c, false);
	}
}

void
list_commits_start(
    struct list_commits *commits, struct ev_loop *loop, struct grace *grace)
{
	*commits = (struct list_commits){.loop = loop, .grace = grace};
	list_init(&commits->all);
	ev_async_init(&commits->ended, on_commits_ended);
	commits->ended.data = commits;
	ev_async_start(loop, &commits->ended);
}

void
list_commits_fini(struct list_commits *commits)
{
	if (!commits->loop)
		return;
	list_for_each_safe (node, &commits->all) {
		struct list_commit *c =
		    container_of(node, struct list_commit, node);

		(void)pthread_join(c->thread, NULL);
		carry_out(c, true);
	}
	ev_async_stop(commits->loop, &commits->ended);
}

struct list_commit *
list_commit_begin(struct list_commits *commits, struct acl_list *list,
    unsigned version, struct list_commit_end end, enum acl_outcome *ret_outcome)
{
	struct list_commit *c = calloc(1, sizeof(*c));

	*ret_outcome = ACL_SHORT;
	if (!c)
		return NULL;
	*c = (struct list_commit){.refs = 2,
	    .commits = commits,
	    .list = acl_list_ref(list),
	    .version = version,
	    .end = end};
	list_init(&c->node);
	*ret_outcome = acl_list_begin_commit(list, version, &c->entries);
	if (*ret_outcome == ACL_DONE &&
	    thread_start(&c->thread, NULL, list_commit_thread, c) != 0)
		*ret_outcome = acl_list_end_commit(
		    list, version, c->entries, false, commits->grace);
	if (*ret_outcome == ACL_DONE) {
		list_append(&commits->all, &c->node);
		return c;
	}
	acl_list_unref(list);
	free(c);
	return NULL;
}

const struct list_committed *
list_commit_result(const struct list_commit *commit)
{
	return commit->list ? NULL : &commit->result;
}

void
list_commit_unref(struct list_commit *commit)
{
	if (commit && --commit->refs == 0)
		free(commit);
}
