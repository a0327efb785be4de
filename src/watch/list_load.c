/* SPDX-License-Identifier: MIT
 * See list_load.h.
 */
#include "watch/list_load.h"

#include <errno.h>
#include <stdlib.h>

#include "base/atomics.h"
#include "model/spec.h"

/* Four, so that a reload that was given up, since a file of it is on a mount
 * that does not answer, does not hold up the next one. */
static struct work_queue loads = {.at_once = 4};

static void
run_list_load(struct work *work)
{
	struct list_load *load = container_of(work, struct list_load, work);

	for (size_t i = 0; i < load->n; i++) {
		struct list_job *job = &load->jobs[i];

		atomic_store_relaxed(&load->at, i);
		job->content = acl_recipe_read(job->recipe, &job->errors);
	}
}

static void
end_list_load(struct work *work, int error)
{
	struct list_load *load = container_of(work, struct list_load, work);

	load->ended = true;
	load->error = error;
	if (error == ECANCELED)
		list_load_free(load);
}

struct list_load *
list_load_begin(const struct spec *spec)
{
	size_t n = spec->lists_n;
	struct list_load *load =
	    calloc(1, sizeof(*load) + n * sizeof(load->jobs[0]));

	if (!load)
		return NULL;
	for (; load->n < n; load->n++) {
		struct list_job *job = &load->jobs[load->n];

		job->recipe = acl_recipe_ref(spec->lists[load->n].recipe);
		err_list_init(&job->errors);
	}
	load->work = (struct work){
	    .queue = &loads, .run = run_list_load, .done = end_list_load};
	worker_submit(&load->work);
	return load;
}

size_t
list_load_at(const struct list_load *load)
{
	return atomic_load_relaxed(&load->at);
}

void
list_load_cancel(struct list_load *load)
{
	worker_cancel(&load->work);
}

void
list_load_free(struct list_load *load)
{
	for (size_t i = 0; i < load->n; i++) {
		struct list_job *job = &load->jobs[i];

		acl_content_free(job->content);
		acl_recipe_unref(job->recipe);
		err_list_fini(&job->errors);
	}
	free(load);
}
