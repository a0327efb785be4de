/* SPDX-License-Identifier: MIT
 * See list_watch.h.
 */
#include "control/list_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "acl/discard.h"
#include "base/clock.h"
#include "base/events.h"
#include "base/text.h"
#include "model/model.h"

static struct work_queue readings = {.at_once = 1};

/* A [list] section with files. */
struct watched_list {
	struct list node;
	struct acl_list *list;     /* a reference */
	struct acl_recipe *recipe; /* a reference */
	struct interests interests;
	bool due;       /* has to be read */
	bool was_read;  /* since the recipe was made */
	bool failed;    /* at its last reading */
	struct err err; /* if failed */
};

#define for_each_watched(w, lists)                                             \
	list_for_each_safe (node_, lists)                                      \
		for (struct watched_list *w =                                  \
		         container_of(node_, struct watched_list, node);       \
		     w; w = NULL)

/* -- the lists -- */

static void
watched_free(struct watched_list *w)
{
	list_remove(&w->node);
	interests_fini(&w->interests);
	acl_recipe_unref(w->recipe);
	acl_list_unref(w->list);
	free(w);
}

static struct watched_list *
watched_new(struct acl_list *list, struct acl_recipe *recipe)
{
	struct watched_list *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	list_init(&w->node);
	w->list = acl_list_ref(list);
	w->recipe = acl_recipe_ref(recipe);
	w->due = true;
	return w;
}

static struct watched_list *
watched_find(struct list *lists, const struct acl_recipe *recipe)
{
	list_for_each (node, lists) {
		struct watched_list *w =
		    container_of(node, struct watched_list, node);

		if (w->recipe == recipe)
			return w;
	}
	return NULL;
}

/* -- reading -- */

static size_t
count_due(struct list_watch *watch)
{
	size_t n = 0;

	for_each_watched(w, &watch->lists) n += w->due;
	return n;
}

static void
fill_list_jobs(struct list_watch *watch, struct list_load *load)
{
	for_each_watched(w, &watch->lists)
	{
		if (!w->due)
			continue;
		w->due = false;
		list_load_add(load, w->recipe);
	}
}

static void
retry_lists(struct list_watch *watch)
{
	timed_task_schedule(
	    &watch->retry, clock_now_ms() + LIST_WATCH_RETRY_MS);
}

static void
put_off_reading(struct list_watch *watch, int error)
{
	static struct log_limit limit;

	log_limited(&limit, LOG_LEVEL_WARNING,
	    "lists that have changed are not read: %s; lfproxy tries again in "
	    "%d s",
	    strerror(error), LIST_WATCH_RETRY_MS / 1000);
	for_each_watched(w, &watch->lists) w->due = true;
	retry_lists(watch);
}

static void on_lists_read(void *arg);

/* Reads all lists that are due; those that become due meanwhile are read after
 * them. */
static void
read_due_lists(struct list_watch *watch)
{
	size_t n = count_due(watch);

	file_watch_read(&watch->files);
	if (watch->load || n == 0)
		return;
	watch->load = list_load_new(n);
	if (!watch->load) {
		put_off_reading(watch, ENOMEM);
		return;
	}
	fill_list_jobs(watch, watch->load);
	watch->load->inotify = watch->files.inotify;
	watch->load->done = on_lists_read;
	watch->load->arg = watch;
	file_watch_hold(&watch->files);
	list_load_submit(watch->load, &readings);
}

static void
on_lists_settled(void *arg)
{
	read_due_lists(arg);
}

static void
on_list_retry(struct timed_task *task, uint64_t now_ms)
{
	struct list_watch *watch = container_of(task, struct list_watch, retry);

	(void)now_ms;
	for_each_watched(w, &watch->lists) w->due |= w->failed;
	read_due_lists(watch);
}

/* -- what was read -- */

/* Logs why the list stays as it is, unless that was logged before.  If even the
 * first reading fails, right after the list was made of the same files, the
 * process may no longer read them: it has become another user. */
static void
note_list_failure(struct watched_list *w, const struct err_list *errors)
{
	const struct err_entry *e = errors->entries;
	const char *name = acl_list_name(w->list);
	struct err why;
	bool known;

	if (!e || !e->file || !e->text)
		err_oom(&why);
	else if (e->line > 0)
		err_set(&why, "%s:%u: %s", e->file, e->line, e->text);
	else
		err_set(&why, "%s: %s", e->file, e->text);
	known = w->failed && strcmp(w->err.text, why.text) == 0;
	w->failed = true;
	w->err = why;
	if (!known)
		event_add(EVENT_LIST_REFUSED,
		    w->was_read ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING, "list",
		    name,
		    w->was_read
		        ? "list %s: its files have changed and cannot be used; "
		          "what it had before stays in force: %s"
		        : "list %s: its files cannot be read again, for "
		          "changes or a reload: %s",
		    name, why.text);
}

static void
publish_content(struct list_watch *watch, struct watched_list *w,
    struct acl_content *content)
{
	const struct acl_content *had = acl_list_content(w->list);
	const char *name = acl_list_name(w->list);
	size_t before = had ? acl_content_entries(had) : 0;
	size_t now = acl_content_entries(content);
	size_t deleted = acl_list_changes(w->list).deleted;

	if (had && acl_content_digest(had) == acl_content_digest(content)) {
		if (w->failed)
			event_add(EVENT_LIST, LOG_LEVEL_INFO, "list", name,
			    "list %s: its files can be used again, and are as "
			    "before",
			    name);
		acl_content_discard(content);
		return;
	}
	acl_list_publish(w->list, content, true, watch->grace);
	event_add(EVENT_LIST, LOG_LEVEL_INFO, "list", name,
	    "list %s: its files have changed: %zu -> %zu entr%s%s", name,
	    before, now, now == 1 ? "y" : "ies",
	    deleted > 0 ? "; what commands had deleted from it is as the files "
	                  "say"
	                : "");
}

static void
apply_list_job(struct list_watch *watch, struct list_job *job)
{
	struct watched_list *w = watched_find(&watch->lists, job->recipe);
	struct interests interests;

	/* A reload may have removed the list, or made it of other files. */
	if (!w)
		return;
	interests = w->interests;
	w->interests = job->interests;
	job->interests = interests;
	if (job->content)
		publish_content(watch, w, job->content);
	else
		note_list_failure(w, &job->errors);
	w->failed = !job->content;
	w->was_read = true;
	job->content = NULL;
}

static bool
list_watch_uses(void *arg, int wd)
{
	struct list_watch *watch = arg;

	/* A reading under way may come to use this watch. */
	if (watch->load)
		return true;
	list_for_each (node, &watch->lists) {
		if (interests_have(
		        &container_of(node, struct watched_list, node)
		             ->interests,
		        wd, NULL))
			return true;
	}
	return false;
}

/* Applies what was read.  Returns whether a list has failed. */
static bool
apply_list_load(struct list_watch *watch, struct list_load *load)
{
	bool failed = false;

	for (size_t i = 0; i < load->n; i++) {
		file_watch_warn(&watch->files, &load->jobs[i].interests);
		failed |= !load->jobs[i].content;
		apply_list_job(watch, &load->jobs[i]);
	}
	for (size_t i = 0; i < load->n; i++)
		file_watch_drop(&watch->files, &load->jobs[i].interests);
	return failed;
}

static void
on_lists_read(void *arg)
{
	struct list_watch *watch = arg;
	struct list_load *load = watch->load;
	int error = load->error;

	watch->load = NULL;
	if (error != 0)
		put_off_reading(watch, error);
	else if (apply_list_load(watch, load))
		retry_lists(watch);
	list_load_free(load);
	file_watch_go_on(&watch->files);
	if (error == 0 && !file_watch_is_settling(&watch->files))
		read_due_lists(watch);
}

/* -- events -- */

/* Marks the lists that the event concerns as due.  Returns whether there are
 * any. */
static bool
mark_list_due(void *arg, const struct inotify_event *event)
{
	struct list_watch *watch = arg;
	const char *name = event->len > 0 ? event->name : NULL;
	bool any = false;

	for_each_watched(w, &watch->lists)
	{
		if (!(event->mask & IN_Q_OVERFLOW) &&
		    !interests_have(&w->interests, event->wd, name))
			continue;
		w->due = any = true;
	}
	return any;
}

/* -- start and end -- */

static void
drop_former(struct list_watch *watch, struct list *before)
{
	for_each_watched(w, before)
	{
		struct interests former = w->interests;

		w->interests = (struct interests){.n = 0};
		watched_free(w);
		file_watch_drop(&watch->files, &former);
		interests_fini(&former);
	}
}

void
list_watch_follow(struct list_watch *watch, const struct model *model)
{
	struct list before;

	if (!watch->files.loop)
		return;
	list_init(&before);
	list_splice(&watch->lists, &before);
	for (size_t i = 0; i < model->spec->lists_n; i++) {
		struct acl_recipe *recipe = model->spec->lists[i].recipe;
		struct watched_list *w = watched_find(&before, recipe);

		if (!acl_recipe_file(recipe, 0) ||
		    !file_watch_open(&watch->files))
			continue;
		if (w)
			list_remove(&w->node);
		else
			w = watched_new(model->lists[i], recipe);
		if (w)
			list_append(&watch->lists, &w->node);
	}
	drop_former(watch, &before);
	read_due_lists(watch);
}

void
list_watch_start(struct list_watch *watch, struct ev_loop *loop,
    struct task_timer *timer, struct grace *grace, const struct model *model)
{
	const struct file_watch_owner owner = {.what = "lists",
	    .settle_ms = LIST_WATCH_SETTLE_MS,
	    .settle_max_ms = LIST_WATCH_SETTLE_MAX_MS,
	    .changed = mark_list_due,
	    .uses = list_watch_uses,
	    .settled = on_lists_settled,
	    .arg = watch};

	*watch = (struct list_watch){.grace = grace};
	file_watch_start(&watch->files, loop, &owner);
	list_init(&watch->lists);
	timed_task_init(&watch->retry, timer, on_list_retry);
	list_watch_follow(watch, model);
}

void
list_watch_fini(struct list_watch *watch)
{
	if (!watch->files.loop)
		return;
	/* A reading under way closes the descriptor when it ends. */
	file_watch_stop(&watch->files, !watch->load);
	if (watch->load)
		list_load_cancel(watch->load);
	for_each_watched(w, &watch->lists) watched_free(w);
}

const char *
list_watch_failure(const struct list_watch *watch, const char *list)
{
	if (!watch->files.loop)
		return NULL;
	list_for_each (node, &watch->lists) {
		const struct watched_list *w =
		    container_of(node, struct watched_list, node);

		if (w->failed && strcmp(acl_list_name(w->list), list) == 0)
			return w->err.text;
	}
	return NULL;
}
