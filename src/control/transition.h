/* SPDX-License-Identifier: MIT
 * A transition from the model in force to the next one, in which several parts
 * of the process take part: each prepares its share, which may fail, and then
 * all commit, or those that have prepared cancel.
 *
 *   prepare 1 .. n --all succeed--> commit 1 .. n
 *         |
 *         +--- k fails ----------> cancel k-1 .. 1: nothing has changed
 *
 * The parts and their order are the table in transition.c.
 *
 * All functions run on the control thread.
 */
#ifndef CONTROL_TRANSITION_H
#define CONTROL_TRANSITION_H

#include "base/err.h"
#include "config/diff.h"
#include "model/model.h"

struct control;

struct transition {
	struct control *control;
	/* The spec and the model to come.  The transition owns the spec until
	 * the model does. */
	struct spec *spec;
	struct changes *changes; /* for what a comparison does not show */
	struct err_list *errors;
	struct model *before; /* in force */
	struct model *model;  /* the next one, once it is prepared */
};

/* Prepares all parts.  Returns false with errors: then nothing has changed, and
 * the spec is freed.  Otherwise transition_commit follows in the same turn. */
bool transition_prepare(struct transition *t) MUST_CHECK;

/* Puts the model in force.  Lineups are published before frontends, so that a
 * session that begins under the new model finds its servers. */
void transition_commit(struct transition *t);

#endif
