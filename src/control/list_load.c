/* SPDX-License-Identifier: MIT
 * See list_load.h.
 */
#include "control/list_load.h"

#include <stdlib.h>

#include "acl/discard.h"
#include "base/atomics.h"
#include "base/thread.h"
#include "model/spec.h"

/* The most readings in a row of files whose watches change meanwhile.  Further
 * changes are left to later events. */
#define TRIES_MAX 4

/* Watches the files, which may have moved with a link.  Returns whether they
 * are the same as before. */
static bool
watch_list_files(struct list_job *job, int inotify)
{
	struct interests before = job->interests;
	bool same;

	tls_interests_find_files(inotify, job->recipe, &job->interests);
	same = interests_equal(&before, &job->interests);
	interests_fini(&before);
	return same;
}

static void
read_job(struct list_job *job)
{
	acl_content_free(job->content);
	err_list_fini(&job->errors);
	job->content = acl_recipe_read(job->recipe, &job->errors);
}

static void
read_list_job(struct list_job *job, int inotify)
{
	if (inotify < 0) {
		read_job(job);
		return;
	}
	(void)watch_list_files(job, inotify);
	for (unsigned i = 0; i < TRIES_MAX; i++) {
		read_job(job);
		if (watch_list_files(job, inotify))
			break;
	}
}

static void *
list_load_thread(void *arg)
{
	struct list_load *load = arg;

	(void)pthread_setname_np(pthread_self(), "lfproxy-lists");
	for (size_t i = 0; i < load->n; i++)
		read_list_job(&load->jobs[i], load->inotify);
	atomic_store_release(&load->ended, true); /* [P33] */
	if (load->done)
		load->done(load->arg);
	return NULL;
}

int
list_load_start(struct list_load *load)
{
	int rc;

	load->ended = false;
	rc = thread_start(&load->thread, NULL, list_load_thread, load);
	if (rc != 0)
		list_load_fini(load);
	return rc;
}

bool
list_load_of_spec(struct list_load *load, const struct spec *spec)
{
	*load = (struct list_load){.inotify = -1};
	load->jobs = calloc(spec->lists_n + 1, sizeof(*load->jobs));
	if (!load->jobs)
		return false;
	for (; load->n < spec->lists_n; load->n++) {
		struct list_job *job = &load->jobs[load->n];

		job->recipe = acl_recipe_ref(spec->lists[load->n].recipe);
		err_list_init(&job->errors);
	}
	return true;
}

bool
list_load_ended(const struct list_load *load)
{
	return atomic_load_acquire(&load->ended); /* [P33] */
}

void
list_load_join(struct list_load *load)
{
	(void)pthread_join(load->thread, NULL);
}

void
list_load_fini(struct list_load *load)
{
	for (size_t i = 0; i < load->n; i++) {
		struct list_job *job = &load->jobs[i];

		acl_content_discard(job->content);
		acl_recipe_unref(job->recipe);
		err_list_fini(&job->errors);
		interests_fini(&job->interests);
	}
	free(load->jobs);
	load->jobs = NULL;
	load->n = 0;
}
