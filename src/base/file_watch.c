/* SPDX-License-Identifier: MIT
 * See file_watch.h.
 */
#include "base/file_watch.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interests.h"
#include "base/log.h"

static void
on_files_settled(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct file_watch *watch = timer->data;

	(void)loop;
	(void)events;
	watch->first_ms = 0;
	watch->owner.settled(watch->owner.arg);
}

void
file_watch_settle_in(struct file_watch *watch, uint64_t settle_ms)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t at_ms = now_ms + settle_ms, latest_ms;

	if (watch->first_ms == 0)
		watch->first_ms = now_ms;
	latest_ms = watch->first_ms + watch->owner.settle_max_ms;
	if (at_ms > latest_ms)
		at_ms = latest_ms > now_ms ? latest_ms : now_ms;
	ev_timer_stop(watch->loop, &watch->settle);
	ev_now_update(watch->loop);
	ev_timer_set(&watch->settle, (double)(at_ms - now_ms) / 1000, 0.);
	ev_timer_start(watch->loop, &watch->settle);
}

void
file_watch_read(struct file_watch *watch)
{
	watch->first_ms = 0;
	ev_timer_stop(watch->loop, &watch->settle);
}

void
file_watch_hold(struct file_watch *watch)
{
	ev_io_stop(watch->loop, &watch->io);
}

void
file_watch_go_on(struct file_watch *watch)
{
	if (watch->inotify >= 0)
		ev_io_start(watch->loop, &watch->io);
}

bool
file_watch_is_settling(const struct file_watch *watch)
{
	return watch->first_ms != 0;
}

static void
on_file_events(struct ev_loop *loop, ev_io *io, int events)
{
	struct file_watch *watch = io->data;
	const struct file_watch_owner *owner = &watch->owner;
	char buffer[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)]
	    __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n = read(watch->inotify, buffer, sizeof(buffer));
	bool any = false;

	(void)loop;
	(void)events;
	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *event = (const void *)(buffer + at);

		if (owner->changed(owner->arg, event))
			any = true;
		else if (event->wd >= 0 && !owner->uses(owner->arg, event->wd))
			(void)inotify_rm_watch(watch->inotify, event->wd);
		at += (ssize_t)(sizeof(*event) + event->len);
	}
	if (any)
		file_watch_settle_in(watch, owner->settle_ms);
}

void
file_watch_start(struct file_watch *watch, struct ev_loop *loop,
    const struct file_watch_owner *owner)
{
	*watch =
	    (struct file_watch){.loop = loop, .inotify = -1, .owner = *owner};
	ev_init(&watch->io, on_file_events);
	ev_init(&watch->settle, on_files_settled);
	watch->io.data = watch->settle.data = watch;
}

bool
file_watch_open(struct file_watch *watch)
{
	if (watch->inotify >= 0)
		return true;
	watch->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (watch->inotify < 0) {
		if (!watch->warned)
			log_warning("changes of %s are not noticed: inotify: "
			            "%s; reload after a change",
			    watch->owner.what, strerror(errno));
		watch->warned = true;
		return false;
	}
	ev_io_set(&watch->io, watch->inotify, EV_READ);
	ev_io_start(watch->loop, &watch->io);
	return true;
}

void
file_watch_drop(const struct file_watch *watch, const struct interests *former)
{
	int last = -1;

	for (size_t i = 0; i < former->n; i++) {
		int wd = former->all[i].wd;

		if (wd != last && !watch->owner.uses(watch->owner.arg, wd))
			(void)inotify_rm_watch(watch->inotify, wd);
		last = wd;
	}
}

void
file_watch_warn(struct file_watch *watch, const struct interests *interests)
{
	if (watch->warned || (!interests->out_of_memory && !interests->error))
		return;
	watch->warned = true;
	log_warning("changes of %s in %s are not noticed: %s%s; reload after a "
	            "change",
	    watch->owner.what,
	    interests->error_path ? interests->error_path : "?",
	    interests->error ? strerror(interests->error) : "out of memory",
	    interests->error == ENOSPC ? " (see fs.inotify.max_user_watches)"
	                               : "");
}

void
file_watch_stop(struct file_watch *watch, bool close_it)
{
	if (!watch->loop)
		return;
	ev_timer_stop(watch->loop, &watch->settle);
	if (watch->inotify >= 0) {
		ev_io_stop(watch->loop, &watch->io);
		if (close_it)
			close(watch->inotify);
	}
	watch->loop = NULL;
}
