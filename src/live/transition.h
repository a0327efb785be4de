/* SPDX-License-Identifier: MIT
 * A transition from the model in force to the next one, by a reload, or to
 * other servers of some backends, by commands and sets of servers.  Several
 * parts of the process take part: each prepares its share, which may fail, and
 * then all commit, or those that have prepared cancel.
 *
 *   prepare 1 .. n --all succeed--> commit 1 .. n
 *         |
 *         +--- k fails ----------> cancel k-1 .. 1: nothing has changed
 *
 * The parts and their order are the tables in transition.c and
 * transition_servers.c.  A start and a take-over do not use them: they have
 * nothing to go back to, and end with the process (control.c).
 *
 * All functions run on the control thread.
 */
#ifndef LIVE_TRANSITION_H
#define LIVE_TRANSITION_H

#include "base/err.h"
#include "config/diff.h"
#include "model/backend_servers.h"
#include "model/model.h"

struct control;
struct transition;

/* A part: any function may be NULL.  A prepare that fails has undone its share,
 * and has set errors. */
struct participant {
	const char *name;
	bool (*prepare)(struct transition *t);
	void (*commit)(struct transition *t);
	void (*cancel)(struct transition *t);
};

/* In the order in which they prepare and commit. */
struct participants {
	const struct participant *all;
	size_t n;
};

extern const struct participants transition_of_model, transition_of_servers;

struct transition {
	const struct participants *parts;
	struct control *control;
	struct err_list *errors;

	/* For a model: the next spec, which the transition owns until the model
	 * does. */
	struct spec *spec;
	struct changes *changes; /* for what a comparison does not show */
	struct model *before;    /* in force */
	struct model *model;     /* the next one, once it is prepared */

	/* For servers: make_changes prepares the changes in `servers`, whose
	 * room the caller provides, and sets servers_n. */
	bool (*make_changes)(struct transition *t);
	const void *arg; /* of make_changes */
	struct backend_change *servers;
	size_t servers_n;
};

/* Prepares all parts.  Returns false with errors: then nothing has changed, and
 * the spec is freed.  Otherwise transition_commit follows in the same turn. */
bool transition_prepare(struct transition *t) MUST_CHECK;

/* Puts the model, or the servers, in force.  Lineups are published before
 * frontends, so that a session that begins under the new model finds its
 * servers. */
void transition_commit(struct transition *t);

/* Drops the changes of servers that are prepared, the last one first. */
void transition_cancel_servers(struct transition *t);

#endif
