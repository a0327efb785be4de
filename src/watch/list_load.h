/* SPDX-License-Identifier: MIT
 * Reads the address lists of a reload, by the worker: a million lines take
 * longer than the control loop may block.
 *
 * All functions run on the control thread.
 */
#ifndef WATCH_LIST_LOAD_H
#define WATCH_LIST_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "acl/recipe.h"
#include "base/err.h"
#include "base/worker.h"

struct spec;

/* Reading the files of a list. */
struct list_job {
	struct acl_recipe *recipe;   /* a reference */
	struct acl_content *content; /* NULL after an error */
	struct err_list errors;
};

struct list_load {
	struct work work;
	bool ended; /* from then on the load is the caller's again */
	int error;  /* if ended: errno, if no thread could be made, or 0 */
	size_t at;  /* the list under way; atomic */
	size_t n;
	struct list_job jobs[];
};

/* Begins to read all lists of the spec.  Returns the load, or NULL when memory
 * is short. */
struct list_load *list_load_begin(const struct spec *spec) MUST_CHECK;

/* Returns the number of the list that is being read. */
size_t list_load_at(const struct list_load *load);

/* Cancels a load that has not ended.  The load frees itself when the worker has
 * left it. */
void list_load_cancel(struct list_load *load);

/* Frees a load that has ended, with what its jobs still own. */
void list_load_free(struct list_load *load);

#endif
