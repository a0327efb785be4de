/* SPDX-License-Identifier: MIT
 * See list_load.h.
 */
#include "control/list_load.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "acl/discard.h"
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

static void
run_list_load(struct work *work)
{
	struct list_load *load = container_of(work, struct list_load, work);

	for (size_t i = 0; i < load->n; i++)
		read_list_job(&load->jobs[i], load->inotify);
}

static void
end_list_load(struct work *work, int error)
{
	struct list_load *load = container_of(work, struct list_load, work);

	if (error == ECANCELED) {
		if (load->inotify >= 0)
			close(load->inotify);
		list_load_free(load);
		return;
	}
	load->ended = true;
	load->error = error;
	if (load->done)
		load->done(load->arg);
}

struct list_load *
list_load_new(size_t n)
{
	struct list_load *load =
	    calloc(1, sizeof(*load) + n * sizeof(load->jobs[0]));

	if (load)
		load->inotify = -1;
	return load;
}

void
list_load_add(struct list_load *load, struct acl_recipe *recipe)
{
	struct list_job *job = &load->jobs[load->n++];

	job->recipe = acl_recipe_ref(recipe);
	err_list_init(&job->errors);
}

struct list_load *
list_load_of_spec(const struct spec *spec)
{
	struct list_load *load = list_load_new(spec->lists_n);

	for (size_t i = 0; load && i < spec->lists_n; i++)
		list_load_add(load, spec->lists[i].recipe);
	return load;
}

void
list_load_submit(struct list_load *load, struct work_queue *queue)
{
	load->work = (struct work){
	    .queue = queue, .run = run_list_load, .done = end_list_load};
	worker_submit(&load->work);
}

void
list_load_cancel(struct list_load *load)
{
	worker_cancel(&load->work);
}

void
list_load_free(struct list_load *load)
{
	if (!load)
		return;
	for (size_t i = 0; i < load->n; i++) {
		struct list_job *job = &load->jobs[i];

		acl_content_discard(job->content);
		acl_recipe_unref(job->recipe);
		err_list_fini(&job->errors);
		interests_fini(&job->interests);
	}
	free(load);
}
