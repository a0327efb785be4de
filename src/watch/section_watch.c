/* SPDX-License-Identifier: MIT
 * See section_watch.h.
 */
#include "watch/section_watch.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"

/* The interval at which a section that could not be read is read again. */
#define RETRY_MS 60000
/* The time after which a reading is logged that has not ended. */
#define SLOW_MS 10000
/* The most readings in a row of files whose watches change meanwhile.  Further
 * changes are left to later events. */
#define TRIES_MAX 4

/* Readings of all sections that were due. */
struct section_load {
	struct work work;
	const struct watched_kind *kind;
	struct section_watch *watch; /* not used after worker_cancel */
	int inotify;
	bool is_slow; /* which was logged */
	size_t at;    /* the reading under way; atomic */
	size_t n;
	_Alignas(max_align_t) unsigned char readings[];
};

#define for_each_section(s, list)                                              \
	list_for_each_safe (node_, list)                                       \
		for (struct watched_section *s =                               \
		         container_of(node_, struct watched_section, node);    \
		     s; s = NULL)

static struct section_reading *
reading_at(struct section_load *load, size_t i)
{
	return (void *)(load->readings + i * load->kind->reading_size);
}

static struct watched_section *
section_find(struct list *sections, const void *source)
{
	for_each_section(s, sections)
	{
		if (s->source == source)
			return s;
	}
	return NULL;
}

/* -- reading, in a job -- */

/* Watches the files, which may have moved with a link.  Returns whether they
 * are the same as before. */
static bool
watch_files(const struct section_load *load, struct section_reading *r)
{
	struct interests before = r->interests;
	struct interests_search *search =
	    interests_begin(load->inotify, &r->interests);
	bool same;

	if (search)
		load->kind->find(r, search);
	interests_end(search);
	same = interests_equal(&before, &r->interests);
	interests_fini(&before);
	return same;
}

/* Watches the files before they are read, so that no change is lost in between.
 */
static void
run_load(struct work *work)
{
	struct section_load *load =
	    container_of(work, struct section_load, work);

	for (size_t i = 0; i < load->n; i++) {
		struct section_reading *r = reading_at(load, i);

		atomic_store_relaxed(&load->at, i);
		(void)watch_files(load, r);
		for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
			load->kind->read(r);
			if (watch_files(load, r))
				break;
		}
	}
}

static void
free_load(void *object)
{
	struct section_load *load = object;

	for (size_t i = 0; i < load->n; i++) {
		struct section_reading *r = reading_at(load, i);

		load->kind->drop(r);
		interests_fini(&r->interests);
	}
	free(load);
}

static void
drop_load(struct section_load *load)
{
	if (load->kind->drops_in_job)
		worker_call(load->kind->queue, free_load, load);
	else
		free_load(load);
}

static void take_load(
    struct section_watch *watch, struct section_load *load, int error);

static void
end_load(struct work *work, int error)
{
	struct section_load *load =
	    container_of(work, struct section_load, work);

	if (error != ECANCELED)
		take_load(load->watch, load, error);
	else if (load->inotify >= 0)
		close(load->inotify);
	drop_load(load);
}

/* -- what is read -- */

/* Returns a load of the sections that are due, or NULL when memory is short. */
static struct section_load *
load_new(struct section_watch *watch, size_t n)
{
	const struct watched_kind *kind = watch->kind;
	struct section_load *load =
	    calloc(1, sizeof(*load) + n * kind->reading_size);

	if (!load)
		return NULL;
	load->work = (struct work){
	    .queue = kind->queue, .run = run_load, .done = end_load};
	load->kind = kind;
	load->watch = watch;
	load->inotify = watch->files.inotify;
	for_each_section(s, &watch->sections)
	{
		struct section_reading *r;

		if (!s->due)
			continue;
		s->due = false;
		r = reading_at(load, load->n++);
		r->source = s->source;
		kind->begin(s, r);
	}
	return load;
}

static void
retry_later(struct section_watch *watch)
{
	timed_task_schedule(&watch->retry, clock_now_ms() + RETRY_MS);
}

static void
put_off_reading(struct section_watch *watch, int error)
{
	static struct log_limit limit;

	log_limited(&limit, LOG_LEVEL_WARNING,
	    "%s that have changed are not read: %s; lfproxy tries again in "
	    "%d s",
	    watch->kind->files, strerror(error), RETRY_MS / 1000);
	for_each_section(s, &watch->sections) s->due = true;
	retry_later(watch);
}

/* Reads all sections that are due; those that become due meanwhile are read
 * after them. */
static void
read_due(struct section_watch *watch)
{
	size_t n = 0;

	file_watch_read(&watch->files);
	for_each_section(s, &watch->sections) n += s->due;
	if (watch->load || n == 0)
		return;
	watch->load = load_new(watch, n);
	if (!watch->load) {
		put_off_reading(watch, ENOMEM);
		return;
	}
	file_watch_hold(&watch->files);
	timed_task_schedule(&watch->retry, clock_now_ms() + SLOW_MS);
	worker_submit(&watch->load->work);
}

static void
on_settled(void *arg)
{
	read_due(arg);
}

static void
warn_of_slow_load(struct section_watch *watch)
{
	struct section_load *load = watch->load;
	const struct section_reading *r =
	    reading_at(load, atomic_load_relaxed(&load->at));
	const struct watched_section *s =
	    section_find(&watch->sections, r->source);

	load->is_slow = true;
	log_warning("%s %s: its files are not read after %d s; meanwhile no "
	            "change of %s takes effect without a reload",
	    watch->kind->section, s ? s->name : "(removed)", SLOW_MS / 1000,
	    watch->kind->files);
}

static void
on_retry(struct timed_task *task, uint64_t now_ms)
{
	struct section_watch *watch =
	    container_of(task, struct section_watch, retry);

	(void)now_ms;
	if (watch->load) {
		if (!watch->load->is_slow)
			warn_of_slow_load(watch);
		retry_later(watch);
		return;
	}
	for_each_section(s, &watch->sections) s->due |= s->failed;
	read_due(watch);
}

/* -- what was read -- */

/* Logs why the section stays as it is, unless that was logged before.  If even
 * the first reading fails, right after the source was made of the same files,
 * the process may no longer read them: it has become another user. */
static void
note_failure(const struct watched_kind *kind, struct watched_section *s,
    const struct err *err)
{
	bool known = s->failed && strcmp(s->err.text, err->text) == 0;

	s->failed = true;
	s->err = *err;
	if (!known)
		event_add(kind->refused,
		    s->was_read ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING,
		    kind->section, s->name,
		    s->was_read
		        ? "%s %s: its files have changed and cannot be used; "
		          "the former contents stay in force: %s"
		        : "%s %s: its files cannot be read again, for changes "
		          "or a reload: %s",
		    kind->section, s->name, err->text);
}

static void
apply_reading(struct section_watch *watch, struct section_reading *r)
{
	const struct watched_kind *kind = watch->kind;
	struct watched_section *s = section_find(&watch->sections, r->source);
	struct interests former;

	/* A reload may have removed the section, or made it of other files. */
	if (!s)
		return;
	former = s->interests;
	s->interests = r->interests;
	r->interests = former;
	if (!r->ok)
		note_failure(kind, s, &r->err);
	else if (!kind->apply(s, r) && s->failed)
		event_add(kind->changed, LOG_LEVEL_INFO, kind->section, s->name,
		    "%s %s: its files are valid again, contents unchanged",
		    kind->section, s->name);
	s->failed = !r->ok;
	s->was_read = true;
}

/* Applies what was read.  Returns whether a section has failed. */
static bool
apply_load(struct section_watch *watch, struct section_load *load)
{
	bool failed = false;

	for (size_t i = 0; i < load->n; i++) {
		struct section_reading *r = reading_at(load, i);

		file_watch_warn(&watch->files, &r->interests);
		apply_reading(watch, r);
		failed |= !r->ok;
	}
	for (size_t i = 0; i < load->n; i++)
		file_watch_drop(&watch->files, &reading_at(load, i)->interests);
	if (watch->changed)
		watch->changed(watch->arg);
	return failed;
}

/* Takes a load that has ended.  error: errno, if no thread could be made. */
static void
take_load(struct section_watch *watch, struct section_load *load, int error)
{
	watch->load = NULL;
	if (error != 0)
		put_off_reading(watch, error);
	else if (apply_load(watch, load))
		retry_later(watch);
	file_watch_go_on(&watch->files);
	if (error == 0 && !file_watch_is_settling(&watch->files))
		read_due(watch);
}

/* -- events -- */

/* Marks the sections that the event concerns as due.  Returns whether there are
 * any. */
static bool
mark_due(void *arg, const struct inotify_event *event)
{
	struct section_watch *watch = arg;
	const char *name = event->len > 0 ? event->name : NULL;
	bool any = false;

	for_each_section(s, &watch->sections)
	{
		if (!(event->mask & IN_Q_OVERFLOW) &&
		    !interests_have(&s->interests, event->wd, name))
			continue;
		s->due = any = true;
	}
	return any;
}

static bool
uses(void *arg, int wd)
{
	struct section_watch *watch = arg;

	/* A reading under way may come to use this watch. */
	if (watch->load)
		return true;
	for_each_section(s, &watch->sections)
	{
		if (interests_have(&s->interests, wd, NULL))
			return true;
	}
	return false;
}

/* -- start, sections and end -- */

void
section_watch_start(struct section_watch *watch,
    const struct watched_kind *kind, struct ev_loop *loop,
    struct task_timer *timer)
{
	const struct file_watch_owner owner = {.what = kind->files,
	    .settle_ms = kind->settle_ms,
	    .settle_max_ms = 10 * kind->settle_ms,
	    .changed = mark_due,
	    .uses = uses,
	    .settled = on_settled,
	    .arg = watch};

	watch->kind = kind;
	file_watch_start(&watch->files, loop, &owner);
	list_init(&watch->sections);
	list_init(&watch->former);
	timed_task_init(&watch->retry, timer, on_retry);
}

void
section_watch_begin(struct section_watch *watch)
{
	list_splice(&watch->sections, &watch->former);
}

bool
section_watch_misses(struct section_watch *watch, const void *source)
{
	struct watched_section *s = section_find(&watch->former, source);

	if (s) {
		list_remove(&s->node);
		list_append(&watch->sections, &s->node);
	}
	return !s && file_watch_open(&watch->files);
}

void
section_watch_add(struct section_watch *watch, struct watched_section *section)
{
	if (!section)
		return;
	section->due = true;
	list_append(&watch->sections, &section->node);
}

void
section_watch_end(struct section_watch *watch)
{
	for_each_section(s, &watch->former)
	{
		struct interests former = s->interests;

		list_remove(&s->node);
		watch->kind->free(s);
		file_watch_drop(&watch->files, &former);
		interests_fini(&former);
	}
	read_due(watch);
}

void
section_watch_fini(struct section_watch *watch)
{
	if (!watch->files.loop)
		return;
	/* A reading under way closes the descriptor when it ends. */
	file_watch_stop(&watch->files, !watch->load);
	if (watch->load)
		worker_cancel(&watch->load->work);
	for_each_section(s, &watch->sections)
	{
		interests_fini(&s->interests);
		watch->kind->free(s);
	}
}

const char *
section_watch_failure(const struct section_watch *watch, const char *name)
{
	if (!watch->files.loop)
		return NULL;
	list_for_each (node, &watch->sections) {
		const struct watched_section *s =
		    container_of(node, struct watched_section, node);

		if (s->failed && strcmp(s->name, name) == 0)
			return s->err.text;
	}
	return NULL;
}
