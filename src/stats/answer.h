/* SPDX-License-Identifier: MIT
 * Answers that are made in parts.  Control thread.
 */
#ifndef STATS_ANSWER_H
#define STATS_ANSWER_H

#include <stdbool.h>
#include <stdio.h>

#include "stats/env.h"

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
