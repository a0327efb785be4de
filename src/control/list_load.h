/* SPDX-License-Identifier: MIT
 * Reads the files of address lists on a separate thread: a million lines take
 * longer than the control loop may block.
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

/* Reading the files of a list.  The caller sets the recipe.  The thread owns
 * the job until it has ended. */
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
	/* Called on the thread, as its last act; or NULL. */
	void (*done)(void *arg);
	void *arg;
	bool ended; /* set by the thread */
	pthread_t thread;
};

/* Starts the thread.  For each job it watches the files
 * (tls_interests_find_files) and then reads them, so that no change is lost in
 * between.  Takes ownership of jobs, also on failure.  Returns 0 or an errno
 * value.  Runs on the control thread, as all functions here. */
int list_load_start(struct list_load *load) __attribute__((warn_unused_result));

/* Makes a load, not started, of all lists of the spec, whose files are not
 * watched.  Returns false when memory is short. */
bool list_load_of_spec(
    struct list_load *load, const struct spec *spec) MUST_CHECK;

/* Returns whether the thread has ended, so that list_load_join does not
 * wait. */
bool list_load_ended(const struct list_load *load);

/* Waits for the end of the thread. */
void list_load_join(struct list_load *load);

/* Frees the jobs with what they still own.  Called after list_load_join. */
void list_load_fini(struct list_load *load);

#endif
