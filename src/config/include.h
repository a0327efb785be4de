/* SPDX-License-Identifier: MIT
 * The files of a configuration: those that the command line names, and those
 * that `include` names in them.
 *
 * A path of `include` is relative to the folder of the file that has it.  With
 * *, ? or [ it is a pattern, whose files are read in the order of their names;
 * there need not be any.  Otherwise it is a file, which must exist, or a
 * folder, whose *.ini are read.  An included file is read after the file that
 * includes it, as though it were at its end, and begins outside of any section.
 */
#ifndef CONFIG_INCLUDE_H
#define CONFIG_INCLUDE_H

#include <stddef.h>

#include "base/err.h"
#include "config/draft.h"

/* The limits on the depth of includes and on the number of files. */
#define INCLUDE_DEPTH_MAX 8
#define INCLUDE_FILES_MAX 1000

/* Appends the contents of n files or folders, in their order, and all that they
 * include.  Adds an error for each file that cannot be read or is read twice,
 * such as one that includes itself.  Blocks on the disk. */
void include_load(const char *const *paths, size_t n, struct draft *draft,
    struct err_list *errors);

#endif
