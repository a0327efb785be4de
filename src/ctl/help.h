/* SPDX-License-Identifier: MIT
 * What the server's `help` says of its commands.  A row of it is
 * `  show pool [<pool>] [json]   : what it does`.
 */
#ifndef CTL_HELP_H
#define CTL_HELP_H

#include <stdbool.h>
#include <stddef.h>

/* A part of the text of help, without a NUL. */
struct ctl_usage {
	const char *words; /* up to the first argument */
	size_t words_n;
	const char *args; /* what it takes */
	size_t args_n;
	bool has_json, is_json; /* as an argument; as a part of its name */
	bool has_flat;          /* beside HAProxy's JSON */
};

/* The next row that is a usage; *at moves behind it.  False at the end. */
bool ctl_next_usage(
    const char **at, const char *end, struct ctl_usage *ret_usage);

#endif
