/* SPDX-License-Identifier: MIT
 * What answers to operators and monitoring are made from, and answers that are
 * made in parts.
 *
 * Control thread.
 */
#ifndef STATS_ANSWER_H
#define STATS_ANSWER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/memory_use.h"
#include "control/control.h"

struct admin;
struct info_facts;

/* What the admin sockets report about themselves to the folders below; see
 * admin/admin.h for each function. */
struct admin_view {
	void (*facts)(const struct admin *admin, struct info_facts *ret_facts);
	void (*memory)(const struct admin *admin,
	    struct memory_use *ret_clients, struct memory_use *ret_self);
	void (*list_sockets)(const struct admin *admin, bool json, FILE *out);
};

/* What commands and HTTP pages work on. */
struct command_env {
	struct control *control; /* borrowed */
	struct audit *audit;     /* borrowed */
	struct admin *admin;     /* borrowed; NULL: no admin sockets */
	const struct admin_view *admin_view;
	struct expiring *expiring; /* borrowed; NULL: no change expires */
};

/* The rest of a long answer: it is made in parts, each when the peer has taken
 * the one before, so that an answer of any length costs the memory of a part.
 * Between two parts everything may change, a reload included: remember places,
 * not pointers into the model. */
struct answer_rest {
	/* Writes the next part, some 16 KiB at most; false: it was the last. */
	bool (*more)(
	    struct answer_rest *rest, const struct command_env *env, FILE *out);
	void (*free)(struct answer_rest *rest);
	/* Left by the command or by more: the next part is not made before so
	 * many milliseconds have passed. */
	unsigned pause_ms;
	bool failed; /* set by more: the answer is an error after all */
};
#define ANSWER_PART_SIZE (16 * 1024)

#endif
