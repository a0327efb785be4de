/* SPDX-License-Identifier: MIT
 * See discovery_file.h.
 */
#include "resolve/discovery_file.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_watch.h"
#include "base/interests.h"
#include "base/list.h"
#include "base/thread.h"
#include "resolve/file_members.h"

/* A reading on a thread, which owns this until it has sent done. */
struct file_reading {
	const char *path;
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
	ev_async done; /* sent by the thread, as its last act */
	ev_timer retry;
	pthread_t thread;
	struct file_reading reading;
	bool is_reading;
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

static void *
file_thread(void *arg)
{
	struct file_discovery *d = arg;
	struct file_reading *r = &d->reading;
	struct interests_search *search;

	(void)pthread_setname_np(pthread_self(), "lfproxy-servers");
	/* Watch first, so that no change falls in between. */
	if (r->inotify >= 0) {
		search = interests_begin(r->inotify, &r->interests);
		if (search)
			interests_add_file(search, r->path);
		interests_end(search);
	}
	r->ok = file_members_read(r->path, &r->members, &r->err);
	ev_async_send(d->files.loop, &d->done);
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
	int rc;

	file_watch_read(&d->files);
	d->wanted = d->is_reading;
	if (d->is_reading)
		return;
	d->reading = (struct file_reading){.path = d->path,
	    .inotify = file_watch_open(&d->files) ? d->files.inotify : -1};
	rc = thread_start(&d->thread, NULL, file_thread, d);
	d->is_reading = rc == 0;
	if (rc == 0) {
		file_watch_hold(&d->files);
		return;
	}
	owner->on_error(owner->arg, strerror(rc));
	retry_later(d);
}

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
on_file_read(struct ev_loop *loop, ev_async *done, int events)
{
	struct file_discovery *d = done->data;
	struct file_reading r;
	struct interests former = d->interests;

	(void)loop;
	(void)events;
	if (!d->is_reading)
		return;
	(void)pthread_join(d->thread, NULL);
	d->is_reading = false;
	r = d->reading;
	d->interests = r.interests;
	file_watch_warn(&d->files, &d->interests);
	file_watch_drop(&d->files, &former);
	interests_fini(&former);
	file_watch_go_on(&d->files);
	if (d->wanted)
		read_file_soon(d);
	else
		report_members_file(d, &r);
	if (r.ok)
		file_members_fini(&r.members);
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

	return d->is_reading || interests_have(&d->interests, wd, NULL);
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

	if (d->is_reading) {
		(void)pthread_join(d->thread, NULL);
		interests_fini(&d->reading.interests);
		if (d->reading.ok)
			file_members_fini(&d->reading.members);
	}
	ev_async_stop(d->files.loop, &d->done);
	ev_timer_stop(d->files.loop, &d->retry);
	file_watch_stop(&d->files, true);
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
	ev_async_init(&d->done, on_file_read);
	ev_init(&d->retry, on_file_retry);
	d->done.data = d->retry.data = d;
	ev_async_start(loop, &d->done);
	file_watch_settle_in(&d->files, 0);
	return &d->discovery;
}
