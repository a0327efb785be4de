/* SPDX-License-Identifier: MIT
 * `lfproxyctl top`: a live view of a running lfproxy.
 *
 *     ../client -> data ----> rates ------> view --> screen   on a terminal
 *     (answers)    (figures)  (per second)  (lines)  stdout   otherwise
 *                                             keys   (commands)
 *
 * Each round uses one connection for all figures, and each command of a key
 * another one.  On a terminal top keeps trying when lfproxy does not answer.
 */
#ifndef CTL_TOP_TOP_H
#define CTL_TOP_TOP_H

#include <stdbool.h>

#include "base/err.h"
#include "ctl/client.h"

struct top_options {
	unsigned delay_ms; /* from one round to the next */
	unsigned rounds;   /* 0: no limit, or 1 without a terminal */
};

/* Parses the arguments; argv[0] is `top`.  Returns false with err set. */
bool top_options_parse(
    int argc, char **argv, struct top_options *ret_options, struct err *err);

/* Runs the live view if standard input and output are a terminal, and prints
 * text otherwise.  Prints errors to standard error. */
enum ctl_exit top_run(const char *where, const struct top_options *options);

#endif
