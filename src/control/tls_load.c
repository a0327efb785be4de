/* SPDX-License-Identifier: MIT
 * See tls_load.h.
 */
#include "control/tls_load.h"

#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "tls/changes.h"
#include "tls/context.h"

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

static void *
load_thread(void *arg)
{
	struct tls_load *load = arg;

	(void)pthread_setname_np(pthread_self(), "lfproxy-tls");
	for (size_t i = 0; i < load->n; i++)
		run_job(&load->jobs[i], load->inotify);
	load->done(load->arg);
	return NULL;
}

int
tls_load_start(struct tls_load *load)
{
	int rc = thread_start(&load->thread, NULL, load_thread, load);

	if (rc != 0)
		tls_load_fini(load);
	return rc;
}

void
tls_load_join(struct tls_load *load)
{
	(void)pthread_join(load->thread, NULL);
}

void
tls_load_fini(struct tls_load *load)
{
	for (size_t i = 0; i < load->n; i++) {
		struct tls_load_job *job = &load->jobs[i];

		for (size_t j = 0; j < TLS_LOAD_TEXTS; j++)
			free(job->texts[j]);
		interests_fini(&job->interests);
		tls_context_give_back(job->loaded);
		tls_context_give_back(job->present);
		tls_context_unref(job->context);
	}
	free(load->jobs);
	load->jobs = NULL;
	load->n = 0;
}

static void *
dispose_thread(void *arg)
{
	struct tls_load *load = arg;

	(void)pthread_setname_np(pthread_self(), "lfproxy-tls");
	tls_load_fini(load);
	load->done(load->arg);
	return NULL;
}

bool
tls_load_dispose(struct tls_load *load)
{
	if (thread_start(&load->thread, NULL, dispose_thread, load) == 0)
		return true;
	tls_load_fini(load);
	return false;
}
