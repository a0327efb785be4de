/* SPDX-License-Identifier: MIT
 * Parses the answer to `help`, whose lines are of the form
 * `  show pool [<pool>] [json]   : description`.
 *
 * A command has a JSON form if its usage there has the word json, so older and
 * newer versions of lfproxy work, and no table has to be kept up to date.
 */
#ifndef CTL_HELP_H
#define CTL_HELP_H

#include <stdbool.h>

#include "base/err.h"
#include "ctl/client.h"

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

/* Changes the command in the line to its JSON form.  A command that the server
 * does not know stays as it is.  Returns CTL_OK, or another code with err set
 * if the command has no JSON form or the server could not be asked. */
enum ctl_exit ctl_json_command(
    const char *where, struct ctl_text *line, struct err *err) MUST_CHECK;

#endif
