/* SPDX-License-Identifier: MIT
 * Parses the answer to `help`, whose lines are of the form
 * `  show pool [<pool>] [json]   : description`.
 */
#ifndef CTL_HELP_H
#define CTL_HELP_H

#include <stdbool.h>
#include <stddef.h>

/* The usage of a command.  Points into the answer, without NULs. */
struct ctl_usage {
	const char *words; /* up to the first argument */
	size_t words_n;
	const char *args;
	size_t args_n;
	bool has_json; /* takes the argument json */
	bool is_json;  /* json is a word of its name */
	bool has_flat; /* takes the argument flat, too */
};

/* Reads the next usage and moves *at behind it; false at the end. */
bool ctl_next_usage(
    const char **at, const char *end, struct ctl_usage *ret_usage);

#endif
