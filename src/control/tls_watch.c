/* SPDX-License-Identifier: MIT
 * See tls_watch.h.
 */
#include "control/tls_watch.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "base/events.h"
#include "model/spec.h"
#include "tls/context.h"

/* A [tls] section in one of its roles. */
struct watched_section {
	struct list node;
	char *name;
	struct tls_context *context; /* a reference */
	struct interests interests;
	bool due;       /* has to be read */
	bool was_read;  /* since the context was made */
	bool failed;    /* at its last reading */
	struct err err; /* if failed */
};

/* -- the list of sections -- */

static void
section_free(struct watched_section *section)
{
	list_remove(&section->node);
	interests_fini(&section->interests);
	tls_context_unref(section->context);
	free(section->name);
	free(section);
}

static struct watched_section *
section_new(const char *name, struct tls_context *context)
{
	struct watched_section *section = calloc(1, sizeof(*section));

	if (section)
		section->name = strdup(name);
	if (!section || !section->name) {
		free(section);
		return NULL;
	}
	list_init(&section->node);
	section->context = tls_context_ref(context);
	section->due = true;
	return section;
}

static struct watched_section *
section_find(struct list *sections, const struct tls_context *context)
{
	list_for_each (node, sections) {
		struct watched_section *section =
		    container_of(node, struct watched_section, node);

		if (section->context == context)
			return section;
	}
	return NULL;
}

static size_t
count_due(struct tls_watch *watch)
{
	size_t n = 0;

	list_for_each (node, &watch->sections)
		n += container_of(node, struct watched_section, node)->due;
	return n;
}

/* -- reading -- */

static void
fill_jobs(struct tls_watch *watch, struct tls_load *load)
{
	list_for_each (node, &watch->sections) {
		struct watched_section *section =
		    container_of(node, struct watched_section, node);

		if (!section->due)
			continue;
		section->due = false;
		load->jobs[load->n++] = (struct tls_load_job){
		    .context = tls_context_ref(section->context),
		    .present = tls_context_take(section->context)};
	}
}

static void
retry_sections(struct tls_watch *watch)
{
	timed_task_schedule(&watch->retry, clock_now_ms() + TLS_WATCH_RETRY_MS);
}

static void
put_off_reading(struct tls_watch *watch, int error)
{
	static struct log_limit limit;

	log_limited(&limit, LOG_LEVEL_WARNING,
	    "tls: certificates that have changed are not read: %s; lfproxy "
	    "tries again in %d s",
	    strerror(error), TLS_WATCH_RETRY_MS / 1000);
	list_for_each (node, &watch->sections)
		container_of(node, struct watched_section, node)->due = true;
	retry_sections(watch);
}

static void on_sections_read(void *arg, int error);

/* Reads all sections that are due; those that become due meanwhile are read
 * after them. */
static void
read_due(struct tls_watch *watch)
{
	size_t n = count_due(watch);

	file_watch_read(&watch->files);
	if (watch->load || n == 0)
		return;
	watch->load = tls_load_new(n);
	if (!watch->load) {
		put_off_reading(watch, ENOMEM);
		return;
	}
	fill_jobs(watch, watch->load);
	watch->load->inotify = watch->files.inotify;
	watch->load->done = on_sections_read;
	watch->load->arg = watch;
	file_watch_hold(&watch->files);
	tls_load_submit(watch->load);
}

static void
on_sections_settled(void *arg)
{
	read_due(arg);
}

static void
on_retry(struct timed_task *task, uint64_t now_ms)
{
	struct tls_watch *watch = container_of(task, struct tls_watch, retry);

	(void)now_ms;
	list_for_each (node, &watch->sections) {
		struct watched_section *section =
		    container_of(node, struct watched_section, node);

		section->due |= section->failed;
	}
	read_due(watch);
}

/* -- what was read -- */

static void
report_changes(
    const struct watched_section *section, const struct tls_load_job *job)
{
	for (size_t i = 0; i < job->changes && i < TLS_LOAD_TEXTS; i++)
		if (job->texts[i])
			event_add(EVENT_CERTIFICATE, LOG_LEVEL_INFO, "tls",
			    section->name, "tls %s: %s", section->name,
			    job->texts[i]);
	if (job->changes > TLS_LOAD_TEXTS)
		event_add(EVENT_CERTIFICATE, LOG_LEVEL_INFO, "tls",
		    section->name, "tls %s: and %zu changes more",
		    section->name, job->changes - TLS_LOAD_TEXTS);
}

/* Logs why the section stays as it is, unless that was logged before.  If even
 * the first reading fails, right after the context was made of the same files,
 * the process may no longer read them: it has become another user. */
static void
note_failure(struct watched_section *section, const struct err *err)
{
	bool known =
	    section->failed && strcmp(section->err.text, err->text) == 0;
	bool first = !section->was_read;

	section->failed = true;
	section->err = *err;
	if (!known)
		event_add(EVENT_CERTIFICATE_REFUSED,
		    first ? LOG_LEVEL_WARNING : LOG_LEVEL_ERROR, "tls",
		    section->name,
		    first ? "tls %s: its files cannot be read again, for "
		            "changes or a reload: %s"
		          : "tls %s: its files have changed and cannot be "
		            "used; what they had before stays in force: %s",
		    section->name, err->text);
}

static void
apply_job(struct tls_watch *watch, struct tls_load_job *job)
{
	struct watched_section *section =
	    section_find(&watch->sections, job->context);
	struct interests interests;
	SSL_CTX *loaded = job->loaded;

	if (!section)
		return;
	interests = section->interests;
	section->interests = job->interests;
	job->interests = interests;
	if (!job->ok)
		note_failure(section, &job->err);
	section->was_read = true;
	if (!job->ok)
		return;
	if (section->failed && !loaded)
		event_add(EVENT_CERTIFICATE, LOG_LEVEL_INFO, "tls",
		    section->name,
		    "tls %s: its files can be used again, and are as before",
		    section->name);
	section->failed = false;
	if (!loaded)
		return;
	job->loaded = NULL;
	if (tls_context_exchange(section->context, job->present, loaded))
		report_changes(section, job);
	else
		section->due = true; /* a command has changed it meanwhile */
}

/* -- watches that are not needed any more -- */

static bool
tls_watch_uses(void *arg, int wd)
{
	struct tls_watch *watch = arg;

	/* A reading under way may come to use this watch. */
	if (watch->load)
		return true;
	list_for_each (node, &watch->sections) {
		if (interests_have(
		        &container_of(node, struct watched_section, node)
		             ->interests,
		        wd, NULL))
			return true;
	}
	return false;
}

/* Applies what was read.  Returns whether a section has failed. */
static bool
apply_load(struct tls_watch *watch, struct tls_load *load)
{
	bool failed = false;

	for (size_t i = 0; i < load->n; i++) {
		file_watch_warn(&watch->files, &load->jobs[i].interests);
		apply_job(watch, &load->jobs[i]);
		failed |= !load->jobs[i].ok;
	}
	for (size_t i = 0; i < load->n; i++)
		file_watch_drop(&watch->files, &load->jobs[i].interests);
	return failed;
}

static void
on_sections_read(void *arg, int error)
{
	struct tls_watch *watch = arg;
	struct tls_load *load = watch->load;

	watch->load = NULL;
	if (error != 0)
		put_off_reading(watch, error);
	else if (apply_load(watch, load))
		retry_sections(watch);
	tls_load_free(load);
	file_watch_go_on(&watch->files);
	if (error == 0 && !file_watch_is_settling(&watch->files))
		read_due(watch);
}

/* -- events -- */

/* Marks the sections that the event concerns as due.  Returns whether there are
 * any. */
static bool
mark_section_due(void *arg, const struct inotify_event *event)
{
	struct tls_watch *watch = arg;
	const char *name = event->len > 0 ? event->name : NULL;
	bool any = false;

	list_for_each (node, &watch->sections) {
		struct watched_section *section =
		    container_of(node, struct watched_section, node);

		if (!(event->mask & IN_Q_OVERFLOW) &&
		    !interests_have(&section->interests, event->wd, name))
			continue;
		section->due = true;
		any = true;
	}
	return any;
}

/* -- start and end -- */

void
tls_watch_follow(struct tls_watch *watch, const struct spec *spec)
{
	struct list before;

	if (!watch->files.loop ||
	    (spec->tls_n > 0 && !file_watch_open(&watch->files)))
		return;
	list_init(&before);
	list_for_each_safe (node, &watch->sections) {
		list_remove(node);
		list_append(&before, node);
	}
	for (size_t i = 0; i < spec->tls_n; i++) {
		const struct tls_spec *tls = &spec->tls[i];

		for (enum tls_role role = 0; role < TLS_ROLES; role++) {
			struct tls_context *context = tls->context[role];
			struct watched_section *section;

			if (!context)
				continue;
			section = section_find(&before, context);
			if (section)
				list_remove(&section->node);
			else
				section = section_new(tls->name, context);
			if (section)
				list_append(&watch->sections, &section->node);
		}
	}
	list_for_each_safe (node, &before) {
		struct watched_section *section =
		    container_of(node, struct watched_section, node);
		struct interests former = section->interests;

		section->interests = (struct interests){.n = 0};
		section_free(section);
		file_watch_drop(&watch->files, &former);
		interests_fini(&former);
	}
	read_due(watch);
}

void
tls_watch_start(struct tls_watch *watch, struct ev_loop *loop,
    struct task_timer *timer, const struct spec *spec)
{
	const struct file_watch_owner owner = {.what = "certificates",
	    .settle_ms = TLS_WATCH_SETTLE_MS,
	    .settle_max_ms = TLS_WATCH_SETTLE_MAX_MS,
	    .changed = mark_section_due,
	    .uses = tls_watch_uses,
	    .settled = on_sections_settled,
	    .arg = watch};

	file_watch_start(&watch->files, loop, &owner);
	list_init(&watch->sections);
	timed_task_init(&watch->retry, timer, on_retry);
	tls_watch_follow(watch, spec);
}

void
tls_watch_fini(struct tls_watch *watch)
{
	if (!watch->files.loop)
		return;
	/* A reading under way closes the descriptor when it ends. */
	file_watch_stop(&watch->files, !watch->load);
	if (watch->load)
		tls_load_cancel(watch->load);
	list_for_each_safe (node, &watch->sections)
		section_free(container_of(node, struct watched_section, node));
}

const char *
tls_watch_failure(const struct tls_watch *watch, const char *section)
{
	if (!watch->files.loop)
		return NULL;
	list_for_each (node, &watch->sections) {
		const struct watched_section *it =
		    container_of(node, struct watched_section, node);

		if (it->failed && strcmp(it->name, section) == 0)
			return it->err.text;
	}
	return NULL;
}
