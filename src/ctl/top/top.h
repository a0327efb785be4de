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

#include "ctl/client.h"

/* Runs the live view if standard input and output are a terminal, and prints
 * text otherwise.  argv[0] is `top`.  Prints errors to standard error. */
enum ctl_exit top_run(const char *where, int argc, char **argv);

#endif
