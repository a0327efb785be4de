/* SPDX-License-Identifier: MIT
 * See discovery_file.h.
 */
#include "resolve/discovery_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_watch.h"
#include "base/interests.h"
#include "base/list.h"
#include "base/worker.h"
#include "resolve/file_members.h"

/* Eight, so that a few files on a mount that does not answer do not hold up the
 * others, and a thousand files do not make a thousand threads. */
static struct work_queue readings = {.at_once = 8};

struct file_reading {
	struct work work;
	struct file_discovery *discovery; /* not used after worker_cancel */
	char *path;
	int inotify; /* -1: the file is not watched */
	struct interests interests;
	bool ok;
	struct file_members members; /* if ok */
	struct err err;              /* otherwise */
};

struct file_discovery {
	struct discovery discovery;
	char *path;
	struct file_watch files;
	struct interests interests;
	ev_timer retry;
	struct file_reading *reading; /* the worker's; NULL: none */
	bool wanted; /* another reading, after the one under way */
	/* The content of a file that may be half-written, when it was last
	 * read; NULL: it was whole. */
	struct file_members half;
};

bool
discovery_file_check(const char *path, struct err *err)
{
	return strlen(path) < PATH_MAX ||
	       err_set(
	           err, "the path is longer than %d characters", PATH_MAX - 1);
}

/* -- reading -- */

static void
run_reading(struct work *work)
{
	struct file_reading *r = container_of(work, struct file_reading, work);
	struct interests_search *search;

	/* Watch first, so that no change falls in between. */
	if (r->inotify >= 0) {
		search = interests_begin(r->inotify, &r->interests);
		if (search)
			interests_add_file(search, r->path);
		interests_end(search);
	}
	r->ok = file_members_read(r->path, &r->members, &r->err);
}

static void
reading_free(struct file_reading *r)
{
	interests_fini(&r->interests);
	if (r->ok)
		file_members_fini(&r->members);
	free(r->path);
	free(r);
}

static void take_reading(
    struct file_discovery *d, struct file_reading *r, int error);

static void
end_reading(struct work *work, int error)
{
	struct file_reading *r = container_of(work, struct file_reading, work);

	if (error != ECANCELED)
		take_reading(r->discovery, r, error);
	else if (r->inotify >= 0)
		close(r->inotify);
	reading_free(r);
}

/* Returns a reading that was not submitted, or NULL when memory is short. */
static struct file_reading *
reading_new(struct file_discovery *d)
{
	struct file_reading *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	*r = (struct file_reading){.work = {.queue = &readings,
	                               .run = run_reading,
	                               .done = end_reading},
	    .discovery = d,
	    .path = strdup(d->path),
	    .inotify = file_watch_open(&d->files) ? d->files.inotify : -1};
	if (r->path)
		return r;
	free(r);
	return NULL;
}

static void
retry_later(struct file_discovery *d)
{
	ev_timer_stop(d->files.loop, &d->retry);
	ev_timer_set(&d->retry, DISCOVERY_FILE_RETRY_MS / 1000., 0.);
	ev_timer_start(d->files.loop, &d->retry);
}

static void
read_file_soon(struct file_discovery *d)
{
	struct discovery_owner *owner = &d->discovery.owner;

	file_watch_read(&d->files);
	d->wanted = d->reading != NULL;
	if (d->reading)
		return;
	d->reading = reading_new(d);
	if (d->reading) {
		file_watch_hold(&d->files);
		worker_submit(&d->reading->work);
		return;
	}
	owner->on_error(owner->arg, strerror(ENOMEM));
	retry_later(d);
}

/* -- what was read -- */

static bool
same_members(const struct file_members *a, const struct file_members *b)
{
	if (!a->all || a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->all[i].address, b->all[i].address) != 0 ||
		    strcmp(a->all[i].options, b->all[i].options) != 0)
			return false;
	return true;
}

/* Returns whether the file, which may be half-written, is as it was before the
 * pause.  Otherwise another pause begins. */
static bool
is_left_alone(struct file_discovery *d, struct file_members *members)
{
	struct file_members before = d->half;
	bool same = same_members(&before, members);

	if (!same) {
		d->half = *members;
		*members = (struct file_members){.n = 0};
		file_watch_settle_in(&d->files, DISCOVERY_FILE_WHOLE_MS);
		file_members_fini(&before);
	}
	return same;
}

static void
report_members_file(struct file_discovery *d, struct file_reading *r)
{
	struct discovery_owner *owner = &d->discovery.owner;

	if (!r->ok) {
		file_members_fini(&d->half);
		owner->on_error(owner->arg, r->err.text);
		retry_later(d);
		return;
	}
	if (!r->members.whole && !is_left_alone(d, &r->members))
		return;
	file_members_fini(&d->half);
	owner->on_members(owner->arg, r->members.all, r->members.n);
}

static void
take_interests(struct file_discovery *d, struct interests *found)
{
	struct interests former = d->interests;

	d->interests = *found;
	*found = (struct interests){.n = 0};
	file_watch_warn(&d->files, &d->interests);
	file_watch_drop(&d->files, &former);
	interests_fini(&former);
}

/* Takes a reading that has ended.  error: errno, if no thread could be made. */
static void
take_reading(struct file_discovery *d, struct file_reading *r, int error)
{
	d->reading = NULL;
	if (error == 0)
		take_interests(d, &r->interests);
	else
		err_set(&r->err, "%s", strerror(error));
	file_watch_go_on(&d->files);
	if (d->wanted)
		read_file_soon(d);
	else
		report_members_file(d, r);
}

static void
on_file_settled(void *arg)
{
	read_file_soon(arg);
}

static void
on_file_retry(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	read_file_soon(timer->data);
}

static bool
members_file_changed(void *arg, const struct inotify_event *event)
{
	const struct file_discovery *d = arg;

	return (event->mask & IN_Q_OVERFLOW) ||
	       interests_have(&d->interests, event->wd,
	           event->len > 0 ? event->name : NULL);
}

/* Returns whether the watch is used.  A reading that is under way may use any.
 */
static bool
file_uses(void *arg, int wd)
{
	const struct file_discovery *d = arg;

	return d->reading || interests_have(&d->interests, wd, NULL);
}

static void
refresh_file(struct discovery *discovery)
{
	struct file_discovery *d =
	    container_of(discovery, struct file_discovery, discovery);

	file_watch_settle_in(&d->files, 0);
}

static void
free_file(struct discovery *discovery)
{
	struct file_discovery *d =
	    container_of(discovery, struct file_discovery, discovery);

	ev_timer_stop(d->files.loop, &d->retry);
	/* A reading under way closes the descriptor when it ends. */
	file_watch_stop(&d->files, !d->reading);
	if (d->reading)
		worker_cancel(&d->reading->work);
	interests_fini(&d->interests);
	file_members_fini(&d->half);
	free(d->path);
	free(d);
}

static const struct discovery_ops file_ops = {
    .kind = "file", .refresh = refresh_file, .free = free_file};

struct discovery *
discovery_file_new(struct ev_loop *loop, const char *path,
    const struct discovery_owner *owner, struct err *err)
{
	struct file_discovery *d = calloc(1, sizeof(*d));
	struct file_watch_owner watching = {.what = "servers",
	    .settle_ms = DISCOVERY_FILE_SETTLE_MS,
	    .settle_max_ms = DISCOVERY_FILE_SETTLE_MAX_MS,
	    .changed = members_file_changed,
	    .uses = file_uses,
	    .settled = on_file_settled,
	    .arg = d};

	if (d)
		d->path = strdup(path);
	if (!d || !d->path) {
		free(d);
		err_oom(err);
		return NULL;
	}
	d->discovery = (struct discovery){.ops = &file_ops, .owner = *owner};
	file_watch_start(&d->files, loop, &watching);
	ev_init(&d->retry, on_file_retry);
	d->retry.data = d;
	file_watch_settle_in(&d->files, 0);
	return &d->discovery;
}
