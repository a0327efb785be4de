/* SPDX-License-Identifier: MIT
 * The environment of commands and HTTP pages, and answers that are made in
 * parts.  Everything here belongs to the control thread.
 */
#ifndef STATS_ANSWER_H
#define STATS_ANSWER_H

#include <stdbool.h>
#include <stdio.h>

#include "live/control.h"

struct admin;
struct info_facts;

/* Functions of admin/admin.h, for folders that must not depend on it. */
struct admin_view {
	void (*facts)(const struct admin *admin, struct info_facts *ret_facts);
	void (*list_sockets)(const struct admin *admin, bool json, FILE *out);
};

struct command_env {
	struct control *control; /* borrowed */
	struct audit *audit;     /* borrowed */
	struct admin *admin;     /* borrowed; NULL: no admin sockets */
	const struct admin_view *admin_view;
	struct expiring *expiring; /* borrowed; NULL: no change expires */
};

/* The rest of a long answer.  A part is made when the client has read the
 * previous one, so an answer of any length needs the memory of one part, and in
 * a later turn of the loop, so that it delays other work by the time of one
 * part: `show stat` of 20 000 servers takes 160 ms as a whole.
 * Anything may change between two parts, by a reload for instance, so an answer
 * keeps indices instead of pointers into the model. */
struct answer_rest {
	/* Writes the next part, of about ANSWER_PART_SIZE bytes, or of fewer in
	 * about ANSWER_PART_NS.  Returns false if this was the last part. */
	bool (*more)(
	    struct answer_rest *rest, const struct command_env *env, FILE *out);
	void (*free)(struct answer_rest *rest);
	/* Set by the command or by more: the pause before the next part. */
	unsigned pause_ms;
	bool failed; /* set by more: the answer is an error */
};
#define ANSWER_PART_SIZE (16 * 1024)
#define ANSWER_PART_NS   (100 * 1000)

#endif
