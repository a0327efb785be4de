/* SPDX-License-Identifier: MIT
 * Reads the files of address lists by the worker: a million lines take longer
 * than the control loop may block.
 *
 * All functions run on the control thread.
 */
#ifndef CONTROL_LIST_LOAD_H
#define CONTROL_LIST_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "acl/recipe.h"
#include "base/err.h"
#include "base/worker.h"
#include "control/tls_interests.h"

struct spec;

/* Reading the files of a list. */
struct list_job {
	struct acl_recipe *recipe;   /* a reference */
	struct acl_content *content; /* NULL after an error */
	struct err_list errors;
	struct interests interests; /* empty without inotify */
};

/* The caller may set inotify, done and arg before list_load_submit. */
struct list_load {
	struct work work;
	int inotify; /* -1, as at first: the files are not watched */
	void (*done)(void *arg); /* NULL: the caller looks at ended */
	void *arg;
	bool ended;
	int error; /* if ended: errno, if no thread could be made, or 0 */
	size_t n;
	struct list_job jobs[];
};

/* Returns a load with room for n jobs, or NULL when memory is short.  The
 * caller adds the jobs and submits the load or frees it. */
struct list_load *list_load_new(size_t n) MUST_CHECK;

/* Adds a job. */
void list_load_add(struct list_load *load, struct acl_recipe *recipe);

/* Returns a load of all lists of the spec, or NULL when memory is short. */
struct list_load *list_load_of_spec(const struct spec *spec) MUST_CHECK;

/* Gives the load to the worker.  For each job it watches the files
 * (tls_interests_find_files) and then reads them, so that no change is lost in
 * between.  At the end sets ended and calls done; from then on the load is the
 * caller's again. */
void list_load_submit(struct list_load *load, struct work_queue *queue);

/* Cancels a load that has not ended.  The load frees itself when the worker has
 * left it, and then closes inotify. */
void list_load_cancel(struct list_load *load);

/* Frees the load with what its jobs still own.  Accepts NULL. */
void list_load_free(struct list_load *load);

#endif
