/* SPDX-License-Identifier: MIT
 * `lfproxyctl top`: what a running lfproxy does, live.
 *
 *     ctl_client -> top_data -> top_rates -> top_view -> top_screen   terminal
 *     (answers)     (figures)   (a second)   (lines)  -> stdout       none
 *                                                <- top_keys (commands)
 *
 * A round is one connection that asks for everything at once; a command that a
 * key means is one more.  On a terminal a lost lfproxy is waited for.
 */
#ifndef CTL_TOP_TOP_H
#define CTL_TOP_TOP_H

#include <stdbool.h>

#include "base/err.h"
#include "ctl/client.h"

struct top_options {
	unsigned delay_ms; /* from one round to the next */
	unsigned rounds;   /* 0: for ever, or 1 without a terminal */
};

/* argv[0] is `top`.  False: err says what is wrong and what is allowed. */
bool top_options_parse(
    int argc, char **argv, struct top_options *ret_options, struct err *err);

/* Runs it, on a terminal if standard input and output are one.  What it has to
 * say about failing is on standard error then. */
enum ctl_exit top_run(const char *where, const struct top_options *options);

#endif
