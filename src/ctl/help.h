/* SPDX-License-Identifier: MIT
 * Parses the answer to `help`, whose lines are of the form
 * `  show pool [<pool>] [json]   : description`.
 */
#ifndef CTL_HELP_H
#define CTL_HELP_H

#include <stdbool.h>

/* The usage of a command; the strings are cut out of the answer. */
struct ctl_usage {
	char *words;   /* up to the first argument */
	char *args;    /* "": none */
	bool has_json; /* takes the argument json */
	bool is_json;  /* json is a word of its name */
	bool has_flat; /* takes the argument flat, too */
};

/* Reads the next usage and moves *at behind it; returns false at the end. */
bool ctl_next_usage(char **at, struct ctl_usage *ret_usage);

#endif
