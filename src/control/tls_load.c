/* SPDX-License-Identifier: MIT
 * See tls_load.h.
 */
#include "control/tls_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tls/changes.h"
#include "tls/context.h"

/* One: the certificates of a load are freed before the next load is read. */
static struct work_queue loads = {.at_once = 1};

/* The most readings in a row of files whose watches change meanwhile.  Further
 * changes are left to later events. */
#define TRIES_MAX 4

static void
keep_change(void *arg, const char *text)
{
	struct tls_load_job *job = arg;

	if (job->changes < TLS_LOAD_TEXTS)
		job->texts[job->changes] = strdup(text);
	job->changes++;
}

/* Watches the files that the last reading has found.  Returns whether they are
 * the same as before. */
static bool
watch_files(struct tls_load_job *job, int inotify)
{
	struct interests before = job->interests;
	bool same;

	tls_interests_find(inotify, job->context,
	    job->loaded ? job->loaded : job->present, &job->interests);
	same = interests_equal(&before, &job->interests);
	interests_fini(&before);
	return same;
}

static void
run_job(struct tls_load_job *job, int inotify)
{
	(void)watch_files(job, inotify);
	for (unsigned i = 0; i < TRIES_MAX; i++) {
		tls_context_give_back(job->loaded);
		job->loaded =
		    tls_context_load(job->context, job->present, &job->err);
		job->ok = job->loaded != NULL;
		if (watch_files(job, inotify))
			break;
	}
	if (!job->loaded)
		return;
	(void)tls_changes(job->present, job->loaded, keep_change, job);
	if (job->changes > 0)
		return;
	tls_context_give_back(job->loaded);
	job->loaded = NULL;
}

static void
run_load(struct work *work)
{
	struct tls_load *load = container_of(work, struct tls_load, work);

	for (size_t i = 0; i < load->n; i++)
		run_job(&load->jobs[i], load->inotify);
}

static void
end_load(struct work *work, int error)
{
	struct tls_load *load = container_of(work, struct tls_load, work);

	if (error == ECANCELED) {
		if (load->inotify >= 0)
			close(load->inotify);
		tls_load_free(load);
		return;
	}
	load->done(load->arg, error);
}

struct tls_load *
tls_load_new(size_t n)
{
	return calloc(
	    1, sizeof(struct tls_load) + n * sizeof(struct tls_load_job));
}

void
tls_load_submit(struct tls_load *load)
{
	load->work =
	    (struct work){.queue = &loads, .run = run_load, .done = end_load};
	worker_submit(&load->work);
}

void
tls_load_cancel(struct tls_load *load)
{
	worker_cancel(&load->work);
}

static void
free_load(void *object)
{
	struct tls_load *load = object;

	for (size_t i = 0; i < load->n; i++) {
		struct tls_load_job *job = &load->jobs[i];

		for (size_t j = 0; j < TLS_LOAD_TEXTS; j++)
			free(job->texts[j]);
		interests_fini(&job->interests);
		tls_context_give_back(job->loaded);
		tls_context_give_back(job->present);
		tls_context_unref(job->context);
	}
	free(load);
}

void
tls_load_free(struct tls_load *load)
{
	worker_call(&loads, free_load, load);
}
