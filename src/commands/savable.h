/* SPDX-License-Identifier: MIT
 * Finds the changes of running.h that the files can have.  Rules of the files
 * may refuse a value that a command accepts, alone or beside others.  Control
 * thread.
 */
#ifndef COMMANDS_SAVABLE_H
#define COMMANDS_SAVABLE_H

#include "commands/running.h"

struct savable {
	char **why; /* of each permanent change, in order; NULL: it can be */
	size_t n, room;
	bool short_of_memory; /* the last reasons are missing */
};

/* Tries the permanent changes in the spec of the files.  Without memory, all of
 * them can be saved.  file NULL: so can they. */
void savable_find(
    struct savable *savable, const struct command_env *env, struct spec *file);

void savable_fini(struct savable *savable);

#endif
