/* SPDX-License-Identifier: MIT
 * Reading the files of address lists on a thread of its own: a million lines
 * take longer than the control loop may block.
 */
#ifndef CONTROL_LIST_LOAD_H
#define CONTROL_LIST_LOAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "acl/recipe.h"
#include "base/err.h"
#include "control/tls_interests.h"

struct spec;

/* A list's files.  The recipe is set by the caller; the thread owns the job
 * until it has ended. */
struct list_job {
	struct acl_recipe *recipe;   /* a reference */
	struct acl_content *content; /* NULL after an error */
	struct err_list errors;
	struct interests interests; /* empty without inotify */
};

struct list_load {
	struct list_job *jobs; /* from malloc */
	size_t n;
	int inotify; /* -1: the files are not watched */
	/* NULL, or called on the thread, as its last act. */
	void (*done)(void *arg);
	void *arg;
	bool ended; /* set by the thread */
	pthread_t thread;
};

/* Starts the thread: it watches the files of each job, see tls_interests_find,
 * and then reads them, so that no change is lost in between.  Takes ownership
 * of jobs, also on failure.  Returns 0 or an errno.  Control thread, as all
 * functions here. */
int list_load_start(struct list_load *load) __attribute__((warn_unused_result));

/* Makes a load of all lists of the spec.  Returns false when memory is short.
 */
bool list_load_of_spec(
    struct list_load *load, const struct spec *spec) MUST_CHECK;

/* Whether the thread has ended, so that list_load_join does not wait. */
bool list_load_ended(const struct list_load *load);

/* Waits for the end of the thread. */
void list_load_join(struct list_load *load);

/* Frees the jobs with what they still own.  After list_load_join. */
void list_load_fini(struct list_load *load);

#endif
